"""Which of the possible pairs to make, so that the whole is best: exact, for up to some hundreds of versions.

The total is compared level by level, the first level first (lexicographic). Levels are packed into one whole number a
pair, whose width is checked, never assumed. Must not know: what the levels mean.
"""

from __future__ import annotations

from collections.abc import Sequence

from cgos_server.core.pairing.base import Ints

MOST_BITS = 120
"""Wider weights are refused: the solver computes with 128 bits and needs some of them itself."""


def pack(levels: Sequence[Ints], pairs: int) -> list[int]:
    """One whole number for each edge, by which sums over up to `pairs` edges compare as the tuples of their levels.

    :param levels: the first one counts most; each (m,), any sign
    :raises OurFault: where that takes more than MOST_BITS
    """
    raise NotImplementedError


def best(n: int, i: Ints, j: Ints, weights: Sequence[int]) -> list[tuple[int, int]]:
    """The set of edges without a common end that has the largest sum of weights; edges of weight 0 or less are never
    taken. Exact (Edmonds 1965), by rustworkx.

    :param i: (m,) one end of each edge, 0 to n - 1
    :param j: (m,) the other
    :returns: (smaller end, larger end), ascending; the same for the same input
    """
    raise NotImplementedError
