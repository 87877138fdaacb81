"""Numbers of entries, and the database of which they are: cursors of before a restore are refused."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from support.storage.storage_sample import execute
from support.web.past import EVENT, NOW

from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app

API = "/api/v1"
SETTINGS = WebSettings(venues={name: VenueSettings(rated=Rated(("cgos-elo",))) for name in ("9x9", "13x13", "19x19")})
GAPLESS = [
    "/venues/9x9/ledger",
    f"/events/{EVENT}/log",
    "/export/venues/9x9/ledger.ndjson",
    "/export/venues/9x9/ratings.csv",
    "/export/venues/9x9/refits.ndjson",
    "/export/venues/9x9/ranks.csv",
]
BEYOND = 1_000_000


@asynccontextmanager
async def serving(path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    async with History(path) as history:
        transport = httpx2.ASGITransport(app=create_app(history, SETTINGS, lambda: NOW))
        async with httpx2.AsyncClient(transport=transport, base_url=f"http://test{API}") as client:
            yield client


@pytest.fixture
async def first(database: Path, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    path = Path(shutil.copy(database, tmp_path / "first.sqlite"))
    execute(path, "UPDATE server SET incarnation = '0001'")
    async with serving(path) as client:
        yield client


@pytest.fixture
async def restored(database: Path, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    path = Path(shutil.copy(database, tmp_path / "restored.sqlite"))
    execute(path, "UPDATE server SET incarnation = '0002', numbers_above = 5000000")
    async with serving(path) as client:
        yield client


def word(answer: httpx2.Response) -> str:
    assert answer.status_code == 200, answer.text
    return str(answer.headers.get("incarnation") or answer.json()["incarnation"])


def assert_refused(answer: httpx2.Response) -> None:
    assert answer.status_code == 409
    assert answer.json()["code"] == "other-incarnation"
    assert "begin again without `after` and with incarnation=0002." in answer.json()["detail"]


@pytest.mark.parametrize(
    "path", [*GAPLESS, "/export/games.ndjson", "/export/games.tar", "/versions/amigo/ranks?venue=9x9"]
)
async def test_a_cursor_of_another_incarnation_is_refused(
    first: httpx2.AsyncClient, restored: httpx2.AsyncClient, path: str
) -> None:
    sign = "&" if "?" in path else "?"
    known = word(await first.get(path))
    assert (known, word(await restored.get(path))) == ("0001", "0002")
    assert word(await first.get(f"{path}{sign}after=2&incarnation={known}")) == known
    assert_refused(await restored.get(f"{path}{sign}after=2&incarnation={known}"))


@pytest.mark.parametrize("path", GAPLESS)
async def test_a_cursor_alone_is_taken_at_its_word_where_that_is_possible(
    first: httpx2.AsyncClient, restored: httpx2.AsyncClient, path: str
) -> None:
    for client in (first, restored):
        assert (await client.get(f"{path}?after=0")).status_code == 200
    assert (await first.get(f"{path}?after={BEYOND}")).status_code == 200
    assert_refused(await restored.get(f"{path}?after={BEYOND}"))
    assert (await restored.get(f"{path}?after={BEYOND}&incarnation=0002")).status_code == 200


async def test_numbers_of_games_go_on_after_a_restore(restored: httpx2.AsyncClient) -> None:
    answer = await restored.get(f"/export/games.ndjson?after={BEYOND}")
    assert (answer.status_code, answer.text) == (200, "")


async def test_the_cursor_of_a_history_knows_its_incarnation(
    first: httpx2.AsyncClient, restored: httpx2.AsyncClient
) -> None:
    path = "/versions/amigo/history?venue=9x9&limit=2"
    cursor = (await first.get(path)).json()["next"]
    assert cursor.endswith(".0001")
    page = (await first.get(f"{path}&after={cursor}")).json()["items"]
    assert_refused(await restored.get(f"{path}&after={cursor}"))
    old = cursor.removesuffix(".0001")  # as servers wrote it before
    assert (await restored.get(f"{path}&after={old}")).json()["items"] == page


async def test_the_index_names_it(first: httpx2.AsyncClient) -> None:
    assert word(await first.get("")) == "0001"
