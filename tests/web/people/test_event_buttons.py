"""Buttons on the pages of events: owners enter, check in and withdraw their versions, operators do the rest."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.tournaments.held_events import HeldEvent
from support.web.past import BOTS, EVENT, NINE, NOW
from web.people.conftest import House
from web.people.test_owner import sound

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import VersionId
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings, Limits, Times
from cgos_server.tournaments.running.state import EventState

PATH = "/events/Open"


class Desk:
    """The events of a live server, of which there is one; it writes nothing down."""

    def __init__(self, held: HeldEvent) -> None:
        self.held = held

    def state(self, name: str) -> EventState:
        if name != self.held.state.settings.name:
            raise NotFound(Code.NO_EVENT, f"There is no event {name}.")
        return self.held.state

    def say(self, name: str, said: log.Said, actor: str) -> EventState:
        self.state(name)
        return self.held.say(said, actor)

    def rating(self, venue: str, version: VersionId) -> float | None:
        return 1900.0


@pytest.fixture
async def held(house: House, monkeypatch: pytest.MonkeyPatch) -> HeldEvent:
    times = Times(starts_at=NOW + 600_000, check_in_s=3600)
    limits = Limits(per_owner=1)
    settings = EventSettings(name="Open", venue="9x9", system="dutch", rounds=3, times=times, limits=limits)
    event = HeldEvent(settings, at=NOW)
    event.say(log.Opened())
    event.enter(2, 1900.0, BOTS[1])
    await house.store.commit(event.records(900, NINE))
    monkeypatch.setattr(house.live, "events", Desk(event), raising=False)
    return event


async def written(house: House, held: HeldEvent, known: int) -> None:
    """What the live server would have written down since the first `known` entries."""
    later = held.records(900, NINE)[1:]
    held.entries, entries = held.entries[:known], held.entries
    before = held.records(900, NINE)
    held.entries = entries
    await house.store.commit([record for record in later if record not in before])


def buttons(text: str) -> list[str]:
    return re.findall(r"<button[^>]*>([^<]+)</button>", text)


async def test_strangers_read_without_buttons(house: House, held: HeldEvent) -> None:
    text = (await house.browser().get(PATH)).text
    assert buttons(text) == []
    assert "csrf" not in text
    assert "Entry is open: 1 entrant so far." in sound(text).text


async def test_an_owner_enters_checks_in_and_withdraws(house: House, held: HeldEvent) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    page = (await browser.get(PATH)).text
    assert buttons(page) == ["Sign out", "Enter it"], "nothing can be done to what is somebody else's"
    assert re.search(r'<select name="version"><option value="Sakura-5k"', page)
    entries = len(held.entries)
    answer = await browser.send(PATH, "event enter", version="Sakura-5k")
    assert answer.status_code == 303, sound(answer.text).text
    assert held.entries[-1].actor == "alice"
    await written(house, held, entries)
    assert await browser.notice(PATH) == "Sakura-5k has entered Open."
    page = (await browser.get(PATH)).text
    assert "Enter it" not in buttons(page), "she has no other version"
    assert "Check in" in buttons(page)
    entries = len(held.entries)
    await browser.send(PATH, "event check-in", version="Sakura-5k")
    await written(house, held, entries)
    page = (await browser.get(PATH)).text
    assert "checked in" in sound(page).text
    assert "Check in" not in buttons(page)
    assert "Withdraw it" in buttons(page)
    sure = await browser.send(PATH, "event withdraw", version="Sakura-5k", reason="no time")
    assert "Sakura-5k will play no more in Open." in sound(sure.text).text, "it is asked before"
    await browser.send(PATH, "event withdraw", version="Sakura-5k", reason="no time", sure="yes")
    assert held.entries[-1].said == log.Withdrawn(entrant=2, reason="no time", by="owner")


async def test_what_is_refused_stands_beside_its_form(house: House, held: HeldEvent) -> None:
    browser = await house.signed_in("alice", owns="Sakura-5k")
    refused = await browser.send(PATH, "event check-in", version="gnugo-3.8-L1")
    assert refused.status_code in (403, 422)
    await browser.send(PATH, "event enter", version="Sakura-5k")
    again = await browser.send(PATH, "event enter", version="Sakura-5k")
    assert again.status_code == 422
    assert "Sakura-5k has entered Open already." in sound(again.text).text


async def test_operators_have_all_buttons_at_the_end(house: House, held: HeldEvent) -> None:
    browser = await house.signed_in("root", admin=True)
    page = (await browser.get(PATH)).text
    shown = buttons(page)
    assert {"Close entry", "Start it", "Enter it", "Withdraw it", "Check in"} < set(shown)
    assert "Open entry" not in shown, "it is open"
    assert page.index("What it is") < page.index(">Close entry<"), "what everybody reads stands first"
    assert re.search(r"<details class=\"folded\"><summary><h3 id=\"event-change\">", page), "forms are folded up"
    sound(page)
    admin = sound((await browser.get("/admin/events")).text)
    assert [row[0] for row in admin.rows if row][:2] == ["Event", "Open"]
    assert "Announce an event" in admin.text


async def test_operators_go_from_a_round_to_the_ruling_of_a_game(house: House) -> None:
    browser = await house.signed_in("root", admin=True)
    page = sound((await browser.get(f"/events/{EVENT}/rounds/1")).text)
    link = page.attribute("a", "href", href=f"/events/{EVENT}?number=1#event-rule")
    assert link is not None
    there: Any = sound((await browser.get(link.split("#")[0])).text)
    assert there.attribute("input", "value", name="number") == "1"
    form = (await browser.get(link.split("#")[0])).text.partition('name="result"')[2].partition("</select>")[0]
    assert re.findall(r'<option value="([^"]+)">([^<]+)</option>', form) == [
        ("0-1", "Black wins"),
        ("1-0", "White wins"),
        ("1/2-1/2", "Draw"),
        ("0-0", "Both lose"),
        ("-/+", "Black wins by forfeit"),
        ("+/-", "White wins by forfeit"),
        ("-/-", "Both forfeit"),
        ("no-contest", "No contest"),
    ]
    given = {"number": "1", "result": "0-1", "reason": "Seen."}
    asked = sound((await browser.send(link.split("#")[0], "event rule", **given)).text)
    assert f"Game 1 of {EVENT} will count so: Black wins." in asked.text
    owner = await house.signed_in("alice", owns="amigo")
    assert "Rule it" not in (await owner.get(f"/events/{EVENT}/rounds/1")).text
    assert buttons((await owner.get(f"/events/{EVENT}")).text)[:1] == ["Sign out"]
