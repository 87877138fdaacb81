"""A real database and a store on it, once on SQLite and once on PostgreSQL. `storage_sample` beside this file is
importable."""

from __future__ import annotations

import itertools
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from support.postgres import PostgresServer, postgres_server, why_not

from cgos_server.storage import schema
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.sql_store import SqlStore, open_store

sys.path.insert(0, str(Path(__file__).parent))

from storage_sample import execute, games, people, put, unexpected

_TEMPLATE = "made_by_the_migrations"


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server with a database that the others are copied from."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server() as server:
        execute(PostgresUrl.parse(server.url()), f"CREATE DATABASE {_TEMPLATE}")
        schema.prepare(PostgresUrl.parse(server.url(_TEMPLATE)))
        yield server


@pytest.fixture(scope="session")
def new_url(postgres: PostgresServer) -> Callable[..., PostgresUrl]:
    """Makes a new database in PostgreSQL: with the schema, or without a table."""
    numbers = itertools.count(1)

    def make(empty: bool = False) -> PostgresUrl:
        name = f"test_{next(numbers)}"
        execute(
            PostgresUrl.parse(postgres.url()), f"CREATE DATABASE {name}" + ("" if empty else f" TEMPLATE {_TEMPLATE}")
        )
        return PostgresUrl.parse(postgres.url(name))

    return make


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
async def store(database: Location) -> AsyncIterator[SqlStore]:
    """A store on the new database."""
    opened = await open_store(database, failed=unexpected, on_error=unexpected)
    yield opened
    await opened.close()


@pytest.fixture
def history_database(database: Location) -> Location:
    """A closed database with the people and the games of the sample."""
    put(database, [*people(), *games()])
    return database
