"""What only the store on SQLite has: pragmas, paths, plans."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

import pytest
from support.storage.storage_sample import games, people, unexpected

from cgos_protocol.errors import StoreError
from cgos_server.storage import schema
from cgos_server.storage.connections import Durability, connect_for_writing
from cgos_server.storage.opening import open_store
from cgos_server.storage.sql_store import SqliteStore


@pytest.fixture
async def full(sqlite_database: Path) -> AsyncIterator[SqliteStore]:
    """A store with the sample in it."""
    store = await open_store(sqlite_database, failed=unexpected, on_error=unexpected)
    assert isinstance(store, SqliteStore)
    await store.commit([*people(), *games()])
    yield store
    await store.close()


@pytest.mark.parametrize("durability", get_args(Durability))
async def test_durability_reaches_the_connection(sqlite_database: Path, durability: Durability) -> None:
    with contextlib.closing(connect_for_writing(sqlite_database, durability)) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == ({"process": 1, "power": 2}[durability],)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


async def test_reading_cannot_write(full: SqliteStore) -> None:
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        full._connection.execute("DELETE FROM bots")


async def test_a_database_that_cannot_be_read_is_a_store_error(full: SqliteStore) -> None:
    full._connection.close()
    with pytest.raises(StoreError, match="could not be read"):
        await full.venues()


async def test_strange_paths(tmp_path: Path) -> None:
    path = tmp_path / "50% of #2?" / "my games.sqlite"
    schema.prepare(path)
    store = await open_store(path, failed=unexpected, on_error=unexpected)
    await store.commit(people())
    assert len(await store.venues()) == 2
    await store.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["my games.sqlite"]


async def test_a_missing_directory_is_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open database file"):
        await open_store(tmp_path / "no" / "db", failed=unexpected, on_error=unexpected)


async def test_no_question_of_a_running_server_reads_all_games(full: SqliteStore, sqlite_database: Path) -> None:
    asked: list[str] = []
    full._connection.set_trace_callback(asked.append)
    await full.login("alpha")
    await full.name_taken("alpha")
    await full.version(1, "")
    await full.untold_games(1, 1, 0)
    await full.game(1)
    await full.recent_games(1, 10)
    await full.games_begun(1, 1, 0)
    await full.unfinished_games()
    await full.meetings(1)
    await full.recent_opponents(1, 100)
    await full.halves(1)
    await full.thinking(1, 2_000)
    await full.setbacks(1)
    await full.last_round(1)
    await full.next_ids()
    await full.published(1)
    await full.rating_state(1, "bayes")
    await full.refits(1, "bayes")
    await full.counted(1)
    await full.first_repeat(1, 1, 2, 3)
    await full.ledger(1, after=3, limit=1)
    full._connection.set_trace_callback(None)
    assert len(asked) == 24
    with contextlib.closing(sqlite3.connect(sqlite_database)) as connection:
        for sql in asked:
            plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
            big = (
                "SCAN games",
                "SCAN moves",
                "SCAN ledger",
                "SCAN refits",
                "SEARCH ledger USING PRIMARY KEY (venue_id=?)",
            )
            assert not [step for step in plan if step.startswith(big) and "INDEX" not in step], sql
