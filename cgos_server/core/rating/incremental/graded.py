"""What the two rating systems of the European Go Federation share as folds of a venue's ledger.

Ratings are GoR points: 100 points are one grade. Must not know: either system's formulas.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import ClassVar, Final

from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Entry, Outcome, Rating
from cgos_server.core.rating.incremental.classical import Plain, State, games_after

PROVISIONAL_GAMES: Final = 20
"""A rating is provisional before this many games: our choice."""


def finite(*ratings: float) -> None:
    """Raises ValueError unless all `ratings` are finite."""
    if not all(map(math.isfinite, ratings)):
        raise ValueError(f"A rating must be a finite number: {', '.join(map(repr, ratings))}.")


def logistic(x: float) -> float:
    """1 / (1 + exp(-x)) for any x."""
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    power = math.exp(x)
    return power / (1.0 + power)


class Graded(Plain):
    """A fold in which a game moves each player by ``con * (score - expectancy) + bonus``.

    Each has its own con, which is the spread of its :class:`Rating`; an anchor's is 0. No rating but an anchor's is
    below the system's floor. A rating is provisional for its first 20 games. A corrected result moves by con of today
    times the difference of the scores, where a game that does not count stands for the expectancy of today.
    """

    __slots__ = ()

    floor: ClassVar[float]
    """No ordinary rating is below this."""

    initial: float
    """Points of a version whose ENTER carries no value."""

    def is_provisional(self, spread: float, games: int, half_width: float | None = None) -> bool:  # noqa: ARG002
        # Con says nothing of it.
        return games < PROVISIONAL_GAMES

    @abstractmethod
    def con(self, mean: float) -> float:
        """How far a game may move a rating."""

    def given(self, mean: float) -> float:  # noqa: ARG002 - of the rating where a system has it
        """What every game gives a player of this rating besides."""
        return 0.0

    @abstractmethod
    def expectancies(self, black: float, white: float) -> tuple[float, float]:
        """Both players' expectancies; they sum to 1 or a little less."""

    def chance(self, black: float, white: float) -> float:
        """The score (0..1) to expect of `black`."""
        return self.expectancies(black, white)[0]

    def predict(self, state: State, black: VersionId, white: VersionId) -> Outcome:
        """Color is taken to be worth nothing, and a draw to be half a win and half a loss."""
        score = self.chance(state[black].mean, state[white].mean)
        return Outcome(score, 0.0, 1.0 - score)

    def _entered(self, state: State, entry: Entry) -> Rating:
        return self._rating(self._start_of(state, entry, self.initial), 0)

    def _anchored(self, before: Rating, entry: Entry) -> Rating:
        checks.deviation(entry, 1.0)
        return Rating(mean=checks.value(entry), spread=0.0, games=before.games, provisional=False, anchor=True)

    def _freed(self, before: Rating) -> Rating:
        return self._rating(before.mean, before.games)

    def _met(self, state: State, black: VersionId, white: VersionId, score: float) -> tuple[Rating, Rating]:
        return self._corrected(state, black=black, white=white, was=None, score=score)

    def _corrected(
        self, state: State, black: VersionId, white: VersionId, was: float | None, score: float | None
    ) -> tuple[Rating, Rating]:
        b, w = state[black], state[white]
        b_even, w_even = self.expectancies(b.mean, w.mean)
        flipped = tuple(None if half is None else 1.0 - half for half in (was, score))
        return self._moved(b, b_even, was, score), self._moved(w, w_even, *flipped)

    def _moved(self, me: Rating, even: float, was: float | None, score: float | None) -> Rating:
        games = games_after(me, was, score)
        if me.anchor:
            return me._replace(games=games)
        gain = (even if score is None else score) - (even if was is None else was)
        bonus = self.given(me.mean) * ((score is not None) - (was is not None))
        return self._rating(me.mean + (self.con(me.mean) * gain + bonus), games)

    def _rating(self, mean: float, games: int) -> Rating:
        mean = max(float(mean), self.floor)
        return Rating(mean, self.con(mean), games, games < PROVISIONAL_GAMES)
