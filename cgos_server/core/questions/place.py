"""Where a version stands among the opponents of a gauntlet, by the gauntlet's own games.

Must not know: which game is played next, the ladder.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Final, NamedTuple

from cgos_server.core.questions.asked import Gauntlet
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.base import Z95

PRIOR_SD: Final = 500.0
"""Elo, about the mean of the field: with wins alone there would be no end to the rating."""

_PER_ELO: Final = log(10.0) / 400.0
_STEPS: Final = 100
_CLOSE: Final = 1e-9


class Place(NamedTuple):
    """A rating on the scale of the opponents'.

    :ivar half_width: half of the 95 % interval, Elo; of the version alone, since opponents' ratings count as known
    """

    elo: float
    half_width: float


def expected_score(elo: float, opponent: float) -> float:
    """Of a game, 0..1 (Bradley and Terry 1952)."""
    return 1.0 / (1.0 + exp((opponent - elo) * _PER_ELO))


def place(asked: Gauntlet, tally: Tally) -> Place:
    """The most likely rating by the pairs that count, both colors together; a draw is half a win.

    The interval is the normal one at the maximum, by the second derivative.
    """
    played = [
        (opponent.rating, sum(counts) * 2, sum(cell * count for cell, count in enumerate(counts)) / 2)
        for opponent in asked.field
        if sum(counts := tally.counts(opponent.version))
    ]
    mean = sum(opponent.rating for opponent in asked.field) / len(asked.field)
    precision = 1.0 / PRIOR_SD**2
    elo = mean
    for _ in range(_STEPS):
        slope, curvature = (mean - elo) * precision, precision
        for rating, games, points in played:
            score = expected_score(elo, rating)
            slope += (points - games * score) * _PER_ELO
            curvature += games * score * (1.0 - score) * _PER_ELO**2
        step = max(-200.0, min(200.0, slope / curvature))  # far off, Newton's step leads beyond
        elo += step
        if abs(step) < _CLOSE:
            break
    return Place(elo, Z95 / sqrt(curvature))
