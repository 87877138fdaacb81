"""Whether an engine that failed is started again: failures in a row, failures over time, and games lost by them.

A pure policy: the time comes in as an argument. Must not know: engines, games, which clock it is.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Restarts:
    """Counts one engine's failures.

    :ivar in_a_row: failures without a move between, after which a game is given up; and games given up in a row after
        which the engine is
    :ivar within_window: failures, with moves between or without, after which the engine is given up
    :ivar window_s: seconds that a failure counts among these
    """

    in_a_row: int = 3
    within_window: int = 10
    window_s: float = 3600.0
    _row: int = 0
    _times: deque[float] = field(default_factory=deque)
    _games: int = 0
    _unfit: bool = False

    @property
    def allowed(self) -> bool:
        """True where the engine may be started, or asked, once more."""
        return self._row < self.in_a_row and not self._worn_out

    @property
    def gone(self) -> str | None:
        """Why the engine is given up for good; None where it is not."""
        if self._worn_out:
            return f"the engine failed {len(self._times)} times within {self.window_s / 60:g} minutes"
        if self._games >= self.in_a_row:
            return f"{self._games} games in a row were lost because the engine failed"
        return None

    @property
    def count(self) -> str:
        """The failures so far, for people."""
        return (
            f"failure {self._row} of {self.in_a_row} in a row, "
            f"{len(self._times)} of {self.within_window} within {self.window_s / 60:g} minutes"
        )

    @property
    def _worn_out(self) -> bool:
        return len(self._times) >= self.within_window

    def failed(self, now: float, unfit: bool = False) -> None:
        """The engine failed at `now` (seconds of any clock that does not go back); `unfit`: it will always."""
        self._unfit = unfit
        self._row = self.in_a_row if unfit else self._row + 1
        if not self._worn_out:  # then it stays given up
            self._times.append(now)
            while now - self._times[0] > self.window_s:
                self._times.popleft()

    def moved(self) -> None:
        """The engine made a move: nothing is in a row any more."""
        self._row, self._unfit = 0, False

    def new_game(self) -> None:
        """A new game is a new chance, except for an engine that cannot do what is asked."""
        if not self._unfit:
            self._row = 0

    def game_given_up(self) -> None:
        """A game was resigned, since the engine makes no move."""
        self._games += 1

    def game_over(self) -> None:
        """A game ended. Given-up games count in a row only."""
        if self._row < self.in_a_row:
            self._games = 0
