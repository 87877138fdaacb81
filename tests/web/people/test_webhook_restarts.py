"""Webhooks over restarts of the web process: nothing that became of games is forgotten, nothing told twice."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from support.service.acting import changed
from support.web.past import NINE, THIRTEEN, terms
from web.people.conftest import House
from web.people.test_webhooks import Net, Post

from cgos_protocol.errors import StoreError
from cgos_protocol.facts import BotArrived, GameEnded, GameStarted
from cgos_protocol.terms import encode_terms
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.stored import Incarnation
from cgos_server.storage.writing import records as r
from cgos_server.web.live.hub import Hub
from cgos_server.web.people import webhooks as module
from cgos_server.web.people.deliveries import FILE
from cgos_server.web.people.webhooks import AGAIN_MS, CATCH_UP_MS, CHANGES_MS, GIVE_UP, LINE_MAX, SLACK_MS, Webhooks
from cgos_server.web.server import OneServer, Server
from cgos_server.web.site import Site

HOUR = 3_600_000


@pytest.fixture
async def house(house: House) -> House:
    await house.signed_in("alice", owns="Sakura-5k")
    return house


@asynccontextmanager
async def process(
    house: House, data: Path | None = None, statuses: Any = (), *, answers: bool = True, server: Server | None = None
) -> AsyncIterator[Post]:
    """One life of the web process, which notes what became of messages in `data`, or as `server` says."""
    settings = WebSettings()
    hub = Hub(house.history, settings, house.clock)
    site = Site(house.history, settings, "", house.clock, hub, server or OneServer(house.call, data))
    net, pauses = Net(), list[float]()
    net.statuses = list(statuses)
    if not answers:
        net.gate.clear()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        await asyncio.sleep(0)

    webhooks = Webhooks(site, net, pause)
    running = asyncio.ensure_future(webhooks.run())
    post = Post(house, webhooks, net, pauses)
    try:
        await settled(post)
        yield post
    finally:
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running


async def settled(post: Post) -> None:
    """Until it has been calm for a while."""
    calm = 0
    while calm < 25:
        before = len(post.net.sent)
        await asyncio.sleep(0.002)
        calm = 0 if len(post.net.sent) != before else calm + 1


async def tell(post: Post, *facts: Any) -> None:
    for fact in facts:
        post.webhooks.heard(fact)
    await settled(post)


def begun(game: int, at: int, black: int = 1, white: int = 6, venue: int = NINE) -> list[r.Record]:
    return [
        r.RoundAdded(game, venue, game, at, "rolling", "birk", "{}", "1", '{"candidates":[]}', "{}", "[]"),
        r.GameAdded(game, venue, game, black, white, "1", "2", encode_terms(terms(venue)), "", at),
    ]


def over(game: int, at: int, result: str = "B+Resign", reason: str = "resignation") -> r.Record:
    return r.GameEnded(at, 0 if result[0] == "B" else 1, reason, None, "", result, 1, 1, game)


async def played(house: House, game: int, at: int, *ending: str) -> None:
    await house.store.commit([*begun(game, at - 1000), over(game, at, *ending)])


def deliveries(post: Post) -> list[tuple[str, int]]:
    return [(message["event"], message["game"]["id"]) for message in post.net.messages]


async def test_what_happened_while_no_web_process_ran_is_told_when_one_does(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-started", "game-ended", "signed-in"])
    house.clock.ms += HOUR
    await played(house, 500, house.clock.ms - HOUR // 2)
    await house.store.commit(begun(501, house.clock.ms - 1000, 6, 1, THIRTEEN))
    async with process(house, tmp_path) as post:
        assert deliveries(post) == [("game-started", 500), ("game-ended", 500), ("game-started", 501)]
        message = post.net.messages[1]
        assert (message["at"], message["color"], message["version"]) == (
            house.clock.ms - HOUR // 2,
            "black",
            "Sakura-5k",
        )
        assert message["game"] == {
            "id": 500, "venue": "9x9", "black": "Sakura-5k", "white": "amigo", "result": "B+Resign",
            "reason": "resignation",
        }  # fmt: skip
    async with process(house, tmp_path) as post:
        assert deliveries(post) == []


async def test_what_was_told_is_not_told_again_and_the_facts_of_what_was_looked_up_are_nothing_new(
    house: House, tmp_path: Path
) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-started", "game-ended", "time-losses"])
        await played(house, 500, house.clock.ms)
        at = house.clock.ms / 1000
        fact = (
            GameStarted(venue="9x9", game=500, black="Sakura-5k", white="amigo", at=at - 1),
            GameEnded(venue="9x9", game=500, result="B+Resign", reason="resignation", at=at),
        )
        await tell(post, *fact)
        ids = [message["id"] for message in post.net.messages]
        assert deliveries(post) == [("game-started", 500), ("game-ended", 500)]
    house.clock.ms += SLACK_MS // 2
    await played(house, 501, house.clock.ms)
    async with process(house, tmp_path) as post:
        assert deliveries(post) == [("game-started", 501), ("game-ended", 501)]
        at = house.clock.ms / 1000
        await tell(post, *fact, GameStarted(venue="9x9", game=501, black="Sakura-5k", white="amigo", at=at - 1),
                   GameEnded(venue="9x9", game=501, result="B+Resign", reason="resignation", at=at))  # fmt: skip
        assert len(post.net.sent) == 2
    (tmp_path / FILE).unlink()
    async with process(house, tmp_path) as post:  # without it, the same messages under the same ids
        assert post.net.messages[0]["id"] == ids[1], "the game began before the webhook was made"


async def test_what_happens_after_a_restore_is_another_message(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended"])
    house.clock.ms += HOUR
    await played(house, 500, house.clock.ms)
    ids = []
    for number in range(3):
        (tmp_path / FILE).write_text(f'{{"format":1,"since":0,"until":{house.clock.ms - 1000},"hooks":{{}}}}')
        if number == 2:
            restored = Incarnation("0002", 5_000_000)
            monkeypatch.setattr(house.history.server, "incarnation", AsyncMock(return_value=restored))
        async with process(house, tmp_path) as post:
            ids += [message["id"] for message in post.net.messages]
    assert len(ids) == 3
    assert ids[0] == ids[1] != ids[2]


async def test_what_waited_when_the_process_ended_is_delivered_by_the_next(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended", "signed-in"])
    async with process(house, tmp_path, answers=False) as post:
        for game in (500, 501, 502):
            house.clock.ms += 1000
            await played(house, game, house.clock.ms)
            await tell(
                post,
                GameEnded(venue="9x9", game=game, result="B+Resign", reason="resignation", at=house.clock.ms / 1000),
            )
        await tell(post, BotArrived("9x9", "Sakura-5k"))
        house.clock.ms += HOUR
    house.clock.ms += HOUR
    async with process(house, tmp_path) as post:
        assert deliveries(post) == [("game-ended", game) for game in (500, 501, 502)]


async def test_failures_in_a_row_count_over_restarts(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        made = await post.hook(["game-ended"])
    for count in range(GIVE_UP // 5):
        house.clock.ms += HOUR
        await played(house, 500 + count, house.clock.ms - 1000)
        async with process(house, tmp_path, [500] * 5) as post:
            assert len(post.net.sent) == 5
            await settled(post)
            outcome = post.webhooks.outcome(made.id)
            assert outcome is not None
            assert (outcome.delivered, outcome.tries) == (False, 5)
    (row,) = await house.history.people.webhooks(1)
    assert row.stopped_at is not None
    assert f"{GIVE_UP} tries in a row" in row.why


async def test_no_further_back_than_a_day_and_no_more_than_a_line_holds(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended"])
    house.clock.ms += 3 * CATCH_UP_MS
    await played(house, 500, house.clock.ms - CATCH_UP_MS - 1000)
    extra = 20
    for game in range(501, 501 + LINE_MAX + extra):
        await played(house, game, house.clock.ms - 1_000_000 + game)
    async with process(house, tmp_path) as post:
        assert [game for _, game in deliveries(post)] == list(range(501 + extra, 501 + LINE_MAX + extra))
        assert [message["dropped"] for message in post.net.messages] == [extra, *[0] * (LINE_MAX - 1)]


async def test_nobody_is_told_what_happened_before_the_webhook(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path):
        pass
    await played(house, 500, house.clock.ms + 1000)
    house.clock.ms += HOUR
    async with process(house, tmp_path, answers=False) as post:
        await post.hook(["game-ended", "suspended"])
    house.clock.ms += 1000
    await played(house, 501, house.clock.ms)
    async with process(house, tmp_path) as post:
        assert deliveries(post) == [("game-ended", 501)]


async def test_losses_on_time_in_a_row_count_over_restarts(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["time-losses"])
    house.clock.ms += HOUR
    for game in (500, 501):
        await played(house, game, house.clock.ms - HOUR // 2 + game, "W+Time", "time")
    async with process(house, tmp_path) as post:
        assert post.net.messages == []
        at = house.clock.ms / 1000
        await tell(post, GameStarted(venue="9x9", game=502, black="Sakura-5k", white="amigo", at=at),
                   GameEnded(venue="9x9", game=502, result="W+Time", reason="time", at=at))  # fmt: skip
        assert [(message["game"]["id"], message["in_a_row"]) for message in post.net.messages] == [(502, 3)]


async def test_being_suspended_meanwhile_is_told_once(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["suspended"])
    house.clock.ms += HOUR
    await played(house, 500, house.clock.ms - 5000, "W+Time", "time")
    await house.store.commit([r.SuspensionNow(NINE, 1, 3, 1, "lost on time", house.clock.ms - 5000)])
    for expected in ([("suspended", "lost on time")], []):
        async with process(house, tmp_path) as post:
            assert [(message["event"], message["reason"]) for message in post.net.messages] == expected


async def test_facts_that_were_lost_on_the_way_are_looked_up(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended"])
        house.clock.ms += 10_000
        await played(house, 500, house.clock.ms)
        await tell(post, None)
        await tell(
            post,
            None,
            GameEnded(venue="9x9", game=500, result="B+Resign", reason="resignation", at=house.clock.ms / 1000),
        )
        assert deliveries(post) == [("game-ended", 500)]


async def test_a_database_that_does_not_answer_is_asked_again(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVE_S", 0.01)
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended"])
    house.clock.ms += HOUR
    await played(house, 500, house.clock.ms - 1000)
    whole, faults = house.history.people.webhooks, 3

    async def webhooks(*args: Any, **named: Any) -> Any:
        nonlocal faults
        faults -= 1
        if faults >= 0:
            raise StoreError("it is locked")
        return await whole(*args, **named)

    monkeypatch.setattr(house.history.people, "webhooks", webhooks)
    async with process(house, tmp_path) as post:
        await settled(post)
        assert deliveries(post) == [("game-ended", 500)]


async def test_a_process_that_is_killed_has_written_down_what_it_told(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAVE_S", 0.01)
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended"])
        house.clock.ms += 1000
        await played(house, 500, house.clock.ms)
        await tell(
            post, GameEnded(venue="9x9", game=500, result="B+Resign", reason="resignation", at=house.clock.ms / 1000)
        )
        (message,) = post.net.messages
        for _ in range(1000):
            if (tmp_path / FILE).exists() and message["id"].encode() in (tmp_path / FILE).read_bytes():
                break
            await asyncio.sleep(0.01)
        killed = (tmp_path / FILE).read_bytes()
    (tmp_path / FILE).write_bytes(killed)
    async with process(house, tmp_path) as post:
        assert deliveries(post) == []


async def test_a_fault_of_ours_in_looking_back_keeps_no_page_from_coming_up(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["game-ended", "signed-in"])
    house.clock.ms += HOUR

    async def broken(*_: Any) -> Any:
        raise KeyError("what nobody thought of")

    monkeypatch.setattr(house.history.people, "bots_of", broken)
    async with process(house, tmp_path) as post:
        await tell(post, BotArrived("9x9", "Sakura-5k"))
        assert [message["event"] for message in post.net.messages] == ["signed-in"]


async def test_who_loses_facts_all_the_time_does_not_look_back_all_the_time(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks, whole = 0, house.history.people.bots_of

    async def bots_of(owner: int) -> Any:
        nonlocal looks
        looks += 1
        return await whole(owner)

    async with process(house, tmp_path) as post:
        await post.hook(["game-ended"])
        monkeypatch.setattr(house.history.people, "bots_of", bots_of)
        house.clock.ms += AGAIN_MS
        await played(house, 500, house.clock.ms)
        for _ in range(5):
            await tell(post, None)
        assert looks == 1
        assert deliveries(post) == [("game-ended", 500)]


async def test_a_change_of_strength_is_not_told_again_by_the_next_process(house: House, tmp_path: Path) -> None:
    async with process(house, tmp_path) as post:
        await post.hook(["strength-changed"])
        house.live.changes = [changed("Sakura-5k", at=house.clock.ms)]
        house.clock.ms += CHANGES_MS
        await tell(post, BotArrived("9x9", "amigo"))
        (message,) = post.net.messages
    async with process(house, tmp_path) as post:
        assert post.net.messages == []
    house.clock.ms += CATCH_UP_MS
    (tmp_path / FILE).unlink()  # what was told is forgotten, and too old to be told again
    async with process(house, tmp_path) as post:
        assert post.net.messages == []
    assert message["change"]["state"] == "flagged"
