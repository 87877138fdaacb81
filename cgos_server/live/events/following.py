"""Events that follow others: the next of a series is announced when one starts or is cancelled, and the playoff for a
shared first place begins when its event is over.

What was announced stands in the log of the event that it follows, in the same commit, so that it is done once however
often the server is killed. Must not know: how events go on, who plays, SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog

from cgos_protocol.errors import Refused
from cgos_server.live.events.runner import EventRunner
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import Phase
from cgos_server.tournaments.running.succession import decided, next_edition, playoff_of, wants_next, wants_playoff

log_ = structlog.get_logger(__name__)


class Following:
    """One a server.

    :param announce: makes a new event of the first entries of its log; raises Refused
    :param runner: by an event's name, of those that are on and of those whose playoff is; None: it is neither
    :param now_ms: Unix ms
    :ivar names: of all events that there ever were; kept by whoever announces them
    """

    def __init__(
        self,
        announce: Callable[[Sequence[log.Said]], object],
        runner: Callable[[str], EventRunner | None],
        now_ms: Callable[[], int],
    ) -> None:
        self.names: set[str] = set()
        self._announce = announce
        self._runner = runner
        self._now_ms = now_ms
        self._refused: set[str] = set()

    def look(self, runner: EventRunner) -> None:
        """Do what follows from where an event stands now, if that has not been done."""
        state = runner.state
        name = state.settings.name
        if wants_next(state) and name not in self._refused:
            following = next_edition(state.settings, self.names, self._now_ms())
            self._follow(runner, [log.Announced(settings=following)], "again")
        elif wants_playoff(state) and name not in self._refused:
            self._follow(runner, playoff_of(state, self.names), "playoff")
        if state.settings.playoff_of:
            self._decide(runner)

    def _follow(self, runner: EventRunner, said: Sequence[log.Said], why: log.Why) -> None:
        first = said[0]
        assert isinstance(first, log.Announced)
        name = runner.state.settings.name
        try:
            self._announce(said)
        except Refused as refusal:
            log_.warning("an event cannot be followed by another", tournament=name, why=refusal.sentence)
            self._refused.add(name)
            return
        runner.say(log.Followed(by=first.settings.name, why=why))

    def _decide(self, playoff: EventRunner) -> None:
        """Who won stands in the log of the event; a ruling may change it, or that anybody has won."""
        event = self._runner(playoff.state.settings.playoff_of)
        if event is None or event.state.phase is Phase.CANCELLED:
            return
        said = decided(event.state, playoff.state)
        if said.entrants != event.state.won_playoff:
            event.say(said)
