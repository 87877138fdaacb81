"""Seeds for TCEC's Swiss: listed, by lot, or dealt from groups of equal strength.

After "TCEC Swiss Tournament System" (TCEC wiki, revision of 8 March 2021). Its example of 11 players in 4 groups counts
15; its rule (the stronger groups are one larger) gives 3, 3, 3, 2 and is followed. Must not know: pairing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, zip_longest

from cgos_server.tournaments.base import Chance, Entrant
from cgos_server.tournaments.chance import shuffled

METHODS = ("listed", "random", "group", "equal-distance")


def strength_groups(entrants: Sequence[Entrant], groups: int) -> list[list[int]]:
    """Ids by groups, strongest first: consecutive in the order of ratings, sizes differ by one at most.

    Equal ratings keep the order in which they are listed; unknown ones count as the lowest (our choices).

    :param groups: how many; taken as 1 below that, and as the number of entrants above (our choice)
    """
    if not entrants:
        return []
    by_rating = sorted(entrants, key=lambda one: float("inf") if one.rating is None else -one.rating)
    groups = min(max(groups, 1), len(entrants))
    size, larger = divmod(len(entrants), groups)
    ids = (one.id for one in by_rating)
    return [list(islice(ids, size + (number < larger))) for number in range(groups)]


def dealt(groups: Sequence[Sequence[int]]) -> list[int]:
    """The first of each group, then the second of each that has one, and so on."""
    return [id_ for row in zip_longest(*groups) for id_ in row if id_ is not None]


def seeded(entrants: Sequence[Entrant], method: str, groups: int, rng: Chance) -> list[int]:
    """Ids of all entrants, seed 1 first. Who entered late comes last, in the order of entry (our choice).

    Draws for `random`: purpose ``seed``, key id; the smaller number drawn is the better seed.

    :param method: one of METHODS
    :param groups: of the method ``group``
    :param rng: the lots drawn before the first round
    """
    first = [one for one in entrants if one.joined <= 1]
    late = [one.id for one in entrants if one.joined > 1]
    if method == "random":
        ids = shuffled(rng, (one.id for one in first), "seed")
    elif method == "group":
        ids = dealt(strength_groups(first, groups))
    elif method == "equal-distance":
        ids = dealt(strength_groups(first, len(first) // 2))
    else:
        ids = [one.id for one in first]
    return ids + late
