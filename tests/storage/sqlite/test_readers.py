"""Questions to a SQLite file from threads: one moment each, and nothing is left behind by whoever goes away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from support.storage.storage_sample import execute, people, put

from cgos_server.storage.reading.history import History
from cgos_server.storage.sqlite.connections import reading_engine
from cgos_server.storage.sqlite.readers import MOST, SqliteReaders

FOREVER = text("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c")
BOTS = text("SELECT count(*) AS bots FROM bots WHERE id < :most")


@pytest.fixture
async def readers(sqlite_database: Path) -> AsyncIterator[SqliteReaders]:
    put(sqlite_database, people())
    engine = reading_engine(sqlite_database)
    yield engine
    await engine.dispose()


async def bots(readers: SqliteReaders, most: int = 1_000) -> int:
    async with readers.connect() as connection:
        (row,) = await connection.ask(BOTS, {"most": most})
        return int(row["bots"])


async def test_a_connection_is_kept_and_sees_each_time_what_is_there(
    readers: SqliteReaders, sqlite_database: Path
) -> None:
    assert await bots(readers, 0) == 0
    before = await bots(readers)
    async with readers.connect() as connection:
        kept = connection
        (row,) = await connection.ask(BOTS, {"most": 1_000})
        execute(sqlite_database, "INSERT INTO bots (id, name, name_key, password, state, created_at) "
                                 "VALUES (900, 'new', 'new', '', 'active', 0)")  # fmt: skip
        (again,) = await connection.ask(BOTS, {"most": 1_000})
        assert row["bots"] == again["bots"] == before
    async with readers.connect() as connection:
        assert connection is kept
    assert await bots(readers) == before + 1


async def test_whoever_goes_away_leaves_no_question_running(readers: SqliteReaders) -> None:
    for _ in range(2 * MOST):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02), readers.connect() as connection:
                await connection.ask(FOREVER, {})
    # All threads and connections are to be had again.
    assert len(set(await asyncio.gather(*(bots(readers) for _ in range(3 * MOST))))) == 1


async def test_no_more_connections_than_threads(readers: SqliteReaders) -> None:
    opened = 0
    enough, everybody = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        nonlocal opened
        async with readers.connect() as connection:
            opened += 1
            if opened == MOST:
                enough.set()
            await connection.ask(BOTS, {"most": 1})
            await everybody.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(MOST + 3):
            group.create_task(hold())
        await enough.wait()
        for _ in range(50):
            await asyncio.sleep(0)
        assert opened == MOST
        everybody.set()
    assert opened == MOST + 3


async def test_an_error_ends_the_moment(readers: SqliteReaders) -> None:
    with pytest.raises(SQLAlchemyError):
        async with readers.connect() as connection:
            await connection.ask(text("SELECT nothing FROM nowhere"), {})
    assert await bots(readers) > 0


async def test_names_that_are_not_there_are_asked_for_again(sqlite_database: Path) -> None:
    """Only numbers that were found are kept."""
    put(sqlite_database, people())
    async with History(sqlite_database) as history:
        assert await history.ledger.last_entry("9x9") == await history.ledger.last_entry("9x9")
        with pytest.raises(Exception, match="no venue '7x7'"):
            await history.ledger.last_entry("7x7")
        execute(sqlite_database, "INSERT INTO venues (id, name, fixed, created_at) VALUES (70, '7x7', '{}', 0)")
        assert await history.ledger.last_entry("7x7") == 0
