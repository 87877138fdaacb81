"""Versions come into events and leave them: by whose right, within which limits, and what the log and the audit say."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.service.acting import account, audits, behalf, bots, code, token
from support.service.event_desk import Desk

from cgos_protocol.errors import Refused
from cgos_server.service.admin import Admin
from cgos_server.service.commands.ownership import BotClaim
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import (
    EventBye,
    EventCancelBye,
    EventCheckIn,
    EventEnter,
    EventRejoin,
    EventStrike,
    EventWithdraw,
)
from cgos_server.service.events.holding import EventCancel, EventStart
from cgos_server.tournaments.running.state import Phase

CUP = "Cup"


def enter(version: str, event: str = CUP) -> EventEnter:
    return EventEnter(event=event, version=version)


def withdraw(version: str, reason: str = "") -> EventWithdraw:
    return EventWithdraw(event=CUP, version=version, reason=reason)


async def announce(admin: Admin, *, opened: bool = True, **said: Any) -> None:
    await admin.handle(EventCreate(event=CUP, system=said.pop("system", "mwm"), venue="9x9", **said))
    if opened:
        await admin.handle(EventOpen(event=CUP))


async def owner_of(admin: Admin, owner: str, *names: str) -> str:
    """A session of an account that owns these bots."""
    session = await account(admin, owner)
    await bots(admin, *names)
    for name in names:
        await behalf(admin, session, BotClaim(bot=name, secret="playing"))
    return session


def entered(desk: Desk) -> list[str]:
    return [seat.name for seat in desk.states[CUP].there]


async def test_an_owner_enters_its_own_version_and_no_other(admin: Admin, desk: Desk, store: Any) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await owner_of(admin, "Ben", "Two")
    desk.ratings = {1: 1700.0}
    await announce(admin)
    answer = await behalf(admin, anna, enter("One"))
    assert answer.sentence == "One has entered Cup."
    (seat,) = desk.states[CUP].seats.values()
    assert (seat.name, seat.owner, seat.rating, seat.family) == ("One", 1, 1700.0, 1)
    assert desk.said[-1][:2] == (CUP, "Anna")
    actor, action, subject, detail = audits(store)[-1]
    assert actor.startswith("Anna (")
    assert (action, subject, detail) == ("event enter", "One", {"event": "Cup"})
    assert await code(behalf(admin, anna, enter("Two"))) == "not-allowed"
    assert await code(behalf(admin, anna, enter("One"))) == "entered"


async def test_a_token_enters_too_where_it_was_made_for_that(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await announce(admin)
    made = await token(admin, anna, "bots")
    await behalf(admin, made.token, enter("One"))
    assert entered(desk) == ["One"]


async def test_a_second_entry_of_one_owner_is_refused_where_that_is_a_limit(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    await announce(admin, per_owner=1)
    await behalf(admin, anna, enter("One"))
    with pytest.raises(Refused, match=r"^Two cannot enter: Cup takes 1 version of one owner, and One entered\."):
        await behalf(admin, anna, enter("Two"))
    await behalf(admin, anna, withdraw("One"))
    await behalf(admin, anna, enter("Two"))
    await admin.handle(enter("One"))  # who holds the event enters whom he wants
    assert entered(desk) == ["Two", "One"]


async def test_an_operator_enters_any_version_before_entry_opens(admin: Admin, desk: Desk) -> None:
    olga = await account(admin, "Olga", operator=True)
    anna = await owner_of(admin, "Anna", "One")
    await announce(admin, opened=False, entering="operator")
    assert await code(behalf(admin, anna, enter("One"))) == "event-closed"
    await behalf(admin, olga, enter("One"))
    assert entered(desk) == ["One"]


async def test_an_operators_token_for_bots_alone_is_an_owners(admin: Admin) -> None:
    olga = await account(admin, "Olga", operator=True)
    await bots(admin, "One")
    await behalf(admin, olga, BotClaim(bot="One", secret="playing"))
    await announce(admin, lowest=2000.0)
    made = await token(admin, olga, "bots")
    assert await code(behalf(admin, made.token, enter("One"))) == "event-limit"


async def test_who_comes_too_late_for_a_place_waits(admin: Admin, desk: Desk) -> None:
    await bots(admin, "One", "Two", "Three")
    await announce(admin, most=2)
    for name in ("One", "Two"):
        await admin.handle(enter(name))
    answer = await admin.handle(enter("Three"))
    assert answer.sentence == "Three has entered Cup. It waits for a place."
    assert [seat.name for seat in desk.states[CUP].waiting] == ["Three"]


async def test_two_that_enter_at_once_are_both_in_and_one_that_enters_twice_once(admin: Admin, desk: Desk) -> None:
    await bots(admin, "One", "Two")
    await announce(admin)
    await asyncio.gather(admin.handle(enter("One")), admin.handle(enter("Two")))
    assert sorted(entered(desk)) == ["One", "Two"]
    assert sorted(desk.states[CUP].seats) == [1, 2]
    await admin.handle(withdraw("One", "Again."))
    answers = await asyncio.gather(*(admin.handle(enter("One")) for _ in range(3)), return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, Refused)]
    assert [each.code for each in refused] == ["entered", "entered"]
    assert sorted(entered(desk)) == ["One", "Two"]


async def test_two_of_one_owner_that_enter_at_once_keep_the_limit(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    await announce(admin, per_owner=1)
    work = (behalf(admin, anna, enter(name)) for name in ("One", "Two"))
    answers = await asyncio.gather(*work, return_exceptions=True)
    assert sum(isinstance(answer, Refused) for answer in answers) == 1
    assert len(entered(desk)) == 1


@pytest.mark.parametrize("command", [EventCheckIn, EventWithdraw, EventRejoin, EventBye, EventCancelBye, EventStrike])
async def test_names_that_are_not_known(admin: Admin, command: Any) -> None:
    await bots(admin, "One")
    await announce(admin)
    more = {"reason": "Gone."} if command in (EventWithdraw, EventCancelBye, EventStrike) else {}
    assert await code(admin.handle(command(event=CUP, version="One", **more))) == "no-entrant"
    assert await code(admin.handle(command(event=CUP, version="Nobody", **more))) == "unknown-bot"
    assert await code(admin.handle(command(event="Nothing", version="One", **more))) == "no-event"
    assert await code(admin.handle(enter("One", "Nothing"))) == "no-event"
    assert await code(admin.handle(enter("Nobody"))) == "unknown-bot"


async def test_an_operator_says_why_a_version_plays_no_more(admin: Admin, desk: Desk, store: Any) -> None:
    anna = await owner_of(admin, "Anna", "One", "Two")
    await announce(admin, enter=["One", "Two"])
    assert await code(admin.handle(withdraw("One"))) == "reason"
    await admin.handle(withdraw("One", "It crashes."))
    assert audits(store)[-1][3] == {"event": "Cup", "reason": "It crashes."}
    answer = await behalf(admin, anna, withdraw("Two"))
    assert answer.sentence == "Two has withdrawn from Cup."
    assert entered(desk) == []


async def test_from_the_start_on_one_withdraws_sits_out_and_comes_back(admin: Admin, desk: Desk, store: Any) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await bots(admin, "Two", "Three")
    await announce(admin, enter=["One", "Two", "Three"])
    await admin.handle(EventStart(event=CUP))
    answer = await behalf(admin, anna, EventBye(event=CUP, version="One", points="1/2"))
    assert answer.sentence == "One sits out round 1 of Cup; that gives 1/2."
    assert audits(store)[-1][3] == {"event": "Cup", "points": "1/2", "round": 1}
    assert await code(behalf(admin, anna, EventBye(event=CUP, version="One", points="1"))) == "not-allowed"
    assert await code(admin.handle(EventBye(event=CUP, version="One", points="2"))) == "bye-points"
    await admin.handle(EventBye(event=CUP, version="Two", round=3, points="1"))
    requests = desk.states[CUP].event.requests
    assert [(each.entrant, each.round, each.points) for each in requests] == [(1, 1, 1), (2, 3, 2)]
    assert await code(behalf(admin, anna, EventRejoin(event=CUP, version="One"))) == "entered"
    await behalf(admin, anna, withdraw("One"))
    assert await code(behalf(admin, anna, enter("One"))) == "entered"
    answer = await behalf(admin, anna, EventRejoin(event=CUP, version="One"))
    assert answer.sentence == "One plays on in Cup."
    assert "One" in entered(desk)


async def test_an_owner_does_not_bring_back_whom_the_operator_withdrew(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await bots(admin, "Two", "Three")
    await announce(admin, enter=["One", "Two", "Three"])
    await admin.handle(EventStart(event=CUP))
    await admin.handle(withdraw("One", "It crashes."))
    with pytest.raises(Refused, match=r"^The operator withdrew One from Cup, and alone can let it come back\.$"):
        await behalf(admin, anna, EventRejoin(event=CUP, version="One"))
    await admin.handle(EventRejoin(event=CUP, version="One"))
    assert "One" in entered(desk)


async def test_who_comes_back_needs_a_place(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await bots(admin, "Two", "Three", "Four")
    await announce(admin, enter=["One", "Two", "Three"], most=3, late=True)
    await admin.handle(EventStart(event=CUP))
    await behalf(admin, anna, withdraw("One"))
    await admin.handle(enter("Four"))
    with pytest.raises(Refused, match=r"^One cannot come back: all places of Cup are taken\.$"):
        await behalf(admin, anna, EventRejoin(event=CUP, version="One"))
    await admin.handle(EventRejoin(event=CUP, version="One"))
    assert len(entered(desk)) == 4


async def test_whoever_was_to_sit_out_plays_and_a_mistaken_entry_is_struck(
    admin: Admin, desk: Desk, store: Any
) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await bots(admin, "Two", "Three")
    await announce(admin, enter=["One", "Two", "Three"])
    await admin.handle(EventStart(event=CUP))
    await behalf(admin, anna, EventBye(event=CUP, version="One", round=1))
    answer = await behalf(admin, anna, EventCancelBye(event=CUP, version="One"))
    assert answer.sentence == "One plays in round 1 of Cup."
    assert audits(store)[-1][3] == {"event": "Cup", "reason": "", "round": 1}
    assert await code(behalf(admin, anna, EventCancelBye(event=CUP, version="One"))) == "no-bye"
    await admin.handle(EventBye(event=CUP, version="Two", round=2, points="1"))
    await admin.handle(EventCancelBye(event=CUP, version="Two", round=2, reason="It was needed."))
    assert desk.states[CUP].event.requests == ()
    strike = EventStrike(event=CUP, version="Three", reason="Another one was meant.")
    assert await code(behalf(admin, anna, strike)) == "not-allowed"
    answer = await admin.handle(strike)
    assert answer.sentence == "Three is struck out of Cup."
    assert audits(store)[-1][1:] == ("event strike", "Three", {"event": "Cup", "reason": "Another one was meant."})
    desk.pair(CUP)
    assert await code(admin.handle(EventStrike(event=CUP, version="One", reason="x"))) == "has-played"


async def test_a_late_entry_is_the_systems_to_take(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "Late")
    await bots(admin, "One", "Two", "Three")
    await announce(admin, system="cup", late=True, enter=["One", "Two", "Three"])
    await admin.handle(EventStart(event=CUP))
    desk.pair(CUP)
    with pytest.raises(Refused, match=r"Late cannot enter: .*fixed"):
        await behalf(admin, anna, enter("Late"))


async def test_checking_in(admin: Admin, desk: Desk, clock: Any) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await announce(admin, starts_at=clock.ms + 60_000, check_in_s=600, enter=["One"])
    answer = await behalf(admin, anna, EventCheckIn(event=CUP, version="One"))
    assert answer.sentence == "One has checked in at Cup."
    assert desk.states[CUP].seats[1].checked_in


async def test_of_an_event_that_is_called_off_nothing_can_be_had(admin: Admin, desk: Desk) -> None:
    anna = await owner_of(admin, "Anna", "One")
    await announce(admin)
    await admin.handle(EventCancel(event=CUP, reason="Rain."))
    assert await code(behalf(admin, anna, enter("One"))) == "no-event"
    assert await code(behalf(admin, anna, withdraw("One"))) == "no-event"
    assert desk.states[CUP].phase is Phase.CANCELLED
