"""How much room tables take, on both databases."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from support.storage.storage_sample import query

from cgos_protocol.errors import StoreError
from cgos_server.storage import tables
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History


async def test_every_table_has_its_rows_and_bytes(history_database: Location) -> None:
    async with History(history_database) as history:
        measured = {size.table: size for size in await history.sizes.tables()}
    assert measured.keys() == {str(name) for name in tables.metadata.tables}
    for name, size in measured.items():
        assert [(size.rows,)] == query(history_database, f"SELECT count(*) FROM {name}")
        assert size.bytes is not None
    assert measured["games"].rows == 5
    assert (measured["games"].bytes or 0) > (measured["server"].bytes or 0)


async def test_the_size_of_all_is_known_without_a_walk(history_database: Location) -> None:
    async with History(history_database) as history:
        parts = await history.server.size()
    assert parts["database"] >= 4096
    if isinstance(history_database, Path):
        assert parts["database"] == history_database.stat().st_size
    assert parts.keys() == ({"database", "log"} if isinstance(history_database, Path) else {"database"})


async def test_a_log_is_a_part_and_0_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(bytes(9))
    async with History(path) as history:
        assert await history.server.size() == {"database": 9, "log": 0}
        path.with_name("x.sqlite-wal").write_bytes(bytes(5))
        assert await history.server.size() == {"database": 9, "log": 5}


async def test_a_sqlite_that_cannot_say_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as connection:
        connection.execute("CREATE TABLE one (id INTEGER)")

    async with History(tmp_path / "x.sqlite") as history:

        async def fails(_statement: object) -> object:
            raise StoreError("the database could not be read: no such table: dbstat")

        monkeypatch.setattr(history.sizes._source, "rows", fails)
        assert await history.sizes._bytes() == {}
