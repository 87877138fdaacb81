"""The pages over a database with questions, of people and of operators; some go on, some have ended."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from support.storage.storage_sample import put
from support.web.questions import written
from web.people.conftest import clock, house, past  # noqa: F401 - a whole server for who signs in
from web.test_pages import client

from cgos_server.storage import schema
from cgos_server.storage.reading.history import History


@pytest.fixture(scope="session")
def asked_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("asked") / "cgos.sqlite"
    schema.prepare(path)
    put(path, written())
    return path


@pytest.fixture
async def web(asked_database: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with History(asked_database) as history, client(history) as opened:
        yield opened
