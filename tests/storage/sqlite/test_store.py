"""What only the store on SQLite has: pragmas, paths, plans."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import get_args

import pytest
from support.storage.storage_sample import people, unexpected

from cgos_protocol.errors import StoreError
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.sqlite.connections import Durability, connect_for_writing
from cgos_server.storage.writing.group_commit import CommitListener


@pytest.mark.parametrize("durability", get_args(Durability))
async def test_durability_reaches_the_connection(sqlite_database: Path, durability: Durability) -> None:
    with contextlib.closing(connect_for_writing(sqlite_database, durability)) as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == ({"process": 1, "power": 2}[durability],)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


async def test_strange_paths(tmp_path: Path) -> None:
    path = tmp_path / "50% of #2?" / "my games.sqlite"
    schema.prepare(path)
    store = await open_store(path, CommitListener(failed=unexpected, on_error=unexpected))
    await store.commit(people())
    assert len(await store.history.server.venues()) == 2
    await store.close()
    assert sorted(file.name for file in path.parent.iterdir()) == ["my games.sqlite"]


async def test_a_missing_directory_is_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="unable to open database file"):
        await open_store(tmp_path / "no" / "db", CommitListener(failed=unexpected, on_error=unexpected))
