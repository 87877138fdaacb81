"""Weighted matching: every pair of entrants has a weight, and the round is the set of pairs with the largest total.

Knows what a pair is worth and why. Must not know: how starting points are found, how standings are counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

import numpy as np

from cgos_protocol.options import Choice
from cgos_server.core.pairing.matching import best, pack
from cgos_server.tournaments.base import Chance, Event, Ints, Pair, Round, declared, pair_of
from cgos_server.tournaments.event import Field, forbidden_pairs
from cgos_server.tournaments.ledger import Ledger
from cgos_server.tournaments.pairing.byes import sit_out
from cgos_server.tournaments.pairing.rematches import no_pairing
from cgos_server.tournaments.systems.from_starts import FromStarts
from cgos_server.tournaments.words import rematches_said

DUPLICATE: Final = 500_000_000_000_000
SCORE: Final = 100_000_000_000
DRAW_UP_DOWN: Final = 100_000_000
SEED: Final = 5_000_000
COLOR: Final = 1_000_000

FAR: Final = 3
"""Pairs of groups further apart have no part for who is drawn up and down."""

METHODS: Final = ("folding", "translation")
PLACES: Final = ("middle", "top", "bottom")

_STEP: Final = DRAW_UP_DOWN // 5
_TIE: Final = 1 << 30


class Placed(NamedTuple):
    """What a pair's weight depends on.

    :ivar group: 0 = the best non-empty one
    :ivar size: of the group
    :ivar place: in the group, 0 = the best
    :ivar balance: games with White less games with Black
    :ivar drawn_up: how often paired with a better group
    :ivar drawn_down: how often paired with a worse group
    """

    group: int
    size: int
    place: int
    balance: int
    drawn_up: int
    drawn_down: int


def weights(
    players: Sequence[Placed],
    met: Collection[Pair],
    groups: int,
    method: str = "folding",
    from_above: str = "middle",
    from_below: str = "middle",
) -> Ints:
    """The weight of every pair, larger = better; whole numbers, each part rounded down by itself.

    :param players: any order
    :param met: (smaller, larger) indices of those who have been paired before
    :param groups: how many there are, 1 or more
    :param method: how groups are best paired inside: `folding` or `translation`
    :param from_above: from where in its group one is best drawn down: `middle`, `top` or `bottom`
    :param from_below: from where one is best drawn up
    :returns: (n, n) 0 or more, symmetric; what the diagonal holds means nothing
    """
    n = len(players)
    table = np.array(players, dtype=np.int64).reshape(n, len(Placed._fields)).T
    one, other = _Side(*table[:, :, None]), _Side(*table[:, None, :])
    apart = np.abs(one.group - other.group)
    weight = np.full((n, n), DUPLICATE)
    for a, b in met:
        weight[a, b] = weight[b, a] = 0
    # By distance: what a single one weighs need not fit into 64 bits before it is divided.
    by_score = [SCORE * (groups - far) * (2 * groups + far) // (2 * groups * groups) for far in range(groups)]
    weight += np.array(by_score, dtype=np.int64)[apart]
    weight += _color(one.balance, other.balance)
    draw = _draw(one, other, from_above, from_below)
    draw = np.where(one.group < other.group, draw, draw.T)
    weight += np.where(apart == 0, _seed(one, other, method), np.where(apart <= FAR, draw, 0))
    return weight


def heaviest(order: Sequence[int], weight: Ints, forbidden: Collection[Pair], rng: Chance) -> list[Pair]:
    """The pairs of the largest total, of several such by lot; everybody is paired.

    :param order: ids, an even number
    :param weight: (n, n) of their pairs, as from :func:`weights`
    :param forbidden: (smaller id, larger id) of those who must not meet
    :returns: (smaller, larger) index, ascending
    :raises Refused: where forbidden pairs leave somebody without an opponent
    """
    n = len(order)
    ids = np.array(order, dtype=np.int64)
    may = ~np.tri(n, dtype=np.bool_)
    if forbidden:
        at = {id_: place for place, id_ in enumerate(order)}
        for pair in forbidden:
            a, b = (at.get(id_) for id_ in pair)
            if a is not None and b is not None:
                may[a, b] = may[b, a] = False
    i, j = np.nonzero(may)
    ties = np.floor(rng.units("tie", np.minimum(ids[i], ids[j]), np.maximum(ids[i], ids[j])) * _TIE)
    levels = [np.ones(len(i), dtype=np.int64), weight[i, j], ties.astype(np.int64)]
    pairs = best(n, i, j, pack(levels, n // 2))
    if 2 * len(pairs) < n:
        raise no_pairing()
    return pairs


@dataclass(frozen=True, kw_only=True)
class Weighted(FromStarts):
    """A McMahon event in which the whole round is weighed at once, as the programs MacMahon and OpenGotha do it.

    For fields of any size in which many wishes are to be met as well as possible together. Any number of rounds will
    do. Guarantees the heaviest of all pairings, so: never fewer rematches than possible (up to some thousands of
    entrants), then McMahon scores as close as possible, then who floats, then the seeding in the groups and colors.

    Weights restate the evaluation function of OpenGotha (Vannier, user's guide, "Pairing evaluation function"; parts
    that the guide leaves out are as the program has them); Vuorinen (2010) gives none. For each pair:

    - not paired before: 5e14
    - colors: 1e6 where one has had more White and the other more Black, half of it where one is even and the other is
      2 or more off
    - scores: 1e11 (1 - x) (1 + x/2), x = difference of groups / number of groups; groups are those of equal whole
      points, so half points count with the points below them (our choice)
    - in one group: 5e6 (1 - y^2), y = 0 for the partners of the seeding and 1 for the worst
    - groups 1 to 3 apart: up to 6e7, more for those who have not been drawn up or down yet or may be brought back to
      even, and up to 2e7 for being where floaters are taken from

    Each part is rounded down by itself (our choice), and whole numbers are compared exactly. Parts for random pairing,
    categories, handicap and geography are left out (our choice). Of several pairings of the same weight a lot decides:
    `tie` with the keys (smaller id, larger id), the largest sum of lots. Colors:
    :mod:`cgos_server.tournaments.pairing.colors`. In an odd field the lowest of those with the fewest byes sits out.

    Options besides those of McMahon: `method` inside groups (`folding`: best with last; `translation`: best of the
    upper half with best of the lower half); `from_above` and `from_below` (`middle` keeps SOS comparable).

    Details: `groups` (ids, best first), `weights` (of the games, in their order), `total`.
    """

    name = "weighted"

    method: Annotated[str, Choice(METHODS, meaning="how groups are best paired inside")] = "folding"
    from_above: Annotated[str, Choice(PLACES, meaning="from where in its group one is best drawn down")] = "middle"
    from_below: Annotated[str, Choice(PLACES, meaning="from where in its group one is best drawn up")] = "middle"

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        scores = self.scores(event, field, ledger, rng)
        out = sit_out(event, scores.order, ledger)
        order, why = out.order, list(out.why)
        groups = scores.groups(order)
        placed = _placed(groups, ledger, self.drawn(ledger, scores.starts))
        at = {id_: k for k, id_ in enumerate(order)}
        met = {pair_of(at[a], at[b]) for a, b in ledger.met if a in at and b in at}
        weight = weights(
            placed, met, len(groups), method=self.method, from_above=self.from_above, from_below=self.from_below
        )
        pairs = heaviest(order, weight, forbidden_pairs(event), rng)
        chosen = [int(weight[pair]) for pair in pairs]
        again = sum(pair in met for pair in pairs)
        if again:
            why.append(rematches_said(again))
        games = tuple(
            self.game(
                scores,
                ledger,
                better=order[a],
                other=order[b],
                rng=rng,
                reason=_reason(placed[a], placed[b], heavy),
            )
            for (a, b), heavy in zip(pairs, chosen, strict=True)
        )
        details = {"groups": groups, "weights": chosen, "total": sum(chosen)}
        return self.round(field, scores, games, out.byes, why=why, details=details)


class _Side(NamedTuple):
    """One end of many pairs: the values of :class:`Placed`, arrays that fit each other."""

    group: Ints
    size: Ints
    place: Ints
    balance: Ints
    drawn_up: Ints
    drawn_down: Ints


def _color(one: Ints, other: Ints) -> Ints:
    least, most = np.minimum(np.abs(one), np.abs(other)), np.maximum(np.abs(one), np.abs(other))
    weight: Ints = np.where(one * other < 0, COLOR, np.where((least == 0) & (most >= 2), COLOR // 2, 0))
    return weight


def _seed(one: _Side, other: _Side, method: str) -> Ints:
    n, p, q = one.size, one.place, other.place
    off, whole = (p + q - (n - 1), n - 1) if method == "folding" else (2 * np.abs(p - q) - n, n)
    weight: Ints = SEED * (whole * whole - off * off) // np.maximum(whole * whole, 1)
    return weight


def _draw(upper: _Side, lower: _Side, from_above: str, from_below: str) -> Ints:
    steps = 2 - (upper.drawn_down > 0) - (lower.drawn_up > 0)
    steps += (steps > 0) & (upper.drawn_up > upper.drawn_down)
    steps += (steps > 0) & (lower.drawn_down > lower.drawn_up)
    up, down = _wanted(upper, from_above), _wanted(lower, from_below)
    both = up * lower.size + down * upper.size
    weight: Ints = steps * _STEP + _STEP * both // (2 * upper.size * lower.size)
    return weight


def _wanted(one: _Side, where: str) -> Ints:
    """How good a place is for being drawn up or down, times the size of the group."""
    last = one.size - 1
    if where == "middle":
        middle: Ints = last - np.abs(2 * one.place - last)
        return middle
    return last - one.place if where == "top" else one.place


def _placed(
    groups: Sequence[Sequence[int]], ledger: Ledger, drawn: Mapping[int, Sequence[tuple[int, int]]]
) -> list[Placed]:
    """Everybody, in the order of the groups."""
    ways = {id_: [way for _, way in theirs] for id_, theirs in drawn.items()}
    return [
        Placed(
            group=number,
            size=len(group),
            place=place,
            balance=ledger.lines[id_].balance,
            drawn_up=ways[id_].count(1),
            drawn_down=ways[id_].count(-1),
        )
        for number, group in enumerate(groups)
        for place, id_ in enumerate(group)
    ]


def _reason(one: Placed, other: Placed, weight: int) -> str:
    if one.group == other.group:
        return f"places {one.place + 1} and {other.place + 1} of {one.size} in group {one.group + 1}; weight {weight}"
    return f"groups {one.group + 1} and {other.group + 1}; weight {weight}"


SYSTEM: Final = declared(Weighted, "weighted", "the best sum of weights, as in MacMahon and OpenGotha")
