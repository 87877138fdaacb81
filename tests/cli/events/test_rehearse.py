"""`event rehearse`: how long an event will take, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.storage.storage_sample import put
from support.tournaments.held_events import HeldEvent

from cgos_server.tournaments.running.settings import EventSettings


@pytest.fixture
def event(data: Path) -> str:
    held = HeldEvent(EventSettings(name="Open", venue="9x9", system="round-robin"))
    put(data / "cgos.sqlite", held.records(1, 1))
    return "Open"


def test_it_says_how_long_the_event_will_take(run: Any, event: str) -> None:
    told = run("event", "rehearse", event, "--entrants", "4", "--game-s", "600")
    assert "4 entrants, 3 rounds, 6 games. This will take about" in told.stderr + told.stdout
    assert "First place: assumed-1" in told.stderr + told.stdout
    assert len([line for line in told.stdout.splitlines() if line.strip()[:1].isdigit()]) == 3


def test_the_same_for_programs_and_the_same_again(as_json: Callable[..., Any], event: str) -> None:
    words = ("event", "rehearse", event, "--entrants", "4", "--rounds", "2", "--seconds", "30", "--seed", "7")
    first = as_json(*words)
    assert first["games"] == {"median": 4.0, "likely": 4.0}
    assert first["replicates"] == 200
    assert as_json(*words)["duration_s"] == first["duration_s"]


def test_it_is_bounded_in_time(as_json: Callable[..., Any], event: str) -> None:
    assert as_json("event", "rehearse", event, "--entrants", "40", "--seconds", "0.01")["replicates"] < 10


def test_who_plays_must_be_said(run: Any, event: str) -> None:
    assert "Say how many to assume" in run("event", "rehearse", event, fails=1).output
