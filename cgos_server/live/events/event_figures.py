"""Events in figures, for the metrics: how many are how far, how many of their games wait, run, and have begun.

Must not know: how figures are published, how events go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from cgos_server.live.events.runner import EventRunner
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import AFTER, EventState

PAUSED = "paused"
"""In place of the phase of an event that is paused."""


class EventFigures:
    """One a server. `heard` is told of every entry that is committed.

    :param runners: name -> event, as they are now
    :param venues: those that are open, as they are now
    """

    def __init__(self, runners: Mapping[str, EventRunner], venues: Iterable[str]) -> None:
        self._runners = runners
        self._venues = venues
        self._begun: Counter[str] = Counter()

    def heard(self, before: EventState, said: log.Said | None, after: EventState) -> None:  # noqa: ARG002
        """See :data:`cgos_server.live.events.runner.Committed`: what others submit is that a game begins."""
        if said is None or isinstance(said, log.Began):
            self._begun[after.settings.venue] += 1

    def begun(self) -> Mapping[str, int]:
        """Venue -> games of events that began since the start; 0 where none did: a first one is an increase, too."""
        return dict.fromkeys(self._venues, 0) | self._begun

    def events(self) -> Mapping[tuple[str, str], int]:
        """(venue, phase or ``paused``) -> events that are not over."""
        return Counter(
            (state.settings.venue, state.phase.value if state.paused is None else PAUSED) for state in self._states()
        )

    def games(self) -> Mapping[tuple[str, str], int]:
        """(venue, ``due`` or ``running``) -> games of events without a result."""
        counts: Counter[tuple[str, str]] = Counter()
        for state in self._states():
            running = sum(game in state.played_as for game in state.open)
            counts[state.settings.venue, "running"] += running
            counts[state.settings.venue, "due"] += len(state.open) - running
        return counts

    def _states(self) -> Iterable[EventState]:
        return (runner.state for runner in self._runners.values() if runner.state.phase not in AFTER)
