"""A real database in a temporary directory and a store on it. `storage_sample` beside this file is importable."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cgos_server.storage import schema
from cgos_server.storage.sql_store import SqlStore, open_store

sys.path.insert(0, str(Path(__file__).parent))

from storage_sample import games, people, unexpected


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A new database, schema and all."""
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    return path


@pytest.fixture
async def store(database: Path) -> AsyncIterator[SqlStore]:
    """A store on the new database."""
    opened = await open_store(database, failed=unexpected, on_error=unexpected)
    yield opened
    await opened.close()


@pytest.fixture
async def history_database(database: Path) -> Path:
    """A closed database with the people and the games of the sample."""
    filling = await open_store(database, failed=unexpected, on_error=unexpected)
    await filling.commit([*people(), *games()])
    await filling.close()
    return database
