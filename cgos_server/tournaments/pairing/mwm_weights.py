"""The weights of a Swiss round paired by one maximum weight matching, and the matching itself; on arrays alone.

Every entrant is its rank, 0 the best. A pair weighs (w1, w2, w3), larger is better, and the sums over whole rounds
compare in this order, exactly: w1, the distance of the scores in half points, negative; w2, the difference of the
color balances; w3, what the order of pairing makes of the two ranks. After Sauer, Cseh & Lenzner (2022; 2024), whose
formulae are partly lost: w1 and the numbers of the random orders are those that reproduce their published figures, w2
is one of two forms that their figures do not tell apart (our choices). Must not know: events, ids, byes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cgos_protocol.errors import Code, NotFound
from cgos_server.core.pairing.matching import MOST_BITS, best, pack, width
from cgos_server.tournaments.base import Ints, Pair

Bools: TypeAlias = NDArray[np.bool_]
Level: TypeAlias = Literal["strict", "color_relaxed", "rematch", "rematch_color_relaxed"]
Third: TypeAlias = Callable[[Ints, Ints], Ints]
"""The third component of pairs of ranks i < j, each (m,)."""

LEVELS: Final[tuple[Level, ...]] = ("strict", "color_relaxed", "rematch", "rematch_color_relaxed")
"""Which rules hold, in the order in which they are tried: all; colors free; rematches allowed; both."""

ORDERS: Final = ("dutch", "burstein", "monrad", "random", "random2")

MILLION: Final = 1_000_000

TIE_BITS: Final = 30
"""Of the numbers that separate equally good rounds; fewer where the field is so large that there is no room."""


class Decision(NamedTuple):
    """A round.

    :ivar pairs: (better rank, other rank), by the better rank
    :ivar level: which rules it keeps
    :ivar total: (w1, w2, w3) summed over the pairs; in front of them, at the rematch levels, w0: how often these pairs
        had been made before, negative
    """

    pairs: list[tuple[int, int]]
    level: Level
    total: tuple[int, ...]


class Edges(NamedTuple):
    """Possible pairs, by the better rank, then the other: ranks i < j and the components of the weight, each (m,)."""

    i: Ints
    j: Ints
    weight: tuple[Ints, ...]


def power(x: Ints | NDArray[np.float64]) -> Ints:
    """x^1.01 in millionths, rounded half up; x >= 0."""
    return np.floor(np.power(x, 1.01) * MILLION + 0.5).astype(np.int64)


def third_of(order: str, score: Ints, u: Third | None = None) -> Third:
    """The third component of one of `ORDERS`. D is the distance of the ranks, g the size of the score group that both
    belong to, 0 across groups.

    - monrad: -D, in millionths
    - burstein: :func:`power` of D
    - dutch: -power(|g/2 - D|): near ranks across groups
    - random: `u`
    - random2: `u`, and a million more for two of one score group that are in different halves of it; of an odd group,
      the upper half is the smaller one (our choice)

    :param score: (n,) half points by rank, descending
    :param u: for the random orders: whole millionths, 0 to 999,999
    """
    n = len(score)
    if order == "monrad":
        return lambda i, j: (i - j) * MILLION
    if order == "burstein":
        far = power(np.arange(n))
        return lambda i, j: far[j - i]
    first, size = _groups(score)
    if order == "dutch":
        halves = -power(np.arange(2 * n + 1) / 2)
        return lambda i, j: halves[np.abs(np.where(first[i] == first[j], size[i], 0) - 2 * (j - i))]
    if u is None:
        raise ValueError(f"{order} needs numbers by lot")
    if order == "random":
        return u
    lower = np.arange(n) - first >= size // 2
    return lambda i, j: u(i, j) + MILLION * ((first[i] == first[j]) & (lower[i] != lower[j]))


def pair_field(
    score: Ints, balance: Ints, times: Ints, beta: int, third: Third, barred: Bools | None = None
) -> Decision:
    """The best round at the first of `LEVELS` at which there is one.

    Two may meet if they never did, if their balances c have \\|c + c'\\| < 2 beta, and if they are not barred. Where
    several rounds are equally good the one is taken that has the largest sum of :func:`separators` (our choice), so
    that it is the same with any solver. Time grows with about the cube of n, memory with its square.

    :param score: (n,) half points by rank, descending; n is even
    :param balance: (n,) games with White less games with Black
    :param times: (n, n) how often two were paired before; symmetric
    :param beta: largest balance, 1 or more
    :param third: see :func:`third_of`
    :param barred: (n, n) who must not meet at any level; symmetric
    :raises Refused: where `barred` leaves no round
    """
    if len(score) == 0:
        return Decision([], "strict", (0, 0, 0))
    if len(score) % 2:
        raise ValueError(f"{len(score)} is odd: one must sit out")
    field = _Field(score=score, balance=balance, times=times, beta=beta, third=third, barred=barred)
    for level in LEVELS:
        decision = field.paired(level)
        if decision is not None:
            return decision
    raise NotFound(
        Code.NO_ROUND,
        f"Forbidden pairs leave no way to pair all {len(score)} entrants who are there. Allow one of these pairs, or "
        "let some of these entrants ask for a bye.",
    )


def edges_of(
    level: Level, score: Ints, balance: Ints, times: Ints, beta: int, third: Third, barred: Bools | None = None
) -> Edges:
    """All pairs that are possible at a level; see :func:`pair_field`."""
    return _Field(score=score, balance=balance, times=times, beta=beta, third=third, barred=barred).edges(level, inf)


class _Field:
    """A field before its round. Not all pairs are looked at where fewer prove to be enough: see `paired`.

    :ivar least: half points that the cheapest round would cost if all could meet
    :ivar detour: (n,) a round with the pair i < j costs at least detour[j] - detour[i] more
    """

    def __init__(self, score: Ints, balance: Ints, times: Ints, beta: int, third: Third, barred: Bools | None) -> None:
        self.score, self.balance, self.times, self.beta = score, balance, times, beta
        self.third, self.barred = third, barred
        # The cheapest round goes over a gap between two scores once where the number of those above is odd, else never.
        # A pair that reaches over one with an even number makes some other pair do so too: twice the gap more.
        steps = score[:-1] - score[1:]
        odd = np.arange(1, len(score)) % 2 == 1
        self.least = int(steps[odd].sum())
        self.detour = np.concatenate(([0], np.cumsum(2 * steps * ~odd)))

    def paired(self, level: Level) -> Decision | None:
        """The best round; None if there is none."""
        if "rematch" in level:
            return self.best(level, inf)
        near: float = 0
        while True:
            decision = self.best(level, near)
            if near >= self.detour[-1:].sum():
                return decision
            # Pairs left out make any round cost more than `least + near`.
            if decision is not None and -decision.total[0] <= self.least + near:
                return decision
            near = 2 * near + 4 if decision is None else -decision.total[0] - self.least

    def best(self, level: Level, near: float) -> Decision | None:
        """The best round of pairs whose detour is no longer than `near`."""
        n = len(self.score)
        i, j, weight = self.edges(level, near)
        if not (np.bincount(i, minlength=n) + np.bincount(j, minlength=n)).all():
            return None  # somebody has no opponent
        pairs = best(n, i, j, packed(n, i, j, weight))
        if 2 * len(pairs) < n:
            return None
        ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        taken = np.searchsorted(i * n + j, ends[:, 0] * n + ends[:, 1])
        return Decision(pairs, level, tuple(int(part[taken].sum()) for part in weight))

    def edges(self, level: Level, near: float) -> Edges:
        ranks = np.arange(len(self.score))
        may = ranks[:, None] < ranks
        if self.barred is not None:
            may &= ~self.barred
        if "rematch" not in level:
            may &= self.times == 0
        if "color" not in level:
            may &= np.abs(self.balance[:, None] + self.balance) < 2 * self.beta
        if near < inf:
            may &= self.detour - self.detour[:, None] <= near
        i, j = np.nonzero(may)
        weight = (
            self.score[j] - self.score[i],
            np.abs(self.balance[i] - self.balance[j]),
            self.third(i, j),
        )
        return Edges(i, j, (-self.times[i, j], *weight) if "rematch" in level else weight)


def packed(n: int, i: Ints, j: Ints, weight: Sequence[Ints]) -> list[int]:
    """One number for each pair, all above 0, by whose sums sets of up to n / 2 pairs compare: first by how many pairs
    there are, then as the sums of the tuples, then as those of :func:`separators`, as far as there is room for them.

    :raises OurFault: where that takes more than the solver has, even without the last
    """
    if len(i) == 0:
        return []
    pairs = n // 2
    low = [int(part.min()) for part in weight]
    levels = [np.ones(len(i), dtype=np.int64), *(part - least for part, least in zip(weight, low, strict=True))]
    ranges = [(0, 1), *((0, int(part.max()) - least) for part, least in zip(weight, low, strict=True))]
    bits = min(TIE_BITS, MOST_BITS - width(ranges, pairs) - pairs.bit_length())
    if bits > 0:
        levels.append(separators(n, i, j) >> (TIE_BITS - bits))
        ranges.append((0, (1 << bits) - 1))
    return pack(levels, pairs, ranges)


def of_ranks(ids: Sequence[int], met: Mapping[Pair, int], forbidden: Collection[Pair]) -> tuple[Ints, Bools]:
    """What :func:`pair_field` takes, (n, n) by rank: how often two were paired, and whether they must not meet.

    :param ids: by rank, best first
    :param met: (smaller id, larger id) -> how often
    """
    rank = {id_: at for at, id_ in enumerate(ids)}
    times = np.zeros((len(ids), len(ids)), dtype=np.int64)
    barred = np.zeros((len(ids), len(ids)), dtype=np.bool_)
    for (one, other), count in met.items():
        if one in rank and other in rank:
            times[rank[one], rank[other]] = times[rank[other], rank[one]] = count
    for one, other in forbidden:
        if one in rank and other in rank:
            barred[rank[one], rank[other]] = barred[rank[other], rank[one]] = True
    return times, barred


def separators(n: int, i: Ints, j: Ints) -> Ints:
    """(m,) numbers of `TIE_BITS` bits for pairs of ranks below n. They depend on these two ranks alone and look like
    lots, so that one of several equally good rounds nearly always has the largest sum (Mulmuley, Vazirani & Vazirani
    1987). The arithmetic is our own, after SplitMix64 (Steele, Lea & Flood 2014)."""
    words = np.arange(1, 2 * n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) | np.uint64(1)
    return ((words[0::2][i] * words[1::2][j]) >> np.uint64(64 - TIE_BITS)).astype(np.int64)


def _groups(score: Ints) -> tuple[Ints, Ints]:
    """(n,) the first rank of each one's score group, and the size of the group."""
    starts = np.flatnonzero(np.concatenate(([True], score[1:] != score[:-1])))
    sizes = np.diff(np.concatenate((starts, [len(score)])))
    return np.repeat(starts, sizes), np.repeat(sizes, sizes)
