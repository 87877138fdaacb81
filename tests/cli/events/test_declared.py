"""Commands on events as they are typed: what they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cgos_protocol.api.people import Done
from cgos_server.cli.commands import declared
from cgos_server.service.events.announcing import EventChange, EventClone, EventCreate
from cgos_server.service.events.entering import EventBye, EventCancelBye, EventEnter, EventWithdraw
from cgos_server.service.events.holding import EventExtend
from cgos_server.service.events.keeping_apart import EventForbid, EventLift
from cgos_server.service.events.ruling import EventRule

Typed = Callable[..., Any]


@pytest.fixture
def typed(run: Any, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Types a command and returns what would be asked of the server."""
    commands: list[Any] = []

    def perform(_setup: Any, command: Any) -> Done:
        commands.append(command)
        return Done(sentence="Done.")

    monkeypatch.setattr(declared, "perform", perform)
    monkeypatch.setattr(declared, "now_ms", lambda: 1_700_000_000_000)

    def type_(*words: str) -> Any:
        assert run("event", *words).stderr == "Done.\n"
        return commands.pop()

    return type_


def test_what_is_not_said_is_not_said(typed: Typed) -> None:
    assert typed("create", "Weekly", "mwm", "--venue", "9x9") == EventCreate(event="Weekly", system="mwm", venue="9x9")
    assert typed("change", "Weekly") == EventChange(event="Weekly")


def test_settings_are_options(typed: Typed) -> None:
    words = (
        "create Weekly round-robin --venue 9x9 --option double=true --option x=2 --tie-breaker points --tie-breaker sb "
        "--rounds 7 --no-rated --ladder --komi -5.5 --entering operator --most 16 --opens-at now+2h "
        "--starts-at 2026-01-31T18:00 --check-in-s 600 --enter Alpha --enter Beta"
    )
    assert typed(*words.split(), "--first-moves", "E5 C3") == EventCreate(
        event="Weekly",
        system="round-robin",
        venue="9x9",
        options={"double": True, "x": 2},
        tie_breakers=["points", "sb"],
        rounds=7,
        rated=False,
        ladder=True,
        komi=-5.5,
        entering="operator",
        most=16,
        opens_at=1_700_007_200_000,
        starts_at=1_769_882_400_000,
        check_in_s=600,
        enter=["Alpha", "Beta"],
        first_moves="E5 C3",
    )


def test_what_concerns_an_entrant_names_the_event_first(typed: Typed) -> None:
    assert typed("enter", "Weekly", "Alpha") == EventEnter(event="Weekly", version="Alpha")
    assert typed("withdraw", "Weekly", "Alpha", "--reason", "Gone.") == EventWithdraw(
        event="Weekly", version="Alpha", reason="Gone."
    )
    assert typed("bye", "Weekly", "Alpha", "--round", "3", "--points", "1/2") == EventBye(
        event="Weekly", version="Alpha", round=3, points="1/2"
    )


def test_versions_that_must_not_meet_stand_after_the_event(typed: Typed) -> None:
    assert typed("forbid", "Weekly", "Alpha", "Beta", "Gamma", "--reason", "Twins.") == EventForbid(
        event="Weekly", versions=["Alpha", "Beta", "Gamma"], reason="Twins."
    )
    assert typed("lift", "Weekly", "--same", "owner", "--reason", "Few.") == EventLift(
        event="Weekly", same="owner", reason="Few."
    )
    assert typed("cancel-bye", "Weekly", "Alpha", "--reason", "It came.") == EventCancelBye(
        event="Weekly", version="Alpha", reason="It came."
    )
    created = typed("create", "Weekly", "mwm", "--venue", "9x9", "--apart", "owner", "--apart", "family")
    assert created.apart == ["owner", "family"]


@pytest.mark.parametrize("result", ["1-0", "1/2-1/2", "+/-", "-/+", "-/-", "no-contest"])
def test_every_result_can_be_typed(typed: Typed, result: str) -> None:
    assert typed("rule", "Weekly", "12", result, "--reason", "Seen.") == EventRule(
        event="Weekly", number=12, result=result, reason="Seen."
    )
    assert typed("rule", "Weekly", "12", result, "--reason", "Seen.", "--with-results").with_results


@pytest.mark.parametrize("winner", ["Alpha", "black", "draw", "both-lose"])
def test_a_winner_stands_for_a_result(typed: Typed, winner: str) -> None:
    assert typed("rule", "Weekly", "12", "--winner", winner, "--reason", "Seen.") == EventRule(
        event="Weekly", number=12, winner=winner, reason="Seen."
    )


def test_the_rest_of_them(typed: Typed) -> None:
    assert typed("extend", "Weekly", "--grace-s", "60", "--reason", "Slow.") == EventExtend(
        event="Weekly", grace_s=60, reason="Slow."
    )
    assert typed("change", "Weekly", "--system", "cup", "--usual", "komi") == EventChange(
        event="Weekly", system="cup", usual=["komi"]
    )
    assert typed("clone", "Weekly", "Later", "--starts-at", "now+1d") == EventClone(
        event="Weekly", name="Later", starts_at=1_700_086_400_000
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("create Weekly nothing", "'nothing' is not one of"),
        ("create Weekly mwm --starts-at soon", "'soon' is no time. Write 2026-01-31"),
        ("create Weekly mwm --option double", "is not NAME=VALUE"),
        ("rule Weekly 12 2-0 --reason x", "'2-0' is not one of"),
        ("rule Weekly 12 void --reason x", "'void' is not one of"),
        ("rule Weekly 12 1-0", "Missing option '--reason'"),
        ("forbid Weekly --same country --reason x", "'country' is not one of"),
        ("pause Weekly", "Missing option '--reason'"),
        ("cancel Weekly", "Missing option '--reason'"),
    ],
)
def test_what_cannot_be_typed(run: Any, words: str, sentence: str) -> None:
    assert sentence in " ".join(run("event", *words.split(), fails=2).output.split())


def test_without_a_server_nothing_is_done(run: Any) -> None:
    assert "No server runs on this database" in run("event", "open", "Weekly", fails=1).output
