"""A good matching of thousands of versions on a line, when an exact one would take minutes.

Must not know: what the levels of a weight mean, what a rating is.
"""

from __future__ import annotations

from collections.abc import Callable

from cgos_server.core.pairing.base import Floats, Ints

Weigh = Callable[[Ints, Ints], list[int]]
"""Weights of the edges (i, j), packed; 0 or less: never make that pair."""


def near_best(ratings: Floats, owed: Ints, weigh: Weigh) -> list[tuple[int, int]]:
    """Pairs whose weights have a sum near the largest.

    :param ratings: (n,) where each stands on the line
    :param owed: (n,) whom each would rather be: positive White, negative Black (games as Black minus games as White)
    :returns: (smaller index, larger index), ascending; the same for the same input
    """
    raise NotImplementedError
