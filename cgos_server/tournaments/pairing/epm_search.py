"""The search of EPM: from the best entrant down, everybody takes the most welcome opponent of those who are left, and
choices are taken back where the rest cannot be completed.

The pairing found is the first one in the order of these preferences, not the one of the smallest total cost. Source:
Vuorinen (2010), section 6.1. Three places of the printed algorithm are repaired, our choice: that there is no pairing
is noticed where the last choice has been taken back (the printed test stands behind the loop, which never ends then);
"update Z if needed" means that everybody below the one who chooses anew begins its list again; and "the higher standing
player" of a choice taken back is the one who made it. Must not know: what a cost means, rounds, events.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

LIMIT: Final = 1_000_000
"""Pairs tried before the search gives up (our choice): in bad cases it takes exponentially many."""

Pairs = list[tuple[int, int]]


class Outcome(NamedTuple):
    """What came of a search.

    :ivar pairs: (who chose, whom), in the order of choosing; None: none was found
    :ivar gave_up: none was found only because the limit was reached; there may be one
    :ivar tried: how many pairs were tried
    """

    pairs: Pairs | None
    gave_up: bool
    tried: int


def explore(
    order: Sequence[int],
    cost: Callable[[int, int], float],
    barred: Callable[[int, int], bool],
    limit: int = LIMIT,
) -> Outcome:
    """Searches for a pairing of all.

    :param order: ids, best first; an odd number of them cannot be paired
    :param cost: symmetric, of two different ids; smaller is preferred, among equals the better placed
    :param barred: symmetric: these two must not meet
    :param limit: how many pairs may be tried
    """
    n = len(order)
    if n % 2:
        return Outcome(None, False, 0)
    liked: list[list[int] | None] = [None] * n
    next_of = [0] * n
    taken = [False] * n
    chosen: list[tuple[int, int]] = []
    tried = 0
    at = 0
    while True:
        while at < n and taken[at]:
            at += 1
        if at == n:
            return Outcome([(order[a], order[b]) for a, b in chosen], False, tried)
        mine = liked[at]
        if mine is None:
            mine = liked[at] = _preferences(order, at, cost, barred)
        place = next_of[at]
        # Everybody above is paired, so those who are free stand below.
        while place < len(mine) and taken[mine[place]]:
            place += 1
        if place < len(mine):
            if tried == limit:
                return Outcome(None, True, tried)
            tried += 1
            other = mine[place]
            next_of[at] = place + 1
            taken[at] = taken[other] = True
            chosen.append((at, other))
        else:
            next_of[at] = 0
            if not chosen:
                return Outcome(None, False, tried)
            at, other = chosen.pop()
            taken[at] = taken[other] = False


def _preferences(
    order: Sequence[int], at: int, cost: Callable[[int, int], float], barred: Callable[[int, int], bool]
) -> list[int]:
    """Places below `at` of those that it may meet, the most welcome first."""
    me = order[at]
    may = [other for other in range(at + 1, len(order)) if not barred(me, order[other])]
    return sorted(may, key=lambda other: cost(me, order[other]))
