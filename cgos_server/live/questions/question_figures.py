"""Questions in figures, for the metrics: how many are open and have ended, their games, and the time that they take.

Must not know: how figures are published, how questions go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from cgos_server.core.questions.asked import ENDED, Change, State
from cgos_server.live.questions.director import QuestionDirector
from cgos_server.live.questions.runner import QuestionRunner


class QuestionFigures:
    """One a server. `heard` is a :data:`~cgos_server.live.questions.director.Moved`.

    What is counted is counted since the start, and is 0 where nothing was: a first one is an increase, too.
    """

    def __init__(self, director: QuestionDirector) -> None:
        self._director = director
        self._ended: Counter[tuple[str, str]] = Counter()

    def heard(self, runner: QuestionRunner, change: Change, state: State) -> None:
        """Count what has ended."""
        if change is Change.ENDED:
            self._ended[runner.venue, state.value] += 1

    def open(self) -> Mapping[tuple[str, str], int]:
        """(venue, kind) -> questions that have not ended."""
        return Counter((runner.venue, runner.asked.kind) for runner in self._director.runners.values())

    def ended(self) -> Mapping[tuple[str, str], int]:
        """(venue, how it ended) -> questions."""
        ends = [(venue, state.value) for venue in self._director.shares for state in ENDED]
        return dict.fromkeys(ends, 0) | self._ended

    def begun(self) -> Mapping[str, int]:
        """Venue -> games of questions that began."""
        return dict.fromkeys(self._director.shares, 0) | self._director.begun

    def over(self) -> Mapping[str, int]:
        """Venue -> games of questions that have a result."""
        return dict.fromkeys(self._director.shares, 0) | self._director.over

    def slot_seconds(self) -> Mapping[tuple[str, str], float]:
        """(venue, ``questions`` or ``all``) -> seconds of the slots of bots that were here."""
        seconds: dict[tuple[str, str], float] = {}
        for venue, shares in self._director.shares.items():
            seconds[venue, "questions"], seconds[venue, "all"] = shares.taken_s, shares.slot_s
        return seconds
