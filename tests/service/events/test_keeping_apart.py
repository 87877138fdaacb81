"""Versions are kept apart in an event and may meet again: by operators, with reasons, and in the audit."""

from __future__ import annotations

from typing import Any

from support.service.acting import account, audits, behalf, bots, code
from support.service.event_desk import Desk

from cgos_server.service.admin import Admin
from cgos_server.service.events.announcing import EventCreate
from cgos_server.service.events.keeping_apart import EventForbid, EventLift

CUP = "Cup"


def forbid(*versions: str, **more: Any) -> EventForbid:
    return EventForbid(event=CUP, versions=list(versions), reason="Twins.", **more)


def lift(*versions: str, **more: Any) -> EventLift:
    return EventLift(event=CUP, versions=list(versions), reason="No twins.", **more)


async def announce(admin: Admin) -> None:
    await bots(admin, "One", "Two", "Three", "Four")
    await admin.handle(EventCreate(event=CUP, system="mwm", venue="9x9", enter=["One", "Two", "Three"]))


async def test_versions_by_name(admin: Admin, desk: Desk, store: Any) -> None:
    await announce(admin)
    answer = await admin.handle(forbid("One", "Two", "Three", "One"))
    assert answer.sentence == "One, Two and Three must not meet in Cup."
    assert desk.states[CUP].forbidden == {(1, 2), (1, 3), (2, 3)}
    assert audits(store)[-1][1:] == (
        "event forbid",
        "Cup",
        {"reason": "Twins.", "same": "", "versions": "One Two Three"},
    )
    answer = await admin.handle(lift("Three", "Two"))
    assert answer.sentence == "Three and Two may meet in Cup."
    assert desk.states[CUP].forbidden == {(1, 2), (1, 3)}


async def test_all_that_have_something_in_common(admin: Admin, desk: Desk) -> None:
    await announce(admin)
    answer = await admin.handle(forbid(same="family"))
    assert answer.sentence == "Versions of one family must not meet in Cup."
    answer = await admin.handle(forbid("One", "Two", same="owner"))
    assert answer.sentence == "One and Two, and versions of one owner must not meet in Cup."
    assert desk.states[CUP].settings.apart == ("family", "owner")
    await admin.handle(lift(same="family"))
    assert desk.states[CUP].settings.apart == ("owner",)


async def test_what_cannot_be(admin: Admin, desk: Desk) -> None:
    await announce(admin)
    anna = await account(admin)
    before = len(desk.said)
    assert await code(behalf(admin, anna, forbid("One", "Two"))) == "not-allowed"
    assert await code(admin.handle(forbid("One"))) == "same-entrant"
    assert await code(admin.handle(forbid())) == "same-entrant"
    assert await code(admin.handle(forbid("One", "Four"))) == "no-entrant"
    assert await code(admin.handle(forbid("One", "Nobody"))) == "unknown-bot"
    assert await code(admin.handle(forbid(same="country"))) == "event-setting"
    assert await code(admin.handle(lift("One", "Two"))) == "not-forbidden"
    assert len(desk.said) == before
