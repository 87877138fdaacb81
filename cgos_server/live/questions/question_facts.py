"""Facts about questions: what is committed of one goes to the bus, its results at most once a second.

Must not know: who listens, what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cgos_protocol.facts import QuestionMoved
from cgos_protocol.ids import QuestionId
from cgos_server.core.questions.asked import Change, State, Test, opponents_of
from cgos_server.core.sequential import standing
from cgos_server.live.bus import FactBus
from cgos_server.live.questions.runner import QuestionRunner
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.net.loop import Handle, Timekeeper

PERIOD_US: Final = 1_000_000
"""Between two facts about results of one question."""


class QuestionFacts:
    """One a server. `heard` is a :data:`~cgos_server.live.questions.director.Moved`."""

    def __init__(self, bus: FactBus, venues: Mapping[str, LiveVenue], time: Timekeeper) -> None:
        self._bus = bus
        self._venues = venues
        self._time = time
        self._later: dict[QuestionId, Handle] = {}

    def heard(self, runner: QuestionRunner, change: Change, state: State) -> None:
        """Publish it: a result in a second, with what came until then; everything else now."""
        if change is not Change.RESULT:
            if change is Change.ENDED and (waits := self._later.pop(runner.id, None)) is not None:
                waits.cancel()
            self._publish(runner, change, state)
        elif runner.id not in self._later:
            self._later[runner.id] = self._time.call_at(self._time.now() + PERIOD_US, self._publish_results, runner)

    def _publish_results(self, runner: QuestionRunner) -> None:
        del self._later[runner.id]
        self._publish(runner, Change.RESULT, State.OPEN)

    def _publish(self, runner: QuestionRunner, change: Change, state: State) -> None:
        if not self._bus.wanted(QuestionMoved):
            return
        asked, tally, names = runner.asked, runner.tally, self._venues[runner.venue].roster.names
        opponents = opponents_of(asked)
        fact = QuestionMoved(
            venue=runner.venue,
            question=runner.id,
            kind=asked.kind,
            what=change.value,
            state=state.value,
            version=names[asked.version],
            against=names[opponents[0]] if len(opponents) == 1 else "",
            games=tally.begun - tally.running,
            at=self._time.wall_ms() / 1000,
            llr=standing(tally.counts(), asked.hypotheses).llr if isinstance(asked, Test) else None,
        )
        self._bus.publish(fact)
