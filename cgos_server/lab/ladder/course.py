"""How true the ratings of a ladder are while it goes on, and what the oracle would make of the same games.

Must not know: how pairs are made, how ratings are computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Rating
from cgos_server.lab.ladder.clockwork import Game
from cgos_server.lab.ladder.players import HOUR, Players
from cgos_server.lab.ladder.raters import Oracle, Rater
from cgos_server.lab.ratings.pools import Floats
from cgos_server.lab.ratings.runs import aligned, line_error
from cgos_server.tournaments.standings.quality import kendall, spearman

BINS: Final = 10
"""Of what Black was expected to score."""

MOST_GAMES: Final = 200
"""Of a newcomer, of which its error is told."""

STEP: Final = 0.25
"""Hours after a newcomer's arrival between two looks at its error."""


class Look(Struct, frozen=True, kw_only=True):
    """The ratings at one moment, of those who are there and no anchors; errors are without the mean error.

    :ivar games: of a version so far, on the average
    :ivar mse: mean square error, Elo^2
    :ivar line: the same about the straight line that fits best
    :ivar inside: share of 95 % intervals with the truth in them; None where the system has none
    :ivar told_mse: of the oracle, from the same games
    """

    hours: float
    games: float
    mse: float
    line: float
    kendall: float
    spearman: float
    inside: float | None
    told_mse: float
    told_inside: float


class Calibration(Struct, frozen=True, kw_only=True):
    """What was expected of the games, by the ratings before each of them, and what came of them; by bins of what Black
    was expected to score.

    :ivar loss: sum of the log losses, nats
    """

    games: tuple[int, ...]
    said: tuple[float, ...]
    scored: tuple[float, ...]
    loss: float


class Curve(Struct, frozen=True):
    """Squared errors of newcomers, at one time after the other.

    :ivar squares: sums
    :ivar counts: of how many
    """

    squares: tuple[float, ...]
    counts: tuple[int, ...]


class Course(Struct, frozen=True, kw_only=True):
    """:ivar by_games: newcomers after 1, 2, ... games
    :ivar by_hours: newcomers after 1, 2, ... times STEP hours
    """

    looks: tuple[Look, ...]
    calibration: Calibration
    by_games: Curve
    by_hours: Curve


class Recorder:
    """Watches a ladder whose ratings are learned, until their RMSE is at most `until` Elo (0: to its end)."""

    def __init__(self, players: Players, rater: Rater, until: float) -> None:
        self._players, self._rater, self._until = players, rater, until
        self._oracle = Oracle(players)
        for version in range(players.all):
            self._oracle.enter(VersionId(version), (), 0.0)
        self._looks: list[Look] = []
        self._games_of = np.zeros(players.all, np.int64)
        self._said: dict[int, tuple[float, float, float]] = {}
        self._bins = np.zeros((3, BINS))
        self._loss = 0.0
        self._errors: dict[int, list[tuple[float, float]]] = {}
        self._left: dict[int, float] = {}

    def paired(self, waits: Iterable[float], passed_over: int) -> None:
        pass

    def began(self, game: Game) -> None:
        outcome = self._rater.predict(game.black, game.white)
        if outcome is not None:
            self._said[game.black] = outcome.score, outcome.log_loss(2), outcome.log_loss(0)

    def ended(self, game: Game, score2: int) -> None:
        self._games_of[[game.black, game.white]] += 1
        self._oracle.note(game.black, game.white, score2, self._players.once and game.number > 0)
        if game.black in self._said:
            said, loss_won, loss_lost = self._said.pop(game.black)
            at = min(BINS - 1, int(said * BINS))
            self._bins[:, at] += (1.0, said, score2 / 2)
            self._loss += loss_won if score2 == 2 else loss_lost
        for version in (game.black, game.white):
            if version in self._errors:
                self._errors[version].append((game.end, self._error_of(version)))

    def arrived(self, version: VersionId, now: float) -> None:
        self._errors[version] = [(now, self._error_of(version))]

    def left(self, version: VersionId, now: float, waited: float | None) -> None:  # noqa: ARG002
        self._left[version] = now

    def look(self, now: float, there: Iterable[VersionId]) -> bool:
        free, truth = self._free(there), self._players.truth
        rows = self._rater.ratings()
        mean = _means(rows, free)
        self._oracle.catch_up()
        told = self._oracle.ratings()
        strengths = {version: float(truth[version]) for version in free}
        order = sorted(free, key=lambda version: -rows[version].mean)
        self._looks.append(
            Look(
                hours=now / HOUR,
                games=float(self._games_of[list(there)].mean()),
                mse=aligned(mean - truth[free]),
                line=line_error(mean, truth[free]),
                kendall=kendall(order, strengths),
                spearman=spearman(order, strengths),
                inside=_inside(rows, free, truth) if self._rater.sure else None,
                told_mse=aligned(_means(told, free) - truth[free]),
                told_inside=_inside(told, free, truth) or 0.0,
            )
        )
        return self._looks[-1].mse <= self._until**2

    def course(self, hours: float) -> Course:
        """What came of it, after so many hours."""
        games, said, scored = self._bins.tolist()
        return Course(
            looks=tuple(self._looks),
            calibration=Calibration(
                games=tuple(map(int, games)), said=tuple(said), scored=tuple(scored), loss=self._loss
            ),
            by_games=self._by_games(),
            by_hours=self._by_hours(hours),
        )

    def _free(self, there: Iterable[VersionId]) -> list[int]:
        return [version for version in there if version not in self._players.anchors]

    def _error_of(self, version: int) -> float:
        """The square of its error, without the mean error of all who have joined."""
        rows, truth = self._rater.ratings(), self._players.truth
        free = self._free(map(VersionId, range(len(rows))))
        error = rows[version].mean - float(truth[version]) - float((_means(rows, free) - truth[free]).mean())
        return error * error

    def _by_games(self) -> Curve:
        squares, counts = np.zeros(MOST_GAMES), np.zeros(MOST_GAMES, np.int64)
        for errors in self._errors.values():
            own = [square for _, square in errors[1 : MOST_GAMES + 1]]
            squares[: len(own)] += own
            counts[: len(own)] += 1
        return Curve(tuple(squares.tolist()), tuple(counts.tolist()))

    def _by_hours(self, hours: float) -> Curve:
        """By the last game until then, or as it entered."""
        steps = int(hours / STEP)
        squares, counts = np.zeros(steps), np.zeros(steps, np.int64)
        for version, errors in self._errors.items():
            times, stays = [at for at, _ in errors], self._left.get(version, hours * HOUR)
            for step in range(steps):
                at = times[0] + (step + 1) * STEP * HOUR
                if at <= stays:
                    squares[step] += errors[int(np.searchsorted(times, at, side="right")) - 1][1]
                    counts[step] += 1
        return Curve(tuple(squares.tolist()), tuple(counts.tolist()))


def _means(rows: Sequence[Rating], which: Sequence[int]) -> Floats:
    return np.array([rows[version].mean for version in which])


def _inside(rows: Sequence[Rating], which: Sequence[int], truth: Floats) -> float | None:
    """The share of 95 % intervals with the truth in them; None where there are none."""
    ends = [(rows[version].lower, rows[version].upper, float(truth[version])) for version in which]
    held = [lower <= true <= upper for lower, upper, true in ends if lower is not None and upper is not None]
    return sum(held) / len(held) if held else None
