"""Divisions of the ratings into groups, from which the mixture's fit is begun.

The mixture's posterior has several optima; which one a fit ends in depends on where it begins. Decides the divisions.
Must not know: the fit.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .pool import Floats, Ints, Prior
from .prior_sites import SMOOTHING

CUTS: Final = ((0.2, 0.6), (0.4, 0.8), (0.15, 0.85))
ROUNDS: Final = 50
OWN_SHARE: Final = 0.8
"""Of a version's responsibility goes to its own group; the rest is divided among all."""

LEAST_WIDTH: Final = 150.0
MOSTLY_EQUAL: Final = 0.9
"""Of the strengths that are not in the tail: the share of the equals where the last start begins."""


class Start(NamedTuple):
    """Common width, weights (Q,), responsibilities (n_f, Q); the share of the equals."""

    s: float
    w: Floats
    rho: Floats
    equals: float = 0.0


def starts(ratings: Floats, root: NDArray[np.bool_], prior: Prior) -> tuple[Start, ...]:
    """Groups by k-means first, then by cuts of the ranks (for three components), each with its s and w; then the
    first one again, with equals; last the same about a single center.

    :param ratings: (n_f,) of the free versions, in the order of their indices (which decides ties)
    :param root: (n_f,) True for those without a predecessor: width and weights are theirs, where there is one
    """
    count = prior.components
    groups = [means(ratings, count)]
    if count == 3:
        groups += [cut(ratings, at) for at in CUTS]
    begun = [_start(ratings, group, root=root, prior=prior) for group in groups]
    if prior.equals:
        begun.append(begun[0]._replace(equals=MOSTLY_EQUAL * (1.0 - prior.tail)))
        if prior.gathered and count > 1:
            begun.append(begun[-1]._replace(w=np.ones(1), rho=np.ones((len(ratings), 1))))
    return tuple(begun)


def means(ratings: Floats, count: int) -> Ints:
    """(n_f,) group of each rating by one-dimensional k-means, begun at the quantiles 1/2k, 3/2k, ...

    An empty group keeps its center; the first of equally near centers wins.
    """
    if not len(ratings):
        return np.zeros(0, dtype=np.int64)
    centers = np.quantile(ratings, (np.arange(count) + 0.5) / count)
    groups = np.full(len(ratings), -1)
    for _ in range(ROUNDS):
        nearest = np.abs(ratings[:, None] - centers).argmin(axis=1)
        if (nearest == groups).all():
            break
        groups = nearest
        for k in range(count):
            if (groups == k).any():
                centers[k] = ratings[groups == k].mean()
    return groups


def cut(ratings: Floats, at: tuple[float, ...]) -> Ints:
    """(n_f,) group of each rating by ascending rank r: below a cut at f where (r + 0.5) / n_f <= f."""
    rank = np.empty(len(ratings), dtype=np.int64)
    rank[np.argsort(ratings, kind="stable")] = np.arange(len(ratings))
    position = (rank + 0.5) / max(len(ratings), 1)
    piece: Ints = (position[:, None] > np.array(at)).sum(axis=1)
    return piece


def _start(ratings: Floats, groups: Ints, root: NDArray[np.bool_], prior: Prior) -> Start:
    count = prior.components
    rho = np.full((len(ratings), count), (1.0 - OWN_SHARE) / count)
    rho[np.arange(len(ratings)), groups] += OWN_SHARE
    w = (SMOOTHING + rho[root].sum(axis=0)) / (SMOOTHING * count + int(root.sum()))
    measured = root if root.any() else ~root
    strengths, groups = ratings[measured], groups[measured]
    members = np.bincount(groups, minlength=count)
    center = np.bincount(groups, strengths, count) / np.maximum(members, 1)
    square = float(((strengths - center[groups]) ** 2).mean()) if len(strengths) else prior.width**2
    return Start(float(np.sqrt(max(square, LEAST_WIDTH**2))), w, rho)
