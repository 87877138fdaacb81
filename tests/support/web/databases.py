"""A database with a past, for pages and for what they show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from support.web.past import Builder, write


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
