"""Events are announced with all that can be said of them, changed, opened, closed and cloned."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from support.service.acting import account, audits, behalf, bots, code
from support.service.event_desk import Desk

from cgos_protocol.errors import Refused
from cgos_server.service.admin import Admin
from cgos_server.service.commands.fields import parameters
from cgos_server.service.events.announcing import EventChange, EventClone, EventClose, EventCreate, EventOpen
from cgos_server.service.events.holding import EventCancel
from cgos_server.service.events.terms import SETTINGS
from cgos_server.tournaments.base import OptionValue
from cgos_server.tournaments.running.settings import EventSettings, Limits, Play, Times

HOUR = 3_600_000
CUSTOM: dict[str, OptionValue] = {"forfeit_counts_as_met": False, "forfeit_win_takes_bye": True}
"""What new events of MWM do about forfeits, as FIDE has it."""

NOW = 1_700_000_000_000
"""What the clock of these tests says, Unix milliseconds."""


def create(event: str = "Weekly", **said: Any) -> EventCreate:
    return EventCreate(event=event, system=said.pop("system", "mwm"), venue=said.pop("venue", "9x9"), **said)


def test_every_setting_of_an_event_can_be_said() -> None:
    parts = {"limits": Limits, "play": Play, "times": Times}
    own = set(EventSettings.__struct_fields__) - {"name", "venue", "system", "playoff_of", "series", *parts}
    assert set(SETTINGS) == own | {name for kind in parts.values() for name in kind.__struct_fields__}
    for command in (EventCreate, EventChange):
        assert set(SETTINGS) < {each.name for each in parameters(command)}


async def test_what_is_not_said_is_as_usual(admin: Admin, desk: Desk, store: Any) -> None:
    answer = await admin.handle(create())
    assert answer.sentence == (
        "Weekly is announced. Its games count for the ratings. Versions may enter once it is opened (cgos-server event "
        "open Weekly)."
    )
    assert desk.states["Weekly"].settings == EventSettings(name="Weekly", venue="9x9", system="mwm", options=CUSTOM)
    assert audits(store) == [("operator", "event create", "Weekly", {"rated": True, "system": "mwm", "venue": "9x9"})]


async def test_all_that_is_said_stands_in_the_settings(admin: Admin, desk: Desk) -> None:
    said: dict[str, Any] = {
        "about": "For all.",
        "rounds": 7,
        "options": {"order": "dutch"},
        "tie_breakers": ["points", "buchholz"],
        "bye_points": 1,
        "seed": 5,
        "entering": "operator",
        "apart": ["owner", "family"],
        "late": True,
        "rated": False,
        "ladder": False,
        "playoff": True,
        "most": 16,
        "per_owner": 2,
        "per_family": 3,
        "lowest": 1000.0,
        "highest": 2000.0,
        "komi": 6.5,
        "main_s": 60.0,
        "increment_s": 1.0,
        "openings": False,
        "first_moves": "e5, c3",
        "opens_at": NOW + 1,
        "closes_at": NOW + 2,
        "starts_at": NOW + 3,
        "starts_with": 8,
        "check_in_s": 60,
        "grace_s": 30,
        "every_days": 7,
    }
    assert set(said) == set(SETTINGS)
    await admin.handle(create(**said))
    settings = desk.states["Weekly"].settings
    flat = msgspec.structs.asdict(settings)
    for part in ("limits", "play", "times"):
        flat |= msgspec.structs.asdict(flat[part])
    expected = said | {
        "tie_breakers": ("points", "buchholz"),
        "apart": ("owner", "family"),
        "first_moves": ("E5", "C3"),
        "options": {**CUSTOM, "order": "dutch"},
    }
    assert {name: flat[name] for name in said} == expected


async def test_a_short_word_for_a_system_and_its_entrants(admin: Admin, desk: Desk) -> None:
    await bots(admin, "Anna", "Ben")
    desk.ratings = {1: 1500.0}
    await admin.handle(create(system="double-round-robin", enter=["Anna", "Ben", "Anna"]))
    seats = desk.states["Weekly"].seats
    assert [(seat.name, seat.rating) for seat in seats.values()] == [("Anna", 1500.0), ("Ben", None)]


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ({"system": "none"}, "tournament-system"),
        ({"options": {"speed": 3}}, "tournament-option"),
        ({"event": "two words"}, "event-name"),
        ({"komi": 6.5}, "event-setting"),  # and rated
        ({"rounds": 0}, "planned"),
        ({"most": 1}, "event-setting"),
        ({"apart": ["friends"]}, "event-setting"),
        ({"opens_at": NOW + 3, "starts_at": NOW + 2}, "event-setting"),
        ({"starts_with": 6, "most": 2}, "event-setting"),
        ({"increment_s": 3.0, "rated": False}, "event-setting"),  # and no main time
        ({"venue": "5x5"}, "unknown-venue"),
        ({"enter": ["Nobody"]}, "unknown-bot"),
    ],
)
async def test_what_makes_no_sense_is_refused_and_nothing_is_announced(
    admin: Admin, desk: Desk, store: Any, said: dict[str, Any], word: str
) -> None:
    with pytest.raises(Refused) as raised:
        await admin.handle(create(**said))
    assert raised.value.code == word
    assert desk.states == {}
    assert store.groups == []


async def test_a_name_is_taken_once(admin: Admin) -> None:
    await admin.handle(create())
    assert await code(admin.handle(create())) == "event-name-taken"


async def test_operators_alone_announce(admin: Admin, desk: Desk) -> None:
    anna = await account(admin)
    assert await code(behalf(admin, anna, create())) == "not-allowed"
    olga = await account(admin, "Olga", operator=True)
    await behalf(admin, olga, create())
    (_, actor, _), *_ = desk.said
    assert actor == "Olga"


async def test_it_is_changed_in_what_is_said(admin: Admin, desk: Desk, store: Any) -> None:
    await admin.handle(create(rounds=5, komi=6.5, rated=False, most=10))
    answer = await admin.handle(EventChange(event="Weekly", rounds=7, rated=True, usual=["komi"]))
    assert answer.sentence == (
        "Weekly is announced anew; what is otherwise: komi, rated, rounds. Its games count for the ratings."
    )
    settings = desk.states["Weekly"].settings
    assert (settings.rounds, settings.play, settings.limits.most, settings.rated) == (7, Play(), 10, True)
    assert audits(store)[-1][3] == {"changed": "komi, rated, rounds", "rated": True}


async def test_another_system_leaves_the_options_of_the_one_before(admin: Admin, desk: Desk) -> None:
    await admin.handle(create(options={"order": "dutch"}, rounds=5))
    await admin.handle(EventChange(event="Weekly", system="round-robin", options={"double": True}))
    settings = desk.states["Weekly"].settings
    assert (settings.system, settings.options, settings.rounds) == ("round-robin", {"double": True}, 5)


@pytest.mark.parametrize("system", ["dutch", "burstein", "monrad", "mwm"])
async def test_new_events_treat_forfeits_as_fide_does(admin: Admin, desk: Desk, system: str) -> None:
    await admin.handle(create(system=system, options={"forfeit_counts_as_met": True}))
    assert desk.states["Weekly"].settings.options == CUSTOM | {"forfeit_counts_as_met": True}
    await admin.handle(EventChange(event="Weekly", usual=["options"]))
    assert desk.states["Weekly"].settings.options == CUSTOM
    await admin.handle(EventChange(event="Weekly", system="tcec"))
    assert desk.states["Weekly"].settings.options == {}
    await admin.handle(EventChange(event="Weekly", system=system))
    assert desk.states["Weekly"].event.options.items() >= CUSTOM.items()


async def test_an_event_announced_before_keeps_its_rules_about_forfeits(admin: Admin, desk: Desk) -> None:
    desk.announce(EventSettings(name="Weekly", venue="9x9", system="dutch"), "operator")
    await admin.handle(EventChange(event="Weekly", rounds=7))
    await admin.handle(EventClone(event="Weekly", name="Later"))
    for name in ("Weekly", "Later"):
        assert desk.states[name].event.options == {"order": "dutch"}


async def test_a_setting_that_there_is_not_cannot_be_as_usual(admin: Admin) -> None:
    await admin.handle(create())
    with pytest.raises(Refused, match=r"There is no setting 'venue'\. They are: about, .*grace-s"):
        await admin.handle(EventChange(event="Weekly", usual=["venue"]))


async def test_entry_opens_closes_and_opens_again(admin: Admin, desk: Desk) -> None:
    await bots(admin, "Anna")
    desk.ratings = {1: 1500.0}
    await admin.handle(create(enter=["Anna"]))
    answer = await admin.handle(EventOpen(event="Weekly"))
    assert answer.sentence == "Versions may enter Weekly. Its games count for the ratings."
    desk.ratings = {1: 1600.0}
    answer = await admin.handle(EventClose(event="Weekly"))
    assert answer.sentence == "Entry to Weekly is closed; 1 are in."
    assert desk.states["Weekly"].seats[1].rating == 1600.0
    assert await code(admin.handle(EventClose(event="Weekly"))) == "event-phase"
    await admin.handle(EventOpen(event="Weekly"))
    assert desk.states["Weekly"].phase == "entry"


@pytest.mark.parametrize("command", [EventOpen, EventClose, EventChange])
async def test_of_no_event_nothing_can_be_done(admin: Admin, command: Any) -> None:
    assert await code(admin.handle(command(event="Nothing"))) == "no-event"


async def test_it_is_held_once_more_though_it_is_over(admin: Admin, desk: Desk, store: Any) -> None:
    await admin.handle(create(opens_at=NOW + 10 * HOUR, starts_at=NOW + 12 * HOUR, check_in_s=600, most=8))
    await admin.handle(EventCancel(event="Weekly", reason="Rain."))
    answer = await admin.handle(EventClone(event="Weekly", name="Later", starts_at=NOW + 20 * HOUR))
    assert answer.sentence.startswith("Later is announced as Weekly was. Its games count for the ratings. Entry opens")
    settings = desk.states["Later"].settings
    times = settings.times
    assert (times.opens_at, times.starts_at, settings.limits.most) == (NOW + 18 * HOUR, NOW + 20 * HOUR, 8)
    await admin.handle(EventClone(event="Weekly", name="Open"))
    assert desk.states["Open"].settings.times == Times()
    assert audits(store)[-1] == ("operator", "event clone", "Open", {"of": "Weekly", "rated": True})
    assert await code(admin.handle(EventClone(event="Nothing", name="X"))) == "no-event"
    assert await code(admin.handle(EventClone(event="Weekly", name="Later"))) == "event-name-taken"


async def test_no_event_starts_in_the_past(admin: Admin, desk: Desk) -> None:
    await admin.handle(create("Now", starts_at=NOW - 1_000))  # "now" takes its time to come here
    past = NOW - 2 * HOUR
    for command in (
        create(starts_at=past),
        EventChange(event="Now", starts_at=past),
        EventClone(event="Now", name="Later", starts_at=past),
    ):
        with pytest.raises(Refused, match=r"cannot start on 2023-11-14 20:13 UTC, which is past\. Give a time to come"):
            await admin.handle(command)
    assert set(desk.states) == {"Now"}
    assert desk.states["Now"].settings.times.starts_at == NOW - 1_000
