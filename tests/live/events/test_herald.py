"""Bots enter events by themselves, and hear what happens in them."""

from __future__ import annotations

from typing import Any

import pytest
from support.live.heralded import Heralded, news_told
from support.live.house import S

from cgos_protocol.errors import StoreError
from cgos_protocol.event_news import EventWhat, EventWish, Occasion
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import Limits, Times
from cgos_server.tournaments.running.state import Phase

HOUR = 3_600_000


async def test_bots_enter_play_and_hear_their_places() -> None:
    room = await Heralded.open("anna", "bert")
    await room.hold(start=False)
    for name in ("anna", "bert"):
        await room.wish(name)
    assert [seat.name for seat in room.state().there] == ["anna", "bert"]
    assert room.log(room.director.runner("E").id)[-1].actor == "bot bert"
    await room.start()
    (game,) = room.running
    assert game.setup().occasion == Occasion("E", 1)
    setups = [entry for entry in room.house.sessions["anna"].entries if entry[0] == "setup"]
    assert setups[0][3].occasion == Occasion("E", 1)
    await room.play_on()
    assert room.words("anna") == ["entered", "started", "paired", "ended"]
    paired, ended = room.news("bert")[2:]
    assert (paired.round, paired.opponent) == (1, "anna")
    assert (ended.place, ended.entrants) == (2, 2)


async def test_a_bot_enters_as_itself() -> None:
    room = await Heralded.open("anna", "bert", "carl")
    room.owners = {"anna": 7, "bert": 7}
    await room.hold(start=False, limits=Limits(per_owner=1))
    await room.wish("anna")
    await room.wish("bert")
    code, sentence = room.refusal("bert")
    assert code == "event-limit"
    assert sentence.startswith("bert cannot enter: E takes 1 version of one owner, and anna entered.")
    await room.wish("carl")
    assert [(seat.name, seat.owner) for seat in room.state().there] == [("anna", 7), ("carl", None)]


async def test_entering_again_is_answered_and_changes_nothing() -> None:
    room = await Heralded.open("anna")
    await room.hold(start=False)
    seat = room.house.sessions["anna"].seat
    assert seat is not None
    for _ in range(3):
        seat.event(EventWish.ENTER, "E")
    await room.house.settle()
    assert [one.name for one in room.state().there] == ["anna"]
    seq = room.state().seq
    await room.wish("anna")
    assert room.state().seq == seq
    assert set(room.words("anna")) == {"entered"}


@pytest.mark.parametrize(
    ("settings", "code"),
    [({"entering": "operator"}, "event-closed"), ({"limits": Limits(lowest=100.0)}, "event-limit")],
)
async def test_what_an_event_does_not_allow_is_refused_with_a_sentence(settings: dict[str, Any], code: str) -> None:
    room = await Heralded.open("anna")
    await room.hold(start=False, **settings)
    await room.wish("anna")
    assert room.refusal("anna")[0] == code
    await room.wish("anna", event="F")
    assert room.refusal("anna") == ("no-event", "There is no event F that is coming or on.")
    for wish in (EventWish.WITHDRAW, EventWish.CHECK_IN):
        await room.wish("anna", wish)
        assert room.refusal("anna")[0] == "no-entrant"


async def test_nobody_is_told_before_the_commit() -> None:
    room = await Heralded.open("anna")
    await room.hold(start=False)
    room.house.store.holding = True
    await room.wish("anna")
    await room.wish("anna")
    assert room.news("anna") == []
    room.house.store.release()
    await room.house.settle()
    assert [news.what for news in news_told(room.house.sessions["anna"])] == [EventWhat.ENTERED]


async def test_a_database_that_does_not_answer_loses_nobody() -> None:
    room = await Heralded.open("anna")
    await room.hold(start=False)
    store: Any = room.house.store
    owner_of = store.people_owner_of

    async def gone(name: str) -> int | None:
        raise StoreError(name)

    store.people_owner_of = gone
    await room.wish("anna")
    assert room.refusal("anna")[0] == "store"
    store.people_owner_of = owner_of
    await room.wish("anna")
    assert room.words("anna") == ["entered"]


async def test_check_in_is_asked_for_when_it_begins_and_after_each_sign_in() -> None:
    room = await Heralded.open("anna", "bert")
    starts_at = room.house.time.wall_ms() + HOUR
    times = Times(starts_at=starts_at, check_in_s=600)
    await room.hold(start=False, times=times)
    for name in ("anna", "bert"):
        await room.wish(name)
    room.herald.look()
    await room.wish("anna", EventWish.CHECK_IN)
    assert room.refusal("anna")[0] == "event-phase"
    room.house.time.advance(50 * 60 * S)
    for _ in range(2):
        room.herald.look()
    assert room.words("anna") == ["entered", "check_in"]
    assert room.news("anna")[-1].until_ms == starts_at
    for _ in range(2):
        await room.wish("anna", EventWish.CHECK_IN)
    assert room.words("anna") == ["entered", "check_in", "checked_in", "checked_in"]
    room.leave("bert")
    again = await room.house.check_in("bert")
    assert [news.what.value for news in news_told(again)] == ["entered", "check_in"]
    await room.house.check_in("carl")
    await room.wish("carl")
    assert room.words("carl") == ["entered", "check_in"], "it is asked though the others were asked before"
    await room.wish("carl", EventWish.CHECK_IN)
    await room.look(10 * 60)
    assert room.state().phase is Phase.RUNNING
    assert room.words("anna")[-2:] == ["started", "paired"]
    assert room.words("bert")[-1] == "left_out"


async def test_bots_on_the_lines_count_as_checked_in_where_they_are_signed_in() -> None:
    room = await Heralded.open("anna")
    for name in ("dora", "emil", "fred"):
        await room.house.sign_in(name)
    starts_at = room.house.time.wall_ms() + HOUR
    await room.hold("anna", "dora", "emil", "fred", start=False, times=Times(starts_at=starts_at, check_in_s=600))
    room.leave("emil")
    room.leave("fred")
    room.herald.look()
    assert not any(seat.checked_in for seat in room.state().seats.values()), "the check-in has not begun"
    room.house.time.advance(50 * 60 * S)
    for _ in range(3):
        room.herald.look()
    assert room.words("dora") == ["entered", "checked_in"]
    assert room.news("dora")[-1].text == "You count as checked in to E: you are signed in."
    assert room.words("anna") == ["entered", "check_in"], "who can say so is asked"
    emil = await room.house.sign_in("emil")
    assert [news.what.value for news in news_told(emil)] == ["entered"]
    room.herald.look()
    assert [news.what.value for news in news_told(emil)] == ["entered", "checked_in"]
    checked = [line for line in room.log(room.director.runner("E").id) if '"checked-in"' in line.body]
    assert [(line.actor, log.decode(line.body)) for line in checked] == [
        ("server", log.CheckedIn(entrant=room.seat(name), signed_in=True)) for name in ("dora", "emil")
    ]
    room.leave("dora")
    await room.look(10 * 60)
    assert room.state().phase is Phase.RUNNING
    assert [seat.name for seat in room.state().there] == ["dora", "emil"], "fred was not there, anna did not say so"


async def test_the_name_of_a_series_means_the_latest_event_of_it() -> None:
    room = await Heralded.open("anna", "bert", "carl")
    starts_at = room.house.time.wall_ms() + HOUR
    await room.hold(start=False, name="Weekly", times=Times(starts_at=starts_at, every_days=7))
    for name in ("anna", "bert"):
        await room.wish(name, event="Weekly")
    await room.start("Weekly")
    assert room.words("anna")[-2:] == ["followed", "paired"]
    followed = room.news("anna")[-2]
    assert (followed.event, followed.series, followed.next) == ("Weekly", "Weekly", "Weekly-2")
    for name in ("anna", "carl"):
        await room.wish(name, event="Weekly")
    assert [seat.name for seat in room.state("Weekly-2").there] == ["anna", "carl"]
    assert [(news.event, news.series) for news in room.news("carl")] == [("Weekly-2", "Weekly")]
    await room.wish("bert", EventWish.WITHDRAW, "Weekly")
    assert [seat.name for seat in room.state("Weekly").there] == ["anna"], "the one that it is in"
    await room.wish("anna", EventWish.WITHDRAW, "Weekly")
    assert [seat.name for seat in room.state("Weekly-2").there] == ["carl"], "of two that it is in the latest"
    await room.wish("carl", event="Weekly-2")
    assert room.words("carl") == ["entered", "entered"], "each has its own name too"
    room.say(log.Cancelled(reason="Holidays."), "Weekly-2")
    await room.look()
    assert room.words("carl")[-2:] == ["cancelled", "followed"]
    await room.restart()
    await room.take_up()
    await room.house.check_in("carl")
    await room.wish("carl", event="Weekly")
    assert room.refusal("carl") == ("event-closed", "carl cannot enter: Entry to Weekly-3 has not opened yet.")
    room.say(log.Opened(), "Weekly-3")
    await room.wish("carl", event="Weekly")
    assert [seat.name for seat in room.state("Weekly-3").there] == ["carl"]


async def withdrawn_from(room: Heralded, name: str, by: log.Party) -> None:
    """An event with three bots has started, and `name` is out of it."""
    await room.hold("anna", "bert", "carl")
    if by == "bot":
        await room.wish(name, EventWish.WITHDRAW)
    else:
        room.say(log.Withdrawn(entrant=room.seat(name), by=by))
    await room.look()
    assert len(room.state().there) == 2


async def test_who_withdrew_before_the_start_enters_again() -> None:
    room = await Heralded.open("carl")
    await room.hold(start=False)
    for wish in (EventWish.ENTER, EventWish.WITHDRAW, EventWish.ENTER):
        await room.wish("carl", wish)
    assert room.words("carl") == ["entered", "withdrawn", "entered"]
    assert room.news("carl")[1].text == "You have withdrawn from E."


@pytest.mark.parametrize("by", ["bot", "server"])
async def test_who_withdrew_by_itself_comes_back_by_entering_again(by: log.Party) -> None:
    room = await Heralded.open("anna", "bert", "carl")
    await withdrawn_from(room, "carl", by)
    await room.wish("carl")
    assert room.words("carl")[-1] == "rejoined"
    assert room.log(room.director.runner("E").id)[-1].actor == "bot carl"
    assert len(room.state().there) == 3
    seq = room.state().seq
    await room.wish("carl")
    assert room.state().seq == seq
    assert room.words("carl")[-1] == "entered"


async def test_who_comes_back_hears_so_when_it_is_committed() -> None:
    room = await Heralded.open("anna", "bert", "carl")
    await withdrawn_from(room, "carl", "bot")
    room.house.store.holding = True
    before = room.words("carl")
    for _ in range(2):
        await room.wish("carl")
    assert room.words("carl") == before
    room.house.store.release()
    await room.house.settle()
    assert room.words("carl") == [*before, "rejoined"]


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("owner", "Its owner withdrew carl from E, and alone can let it come back."),
        ("operator", "The operator withdrew carl from E, and alone can let it come back."),
    ],
)
async def test_whom_others_withdrew_stays_out(by: log.Party, sentence: str) -> None:
    room = await Heralded.open("anna", "bert", "carl")
    await withdrawn_from(room, "carl", by)
    await room.wish("carl")
    assert room.refusal("carl") == ("entered", sentence)
    assert [seat.name for seat in room.state().there] == ["anna", "bert"]


async def test_who_was_not_there_at_the_start_comes_late_where_the_event_takes_latecomers() -> None:
    times = Times(starts_at=60_000, check_in_s=600)
    for late in (False, True):
        room = await Heralded.open("anna", "bert", "carl")
        await room.hold("anna", "bert", "carl", start=False, times=times, late=late, system="swiss", rounds=3)
        for name in ("anna", "bert"):
            await room.wish(name, EventWish.CHECK_IN)
        await room.start()
        await room.wish("carl")
        if late:
            assert room.words("carl")[-1] == "rejoined"
            assert len(room.state().there) == 3
        else:
            code, sentence = room.refusal("carl")
            assert code == "event-closed"
            assert sentence == "carl was not in E when it started: E has started, and takes nobody late."


async def test_a_bot_hears_of_the_events_of_its_venues_where_it_signed_in() -> None:
    room = await Heralded.open(beside=True)
    first, second = room.houses
    await room.hold(start=False, venue="sandbox", rated=False)
    await first.check_in("anna")
    await room.wish("anna")
    code, sentence = room.refusal("anna")
    assert code == "no-event"
    assert sentence == "E is held in sandbox, where you are not signed in. Sign in there, too."
    room.leave("anna")
    await first.check_in("anna", 1, None, (), second)
    await room.wish("anna")
    assert [news.what.value for news in news_told(second.sessions["anna"])] == ["entered"]
    assert news_told(first.sessions["anna"]) == []


async def test_line_bots_are_told_by_the_same_news() -> None:
    room = await Heralded.open("anna")
    await room.house.sign_in("dora")
    await room.hold("anna", "dora")
    assert [news.what.value for news in news_told(room.house.sessions["dora"])] == ["entered", "started", "paired"]


async def test_after_a_restart_bots_hear_where_they_stand() -> None:
    room = await Heralded.open("anna", "bert")
    await room.hold(start=False)
    for name in ("anna", "bert"):
        await room.wish(name)
    await room.restart()
    await room.take_up()
    session = await room.house.check_in("anna")
    assert [news.what.value for news in news_told(session)] == ["entered"]
    await room.wish("anna")
    assert [news.what.value for news in news_told(session)] == ["entered", "entered"]
    assert len(room.state().there) == 2


async def test_the_places_of_a_large_field_are_told_too() -> None:
    room = await Heralded.open()
    names = [f"bot{number}" for number in range(14)]
    for name in names:
        await room.house.check_in(name)
    await room.hold(*names, rounds=1, system="swiss")
    await room.play_on()
    await room.house.settle()
    assert sorted(room.news(name)[-1].place for name in names)[0] == 1
    assert all(room.words(name)[-1] == "ended" for name in names)


async def test_a_large_field_is_told_in_slices() -> None:
    room = await Heralded.open()
    await room.hold(start=False)
    names = [f"bot{number}" for number in range(100)]
    for name in names:
        await room.house.check_in(name)
        room.enter(name)
    before = {name: len(room.words(name)) for name in names}
    room.say(log.Cancelled(reason="Too many."))
    at_once = [name for name in names if len(room.words(name)) > before[name]]
    assert 0 < len(at_once) < 100
    for _ in range(10):
        room.house.time.advance(0)
    assert all(room.words(name)[-1] == "cancelled" for name in names)
