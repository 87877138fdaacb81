"""Answers about ratings over a past with refits: every change page by page, odds, what the live server says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
from support.storage.rated_past import NAMES, VENUE, open_past

from cgos_protocol.api.people import VenueNow
from cgos_server.presentation import words
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.service.commands.registry import Refusal, answer_line, decode
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app
from cgos_server.web.server import OneServer

SETTINGS = WebSettings(venues={VENUE: VenueSettings(port=6809)}, requests_per_minute=100_000)
BEST = NAMES[-1]


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with refits of the headline system, and its saved state."""
    data = tmp_path_factory.mktemp("rated")

    async def write() -> None:
        past = await open_past(data, ("bayes", "cgos-elo"))
        await past.play(30)
        await past.save()
        await past.store.close()

    asyncio.run(write())
    return data / "cgos.sqlite"


@pytest.fixture
async def history(rated: Path) -> AsyncIterator[History]:
    async with History(rated) as opened:
        yield opened


class LiveServer:
    """Answers for a server that plays; `there` says whether it does."""

    def __init__(self) -> None:
        self.there, self.questions = True, 0

    async def __call__(self, line: bytes) -> bytes:
        assert isinstance(decode(line), StatusRequest)
        self.questions += 1
        if not self.there:
            return msgspec.json.encode(Refusal("no-server", "Nobody is there."))
        venues = [VenueNow(name=VENUE, port=6809, playing=3, idle=2, owing=1, games=30, paused=True)]
        return answer_line(
            ServerStatus(
                pid=1,
                version="1.0",
                up_s=5.5,
                ready=True,
                draining=False,
                venues=venues,
                games=[],
                bots=[],
                moves=7,
                ended={"score": 4},
                warnings=0,
                errors=0,
                web="web",
                health="up",
            )
        )


async def get(web: httpx2.AsyncClient, path: str) -> Any:
    response = await web.get(path)
    assert response.status_code == 200, response.text
    return response.json()


def client(history: History, **more: Any) -> httpx2.AsyncClient:
    transport = httpx2.ASGITransport(create_app(history, SETTINGS, **more))
    return httpx2.AsyncClient(transport=transport, base_url="http://x/api/v1")


@pytest.mark.parametrize("limit", [1, 2, 7])
@pytest.mark.parametrize("name", [BEST, "Bee"])
async def test_every_change_by_games_and_by_refits_page_by_page(history: History, name: str, limit: int) -> None:
    whole = await history.changes.latest(name, VENUE, system="bayes")
    assert any(point.refit for point in whole), "there are refits among them"
    changes: list[Any] = []
    async with client(history) as web:
        following = ""
        while following is not None:
            page = await get(web, f"/versions/{name}/history?limit={limit}{following}")
            changes += page["items"]
            following = None if page["next"] is None else f"&after={page['next']}"
    assert [
        (change["seq"], change["refit"], change["kind"], change["game"], change["after_mean"]) for change in changes
    ] == [(point.seq, point.refit, point.kind, point.game, point.after_mean) for point in whole]
    for change, point in zip(changes, whole, strict=True):
        assert (change["after_lower"], change["after_upper"]) == (point.after_lower, point.after_upper)
        assert change["after_half_width"] == (point.after_upper - point.after_lower) / 2
    assert [change["before_mean"] for change in changes] == pytest.approx([point.before_mean for point in whole])


async def test_the_portion_after_a_change_begins_with_the_next_one(history: History) -> None:
    whole = await history.changes.page(BEST, VENUE, "bayes", limit=1000)
    for at, point in enumerate(whole):
        rest = await history.changes.page(BEST, VENUE, "bayes", (point.seq, point.refit or 0), 3)
        assert [(change.seq, change.refit) for change in rest] == [
            (change.seq, change.refit) for change in whole[at + 1 : at + 4]
        ]


async def test_a_curve_has_its_first_and_last_point(history: History) -> None:
    whole = await history.changes.latest(BEST, VENUE, system="bayes")
    async with client(history) as web:
        curve = await get(web, f"/versions/{BEST}/history?points=6")
    points = curve["points"]
    assert 2 <= len(points) < len(whole)
    assert [point["at"] for point in points] == sorted(point["at"] for point in points)
    assert (points[0]["seq"], points[-1]["mean"]) == (whole[0].seq, pytest.approx(whole[-1].after_mean))


async def test_two_versions_compared_by_what_the_system_knows_of_both(history: History) -> None:
    async with client(history) as web:
        comparison = await get(web, f"/venues/{VENUE}/pairs/{BEST}/Ant")
        back = await get(web, f"/venues/{VENUE}/pairs/Ant/{BEST}")
    assert comparison["system"] == "bayes"
    assert comparison["superiority"] == pytest.approx(1 - back["superiority"])
    assert comparison["superiority"] > 0.9
    assert comparison["difference"] == pytest.approx(-back["difference"])
    black, white = comparison["as_black"], back["as_white"]
    assert black["win"] == pytest.approx(white["loss"])
    assert black["score"] == pytest.approx(1 - white["score"])


async def test_a_sandbox_compares_nobody_and_says_why(history: History) -> None:
    sandbox = WebSettings(venues={VENUE: VenueSettings(port=6809, counts=False)}, requests_per_minute=100_000)
    transport = httpx2.ASGITransport(create_app(history, sandbox, lambda: 0))
    async with client(history) as web:
        rated = await get(web, f"/venues/{VENUE}/pairs/{BEST}/Ant")
        met = (await get(web, f"/versions/{BEST}/opponents"))["items"]
    async with httpx2.AsyncClient(transport=transport, base_url="http://x/api/v1") as web:
        pair = await get(web, f"/venues/{VENUE}/pairs/{BEST}/Ant")
        opponents = (await get(web, f"/versions/{BEST}/opponents"))["items"]
    assert rated["not_compared"] is None
    assert pair["not_compared"] == words.IN_SANDBOX
    assert pair["record"] == rated["record"]
    compared = ("expected", "expected_score_as_black", "as_white", "superiority", "difference", "half_width", "system")
    assert [pair[field] for field in compared] == [None] * len(compared)
    assert all(row["expected"] is not None for row in met)
    assert opponents == [row | {"expected": None} for row in met]


async def test_where_a_version_stands_under_every_system(history: History) -> None:
    async with client(history) as web:
        standing = await get(web, f"/versions/{BEST}")
        bot = await get(web, f"/bots/{BEST}")
        table = (await get(web, f"/venues/{VENUE}/standings"))["items"]
    assert [rating["system"] for rating in standing["ratings"]] == ["bayes", "cgos-elo"]
    assert bot["ratings"] == standing["ratings"][:1], "under the headline"
    line = next(row for row in table if row["version"] == BEST)
    assert standing["ratings"][0]["standing"] == line
    assert line["last_game"] is not None
    assert line["last_game_at"] is not None


async def test_what_the_live_server_says_is_asked_for_every_two_seconds(history: History) -> None:
    server, now = LiveServer(), 1_000_000
    async with client(history, server=OneServer(server), now_ms=lambda: now) as web:
        for _ in range(3):
            metrics = await get(web, f"/venues/{VENUE}/metrics")
            assert (metrics["playing"], metrics["idle"], metrics["owing"], metrics["paused"]) == (3, 2, 1, True)
            assert (await get(web, "/status"))["live"] is True
        assert server.questions == 1
        server.there, now = False, now + 2_500
        assert (await get(web, f"/venues/{VENUE}/metrics"))["playing"] is None
        assert (await get(web, "/status"))["live"] is False
        assert server.questions == 2
    assert metrics["pairing"]["games"] == 30
    assert metrics["rated_versions"] == len(NAMES)
