"""Standings computed again for readers: the same as the command computes, once for everybody, one at a time."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.storage.rated_past import VENUE, open_past

from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Refused
from cgos_server.cli.ratings.standings import standings
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.service.ratings.recomputing import recompute
from cgos_server.storage.reading.history import History
from cgos_server.web.api.reading.recomputing import TOO_LONG_MS, Recomputing
from cgos_server.web.application import create_app
from cgos_server.web.around.limiting import RECOMPUTES_PER_MINUTE, TooMuch
from cgos_server.web.live.hub import Hub
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


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The process ids of the children that were started."""
    started: list[int] = []
    real = asyncio.create_subprocess_exec

    async def start(*words: Any, **more: Any) -> asyncio.subprocess.Process:
        child = await real(*words, **more)
        started.append(child.pid)
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    return started


async def begun(children: list[int]) -> None:
    """Until a child was started."""
    async with asyncio.timeout(20):
        while not children:  # noqa: ASYNC110 - there is nothing to wait for
            await asyncio.sleep(0.001)


def site(history: History) -> Site:
    return Site(history, SETTINGS, "x", lambda: 0, Hub(history, SETTINGS, lambda: 0))


async def test_they_are_what_the_command_computes(history: History) -> None:
    transport = httpx2.ASGITransport(create_app(history, SETTINGS, lambda: 0))
    async with httpx2.AsyncClient(transport=transport, base_url="http://x/api/v1") as web:
        path = f"/venues/{VENUE}/standings?recomputed=true"
        recomputed = (await web.get(path)).json()
        wanted = await recompute(history, VENUE, SETTINGS.rated(VENUE).system(SYSTEM))
        names = await history.bots.version_names()
        assert {row["version"]: row["mean"] for row in recomputed["items"]} == {
            names[version]: rating.mean for version, rating in wanted.ratings.items()
        }
        assert (recomputed["recomputed"], recomputed["corrected"], recomputed["seq"]) == (True, 2, wanted.seq)
        assert [row["mean"] for row in recomputed["items"]] == sorted(
            (r["mean"] for r in recomputed["items"]), reverse=True
        )
        published = (await web.get(f"/venues/{VENUE}/standings")).json()
        last = {row["version"]: (row["last_game"], row["last_game_at"]) for row in published["items"]}
        assert None not in last.values()
        assert {row["version"]: (row["last_game"], row["last_game_at"]) for row in recomputed["items"]} == last
        assert {row["version"]: row["mean"] for row in published["items"]} != {
            row["version"]: row["mean"] for row in recomputed["items"]
        }
        for _ in range(RECOMPUTES_PER_MINUTE - 1):
            assert (await web.get(path)).json() == recomputed, "kept, and counted all the same"
        refused = await web.get(path)
        assert (refused.status_code, refused.json()["limit"]) == (429, "recompute")


async def test_one_question_at_a_time_and_the_same_one_once(history: History, children: list[int]) -> None:
    recomputing = Recomputing(site(history))
    last = await history.ledger.last_entry(VENUE)
    async with asyncio.TaskGroup() as group:
        both = [group.create_task(recomputing.standings(VENUE, SYSTEM, last)) for _ in range(2)]
        await begun(children)
        with pytest.raises(TooMuch) as refusal:
            await recomputing.standings(VENUE, SYSTEM, last - 1)
    assert refusal.value.limit is Limit.RECOMPUTE
    assert both[0].result() is both[1].result()
    assert await recomputing.standings(VENUE, SYSTEM, last) is both[0].result()
    assert len(children) == 1


async def test_whoever_leaves_does_not_take_the_answer_from_the_others(history: History, children: list[int]) -> None:
    recomputing = Recomputing(site(history))
    last = await history.ledger.last_entry(VENUE)
    first = asyncio.ensure_future(recomputing.standings(VENUE, SYSTEM, last))
    second = asyncio.ensure_future(recomputing.standings(VENUE, SYSTEM, last))
    await begun(children)
    (computation,) = recomputing._under_way.values()
    while computation.waiting < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    first.cancel()
    assert (await second).corrected == 2
    assert first.cancelled()
    assert len(children) == 1


async def test_who_comes_while_a_computation_is_given_up_gets_another_one(
    history: History, children: list[int]
) -> None:
    recomputing = Recomputing(site(history))
    last = await history.ledger.last_entry(VENUE)
    first = asyncio.ensure_future(recomputing.standings(VENUE, SYSTEM, last))
    await begun(children)
    first.cancel()
    (computation,) = recomputing._under_way.values()
    while not computation.left:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert (await recomputing.standings(VENUE, SYSTEM, last)).corrected == 2
    assert len(children) == 2


async def test_what_nobody_waits_for_any_more_is_given_up(history: History, children: list[int]) -> None:
    """By the API's own way of hearing that its visitor has gone."""
    app = create_app(history, SETTINGS, lambda: 0)
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": f"/api/v1/venues/{VENUE}/standings", "raw_path": b"", "query_string": b"recomputed=true",
        "root_path": "", "headers": [], "client": ("127.0.0.1", 1), "server": ("x", 80),
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        await begun(children)
        return {"type": "http.disconnect"}

    async def send(_message: Any) -> None:
        pass

    await app(scope, receive, send)
    assert children
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


async def test_what_takes_too_long_is_ended_and_not_begun_again(history: History, children: list[int]) -> None:
    now = 0
    # Enough to start a child on a busy machine, too little for it to import what it needs.
    recomputing = Recomputing(Site(history, SETTINGS, "x", lambda: now, Hub(history, SETTINGS, lambda: now)), 0.1)
    last = await history.ledger.last_entry(VENUE)
    for after in (last - 1, last - 1, last):
        with pytest.raises(Refused) as refusal:
            await recomputing.standings(VENUE, SYSTEM, after)
        assert refusal.value.code == "not-now"
    assert len(children) == 1
    now = TOO_LONG_MS
    with pytest.raises(Refused):
        await recomputing.standings(VENUE, SYSTEM, last)
    assert len(children) == 2
    (words,) = re.findall("`cgos-server standings (.*)`", refusal.value.sentence)
    chosen = standings.make_context("standings", shlex.split(words)).params
    assert (chosen["venue"], chosen["system"], chosen["as_of"]) == (VENUE, SYSTEM, last)
    assert chosen["answer"] == "recomputed"
