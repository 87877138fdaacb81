"""How strong is a version by some of its games alone, such as those after its strength changed?

Decides the posterior of one strength while everybody else stays where they are. Must not know: which games, whose.

The prior is normal about the mean of the pool, as wide as the pool is, and :data:`LEAST_WIDTH` at least: the version's
own rating says where it was before, which is what it left, and a pool of equals would deny any change. The likelihood
is that of the games' scores (:class:`cgos_server.core.rating.breaks.ScoreModel`). The opponents' ratings are known as
exactly as they are: by the delta method the mean moves with each opponent's error by that opponent's share of the
information, independently of the chance in the games.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import hypot
from typing import Final, NamedTuple

import numpy as np

from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.breaks import ELO, Floats, Result, ScoreModel

LEAST_WIDTH: Final = 350.0
"""Elo: the median of the width that `bayes` learns of pools; our choice here."""

_NODES: Final = 201
_WIDE: Final = 8.0
"""Half of the first grid, in standard deviations of the prior."""
_ZOOMS: Final = 3
_CUT: Final = 1e-9
"""Of the highest density: less is left out of the next grid."""


class Strength(NamedTuple):
    """What some games say of a strength, Elo: its mean, and the ends of its 95 % interval."""

    mean: float
    lower: float
    upper: float


def strength_of(
    results: Sequence[Result],
    opponents: Sequence[Hashable],
    *,
    rating: float,
    spreads: Mapping[Hashable, float],
    pool: Sequence[float],
) -> Strength:
    """The strength that these games alone show.

    :param results: at least one, with what was to be expected at `rating`
    :param opponents: whom each game was played with
    :param rating: of the version, Elo
    :param spreads: standard deviations of the opponents' ratings, Elo
    :param pool: everybody's ratings, Elo; at least one
    :raises ValueError: for impossible results
    """
    scores = ScoreModel(results)
    center, width = float(np.mean(pool)), max(float(np.std(pool)), LEAST_WIDTH)
    nodes = np.linspace(-_WIDE, _WIDE, _NODES) * width + center
    for _ in range(_ZOOMS):
        density = _density(scores, nodes, rating, (center, width))
        there = np.flatnonzero(density > _CUT)
        nodes = np.linspace(nodes[max(there[0] - 1, 0)], nodes[min(there[-1] + 1, _NODES - 1)], _NODES)
    density = _density(scores, nodes, rating, (center, width))
    area = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2.0)))
    mean = float((nodes * density).sum() / density.sum())
    low, high = (float(np.interp(share * area[-1], area, nodes)) for share in (0.025, 0.975))
    theirs = Z95 * _from_opponents(scores, (mean - rating) / ELO, opponents, spreads, prior=(ELO / width) ** 2)
    return Strength(mean=mean, lower=mean - hypot(mean - low, theirs), upper=mean + hypot(high - mean, theirs))


def _density(scores: ScoreModel, nodes: Floats, rating: float, prior: tuple[float, float]) -> Floats:
    """(nodes,) the posterior's density there; its largest value is 1. `prior`: its center and width."""
    center, width = prior
    scored = float(scores.score.sum())
    gains = np.array([scores.gain(scored, (node - rating) / ELO) for node in nodes])
    logarithm = gains / 2.0 - ((nodes - center) / width) ** 2 / 2.0
    density: Floats = np.exp(logarithm - logarithm.max())
    return density


def _from_opponents(
    scores: ScoreModel,
    d: float,
    opponents: Sequence[Hashable],
    spreads: Mapping[Hashable, float],
    *,
    prior: float,
) -> float:
    """The standard deviation, Elo, that the opponents' ratings give to the mean at strength d; `prior`: its precision,
    per logit squared."""
    mean = scores.means(d)
    information = scores.scale * mean * (1.0 - mean)
    shares: dict[Hashable, float] = {}
    for opponent, part in zip(opponents, information, strict=True):
        shares[opponent] = shares.get(opponent, 0.0) + float(part)
    total = float(information.sum()) + prior
    return hypot(*(spreads[opponent] * share / total for opponent, share in shares.items()))
