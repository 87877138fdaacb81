"""The way out where a field cannot be paired without rematches: a pairing with as few of them as possible.

Exact, by maximum weight matching. Vuorinen (2010) leaves the case open; what counts, and in which order, is our choice:
as few rematches as possible, these between those who have met least often, then the smallest total cost. Between what
is equal in all that, fixed numbers of the places decide, so that the solver's habits do not. Must not know: groups,
systems.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import combinations

import numpy as np

from cgos_protocol.errors import Code, NotFound, Refused
from cgos_server.core.pairing.matching import best
from cgos_server.tournaments.base import Ints, Pair, pair_of
from cgos_server.tournaments.pairing.mwm_weights import packed


def no_pairing(whoever: str = "") -> Refused:
    """What to raise where forbidden pairs leave somebody without an opponent."""
    return NotFound(
        Code.NO_PAIRING,
        f"The pairs that must not meet leave no way to pair everybody who is there{whoever}. Allow one of these pairs, "
        "or let somebody ask for a bye.",
    )


def fewest_rematches(
    order: Sequence[int],
    cost: Callable[[int, int], int],
    met: Mapping[Pair, int],
    forbidden: Collection[Pair] = (),
    before: Sequence[Callable[[int, int], int]] = (),
) -> list[Pair]:
    """Everybody paired, with the fewest rematches: (better placed, other), by the better placed.

    :param order: ids, best first, an even number
    :param cost: symmetric, 0 or more; totals count where rematches are equal
    :param before: costs of the same kind that count before it, the first one first
    :param met: (smaller id, larger id) -> how often; missing: never
    :raises Refused: where forbidden pairs leave somebody without an opponent
    """
    edges = [
        (a, b)
        for a, b in combinations(range(len(order)), 2)
        if not forbidden or pair_of(order[a], order[b]) not in forbidden
    ]
    times = [met.get(pair_of(order[a], order[b]), 0) for a, b in edges]
    costs = [[each(order[a], order[b]) for a, b in edges] for each in (*before, cost)]
    pairs = _matched(order, edges, [[int(count > 0) for count in times], times, *costs])
    if pairs is None:
        raise no_pairing()
    return pairs


def cheapest(
    order: Sequence[int], cost: Callable[[int, int], int], barred: Callable[[int, int], bool]
) -> list[Pair] | None:
    """Everybody paired without a barred pair, with the smallest total cost; None where that cannot be."""
    edges = [(a, b) for a, b in combinations(range(len(order)), 2) if not barred(order[a], order[b])]
    return _matched(order, edges, [[cost(order[a], order[b]) for a, b in edges]])


def can_be_paired(ids: Sequence[int], barred: Callable[[int, int], bool]) -> bool:
    """Whether all of them can be paired without a barred pair."""
    edges = [(a, b) for a, b in combinations(range(len(ids)), 2) if not barred(ids[a], ids[b])]
    return _matched(ids, edges, []) is not None


def _matched(order: Sequence[int], edges: Sequence[Pair], levels: Sequence[Sequence[int]]) -> list[Pair] | None:
    """The perfect matching of the smallest levels, the first one first; edges are places in the order."""
    if len(order) % 2:
        return None
    if not order:
        return []
    ends: Ints = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    i, j = ends[:, 0], ends[:, 1]
    weights = [1] * len(edges)
    if levels:
        weights = packed(len(order), i, j, [-np.asarray(level, dtype=np.int64) for level in levels])
    pairs = best(len(order), i, j, weights)
    return [(order[a], order[b]) for a, b in pairs] if 2 * len(pairs) == len(order) else None
