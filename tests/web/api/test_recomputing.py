"""Standings computed again for readers: the same as the command computes, once for everybody, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from support.rated_past import VENUE, open_past

from cgos_server.errors import Refused
from cgos_server.protocol.api_route import Limit
from cgos_server.service.recomputing import recompute
from cgos_server.storage.history import History
from cgos_server.web.api.recomputing import Recomputing
from cgos_server.web.application import create_app
from cgos_server.web.limiting import RECOMPUTES_PER_MINUTE, TooMuch
from cgos_server.web.live.hub import Hub
from cgos_server.web.settings import Rated, VenueSettings, WebSettings
from cgos_server.web.site import Site

SYSTEM = "cgos-elo"
SETTINGS = WebSettings(venues={VENUE: VenueSettings(rated=Rated((SYSTEM,)))})


@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database in which two games count otherwise than they did at first."""
    data = tmp_path_factory.mktemp("corrected")

    async def write() -> None:
        past = await open_past(data, (SYSTEM,))
        await past.play(12)
        await past.correct(2, None)
        await past.correct(5, 1)
        await past.play(3)
        await past.store.close()

    asyncio.run(write())
    return data / "cgos.sqlite"


@pytest.fixture
async def history(corrected: Path) -> AsyncIterator[History]:
    async with History(corrected) as opened:
        yield opened


def site(history: History) -> Site:
    return Site(history, SETTINGS, "x", lambda: 0, Hub(history, SETTINGS, lambda: 0))


async def test_they_are_what_the_command_computes(history: History) -> None:
    transport = httpx2.ASGITransport(create_app(history, SETTINGS, lambda: 0))
    async with httpx2.AsyncClient(transport=transport, base_url="http://x/api/v1") as web:
        path = f"/venues/{VENUE}/standings?recomputed=true"
        told = (await web.get(path)).json()
        wanted = await recompute(history, VENUE, SETTINGS.rated(VENUE).system(SYSTEM))
        names = await history.version_names()
        assert {row["version"]: row["mean"] for row in told["items"]} == {
            names[version]: rating.mean for version, rating in wanted.ratings.items()
        }
        assert (told["recomputed"], told["corrected"], told["seq"]) == (True, 2, wanted.seq)
        assert [row["mean"] for row in told["items"]] == sorted((r["mean"] for r in told["items"]), reverse=True)
        published = (await web.get(f"/venues/{VENUE}/standings")).json()
        assert {row["version"]: row["mean"] for row in published["items"]} != {
            row["version"]: row["mean"] for row in told["items"]
        }
        for _ in range(RECOMPUTES_PER_MINUTE - 1):
            assert (await web.get(path)).json() == told, "kept, and counted all the same"
        refused = await web.get(path)
        assert (refused.status_code, refused.json()["limit"]) == (429, "recompute")


async def test_one_question_at_a_time_and_the_same_one_once(history: History) -> None:
    recomputing = Recomputing(site(history))
    last = await history.last_entry(VENUE)
    async with asyncio.TaskGroup() as group:
        both = [group.create_task(recomputing.standings(VENUE, SYSTEM, last)) for _ in range(2)]
        await asyncio.sleep(0)
        while recomputing._under_way is None:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(0.001)
        with pytest.raises(TooMuch) as refusal:
            await recomputing.standings(VENUE, SYSTEM, last - 1)
    assert refusal.value.limit is Limit.RECOMPUTE
    assert both[0].result() is both[1].result()


async def test_what_takes_too_long_is_ended(history: History) -> None:
    recomputing = Recomputing(site(history), deadline_s=0.01)
    with pytest.raises(Refused) as refusal:
        await recomputing.standings(VENUE, SYSTEM, await history.last_entry(VENUE))
    assert refusal.value.code == "not-now"
    assert recomputing._under_way is None
