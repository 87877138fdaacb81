"""Who sits out because a field is odd, and why, for systems that decide this before they pair.

Must not know: any system, how the others are paired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cgos_server.tournaments.base import Bye, Event, Pair, pair_of
from cgos_server.tournaments.event import forbidden_pairs, name_of
from cgos_server.tournaments.ledger import Ledger
from cgos_server.tournaments.pairing.rematches import can_be_paired, no_pairing


@dataclass(frozen=True, slots=True)
class SitOut:
    """:ivar byes: of the one who sits out, if the field is odd
    :ivar order: ids of the others, best first
    :ivar why: sentences for people
    """

    byes: tuple[Bye, ...]
    order: tuple[int, ...]
    why: tuple[str, ...]


def sit_out(
    event: Event, order: Sequence[int], ledger: Ledger, lowest: str = "lowest placed", byes: str = "byes"
) -> SitOut:
    """Who sits out of a field, as :func:`odd_one_out` has it.

    :param order: ids of those who are there, best first
    :param lowest: what the last of the order is, for the sentence
    :param byes: what the ledger counts as byes, for the sentence
    :raises Refused: where forbidden pairs spoil it whoever sits out
    """
    if len(order) % 2 == 0:
        return SitOut((), tuple(order), ())
    usual = odd_one_out(order, ledger)
    out = odd_one_out(order, ledger, forbidden_pairs(event))
    name = name_of(event, out)
    if out == usual:
        sentence = f"{name} sits out: the {lowest} of those with the fewest {byes}."
    else:
        other = name_of(event, usual)
        sentence = f"{name} sits out: with {other} out, forbidden pairs would leave others without opponents."
    return SitOut((Bye(out, event.bye_points),), tuple(id_ for id_ in order if id_ != out), (sentence,))


def odd_one_out(places: Sequence[int], ledger: Ledger, forbidden: Collection[Pair] = ()) -> int:
    """Who sits out because the field is odd: of those with the fewest such byes the one who stands lowest.

    Byes asked for do not count (our choice). Whether the others will have to meet again is not looked at: the source
    (Vuorinen 2010) decides this first. Where forbidden pairs would leave one of the others without an opponent, the
    next in this order sits out (our choice).

    :param places: ids, best first, an odd number
    :param forbidden: (smaller id, larger id)
    :raises Refused: where forbidden pairs spoil it whoever sits out
    """
    place = {id_: at for at, id_ in enumerate(places)}
    order = sorted(places, key=lambda id_: (ledger.lines[id_].byes, -place[id_]))
    apart = Counter(id_ for pair in forbidden if pair[0] in place and pair[1] in place for id_ in pair)
    # By Dirac (1952) the others can be paired whoever sits out if each of them may meet half of them.
    if 2 * max(apart.values(), default=0) <= len(places) - 3 or not apart:
        return order[0]
    for id_ in order:
        rest = [other for other in places if other != id_]
        if can_be_paired(rest, lambda a, b: pair_of(a, b) in forbidden):
            return id_
    raise no_pairing(", whoever sits out")
