"""The pages over a database with events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from support.tournaments.held_events import HeldEvent
from support.web.held import held_events, write_held
from web.test_pages import client

from cgos_server.storage.reading.history import History


@pytest.fixture(scope="session")
def held() -> dict[str, HeldEvent]:
    """The events by their names."""
    return {each.state.settings.name: each for each in held_events()}


@pytest.fixture(scope="session")
def held_database(tmp_path_factory: pytest.TempPathFactory, held: dict[str, HeldEvent]) -> Path:
    path = tmp_path_factory.mktemp("held") / "cgos.sqlite"
    write_held(path, list(held.values()))
    return path


@pytest.fixture
async def web(held_database: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with History(held_database) as history, client(history) as opened:
        yield opened
