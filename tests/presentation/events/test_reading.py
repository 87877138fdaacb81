"""Events are read once, and from where they were left."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent
from support.web.past import BOTS, NINE, Builder

from cgos_protocol.errors import Refused
from cgos_protocol.ids import EventId
from cgos_server.presentation.events import answers, reading
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import EventLogged
from cgos_server.tournaments.base import BLACK_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    put(path, Builder(with_event=False).build())
    return path


def held_event(name: str = "Open") -> HeldEvent:
    held = HeldEvent(EventSettings(name=name, venue="9x9", system="dutch", rounds=2), first_game=1)
    held.start(BOTS[:4])
    return held


async def test_an_event_is_read_from_the_database(place: Path) -> None:
    held = held_event()
    held.play_round(lambda _: BLACK_WINS)
    put(place, held.records(1, NINE))
    async with History(place) as history:
        record = await ReadEvents(history).named("Open")
        assert record.state == held.state
        assert record.bots[held.state.seats[1].bot] == (BOTS[0], None)


async def test_only_what_is_new_is_read_again(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = held_event()
    put(place, held.records(1, NINE))
    known = len(held.entries)
    async with History(place) as history:
        events = ReadEvents(history)
        before = await events.named("Open")
        seen: list[int] = []
        ask = history.events.log

        async def noting(event: EventId, since: int, most: int) -> object:
            seen.append(since)
            return await ask(event, since, most)

        monkeypatch.setattr(history.events, "log", noting)
        assert await events.named("Open") is before
        held.play_round(lambda _: BLACK_WINS)
        put(
            place,
            [record for record in held.records(1, NINE) if isinstance(record, EventLogged) and record.seq > known],
        )
        again = await events.named("Open")
        assert again.state == held.state
        assert seen == [known]


async def test_a_long_log_is_read_in_portions(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "AT_ONCE", 3)
    held = held_event()
    held.play_out()
    put(place, held.records(1, NINE, games=False))
    async with History(place) as history:
        record = await ReadEvents(history).named("Open")
        assert record.state == held.state
        assert [entry.seq for entry in record.entries] == [entry.seq for entry in held.entries]


async def test_what_is_made_of_a_large_event_is_made_in_another_thread(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = held_event()
    put(place, held.records(1, NINE))
    async with History(place) as history:
        events = ReadEvents(history)
        names = [await events.made_of("Open", _thread)]
        monkeypatch.setattr(reading, "MANY", 3)
        names.append(await events.made_of("Open", _thread))
        assert names[0] == threading.current_thread().name != names[1]
        assert await events.made_of("Open", answers.standings) == answers.standings(await events.named("Open"))


def _thread(_: object) -> str:
    return threading.current_thread().name


async def test_a_list_says_of_each_event_how_far_it_is(place: Path) -> None:
    first, second = held_event("First"), held_event("Second")
    first.play_out()
    put(place, [*first.records(1, NINE, games=False), *second.records(2, NINE, games=False)])
    async with History(place) as history:
        events = ReadEvents(history)
        lines = await events.summaries(await history.events.all())
        assert [(line.name, line.phase) for line in lines] == [("Second", "running"), ("First", "over")]
        assert await events.summaries(await history.events.all()) == lines


async def test_what_lists_say_is_read_before_anybody_asks(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = held_event()
    put(place, held.records(1, NINE))
    async with History(place) as history:
        events = ReadEvents(history)
        await events.read_ahead()
        rows = await history.events.all()
        monkeypatch.setattr(history.events, "log", None)
        assert [line.name for line in await events.summaries(rows)] == ["Open"]


async def test_a_database_that_is_away_is_no_fault(tmp_path: Path) -> None:
    async with History(tmp_path / "cgos.sqlite") as history:
        await ReadEvents(history).read_ahead()


async def test_what_is_kept_is_bounded(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_ENTRIES", 15)
    monkeypatch.setattr(reading, "MOST_SUMMARIES", 1)
    events_held = [held_event(f"E{number}") for number in range(3)]
    put(place, [record for number, held in enumerate(events_held, 1) for record in held.records(number, NINE)])
    async with History(place) as history:
        events = ReadEvents(history)
        lines = await events.summaries(await history.events.all())
        assert [line.name for line in lines] == ["E2", "E1", "E0"]
        assert len(events._records) == 1
        assert len(events._summaries) == 1
        assert (await events.named("E1")).state == events_held[1].state


async def test_an_event_whose_log_makes_no_sense_is_left_out_of_lists(place: Path) -> None:
    held = held_event("Good")
    bad = held_event("Bad").records(2, NINE)
    broken = EventLogged(event_id=EventId(2), seq=99, at=1, actor="x", kind="resumed", body=log.encode(log.Resumed()))
    put(place, [*held.records(1, NINE), *bad, broken])
    async with History(place) as history:
        lines = await ReadEvents(history).summaries(await history.events.all())
        assert [line.name for line in lines] == ["Good"]


async def test_an_event_that_there_is_not_is_refused(place: Path) -> None:
    async with History(place) as history:
        with pytest.raises(Refused, match="There is no event Nobody"):
            await ReadEvents(history).named("Nobody")
