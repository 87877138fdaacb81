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
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import rustworkx
from numpy.typing import NDArray

from cgos_server.core.pairing.matching import pack
from cgos_server.tournaments.base import Ints
from cgos_server.tournaments.pairing.mwm_weights import TIE_BITS, packed, pair_field, separators
from cgos_server.tournaments.simulation.many_bounds import CLOSE, Bools, Groups, Shortfall, shortfall

Edge: TypeAlias = tuple[int, int, int]
Matching: TypeAlias = Callable[[int, list[Edge]], list[tuple[int, int]]]
"""From how many there are and possible pairs with weights: pairs of all of them with the largest sum of weights; where
not all can be paired, some or none."""

Weigh: TypeAlias = Callable[[Ints, Ints, Ints], Ints]
"""The third component of the weight, by field and ranks i < j, each (e,)."""

DETOURS: Final = (0, 2, 6)
"""Half points over the least a round can cost: only pairs are looked at that can occur in rounds up to so much, first
those of the first number. A round found within the limit is the best of all."""


_OF_FOUR: Final = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))


def best(n: int, edges: list[Edge]) -> list[tuple[int, int]]:
    """A :data:`Matching` (Edmonds 1965; Galil 1986), by rustworkx."""
    if n == 2:
        return [(0, 1)] if edges else []
    if n == 4:
        return _best_of_four(edges)
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=True)
    graph.extend_from_weighted_edge_list(edges)  # adds their ends
    return list(rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int))


def _best_of_four(edges: list[Edge]) -> list[tuple[int, int]]:
    weights = {(i, j): weight for i, j, weight in edges}
    rounds = [pairs for pairs in _OF_FOUR if pairs[0] in weights and pairs[1] in weights]
    return list(max(rounds, key=lambda pairs: weights[pairs[0]] + weights[pairs[1]], default=()))


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

    def pair(self, weigh: Weigh, far: Ints | None = None, alike: bool = False) -> Ints:
        """(b, k, 2) ranks of the best rounds, the better one first.

        :param far: (m,) what :func:`weigh` says by the distance of two ranks, where that is a convex function of it
            alone; then it takes less time
        :param alike: it is the same one in all fields
        """
        partner = np.full((self.b, self.m), -1, dtype=np.int64)
        left = np.arange(1 if alike else self.b)
        search = _Search(self, weigh, far, partner)
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


class _Edges(NamedTuple):
    """Pairs that may be made, by field, then by rank.

    :ivar a: (e,) which of the fields that are looked at
    :ivar field: (e,) which of all fields
    :ivar p: (e,) number of the pair
    :ivar i: (e,) the better rank
    :ivar j: (e,) the other
    """

    a: Ints
    field: Ints
    p: Ints
    i: Ints
    j: Ints

    def only(self, which: Bools) -> _Edges:
        """Some of them."""
        return _Edges(*(values[which] for values in self))


class _Search:
    """The search for the best rounds of fields.

    :ivar partner: (b, m) ranks; -1, or anything, where none have been found
    :ivar open: (b, m) whether a rank's block has no round of the least cost by itself, as far as is known
    """

    def __init__(self, fields: Fields, weigh: Weigh, far: Ints | None, partner: Ints) -> None:
        self.fields, self.weigh, self.far, self.partner = fields, weigh, far, partner
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
            failed = self._cheapest(among, blocks, near)
            self.open[among] = _cover(blocks.only(failed), among, f.m)
        else:
            edges = self._edges(among, near & region.T[f.i] & region.T[f.j])
            failed = self._match(among, blocks, edges, third=self.weigh(edges.field, edges.i, edges.j))
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

    def _cheapest(self, among: Ints, blocks: _Blocks, near: Bools) -> Bools:
        """Fills in the partners of the blocks that can be paired by themselves at the least cost.

        :param blocks: of all ranks
        :param near: (P, a) the pairs that may be made
        :return: (x,) which blocks cannot
        """
        f = self.fields
        groups = Groups(f.score[among], _starts(blocks, among, f.m))
        of_better, of_other = groups.colors(f.balance[among])
        tight = 2 * f.differences[:, among] == _by_rank(of_better)[f.i] + _by_rank(of_other)[f.j]
        edges = self._edges(among, near & tight)
        third = self.weigh(edges.field, edges.i, edges.j)
        failed = np.ones(len(blocks.field), dtype=np.bool_)
        if self.far is not None:
            short = shortfall(groups, self.far, edges.a, i=edges.i, j=edges.j)
            close = short.of_pairs <= CLOSE
            failed = self._tight(among, blocks, edges.only(close), third=-short.of_pairs[close])
            failed |= self._falls_short(among, blocks, short)
        failed[failed] = self._tight(among, blocks.only(failed), edges, third)
        if failed.any():
            left = blocks.only(failed)
            edges = self._edges(among, near)
            third = self.weigh(edges.field, edges.i, edges.j)
            failed[failed] = self._match(among, left, edges, third=third) | self._dear(left)
        return failed

    def _tight(self, among: Ints, blocks: _Blocks, edges: _Edges, third: Ints) -> Bools:
        """Fills in the partners of the blocks that these pairs make cheapest rounds of; they all make the same sum of
        differences of the balances, which is the largest there can be.

        :param third: (e,) the third component of the weights, or what compares like it in sums over whole rounds
        :return: (x,) of which blocks they make none
        """
        score = self.fields.score
        even = score[blocks.field, blocks.begin] == score[blocks.field, blocks.end - 1]
        failed = np.zeros(len(even), dtype=np.bool_)
        for some in (even, ~even):  # where all have one score there are fewer bits to be weighed
            failed[some] = self._match(among, blocks.only(some), edges, third=third, colors=False)
        return failed | self._dear(blocks)

    def _edges(self, among: Ints, near: NDArray[np.bool_]) -> _Edges:
        """:param near: (P, a) which they are"""
        f = self.fields
        a, p = np.divmod(np.flatnonzero(np.ascontiguousarray(near.T)), len(f.i))
        return _Edges(a=a, field=among[a], p=p, i=f.i[p], j=f.j[p])

    def _match(self, among: Ints, blocks: _Blocks, edges: _Edges, third: Ints, colors: bool = True) -> Bools:
        """Fills in the partners of the blocks that have a round.

        :param edges: none reaches out of a block
        :param third: (e,) the third component of their weights
        :param colors: whether the balances are to be weighed
        :return: (x,) which blocks have none
        """
        m = self.fields.m
        if not len(blocks.field):
            return np.zeros(0, dtype=np.bool_)
        inside = _cover(blocks, among, m)[edges.a, edges.i]
        edges, third = edges.only(inside), third[inside]
        begins = np.searchsorted(edges.a * m + edges.i, np.searchsorted(among, blocks.field) * m + blocks.begin)
        begin = np.repeat(blocks.begin, np.diff(np.append(begins, len(edges.a))))
        columns = ((edges.i - begin).tolist(), (edges.j - begin).tolist(), self._weights(edges, third, colors))
        made: list[int] = []
        counts = []
        sizes = (blocks.end - blocks.begin).tolist()
        for size, low, high in zip(sizes, begins.tolist(), [*begins[1:].tolist(), len(begin)], strict=True):
            # Tuples only for as long as they are needed: many of them are work for the garbage collector.
            pairs = self.fields.matching(size, list(zip(*(column[low:high] for column in columns), strict=True)))
            whole = 2 * len(pairs) == size
            counts.append(len(pairs) if whole else 0)
            if whole:
                made.extend(chain.from_iterable(pairs))
        numbers = np.array(counts, dtype=np.int64)
        ends = np.array(made, dtype=np.int64).reshape(-1, 2) + np.repeat(blocks.begin, numbers)[:, None]
        field = np.repeat(blocks.field, numbers)
        self.partner[field, ends[:, 0]], self.partner[field, ends[:, 1]] = ends[:, 1], ends[:, 0]
        failed: Bools = numbers == 0
        return failed

    def _weights(self, edges: _Edges, third: Ints, colors: bool) -> list[int]:
        """(e,) what pairs weigh."""
        f = self.fields
        _, t, p, i, j = edges
        low = f.score[t, j] - f.score[t, i]
        if colors:
            return packed(f.m, i, j, (low, f.differences[p, t].astype(np.int64), third))
        if not len(t):
            return []
        # Every matching has as many pairs and the same balances, so that these need no room.
        levels = [low - low.min(), third - third.min(), f.separators[p]]
        ranges = [(0, int(levels[0].max())), (0, int(levels[1].max())), (0, (1 << TIE_BITS) - 1)]
        return pack(levels, f.m // 2, ranges)

    def _falls_short(self, among: Ints, blocks: _Blocks, short: Shortfall) -> Bools:
        """(x,) whose rounds fall short of the bound by so much that pairs which were not looked at could be better."""
        assert self.far is not None
        m = self.fields.m
        apart = np.abs(np.arange(m) - np.maximum(self.partner[among], 0))
        total = np.zeros((len(among), m + 1), dtype=np.int64)
        np.cumsum(short.of_ranks - self.far[apart], axis=1, out=total[:, 1:])
        at = np.searchsorted(among, blocks.field)
        below: Bools = total[at, blocks.end] - total[at, blocks.begin] + short.of_gaps + short.reserve > CLOSE
        return below

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


def _starts(blocks: _Blocks, among: Ints, m: int) -> Bools:
    """(a, m) who is the first of a block."""
    starts = np.zeros((len(among), m), dtype=np.bool_)
    starts[np.searchsorted(among, blocks.field), blocks.begin] = True
    return starts


def _cover(blocks: _Blocks, among: Ints, m: int) -> Bools:
    """(a, m) who is in these blocks."""
    rows, ranks = _ranks(blocks)
    cover = np.zeros((len(among), m), dtype=np.bool_)
    cover[np.searchsorted(among, rows), ranks] = True
    return cover


def _of_one(weigh: Weigh, t: int) -> Callable[[Ints, Ints], Ints]:
    return lambda i, j: weigh(np.full(len(i), t), i, j)
