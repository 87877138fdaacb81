"""The best rounds of many fields at once, each the one that :func:`pair_field` makes of that field by itself.

A field is split where its scores allow it, and of the possible pairs only those are weighed that can occur in a round
as good as bounds say there may be; a round that reaches such a bound is the best of all. Where none does more pairs are
looked at, in the end all.

Axes: b fields, m entrants of each by rank, P = m (m - 1) / 2 pairs of ranks i < j, k = m / 2 pairs of a round. What is
computed for all P of them has the fields as its last axis, by which it is faster. Must not know: what is simulated,
seats, lots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import rustworkx
from numpy.typing import NDArray

from cgos_server.core.pairing.matching import pack
from cgos_server.tournaments.base import Ints
from cgos_server.tournaments.pairing.mwm_weights import TIE_BITS, packed, pair_field, separators

Bools: TypeAlias = NDArray[np.bool_]
Edge: TypeAlias = tuple[int, int, int]
Matching: TypeAlias = Callable[[int, list[Edge]], list[tuple[int, int]]]
"""From how many there are and possible pairs with weights: as many pairs as can be, of the largest weight there is."""

Weigh: TypeAlias = Callable[[Ints, Ints, Ints], Ints]
"""The third component of the weight, by field and ranks i < j, each (e,)."""

DETOURS: Final = (0, 2, 6)
"""Half points over the least a round can cost: only pairs are looked at that can occur in rounds up to so much, first
those of the first number. A round found within the limit is the best of all."""


def best(n: int, edges: list[Edge]) -> list[tuple[int, int]]:
    """A :data:`Matching` (Edmonds 1965; Galil 1986), by rustworkx."""
    if n == 2:
        return [(0, 1)] if edges else []
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=True)
    graph.extend_from_weighted_edge_list(edges)  # adds their ends
    return list(rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int))


class _Blocks(NamedTuple):
    """Ranks of one field each whose pairs are a matching of their own: between two of them nobody meets.

    :ivar field: (x,) which field
    :ivar begin: (x,) the first rank
    :ivar end: (x,) the rank after the last one; their number is even
    """

    field: Ints
    begin: Ints
    end: Ints

    def only(self, which: Bools) -> _Blocks:
        """Some of them."""
        return _Blocks(self.field[which], self.begin[which], self.end[which])


class Fields:
    """Fields before a round, by rank.

    :param score: (b, m) half points, descending; m is even
    :param balance: (b, m) games with White less games with Black
    :param met: fields and ranks of those who were paired before, each (x,), either one first
    :param times: (m, m) how often two ranks of one field were paired before
    :param beta: largest balance
    :param matching: who solves the matchings
    :param detours: see :data:`DETOURS`; ``(math.inf,)`` has one matching of each whole field
    :ivar unavoidable: (b, m) half points that the cheapest round would cost at the gap above a rank if all could meet
    :ivar least: (b,) their sums
    """

    def __init__(
        self,
        score: Ints,
        balance: Ints,
        met: tuple[Ints, Ints, Ints],
        times: Callable[[int], Ints],
        beta: int,
        matching: Matching,
        detours: Sequence[float],
    ) -> None:
        self.score, self.balance, self.times, self.beta = score, balance, times, beta
        self.matching, self.detours = matching, detours
        b, m = score.shape
        self.b, self.m = b, m
        self.i, self.j = i, j = np.triu_indices(m, 1)
        step = np.zeros((b, m), dtype=np.int64)
        step[:, 1:] = score[:, :-1] - score[:, 1:]
        odd = np.arange(m) % 2 == 1
        self.unavoidable = step * odd
        self.least = self.unavoidable.sum(axis=1)
        # As in pair_field: what a pair costs at least beyond that, if it reaches over gaps with an even number above.
        self.gaps = 2 * step * ~odd
        self.detour = np.cumsum(self.gaps, axis=1)
        balances = _by_rank(balance)
        self.may = np.abs(balances[i] + balances[j]) < 2 * beta
        self.differences = np.abs(balances[i] - balances[j])
        field, one, other = met
        low, high = np.minimum(one, other), np.maximum(one, other)
        self.may[low * (2 * m - low - 1) // 2 + high - low - 1, field] = False
        self.separators = separators(m, i, j)

    def pair(self, weigh: Weigh, alike: bool = False) -> Ints:
        """(b, k, 2) ranks of the best rounds, the better one first.

        :param alike: it is the same one in all fields
        """
        partner = np.full((self.b, self.m), -1, dtype=np.int64)
        left = np.arange(1 if alike else self.b)
        search = _Search(self, weigh, partner)
        for most in self.detours:
            if len(left):
                left = left[~search.within(left, most)]
        for t in left.tolist():
            decision = pair_field(
                self.score[t], self.balance[t], times=self.times(t), beta=self.beta, third=_of_one(weigh, t)
            )
            for one, other in decision.pairs:
                partner[t, one], partner[t, other] = other, one
        if alike:
            partner[:] = partner[0]
        ranks = np.arange(self.m)
        better = np.broadcast_to(ranks, partner.shape)[partner > ranks].reshape(self.b, -1)
        return np.stack((better, np.take_along_axis(partner, better, axis=1)), axis=2)


class _Search:
    """The search for the best rounds of fields.

    :ivar partner: (b, m) ranks; -1, or anything, where none have been found
    :ivar open: (b, m) whether a rank's block has no round of the least cost by itself, as far as is known
    """

    def __init__(self, fields: Fields, weigh: Weigh, partner: Ints) -> None:
        self.fields, self.weigh, self.partner = fields, weigh, partner
        self.open = np.ones(partner.shape, dtype=np.bool_)

    def within(self, among: Ints, most: float) -> Bools:
        """Fills in the partners of those fields whose best round costs up to `most` beyond the least.

        :param among: (a,) fields
        :return: (a,) whose these are
        """
        f = self.fields
        detour = f.detour[among]
        by_rank = _by_rank(detour)
        near = f.may[:, among] & (by_rank[f.j] - by_rank[f.i] <= most)
        region = self._region(among, detour, most)
        blocks = _blocks(among, region, f.gaps[among] > most)
        if most == 0:
            failed = np.zeros(len(blocks.field), dtype=np.bool_)
            of_one_score = f.score[blocks.field, blocks.begin] == f.score[blocks.field, blocks.end - 1]
            tight = near & self._tight(among, blocks)
            for some in (of_one_score, ~of_one_score):
                failed[some] = self._solve(among, blocks.only(some), tight, tight=True)
                failed[some] |= self._dear(blocks.only(some))
            again = blocks.only(failed)
            failed[failed] = self._solve(among, again, near) | self._dear(again)
            self.open[among] = _cover(blocks.only(failed), among, f.m)
        else:
            failed = self._solve(among, blocks, near & region.T[f.i] & region.T[f.j])
        good = np.bincount(np.searchsorted(among, blocks.field[failed]), minlength=len(among)) == 0
        cost = self._costs(among).sum(axis=1) // 2
        reached: Bools = good & (cost <= f.least[among] + most)
        return reached

    def _region(self, among: Ints, detour: Ints, most: float) -> Bools:
        """(a, m) the ranks that rounds up to so dear can pair otherwise than each block by itself: a row of pairs over
        gaps that cost something begins or ends at a block without a round, else it would only cost more."""
        open_ = self.open[among]
        rows = np.arange(len(among))
        first = detour[rows, np.argmax(open_, axis=1)]
        last = detour[rows, self.fields.m - 1 - np.argmax(open_[:, ::-1], axis=1)]
        region: Bools = (detour >= first[:, None] - most) & (detour <= last[:, None] + most)
        return region

    def _tight(self, among: Ints, blocks: _Blocks) -> Bools:
        """(P, a) the pairs of which rounds are made whose balances differ by as much as a bound allows.

        With any number m of each score, two of one score with balances c and c' have |c - c'| <= |c - m| + |c' - m|,
        and two of different scores at most what the m of the scores between them differ by besides. A cheapest round
        goes over each gap inside a block once. So the sum of all these is a bound on the sum of differences of a whole
        block, and a block that reaches it is made of pairs that each reach theirs. Medians are good m.
        """
        f = self.fields
        score, balance = f.score[among], f.balance[among]
        starts = np.zeros(score.shape, dtype=np.bool_)
        starts[np.searchsorted(among, blocks.field), blocks.begin] = True
        of_block = starts.ravel().copy()
        starts[:, 1:] |= score[:, 1:] != score[:, :-1]
        begin = np.flatnonzero(starts)
        size = np.diff(np.append(begin, score.size))
        number = np.repeat(np.arange(len(size)), size)
        width = 2 * int(np.abs(balance).max()) + 1
        ordered = np.sort(number * width + balance.ravel()) - number * width
        low, high = 2 * ordered[begin + (size - 1) // 2], 2 * ordered[begin + size // 2]
        # Doubled. Where there is a choice: near the last score above that has none, so that they differ by little.
        groups = np.arange(len(size))
        first = np.maximum.accumulate(np.where(of_block[begin], groups, 0))
        above = np.maximum.accumulate(np.where(size % 2 == 1, groups, -1))
        middle = np.where(above >= first, np.clip(low[above], low, high), (low + high) // 2)
        apart = np.zeros(score.size, dtype=np.int64)
        apart[begin[1:]] = np.where(of_block[begin[1:]], 0, np.abs(np.diff(middle)))
        over = np.cumsum(apart.reshape(score.shape), axis=1)
        off = np.abs(2 * balance - middle[number].reshape(score.shape))
        bound = _by_rank(off - over)[f.i] + _by_rank(off + over)[f.j]
        tight: Bools = 2 * f.differences[:, among] == bound
        return tight

    def _solve(self, among: Ints, blocks: _Blocks, near: Bools, tight: bool = False) -> Bools:
        """Fills in the partners of the blocks that have a round.

        :param near: (P, a) the pairs that may be made; none reaches out of a block
        :param tight: whether they all make the same sum of differences of the balances
        :return: (x,) which blocks have none
        """
        f, m = self.fields, self.fields.m
        at = np.searchsorted(among, blocks.field)
        start = np.full((len(among), m), -1, dtype=np.int64)
        rows, ranks = _ranks(blocks)
        start[np.searchsorted(among, rows), ranks] = np.repeat(blocks.begin, blocks.end - blocks.begin)
        inside = np.ascontiguousarray((near & (start >= 0).T[f.i]).T)
        a, p = np.divmod(np.flatnonzero(inside), len(f.i))
        t, i, j = among[a], f.i[p], f.j[p]
        weights = self._weights(t, p, tight)
        begin = start[a, i]
        edges = list(zip((i - begin).tolist(), (j - begin).tolist(), weights, strict=True))
        of_rank = a * m + i
        bounds = np.searchsorted(of_rank, (at * m + blocks.begin, at * m + blocks.end)).tolist()
        sizes = (blocks.end - blocks.begin).tolist()
        made: list[tuple[int, int]] = []
        counts = []
        for size, low, high in zip(sizes, *bounds, strict=True):
            pairs = f.matching(size, edges[low:high])
            whole = 2 * len(pairs) == size
            counts.append(len(pairs) if whole else 0)
            if whole:
                made += pairs
        numbers = np.array(counts, dtype=np.int64)
        ends = np.array(made, dtype=np.int64).reshape(-1, 2) + np.repeat(blocks.begin, numbers)[:, None]
        field = np.repeat(blocks.field, numbers)
        self.partner[field, ends[:, 0]], self.partner[field, ends[:, 1]] = ends[:, 1], ends[:, 0]
        failed: Bools = numbers == 0
        return failed

    def _weights(self, t: Ints, p: Ints, tight: bool) -> list[int]:
        """(e,) what pairs weigh: by field and number of the pair."""
        f = self.fields
        i, j = f.i[p], f.j[p]
        low, third = f.score[t, j] - f.score[t, i], self.weigh(t, i, j)
        if not tight:
            return packed(f.m, i, j, (low, f.differences[p, t].astype(np.int64), third))
        if not len(t):
            return []
        # Every matching has as many pairs and the same balances, so that these need no room.
        levels = [low - low.min(), third - third.min(), f.separators[p]]
        ranges = [(0, int(levels[0].max())), (0, int(levels[1].max())), (0, (1 << TIE_BITS) - 1)]
        return pack(levels, f.m // 2, ranges)

    def _costs(self, among: Ints) -> Ints:
        """(a, m) how far the scores of each and its partner are apart."""
        score = self.fields.score[among]
        costs: Ints = np.abs(score - np.take_along_axis(score, np.maximum(self.partner[among], 0), axis=1))
        return costs

    def _dear(self, blocks: _Blocks) -> Bools:
        """(x,) which blocks have been paired dearer than the cheapest round."""
        fields, which = np.unique(blocks.field, return_inverse=True)
        beyond = np.zeros((len(fields), self.fields.m + 1), dtype=np.int64)
        np.cumsum(self._costs(fields) - 2 * self.fields.unavoidable[fields], axis=1, out=beyond[:, 1:])
        dear: Bools = beyond[which, blocks.end] > beyond[which, blocks.begin]
        return dear


def _by_rank(values: Ints) -> NDArray[np.int32]:
    """(b, m) as (m, b), of half the size."""
    return np.ascontiguousarray(values.T, dtype=np.int32)


def _blocks(among: Ints, region: Bools, cuts: Bools) -> _Blocks:
    """The regions, cut into blocks.

    :param region: (a, m) ranks without a gap
    :param cuts: (a, m) nobody meets over the gap above that rank
    """
    starts = region & cuts
    starts[:, 0] |= region[:, 0]
    starts[:, 1:] |= region[:, 1:] & ~region[:, :-1]
    at, begin = np.nonzero(starts)
    end = np.append(begin[1:], 0)
    last = np.append(at[1:] != at[:-1], True)
    end[last] = region.shape[1] - np.argmax(region[:, ::-1], axis=1)
    return _Blocks(among[at], begin, end)


def _ranks(blocks: _Blocks) -> tuple[Ints, Ints]:
    """Field and rank of everybody in these blocks."""
    size = blocks.end - blocks.begin
    before = np.cumsum(size) - size
    return np.repeat(blocks.field, size), np.arange(size.sum()) + np.repeat(blocks.begin - before, size)


def _cover(blocks: _Blocks, among: Ints, m: int) -> Bools:
    """(a, m) who is in these blocks."""
    rows, ranks = _ranks(blocks)
    cover = np.zeros((len(among), m), dtype=np.bool_)
    cover[np.searchsorted(among, rows), ranks] = True
    return cover


def _of_one(weigh: Weigh, t: int) -> Callable[[Ints, Ints], Ints]:
    return lambda i, j: weigh(np.full(len(i), t), i, j)
