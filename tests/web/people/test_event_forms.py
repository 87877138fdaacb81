"""What people write into the forms of events, as commands; and how fields look that nobody need fill in."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.errors import Refused
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.fields import parameters
from cgos_server.service.commands.surfaces import PageForm
from cgos_server.service.events.announcing import EventChange, EventCreate
from cgos_server.service.events.entering import EventBye
from cgos_server.service.events.ruling import EventRule
from cgos_server.web.people.fields import Reading
from cgos_server.web.people.sessions import Form
from cgos_server.web.people.shown_forms import Offering, declared_for

NOW = 1_700_000_000_000


def read(kind: type[Command[Any]], address: dict[str, str], **fields: str) -> Any:
    (declared,) = kind.on(PageForm)
    return Reading(Form({name: [value] for name, value in fields.items()}), NOW, "192.0.2.7", address).command(
        kind, declared
    )


def test_an_event_is_announced_as_it_was_filled_in() -> None:
    command = read(
        EventCreate,
        {},
        event="Weekly",
        system="mwm",
        venue="9x9",
        rounds="7",
        options="order=dutch ties=2",
        tie_breakers="points, buchholz",
        rated="no",
        late="yes",
        komi="-5.5",
        opens_at="now+2h",
        entering="operator",
        enter="Alpha Beta",
    )
    assert command == EventCreate(
        event="Weekly",
        system="mwm",
        venue="9x9",
        rounds=7,
        options={"order": "dutch", "ties": 2},
        tie_breakers=["points", "buchholz"],
        rated=False,
        late=True,
        komi=-5.5,
        opens_at=NOW + 7_200_000,
        entering="operator",
        enter=["Alpha", "Beta"],
    )


def test_what_is_left_empty_is_not_said() -> None:
    assert read(EventCreate, {}, event="Weekly", system="mwm", venue="9x9", rated="", komi="") == EventCreate(
        event="Weekly", system="mwm", venue="9x9"
    )
    assert read(EventChange, {"event": "Weekly"}) == EventChange(event="Weekly")
    assert read(EventBye, {"event": "Weekly"}, version="Alpha", points="1/2") == EventBye(
        event="Weekly", version="Alpha", points="1/2"
    )


@pytest.mark.parametrize(
    ("kind", "fields", "sentence"),
    [
        (EventCreate, {"starts_at": "soon"}, "'soon' is no time"),
        (EventCreate, {"options": "double"}, "'double' is not name=value"),
        (EventCreate, {"entering": "everybody"}, "Choose one of operator, owners"),
        (EventCreate, {"rounds": "0"}, "whole number from 1 to 10000"),
        (EventRule, {"result": "", "number": "1", "reason": "x"}, "Choose one of 1-0"),
        (EventRule, {"result": "1-0", "number": "1", "reason": ""}, "is missing: fill it in"),
        (EventBye, {"version": "Alpha", "points": ""}, "Choose one of 0, 1/2, 1"),
    ],
)
def test_what_cannot_be_is_said_at_once(kind: Any, fields: dict[str, str], sentence: str) -> None:
    whole = {"event": "Weekly", "system": "mwm", "venue": "9x9"} | fields
    with pytest.raises(Refused, match=sentence):
        read(kind, {}, **whole)


def test_fields_that_need_not_be_filled_in_can_be_left() -> None:
    (form,) = Offering(forms=declared_for("/admin/events")).at("", None, {})
    assert [each.name for each in form.inputs] == ["event", "venue", "system", "rounds", "about"]
    grouped = [each for inputs in form.groups.values() for each in inputs]
    inputs = {each.name: each for each in (*form.inputs, *grouped)}
    assert set(inputs) == {each.name for each in parameters(EventCreate)}
    assert not any(each.needed for each in grouped)
    assert list(inputs["rated"].choices) == list(inputs["late"].choices) == ["", "yes", "no"]
    assert list(inputs["entering"].choices) == ["", "operator", "owners"]
    assert "swiss" in inputs["system"].choices
    assert "" not in inputs["system"].choices
    assert inputs["opens_at"].kind == "written"
    assert "now+2h" in inputs["opens_at"].hint
    assert [each.name for each in form.inputs if each.needed] == ["event", "venue"]
