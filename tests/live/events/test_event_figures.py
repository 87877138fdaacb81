"""Events in figures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from support.tournaments.held_events import HeldEvent

from cgos_server.live.events.event_figures import EventFigures
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings


def dutch(name: str) -> HeldEvent:
    return HeldEvent(EventSettings(name=name, venue="9x9", system="dutch", rounds=2))


def test_events_and_their_games_are_counted() -> None:
    runs, waits, paused, over = (dutch(name) for name in ("Runs", "Waits", "Paused", "Over"))
    for held in (runs, paused):
        held.start(["Ann-1", "Bob-1", "Cid-1", "Dan-1"])
    runs.begin(runs.state.due_games[0][1])
    paused.say(log.Paused(reason="Lunch."))
    over.say(log.Cancelled(reason="It rains."))
    runners: Any = {held.state.settings.name: SimpleNamespace(state=held.state) for held in (runs, waits, paused, over)}
    figures = EventFigures(runners, {"9x9": None, "19x19": None})
    assert figures.events() == {("9x9", "running"): 1, ("9x9", "announced"): 1, ("9x9", "paused"): 1}
    assert figures.games() == {("9x9", "running"): 1, ("9x9", "due"): 3}
    assert figures.begun() == {"9x9": 0, "19x19": 0}
    for said in (None, runs.entries[-1].said, log.Opened()):
        figures.heard(runs.state, said, runs.state)
    assert figures.begun() == {"9x9": 2, "19x19": 0}
