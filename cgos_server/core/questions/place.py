"""Where a version stands among the opponents of a gauntlet, by the gauntlet's own games.

Must not know: which game is played next, the ladder.
"""

from __future__ import annotations

from math import exp, log, sqrt
from typing import Final, NamedTuple

from cgos_server.core.questions.asked import Gauntlet
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.bayes.likelihood import draw_parameter

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


class Points(NamedTuple):
    """What a game brings: a win is one point, a draw half of one."""

    mean: float
    variance: float


def expected_points(ahead: float, draws: float) -> Points:
    """Of one who is so many Elo ahead (Bradley and Terry 1952, with draws Davidson 1970).

    :param draws: the share of their games that equals draw, 0..1 (below 1)
    """
    half, nu = ahead * _PER_ELO / 2.0, draw_parameter(draws)
    win, loss = exp(half), exp(-half)
    all_of_them = win + loss + nu
    mean = (win + nu / 2.0) / all_of_them
    return Points(mean, (win + nu / 4.0) / all_of_them - mean * mean)


def place(asked: Gauntlet, tally: Tally) -> Place:
    """The most likely rating by the pairs that count, both colors together.

    With draws a point of rating is less of the points: by what the venue's ratings say of draws, the scale is that of
    the opponents' ratings. The interval is the normal one at the maximum, by the second derivative.
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
            expected = expected_points(elo - rating, asked.draws)
            slope += (points - games * expected.mean) * _PER_ELO
            curvature += games * expected.variance * _PER_ELO**2
        step = max(-200.0, min(200.0, slope / curvature))  # far off, Newton's step leads beyond
        elo += step
        if abs(step) < _CLOSE:
            break
    return Place(elo, Z95 / sqrt(curvature))
