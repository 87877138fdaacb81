"""P(the version is stronger than its opponent), Bayesian: by what the ladder knows and a question's own games.

It decides nothing: what decides is the question's own games. Before these, the difference of strength is normal, as
the ladder's rating system knows it jointly; a game's likelihood is the one of that system's model (Bradley and Terry
1952, Davidson 1970), so that draws and the first move count as the ladder has learned. Must not know: where that
knowledge comes from, which games the ladder has counted already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cgos_server.core.questions.tally import Score
from cgos_server.core.rating.base import Outcome

_POINTS: Final = 241
"""Differences at which the density is computed, each time."""

_FAR: Final = 8.0
"""So many standard deviations off nothing is left."""

_NOTHING: Final = 1e-12
"""A density below this share of the highest one does not count."""

_SMALLEST: Final = 1e-300


class Prior(NamedTuple):
    """The version's strength minus its opponent's before the games that are given: normal, Elo, `sd` > 0."""

    mean: float
    sd: float


class Games(NamedTuple):
    """Games of the version against its opponent, by the version's color, that the prior does not know."""

    as_black: Score = Score(0, 0, 0)
    as_white: Score = Score(0, 0, 0)


def superiority(prior: Prior, games: Games, outcome_at: Callable[[float], Outcome]) -> float:
    """The probability that the version is the stronger one, 0..1.

    :param outcome_at: what a game brings whose Black is so many Elo the stronger
    """
    low, high = prior.mean - _FAR * prior.sd, prior.mean + _FAR * prior.sd
    # The density has one maximum: of few points those beside which something is left bound all that is left.
    coarse = np.linspace(low, high, _POINTS)
    left = np.flatnonzero(_density(coarse, prior, games=games, outcome_at=outcome_at) > _NOTHING)
    low, high = (float(coarse[min(max(at, 0), _POINTS - 1)]) for at in (left[0] - 1, left[-1] + 1))
    fine = np.linspace(low, high, _POINTS)
    density = _density(fine, prior, games=games, outcome_at=outcome_at)
    return _share_above_zero(fine, density)


def _density(
    differences: NDArray[np.float64], prior: Prior, *, games: Games, outcome_at: Callable[[float], Outcome]
) -> NDArray[np.float64]:
    """In units of its highest value."""
    logs = -0.5 * ((differences - prior.mean) / prior.sd) ** 2
    for score, sign in ((games.as_black, 1.0), (games.as_white, -1.0)):
        if not score.games:
            continue
        outcomes = np.array([outcome_at(float(sign * difference)) for difference in differences])
        if sign < 0:
            outcomes = outcomes[:, ::-1]  # Black's win is a loss of the version
        logs = logs + np.log(np.maximum(outcomes, _SMALLEST)) @ np.array(score, dtype=np.float64)
    shares: NDArray[np.float64] = np.exp(logs - logs.max())
    return shares


def _share_above_zero(at: NDArray[np.float64], density: NDArray[np.float64]) -> float:
    """Of the area under straight lines between the points."""
    if at[0] >= 0.0:
        return 1.0
    if at[-1] <= 0.0:
        return 0.0
    areas = 0.5 * (density[1:] + density[:-1]) * np.diff(at)
    cell = int(np.searchsorted(at, 0.0, side="right")) - 1
    width = at[cell + 1] - at[cell]
    at_zero = density[cell] + (density[cell + 1] - density[cell]) * (0.0 - at[cell]) / width
    above = areas[cell + 1 :].sum() + 0.5 * (at_zero + density[cell + 1]) * at[cell + 1]
    return float(min(max(above / areas.sum(), 0.0), 1.0))
