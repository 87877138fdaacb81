"""Which of the possible pairs to make, so that the whole is best: exact, for up to some hundreds of versions.

The total is compared level by level, the first level first (lexicographic). Levels are packed into one whole number a
pair, whose width is checked, never assumed. Must not know: what the levels mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import rustworkx

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.base import Ints

MOST_BITS = 120
"""Wider weights are refused: the solver computes with 128 bits and needs some of them itself."""

WORD_BITS = 56
"""So wide may weights be that go through arrays of 64-bit integers, where some of them are added up."""

FULL_WORD_BITS = 62
"""So wide may they be in an array where nothing is added up any more."""

Range = tuple[int, int]
"""Smallest and largest value of a level."""


def pack(levels: Sequence[Ints], pairs: int, ranges: Sequence[Range] | None = None) -> list[int]:
    """One whole number for each edge, by which sums over up to `pairs` edges compare as the tuples of their levels.

    It is positive exactly where the first level that is not zero is. Numbers of two calls do not compare.

    :param levels: the first one counts most; each (m,), any sign
    :param pairs: largest number of edges in any sum
    :param ranges: of the levels, where they are known
    :raises OurFault: where that takes more than MOST_BITS
    """
    if ranges is None:
        ranges = [(int(level.min()), int(level.max())) if len(level) else (0, 0) for level in levels]
    factors = _checked(ranges, pairs, MOST_BITS)
    # Arithmetic on Python integers is slow, so as many levels as fit are added up in words before.
    total: list[int] | None = None
    end = len(levels)
    while end:
        unit = factors[end - 1]
        within = [factor // unit for factor in factors[:end]]  # each is a multiple of those below it
        start = next((k for k in range(end) if _bits(ranges[k:end], within[k:]) <= FULL_WORD_BITS), end - 1)
        words = _words(levels[start:end], ranges[start:end], within[start:]).tolist()
        total = words if total is None else [word * unit + rest for word, rest in zip(words, total, strict=True)]
        end = start
    return total or []


def width(ranges: Sequence[Range], pairs: int) -> int:
    """How many bits the numbers of :func:`pack` take, for levels with these ranges; they may be more than it takes."""
    return _bits(ranges, _factors(ranges, pairs))


class Packing:
    """Packs levels whose ranges are known in advance, so that the numbers of all calls compare; arrays in, array out.

    :param ranges: of each level, the first one counts most
    :param pairs: sums over up to so many edges compare as the tuples of their levels, or over fewer where so many do
        not fit
    :ivar pairs: over how many they do
    :raises OurFault: where two edges take more than WORD_BITS
    """

    def __init__(self, ranges: Sequence[Range], pairs: int) -> None:
        self._ranges = tuple(ranges)
        while pairs > 2 and _bits(ranges, _factors(ranges, pairs)) > WORD_BITS:
            pairs = max(2, pairs // 2)
        self.pairs = pairs
        self._factors = _checked(self._ranges, pairs, WORD_BITS)

    def words(self, levels: Sequence[Ints]) -> Ints:
        """(m,) one whole number for each edge; what is outside its level's range counts as the nearest inside."""
        clipped = [np.clip(level, *range_) for level, range_ in zip(levels, self._ranges, strict=True)]
        return _words(clipped, self._ranges, self._factors)


def best(n: int, i: Ints, j: Ints, weights: Sequence[int] | Ints) -> list[tuple[int, int]]:
    """The set of edges without a common end that has the largest sum of weights; edges of weight 0 or less are never
    taken. Exact (Edmonds 1965; Galil 1986), by rustworkx.

    :param n: how many versions
    :param i: (m,) one end of each edge, 0 to n - 1
    :param j: (m,) the other, never the same; no pair twice
    :param weights: (m,) Python integers of up to MOST_BITS, or an array
    :returns: (smaller end, larger end), ascending; the same for the same input
    """
    if isinstance(weights, np.ndarray):
        taken = np.flatnonzero(weights > 0)
        i, j, weights = i[taken], j[taken], weights[taken].tolist()
        edges = list(zip(i.tolist(), j.tolist(), weights, strict=True))
    else:
        edges = list(zip(i.tolist(), j.tolist(), weights, strict=True))
        if weights and min(weights) <= 0:
            edges = [edge for edge in edges if edge[2] > 0]
    graph: rustworkx.PyGraph[None, int] = rustworkx.PyGraph(multigraph=True)
    graph.add_nodes_from([None] * n)
    graph.extend_from_weighted_edge_list(edges)
    matched = rustworkx.max_weight_matching(graph, max_cardinality=False, weight_fn=int)
    return sorted((a, b) if a < b else (b, a) for a, b in matched)


def _factors(ranges: Sequence[Range], pairs: int) -> list[int]:
    """What each level is multiplied by: more than the sums of everything below can differ."""
    factors: list[int] = []
    span = 0
    for low, high in reversed(ranges):
        factors.append(span + 1)
        span += factors[-1] * max(1, pairs) * (max(0, high) - min(0, low))
    factors.reverse()
    return factors


def _checked(ranges: Sequence[Range], pairs: int, most: int) -> list[int]:
    """The factors, if the largest weight takes no more than so many bits."""
    factors = _factors(ranges, pairs)
    bits = _bits(ranges, factors)
    if bits > most:
        raise OurFault(
            f"A round of {pairs} pairs cannot be weighed exactly: its {len(ranges)} levels take {bits} bits of "
            f"{most}. Pair fewer versions at once, or weigh more coarsely."
        )
    return factors


def _bits(ranges: Sequence[Range], factors: Sequence[int]) -> int:
    """Bits of the largest weight there can be."""
    return sum(
        factor * max(abs(low), abs(high)) for (low, high), factor in zip(ranges, factors, strict=True)
    ).bit_length()


def _words(levels: Sequence[Ints], ranges: Sequence[Range], factors: Sequence[int]) -> Ints:
    """(m,) the levels times their factors, in 64 bits."""
    total = np.zeros_like(levels[0], dtype=np.int64)
    for level, range_, factor in zip(levels, ranges, factors, strict=True):
        if range_ != (0, 0):  # else the factor alone may be too wide
            total += level * factor
    return total
