"""What a fitted pool has found besides ratings: what it learned of draws and of the first move, and what is known of
all strengths together.

Decides how sure the first move's worth is. Must not know: names, storage, how a refit computes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import Final

import numpy as np

from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.bayes.likelihood import curvature, drawn_between_equals
from cgos_server.core.rating.bayes.pool import Q_ELO, Floats, Ints
from cgos_server.core.rating.bayes.sites import Cells, cells
from cgos_server.core.rating.bayes.state import State, pool_of
from cgos_server.core.rating.bayes.system import Bayes

_MOST_SIZES: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What a pool's results say of all its games.

    :ivar advantage: what the first move is worth, Elo
    :ivar advantage_sd: its standard deviation, Elo; 0 where it was given as nothing
    :ivar drawn: the share, 0..1, of their games that equals draw
    :ivar draw: Davidson's parameter nu, of which that follows
    :ivar width: standard deviation of strengths within a group, Elo; with a fixed prior the given one
    :ivar weights: shares of the pool, sum 1, that the groups have; one group with a fixed prior
    :ivar step: standard deviation of a successor's step from its predecessor, Elo; None: nobody has a predecessor
    """

    advantage: float
    advantage_sd: float
    drawn: float
    draw: float
    width: float
    weights: tuple[float, ...]
    step: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much stronger one is than another. ``str()`` of it is ``+41 ± 63``, half of the 95 % interval.

    :ivar mean: Elo
    :ivar sd: standard deviation, Elo
    """

    mean: float
    sd: float

    @property
    def lower(self) -> float:
        """Where the 95 % interval begins, Elo."""
        return self.mean - Z95 * self.sd

    @property
    def upper(self) -> float:
        """Where it ends, Elo."""
        return self.mean + Z95 * self.sd

    def __str__(self) -> str:
        return f"{self.mean:+.0f} ± {Z95 * self.sd:.0f}"


def components(count: int, pairs: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return the numbers below `count` in groups that chains of pairs join, the largest group first."""
    neighbors: list[set[int]] = [set() for _ in range(count)]
    for one, other in pairs:
        neighbors[one].add(other)
        neighbors[other].add(one)
    groups: list[list[int]] = []
    left = dict.fromkeys(range(count))
    while left:
        group = [left.popitem()[0]]
        for member in group:
            for neighbor in neighbors[member] & left.keys():
                del left[neighbor]
                group.append(neighbor)
        groups.append(sorted(group))
    return sorted(groups, key=lambda group: (-len(group), group))


def remark_on_groups(groups: Sequence[Sequence[object]]) -> str:
    """Say that no chain of games joins these groups; empty for one group."""
    if len(groups) < 2:
        return ""
    sizes = ", ".join(str(len(group)) for group in groups[:_MOST_SIZES]) + ", ..." * (len(groups) > _MOST_SIZES)
    return (
        f"No chain of games joins the {len(groups)} groups of names (sizes {sizes}): "
        "ratings of different groups cannot be compared."
    )


def learned(system: Bayes, state: State) -> Learned:
    """What the last fit of a state learned."""
    hyper = state.base.hyper
    return Learned(
        advantage=hyper.advantage,
        advantage_sd=_advantage_sd(system, state),
        drawn=drawn_between_equals(hyper.draw),
        draw=hyper.draw,
        width=hyper.s,
        weights=hyper.w,
        step=hyper.step if state.links and system.learned else None,
    )


def covariance(state: State, at: Ints) -> Floats:
    """(m, m), Elo^2, of the strengths of versions by their places: with the prior's share on the diagonal, as
    differences are shown, and without anchors seen from the mean of all."""
    _, C, share = state.belief.jointly(not state.anchors)
    if not state.anchors and len(C):
        to_mean = C.mean(axis=0)
        C = C - to_mean - to_mean[:, None] + to_mean.mean()
    whole: Floats = (C + np.diag(share))[np.ix_(at, at)]
    return whole


def superiority(state: State, at: Ints) -> Floats:
    """(m, m) of probabilities that the version of the row is stronger than that of the column; a half for itself."""
    means, C, share = state.belief.jointly(not state.anchors)
    means, own = means[at], (np.diagonal(C) + share)[at]
    variance = own[:, None] + own - 2.0 * C[np.ix_(at, at)]
    np.fill_diagonal(variance, 1.0)
    below = (means - means[:, None]) / np.sqrt(2.0 * variance)
    half_erfc = np.frompyfunc(lambda z: 0.5 * erfc(z), 1, 1)
    probability: Floats = half_erfc(below).astype(np.float64)
    return probability


def _advantage_sd(system: Bayes, state: State) -> float:
    """Elo, about the normal posterior: what strengths and first move can make up for one another is not known twice
    (Laplace's approximation with the strengths integrated out)."""
    if system.advantage_sd == 0:
        return 0.0
    of = cells(pool_of(state.known(), system.prior, state.cells.copy()))
    x, C, _ = state.belief.jointly(False)
    front, back = _bends(of, x, state.base.hyper.advantage, state.base.hyper.draw)
    across = np.bincount(of.one, front - back, len(x)) - np.bincount(of.two, front - back, len(x))
    alone = float((front + back).sum())
    precision = 1.0 / system.advantage_sd**2 + max(alone - float(across @ C @ across), 0.0)
    return 1.0 / sqrt(precision)


def _bends(of: Cells, x: Floats, advantage: float, draw: float) -> tuple[Floats, Floats]:
    """(k,) minus the second derivatives of the log likelihood, 1/Elo^2, of games in which `one` moved first, and of
    those in which `two` did."""
    d = x[of.one] - x[of.two]
    front, back = curvature(Q_ELO * (d + advantage), draw)[1], curvature(Q_ELO * (d - advantage), draw)[1]
    return Q_ELO**2 * of.ahead * front, Q_ELO**2 * of.behind * back
