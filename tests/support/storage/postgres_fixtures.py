"""Fixtures of tests that need PostgreSQL: one private server a session, and databases on it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl
from support.storage.postgres import PostgresServer, postgres_server, why_not

_TEMPLATE = "made_by_the_migrations"

NewUrl = Callable[..., PostgresUrl]


def ask(dsn: str, sql: str) -> list[tuple[Any, ...]]:
    """Run one statement, from any test; its rows."""

    async def work() -> list[tuple[Any, ...]]:
        import asyncpg

        connection = await asyncpg.connect(dsn)
        try:
            return [tuple(row) for row in await connection.fetch(sql)]
        finally:
            await connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server with a database that the others are copied from."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server(in_memory=True) as server:
        ask(server.url(), f"CREATE DATABASE {_TEMPLATE}")
        schema.prepare(PostgresUrl.parse(server.url(_TEMPLATE)))
        yield server


@pytest.fixture(scope="session")
def lasting_url(postgres: PostgresServer) -> NewUrl:
    """As :func:`new_url`; these databases stay to the end, for fixtures that several tests share."""
    return partial(_made, postgres, itertools.count(1))


@pytest.fixture
def new_url(lasting_url: NewUrl, postgres: PostgresServer) -> Iterator[NewUrl]:
    """Makes a new database in PostgreSQL: with the schema, or without a table (``empty``). It goes with the test."""
    urls: list[PostgresUrl] = []

    def make(empty: bool = False) -> PostgresUrl:
        urls.append(lasting_url(empty=empty))
        return urls[-1]

    yield make
    for url in urls:
        ask(postgres.url(), f"DROP DATABASE {url.dsn.rpartition('/')[2]} WITH (FORCE)")


def _made(postgres: PostgresServer, numbers: Iterator[int], *, empty: bool = False) -> PostgresUrl:
    name = f"test_{next(numbers)}"
    template = "template1" if empty else _TEMPLATE
    ask(postgres.url(), f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    return PostgresUrl.parse(postgres.url(name))
