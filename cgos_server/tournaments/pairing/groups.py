"""Pairing inside groups of equal score: who meets whom in a group, who floats down from an odd one, and what happens
where a group cannot be paired without rematches.

Places of a group are 1 (the best) to n. Source: Vuorinen (2010), section 4.2.3; three of its gaps are filled by our
choices: `double_folding` below; whom a floater meets (:func:`pair_groups`); what follows where there is no pairing
without rematches (the same). Must not know: systems, what a group has in common, colors.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, NamedTuple

from cgos_server.tournaments.base import Chance, Pair, pair_of
from cgos_server.tournaments.chance import shuffled
from cgos_server.tournaments.pairing.epm_search import LIMIT, explore
from cgos_server.tournaments.pairing.rematches import can_be_paired, cheapest, fewest_rematches
from cgos_server.tournaments.words import listed, rematches_said

METHODS: Final = ("folding", "double-folding", "translation", "random", "adjacent")

Cost = Callable[[int, int], int]
"""Of two ids, symmetric, 0 or more; smaller is better."""

CostOf = Callable[[Sequence[int]], Cost]
"""The cost inside a group, whose members are given best first: an even number."""

PER_POINT: Final = 1000
"""What a rating point costs, so that costs are whole numbers."""

_QUICK: Final = 20_000
"""Pairs that the search tries before it is asked whether there is a pairing at all, which saves hopeless long ones."""


def middle(n: int) -> int:
    """The place that floats from a group of n, 1 or more: the middle one, of two the upper."""
    return (n + 1) // 2


def pairs_of(method: str, n: int) -> list[Pair]:
    """Places that meet in a group of n by a method other than `random`, by the better one; of an odd group without the
    place that floats.

    `folding`: first and last, and so on inwards. `translation`: the upper half against the lower in order.
    `double-folding`: the upper half folded in itself, and the lower half (the source prints the formula of folding, its
    example is this); where the halves are odd, their middles meet (our choice). `adjacent`: 1-2, 3-4... (our choice).
    """
    if n % 2:
        out = middle(n)
        return [(a + (a >= out), b + (b >= out)) for a, b in pairs_of(method, n - 1)]
    half = n // 2
    if method == "folding":
        return [(x, n + 1 - x) for x in range(1, half + 1)]
    if method == "translation":
        return [(x, x + half) for x in range(1, half + 1)]
    if method == "adjacent":
        return [(x, x + 1) for x in range(1, n, 2)]
    if method == "double-folding":
        quarter = half // 2
        pairs = [(x, half + 1 - x) for x in range(1, quarter + 1)]
        pairs += [(half + x, n + 1 - x) for x in range(1, quarter + 1)]
        if half % 2:
            pairs.append((quarter + 1, half + quarter + 1))
        return sorted(pairs)
    raise ValueError(f"no pattern: {method}")


def seeded(method: str, members: Sequence[int], rng: Chance) -> list[Pair]:
    """The members of an even group, best first, as the method would pair them if nobody had met: (better, other).

    `random` draws `seeding`, keyed by id; all pairings are as likely.
    """
    if method != "random":
        return [(members[a - 1], members[b - 1]) for a, b in pairs_of(method, len(members))]
    place = {id_: at for at, id_ in enumerate(members)}
    lots = shuffled(rng, members, "seeding")
    pairs = zip(lots[::2], lots[1::2], strict=True)
    return sorted(((a, b) if place[a] < place[b] else (b, a) for a, b in pairs), key=lambda pair: place[pair[0]])


def by_rating(ratings: Mapping[int, float]) -> Cost:
    """The cost that is the difference of two ratings, in whole thousandths of a point."""
    return lambda one, other: round(abs(ratings[one] - ratings[other]) * PER_POINT)


def by_method(method: str, rng: Chance) -> CostOf:
    """The cost that prefers the method's pairs: how many places each of the two is from the other's partner by the
    method, added up (our choice). 0 for the method's own pairs."""

    def cost_of(members: Sequence[int]) -> Cost:
        place = {id_: at for at, id_ in enumerate(members)}
        ideal: dict[int, int] = {}
        for a, b in seeded(method, members, rng):
            ideal[a], ideal[b] = place[b], place[a]
        return lambda a, b: abs(place[b] - ideal[a]) + abs(place[a] - ideal[b])

    return cost_of


@dataclass(slots=True, kw_only=True)
class Paired:
    """How a field was paired.

    :ivar pairs: (better placed, other): by groups from the top, in each first the pair of its floater
    :ivar floats: (id, opponent, groups between the two, 1 or more) of each floater
    :ivar merged: groups that had to be paired together, as numbers of groups, 1 = the top one
    :ivar rematches: pairs that have met before
    """

    pairs: list[Pair]
    floats: list[tuple[int, int, int]] = field(default_factory=list)
    merged: list[list[int]] = field(default_factory=list)
    rematches: list[Pair] = field(default_factory=list)

    def sentences(self, points: Sequence[float]) -> list[str]:
        """What is not as usual, for people.

        :param points: of each group, the top one first
        """
        sentences = []
        for numbers in self.merged:
            together = listed([f"{points[number - 1]:g}" for number in numbers])
            sentences.append(
                f"The groups of {together} points are paired as one: apart, not all could meet somebody new."
            )
        if self.rematches:
            sentences.append(rematches_said(len(self.rematches)))
        return sentences

    def details(self) -> dict[str, Any]:
        """`floats`, `merged` and `rematches` as JSON values."""
        return {
            "floats": [list(each) for each in self.floats],
            "merged": self.merged,
            "rematches": [list(pair) for pair in self.rematches],
        }


class Part(NamedTuple):
    """A group, or several as one.

    :ivar numbers: of groups, 1 = the top one
    :ivar members: ids of those who are not paired, best first
    """

    numbers: tuple[int, ...]
    members: tuple[int, ...]

    def with_next(self, other: Part) -> Part:
        """This and the next one as one."""
        return Part(self.numbers + other.numbers, self.members + other.members)

    def __str__(self) -> str:
        first, last = self.numbers[0], self.numbers[-1]
        return f"group {first}" if first == last else f"groups {first} to {last}"


@dataclass(frozen=True, slots=True)
class _Step:
    """How the first of these parts was paired."""

    before: tuple[Part, ...]
    pairs: list[Pair]
    floats: list[tuple[int, int, int]]


def pair_groups(
    groups: Iterable[Sequence[int]],
    cost_of: CostOf,
    met: Mapping[Pair, int],
    forbidden: Collection[Pair] = (),
) -> Paired:
    """Pairs a field group by group, from the top.

    An odd group sends its middle (place (n+1)/2, rounded down) into the next one, where it meets the middle; if they
    have met, the nearest to that middle not met yet, of two the better placed; if it has met all of them, one of the
    group below. If it has met everybody below, the next nearest to the middle of its own group floats instead.
    The rest of a group is paired by the search of EPM with the group's cost (where that gives up, with the smallest
    total cost). If a group cannot be paired without rematches, it is handled again as one with the next group below;
    the last one with the group above it, whose pairs are taken back. If even the whole field cannot, it has the fewest
    rematches possible, and among such pairings the smallest sum of squared distances between groups. All that the
    source leaves open, and this is our choice.

    :param groups: of ids, best first, the best group first; an even number of ids in all
    :param cost_of: :func:`by_method`, or another
    :param met: (smaller id, larger id) -> how often they were paired before
    :param forbidden: (smaller id, larger id) of those who must not meet even then
    :raises Refused: where forbidden pairs leave somebody without an opponent
    """

    def barred(one: int, other: int) -> bool:
        pair = pair_of(one, other)
        return met.get(pair, 0) > 0 or pair in forbidden

    def apart(one: int, other: int) -> int:
        return (group_of[one] - group_of[other]) ** 2

    left = tuple(Part((number,), tuple(group)) for number, group in enumerate(groups, 1) if group)
    field_ = [id_ for part in left for id_ in part.members]
    group_of = {id_: part.numbers[0] for part in left for id_ in part.members}
    steps: list[_Step] = []
    merged: list[Part] = []
    while left:
        step = _step(left, cost_of, barred, group_of)
        if step is not None:
            steps.append(step)
            gone = {id_ for pair in step.pairs for id_ in pair}
            rest = (Part(part.numbers, tuple(id_ for id_ in part.members if id_ not in gone)) for part in left[1:])
            left = tuple(part for part in rest if part.members)
        elif len(left) > 1:
            left = (left[0].with_next(left[1]), *left[2:])
            merged.append(left[0])
        elif steps:
            left = (reduce(Part.with_next, steps.pop().before),)
            merged.append(left[0])
        else:
            pairs = fewest_rematches(field_, cost_of(field_), met, forbidden, before=[apart])
            return Paired(pairs=pairs, rematches=[pair for pair in pairs if met.get(pair_of(*pair), 0)])
    # A merged group that was merged again is part of that one.
    final = {step.before[0].numbers for step in steps}
    return Paired(
        pairs=[pair for step in steps for pair in step.pairs],
        floats=[float_ for step in steps for float_ in step.floats],
        merged=[list(part.numbers) for part in merged if part.numbers in final],
    )


def _step(
    left: tuple[Part, ...], cost_of: CostOf, barred: Callable[[int, int], bool], group_of: Mapping[int, int]
) -> _Step | None:
    """The first of these parts paired, with its floater where it is odd; None where it cannot be."""
    members = left[0].members
    if len(members) % 2 == 0:
        pairs = pair_group(members, cost_of, barred)
        return None if pairs is None else _Step(left, pairs, [])
    for floater in _nearest(members, middle(len(members))):
        opponent = _below(floater, left[1:], barred)
        if opponent is not None:
            pairs = pair_group([id_ for id_ in members if id_ != floater], cost_of, barred)
            if pairs is None:
                return None
            apart = group_of[opponent] - group_of[floater]
            return _Step(left, [(floater, opponent), *pairs], [(floater, opponent, apart)])
    return None


def _below(floater: int, parts: Sequence[Part], barred: Callable[[int, int], bool]) -> int | None:
    """Whom a floater meets."""
    for part in parts:
        for other in _nearest(part.members, middle(len(part.members))):
            if not barred(floater, other):
                return other
    return None


def _nearest(members: Sequence[int], place: int) -> list[int]:
    """The members by distance from a place, of two the better placed first."""
    return [id_ for _, id_ in sorted(enumerate(members, 1), key=lambda each: (abs(each[0] - place), each[0]))]


def pair_group(
    members: Sequence[int], cost_of: CostOf, barred: Callable[[int, int], bool], limit: int = LIMIT
) -> list[Pair] | None:
    """An even group paired without barred pairs: (better, other), by the better; None where it cannot be.

    :param limit: how many pairs the search may try before the smallest total cost is taken instead
    """
    cost = cost_of(members)
    outcome = explore(members, cost, barred, _QUICK)
    if outcome.gave_up and can_be_paired(members, barred):
        outcome = explore(members, cost, barred, limit)
        if outcome.gave_up:
            return cheapest(members, cost, barred)
    return outcome.pairs
