"""A real database and a store on it, once on SQLite and once on PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.storage.storage_sample import games, people, put, unexpected

from cgos_server.storage import schema
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    """Where a database may be made, and none is."""
    if request.param == "sqlite":
        return tmp_path / "cgos.sqlite"
    return request.getfixturevalue("new_url")(empty=True)  # type: ignore[no-any-return]


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Location:
    """A new database, schema and all."""
    if request.param == "sqlite":
        return request.getfixturevalue("sqlite_database")  # type: ignore[no-any-return]
    return request.getfixturevalue("new_url")()  # type: ignore[no-any-return]


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Path:
    """A new database on SQLite."""
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    return path


@pytest.fixture
async def store(database: Location) -> AsyncIterator[Store]:
    """A store on the new database."""
    opened = await open_store(database, CommitListener(failed=unexpected, on_error=unexpected))
    yield opened
    await opened.close()


@pytest.fixture
def history_database(database: Location) -> Location:
    """A closed database with the people and the games of the sample."""
    put(database, [*people(), *games()])
    return database
