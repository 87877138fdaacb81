"""Which pairs the best rounds of many blocks can have at all, by bounds on what any round can reach.

A block is a row of ranks that is paired by itself, at the least that the distances of its scores can add up to: then
its pairs go over each gap between two of its scores once. So whatever bounds each pair by a number of each of the two
and a number of each gap between them bounds the whole round by the sum of these; and a pair that falls short of its own
bound by more than the whole round does is none of it. These are dual solutions of the matching as a linear program
(Edmonds 1965), which need not be the best to be bounds. Must not know: how matchings are found, what is simulated.

Axes: a fields, m ranks, x blocks, s scores of blocks, e pairs.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cgos_server.tournaments.base import Ints
from cgos_server.tournaments.pairing.mwm_weights import MILLION

Bools: TypeAlias = NDArray[np.bool_]

CLOSE: Final = 2 * MILLION
"""Pairs short of their bound by more than half of this are not looked at first: more of them would do no harm."""


class Groups:
    """Those of one score in a block, for all blocks of the fields in order.

    :param score: (a, m) half points, descending
    :param opens: (a, m) whether a rank is the first one of a block
    :ivar number: (a, m) which group, from 0 over all fields
    :ivar begin: (s,) the first rank, counted over all fields
    :ivar size: (s,) how many
    :ivar opens: (s,) whether it is the first one of its block
    """

    def __init__(self, score: Ints, opens: Bools) -> None:
        starts = opens.copy()
        starts[:, 1:] |= score[:, 1:] != score[:, :-1]
        self.begin = np.flatnonzero(starts)
        self.size = np.diff(np.append(self.begin, score.size))
        self.number: Ints = np.repeat(np.arange(len(self.size)), self.size).reshape(score.shape)
        self.opens = opens.ravel()[self.begin]

    def colors(self, balance: Ints) -> tuple[Ints, Ints]:
        """Two (a, m): the first of i and the second of j add up to twice a bound on \\|c_i - c_j\\| for ranks i < j.

        With any number of each group two of one group have at most the sum of their distances to it, two of different
        groups at most what the numbers of the groups from one to the other differ by besides. Medians are good numbers.
        """
        width = 2 * int(np.abs(balance).max()) + 1
        keys = self.number * width + balance
        ordered = np.sort(keys.ravel()) - self.number.ravel() * width
        low, high = 2 * ordered[self.begin + (self.size - 1) // 2], 2 * ordered[self.begin + self.size // 2]
        # Where there is a choice: near the last one above that has none, so that they differ by little.
        groups = np.arange(len(self.size))
        first = np.maximum.accumulate(np.where(self.opens, groups, 0))
        above = np.maximum.accumulate(np.where(self.size % 2 == 1, groups, -1))
        middle = np.where(above >= first, np.clip(low[above], low, high), (low + high) // 2)
        over = np.cumsum(np.where(self.opens, 0, np.abs(middle - np.roll(middle, 1))))[self.number]
        off = np.abs(2 * balance - middle[self.number])
        return off - over, off + over


class Shortfall(NamedTuple):
    """How far pairs, and rounds, fall short of a bound on the third component of the weights.

    :ivar of_pairs: (e,) doubled
    :ivar of_ranks: (a, m) what each rank has in the bound of a round, doubled
    :ivar of_gaps: (x,) what the gaps of a block have in it, doubled
    :ivar reserve: (x,) how much pairs that exceed their bounds can add to a round, doubled
    """

    of_pairs: Ints
    of_ranks: Ints
    of_gaps: Ints
    reserve: Ints


def shortfall(groups: Groups, far: Ints, a: Ints, i: Ints, j: Ints) -> Shortfall:
    """By a bound for a component that is a convex function of how far two ranks are apart.

    Of two on different sides of the middle of their group one is as far from it as the mean of both distances, so that
    by convexity the mean of the component at twice these distances is a bound; so it is of two on the same side. A gap
    has the most by which any pair over it alone exceeds that.

    :param far: (m,) the component by distance
    :param a: (e,) fields of possible pairs
    :param i: (e,) the better ranks
    :param j: (e,) the others
    """
    m = groups.number.shape[1]
    center = 2 * (groups.begin % m) + groups.size - 1
    of_ranks = far[np.abs(2 * np.arange(m) - center[groups.number])]
    one, other = groups.number[a, i], groups.number[a, j]
    beyond = 2 * far[j - i] - of_ranks[a, i] - of_ranks[a, j]
    over = np.zeros(len(groups.size), dtype=np.int64)
    low = int(beyond.min(initial=0)) - 1
    over[:] = low
    next_ = other == one + 1
    np.maximum.at(over, other[next_], beyond[next_])
    over = np.cumsum(np.where(over == low, 0, over))
    of_pairs = over[other] - over[one] - beyond
    block = np.cumsum(groups.opens) - 1
    x, inside = int(block[-1]) + 1, one == other
    scores = np.bincount(block)
    half = np.bincount(block, groups.size).astype(np.int64) // 2
    reserve = np.zeros(x, dtype=np.int64)
    for which, times in ((inside, half), (~inside, scores - 1)):
        worst = np.zeros(x, dtype=np.int64)
        np.minimum.at(worst, block[one[which]], of_pairs[which])
        reserve -= worst * times
    ends = np.cumsum(scores)
    return Shortfall(of_pairs, of_ranks, over[ends - 1] - over[ends - scores], reserve)
