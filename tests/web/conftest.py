"""Databases for the pages: one with a past, one of a server that is new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from web.past import Builder, write

from cgos_server.storage import schema
from cgos_server.storage.history import History


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file; nobody writes to it any more."""
    path = tmp_path_factory.mktemp("pages") / "cgos.sqlite"
    schema.prepare(path)
    asyncio.run(write(path, Builder().build()))
    return path


@pytest.fixture
async def history(database: Path) -> AsyncIterator[History]:
    async with History(database) as opened:
        yield opened


@pytest.fixture
async def empty_history(tmp_path: Path) -> AsyncIterator[History]:
    """Of a server that has never had a bot, nor even its venues."""
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    async with History(path) as opened:
        yield opened
