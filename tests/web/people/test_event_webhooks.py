"""Owners are told what happens in events of their bots: as it happens, or later where nobody could be told."""

from __future__ import annotations

import pytest
from support.tournaments.held_events import HeldEvent
from support.web.past import BOTS, NINE
from web.people.test_webhooks import Post, post  # noqa: F401 - a fixture

from cgos_protocol.facts import EventMoved
from cgos_server.presentation.events.record import EventRecord
from cgos_server.storage.writing.records import EventLogged
from cgos_server.tournaments.base import BLACK_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.web.people import event_happenings

EVENTS = list(event_happenings.EVENTS)


def started(at: int) -> HeldEvent:
    """Sakura-5k, gnugo and Kogo in a dutch of three rounds: in the first one, one of them has a bye."""
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="dutch", rounds=2), at=at)
    held.start(BOTS[:3])
    return held


def moved(held: HeldEvent, kind: str) -> EventMoved:
    """The fact of the last entry of this kind."""
    entry = next(entry for entry in reversed(held.entries) if log.kind_of(entry.said) == kind)
    return EventMoved(venue="9x9", event="Open", seq=entry.seq, kind=kind, phase="running", round=1, at=entry.at / 1000)


def record_of(held: HeldEvent) -> EventRecord:
    record = EventRecord(1, held.entries[0])
    for entry in held.entries[1:]:
        record.add(entry)
    return record


async def test_a_start_a_round_and_the_end_are_told_to_the_owner(post: Post) -> None:  # noqa: F811
    await post.hook(EVENTS)
    held = started(post.house.clock.ms)
    known = len(held.entries)
    await post.house.store.commit(held.records(1, NINE, games=False))
    await post.tell(moved(held, "started"), moved(held, "paired"), moved(held, "closed"))
    start, first = post.net.messages
    assert (start["event"], start["version"], start["bot"]) == ("event-started", "Sakura-5k", "Sakura-5k")
    assert start["tournament"]["sentence"] == "It has started with 3 entrants."
    assert (first["event"], first["tournament"]["name"], first["tournament"]["round"]) == ("event-round", "Open", 1)
    assert first["opponent"] in BOTS
    held.play_round(lambda _: BLACK_WINS)
    held.play_round(lambda _: BLACK_WINS)
    more = [one for one in held.records(1, NINE) if isinstance(one, EventLogged) and one.seq > known]
    await post.house.store.commit(more)
    await post.tell(moved(held, "finished"))
    end = post.net.messages[-1]
    assert end["event"] == "event-ended"
    row = next(row for row in record_of(held).standings.rows if row.name == "Sakura-5k")
    assert end["place"] == row.place


async def test_what_nobody_was_told_is_looked_up_and_told_once(post: Post) -> None:  # noqa: F811
    await post.hook(EVENTS)
    await post.tell()
    held = started(post.house.clock.ms)
    await post.house.store.commit(held.records(1, NINE, games=False))
    await post.tell(moved(held, "started"))
    assert [each["event"] for each in post.net.messages] == ["event-started"]
    post.house.clock.ms += 20_000
    await post.tell(None)
    assert [each["event"] for each in post.net.messages] == ["event-started", "event-round"]
    post.house.clock.ms += 20_000
    await post.tell(None)
    assert len({each["id"] for each in post.net.messages}) == len(post.net.messages) == 2


async def test_whoever_wants_nothing_of_events_is_told_nothing(post: Post) -> None:  # noqa: F811
    await post.hook(["game-ended"])
    held = started(post.house.clock.ms)
    await post.house.store.commit(held.records(1, NINE, games=False))
    await post.tell(moved(held, "started"), moved(held, "paired"))
    assert post.net.messages == []


def test_further_games_of_a_round_are_no_new_round() -> None:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="cup"))
    held.start([f"Bot-{number}" for number in range(1, 9)])
    held.play_round(lambda _: BLACK_WINS)
    record = record_of(held)
    paired = [entry.seq for entry in held.entries if isinstance(entry.said, log.Paired)]
    told = [seq for seq in paired if event_happenings.of_entry(record, seq)]
    assert len(paired) > len(told) == len(held.state.event.rounds)


@pytest.mark.parametrize("seq", [0, 1, 99])
def test_other_entries_and_unknown_ones_mean_nothing(seq: int) -> None:
    assert event_happenings.of_entry(record_of(started(1)), seq) == []


def test_a_cancelled_event_is_over_for_those_who_have_entered() -> None:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="cup"))
    held.say(log.Opened())
    held.enter(1, name="Ann-1")
    held.say(log.Cancelled(reason="It rains."))
    (told,) = event_happenings.of_entry(record_of(held), len(held.entries))
    assert (told.event, told.version) == ("event-ended", "Ann-1")
    assert told.more["tournament"]["sentence"] == "It is cancelled. It rains."
