"""A good matching of thousands of versions on a line, when an exact one would take minutes.

Must not know: what the levels of a weight mean, what a rating is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from cgos_server.core.pairing.base import Floats, Ints

Weigh = Callable[[Ints, Ints], Ints]
"""(m,) weights of the edges (i, j), i < j, as 64-bit integers; 0 or less: never make that pair.

Called a few times, with up to some hundred thousand edges each. Numbers of all calls must compare, and their width must
not exceed WORD_BITS: both is what :class:`cgos_server.core.pairing.matching.Packing` sees to, made once with LOCAL_PAIRS.
"""

LOCAL_PAIRS: Final = 32
"""For so many pairs the levels of a weight must add up without running into each other. Thousands would not fit into a
word; but what is compared here are always two ways to pair some dozen neighbours, and one unit of a higher level then
outweighs whatever those can differ by below it."""


def near_best(ratings: Floats, owed: Ints, weigh: Weigh) -> list[tuple[int, int]]:
    """Pairs whose weights have a sum near the largest.

    :param ratings: (n,) where each stands on the line
    :param owed: (n,) whom each would rather be: positive White, negative Black (games as Black minus games as White)
    :returns: (smaller index, larger index), ascending; the same for the same input
    """
    raise NotImplementedError
