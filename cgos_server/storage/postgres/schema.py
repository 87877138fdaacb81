"""What `storage.schema` needs of PostgreSQL: a look at what is there, and a connection for the migrations.

Must not know: which schema is the right one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from sqlalchemy import Connection

from cgos_server.storage.failures import store_errors
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import READ_ONLY, apart, connect, faults, migrating_engine

T = TypeVar("T")

_LOOK_S = 30.0


def on_connection(url: PostgresUrl, work: Callable[[Connection], T]) -> T:
    """As :func:`cgos_server.storage.schema.on_connection`."""

    async def run() -> T:
        engine = migrating_engine(url)
        try:
            async with engine.connect() as connection:
                return await connection.run_sync(work)
        finally:
            await engine.dispose()

    return apart(run)


def look(url: PostgresUrl) -> tuple[set[str], str | None]:
    """The tables of the database's current schema, and its revision. Raises StoreError."""
    return apart(lambda: _look(url))


async def _look(url: PostgresUrl) -> tuple[set[str], str | None]:
    connection = await connect(url, "cgos-server, schema", READ_ONLY)
    try:
        with store_errors(url, "cannot be read", *faults()):
            async with asyncio.timeout(_LOOK_S):
                listed = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
                tables = {name for (name,) in listed}
                revision = None
                if "alembic_version" in tables:
                    revision = await connection.fetchval("SELECT version_num FROM alembic_version")
                await connection.close()
                return tables, revision
    finally:
        connection.terminate()


def ask(url: PostgresUrl, question: str) -> list[Any]:
    """The first column of the answer to a statement. Raises StoreError."""
    return apart(lambda: _ask(url, question))


async def _ask(url: PostgresUrl, question: str) -> list[Any]:
    connection = await connect(url, "cgos-server, schema", READ_ONLY)
    try:
        with store_errors(url, "cannot be read", *faults()):
            async with asyncio.timeout(_LOOK_S):
                rows = await connection.fetch(question)
                await connection.close()
                return [row[0] for row in rows]
    finally:
        connection.terminate()
