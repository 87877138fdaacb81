"""Forecasts for pages and the API: made once for everybody, in a process of its own, and kept for a while."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import cast

import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import START_MS, HeldEvent
from support.web.past import BOTS, NINE, Builder

from cgos_protocol.errors import Refused
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.events.rehearsing import Wishes, rehearse
from cgos_server.presentation.settings import WebSettings
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.forecast import Lengths, Rehearsal
from cgos_server.tournaments.running.settings import EventSettings, empty_event
from cgos_server.web import rehearsals
from cgos_server.web.events import schedule
from cgos_server.web.rehearsal_child import rehearsed
from cgos_server.web.rehearsals import Rehearsals, Rehearsed, Task, in_child
from cgos_server.web.site import Site

SETTINGS = EventSettings(name="Open", venue="9x9", system="swiss", rounds=2)
FOUR = Wishes(entrants=4)


class House:
    """A database with one announced event, and a count of what is computed."""

    def __init__(self, path: Path) -> None:
        schema.prepare(path)
        put(path, Builder().build())
        self.held = HeldEvent(SETTINGS)
        put(path, self.held.records(1, NINE))
        self.history = History(path)
        self.now = START_MS
        self.site = cast("Site", self)
        self.computed = 0
        self.rehearsals = Rehearsals(
            self.history, ReadEvents(self.history), WebSettings(), lambda: self.now, self.compute
        )

    async def compute(self, task: Task) -> Rehearsed:
        self.computed += 1
        await asyncio.sleep(0)
        return Rehearsed(ahead=rehearse(task.rehearsal, 0.01))


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "cgos.sqlite")


async def test_everybody_gets_the_same_forecast_until_it_is_old(house: House) -> None:
    async with house.history:
        first, second = await asyncio.gather(*(house.rehearsals.ahead("Open", FOUR) for _ in range(2)))
        assert first is second
        assert await house.rehearsals.ahead("Open", FOUR) is first
        assert house.computed == 1
        house.now += rehearsals.FRESH_MS
        assert await house.rehearsals.ahead("Open", FOUR) is not first
        await house.rehearsals.ahead("Open", Wishes(entrants=6))
        assert house.computed == 3


async def test_an_event_that_moved_is_rehearsed_again(house: House, tmp_path: Path) -> None:
    async with house.history:
        await house.rehearsals.ahead("Open", FOUR)
        known = len(house.held.records(1, NINE))
        house.held.say(log.Opened())
        put(tmp_path / "cgos.sqlite", house.held.records(1, NINE)[known:])
        await house.rehearsals.ahead("Open", FOUR)
        assert house.computed == 2


async def test_too_many_are_sent_away(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rehearsals, "MOST_WAITING", 1)
    async with house.history:
        answers = await asyncio.gather(
            *(house.rehearsals.ahead("Open", Wishes(entrants=number)) for number in (4, 5, 6)), return_exceptions=True
        )
        refusals = [answer.sentence for answer in answers if isinstance(answer, Refused)]
        assert refusals
        assert all("rehearsed just now" in sentence for sentence in refusals)
        await house.rehearsals.ahead("Open", FOUR)


async def test_what_takes_too_long_is_left_to_the_command(house: House) -> None:
    async def late(_task: Task) -> Rehearsed:
        raise TimeoutError

    slow = Rehearsals(house.history, ReadEvents(house.history), WebSettings(), lambda: house.now, late)
    async with house.history:
        with pytest.raises(Refused, match="cgos-server event rehearse Open"):
            await slow.ahead("Open", FOUR)


async def test_an_event_that_cannot_be_rehearsed_is_not_tried_again_at_once(house: House) -> None:
    async with house.history, asyncio.timeout(20):
        record = await ReadEvents(house.history).named("Open")
        assert house.rehearsals.latest(record) is None
        await house.rehearsals.make_next()  # nobody has entered it
        assert house.rehearsals.latest(record) is None
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await house.rehearsals.make_next()
        assert house.computed == 0


async def test_a_page_has_the_last_forecast_at_once(house: House, tmp_path: Path) -> None:
    known = len(house.held.records(1, NINE))
    house.held.start(BOTS[:4])
    put(tmp_path / "cgos.sqlite", house.held.records(1, NINE, games=False)[known:])
    async with house.history:
        record = await ReadEvents(house.history).named("Open")
        assert [stage.what for stage in schedule.of(house.site, record)] == ["Start", "Round 1"]
        await house.rehearsals.make_next()
        stages = schedule.of(house.site, record)
        assert [stage.what for stage in stages] == ["Start", "Round 1", "Round 2", "End"]
        assert [(stage.ahead, stage.estimated) for stage in stages] == [
            (False, False),
            (False, True),
            (True, True),
            (True, True),
        ]
        times = [stage.begins for stage in stages if stage.begins is not None]
        assert times == sorted(times)
        assert house.computed == 1


async def test_the_child_says_the_same(house: House) -> None:
    tasks: list[Task] = []

    async def noted(task: Task) -> Rehearsed:
        tasks.append(task)
        return await in_child(task)

    apart = Rehearsals(house.history, ReadEvents(house.history), WebSettings(), lambda: house.now, noted)
    async with house.history:
        ahead = await apart.ahead("Open", FOUR)
        here = rehearsed(tasks[0]).ahead
        assert here is not None
        if ahead.replicates == here.replicates:
            assert ahead.duration_s.median == here.duration.median
        assert ahead.games.median == 4


def test_a_refusal_in_the_child_comes_back_as_one() -> None:
    nobody = Rehearsal(event=empty_event(SETTINGS), lengths=Lengths(1.0, 0.0))
    answer = rehearsed(Task(rehearsal=nobody, seconds=1.0))
    assert answer.ahead is None
    assert answer.code == "TOO_FEW_ENTRANTS"
