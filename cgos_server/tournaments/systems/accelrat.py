"""AccelRat: everybody meets the nearest rating not met yet, and the ratings follow the results at once.

Knows how pairs are chosen by rating, and how the event's own games move ratings between its rounds. Must not know:
scores, rating systems of a server.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, inf
from typing import Annotated, Final, NamedTuple

from cgos_protocol.options import Choice, Flag, Number
from cgos_server.core.pairing.base import LOGIT
from cgos_server.core.rating.incremental.gor import FLOOR, con, expectancy
from cgos_server.core.rating.incremental.graded import logistic
from cgos_server.tournaments.base import Chance, Event, Explanation, Pair, Round, declared, pair_of
from cgos_server.tournaments.event import Field, forbidden_pairs
from cgos_server.tournaments.ledger import Ledger
from cgos_server.tournaments.pairing.byes import sit_out
from cgos_server.tournaments.pairing.colors import game
from cgos_server.tournaments.pairing.epm_search import explore
from cgos_server.tournaments.pairing.groups import PER_POINT, by_rating, pair_group
from cgos_server.tournaments.pairing.rematches import fewest_rematches
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.words import counted

UNRATED: Final = 1500.0
K: Final = 32.0

_DEFERRED: Final = 10**9
_REMATCH: Final = 10**12
"""Costs are whole thousandths of a rating point. A deferred pair counts more than any difference, a rematch more than
a deferred pair."""

_EARLY: Final = 2


class Nearest(NamedTuple):
    """Pairs by rating.

    :ivar pairs: (the higher in the order, other), in the order of choosing
    :ivar rematches: whether there had to be any
    """

    pairs: list[Pair]
    rematches: bool


def pair_nearest(
    order: Sequence[int],
    cost: Callable[[int, int], int],
    met: Mapping[Pair, int],
    forbidden: Collection[Pair] = (),
    deferred: Collection[Pair] = (),
) -> Nearest:
    """From the top everybody takes, of those left and not met yet, the least undesirable; of two the higher.

    Where the rest cannot be paired then, the choice is taken back (our choice; where that takes too long, the smallest
    sum of what is undesirable counts instead). Where nothing works everybody takes in the same way those met
    least often. Deferred pairs come before that: none is made where all can be paired without, and else each only
    where nobody else is left to choose.

    :param order: ids, best first, an even number
    :param cost: how undesirable two are for each other; symmetric, from 0 to under 10^9
    :param met: (smaller id, larger id) -> how often
    :param deferred: (smaller id, larger id) of those who should meet later
    :raises Refused: where forbidden pairs leave somebody without an opponent
    """

    def never(one: int, other: int) -> bool:
        return pair_of(one, other) in forbidden

    def known(one: int, other: int) -> bool:
        return met.get(pair_of(one, other), 0) > 0 or never(one, other)

    def later(one: int, other: int) -> int:
        return (pair_of(one, other) in deferred) * _DEFERRED + cost(one, other)

    def again(one: int, other: int) -> int:
        return met.get(pair_of(one, other), 0) * _REMATCH + later(one, other)

    pairs = None
    if deferred:
        pairs = pair_group(order, lambda _: cost, lambda a, b: known(a, b) or pair_of(a, b) in deferred)
    if pairs is None:
        pairs = pair_group(order, lambda _: later, known)
    if pairs is not None:
        return Nearest(pairs, False)
    anything = explore(order, again, never).pairs
    return Nearest(anything if anything is not None else fewest_rematches(order, cost, met, forbidden), True)


def best_first(ratings: Mapping[int, float]) -> list[int]:
    """Ids from the highest rating down; of equal ones the smaller id first."""
    return sorted(ratings, key=lambda id_: (-ratings[id_], id_))


@dataclass(frozen=True, kw_only=True)
class AccelRat(ByRounds):
    """Pairing by rating alone: the highest rated entrant meets the nearest one not met yet, and so on down.

    For informative games between equals in any number of rounds; it does not find a winner, since the strong meet the
    strong whatever their points. Nobody meets the same opponent twice unless the whole field cannot be paired
    otherwise; pairs that must not meet never do. In an odd field the lowest rated of those with the fewest byes sits
    out. Colors: :mod:`cgos_server.tournaments.pairing.colors`; draws: `color` (better placed, other).

    Source: AccelRat 2.5 (Matthews) as described by Vuorinen (2010), section 3.3. "The closest two players" there is
    read as the closest to the top one, which is how the program's own description has it. Backtracking, byes, and what
    happens where rematches cannot be avoided are our choice: :func:`pair_nearest`. So are the tie-breaker (performance)
    and how ratings move. Of other criteria, such as time zones, there are none here.

    Options:

    - `update`: how ratings move before the next round, for this event only: `elo` (K times score less expectancy, on
      the logistic curve of 400 points), `gor` (the EGF's tables before 2021, games without handicap) or `none`. The
      games of a round count together, from the ratings before it; only games really played count.
    - `defer_neighbors`: in the first half of the planned rounds, or in two where none are planned, neighbors in the
      order and members of one club avoid each other; the two highest rated do before the last planned round too. They
      meet all the same where there is no other way. What AccelRat 2.5 calls early is not known: our choice.

    Details: `ratings` (id as text -> rating now), `deferred` (pairs that met though they should have waited),
    `rematches` (pairs).
    """

    name = "accelrat"
    tie_breakers = ("points", "performance")

    update: Annotated[str, Choice(("elo", "gor", "none"), meaning="how results move the ratings that pair")] = "elo"
    k: Annotated[float, Number(0, 400, meaning="the K of elo")] = K
    unrated: Annotated[float, Number(-10_000, 10_000, meaning="the rating of those who have none")] = UNRATED
    defer_neighbors: Annotated[bool, Flag(meaning="whether neighbors in the ranking meet later")] = False

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        now = self.ratings(event, ledger)
        ratings = {one.id: now[one.id] for one in field.players}
        out = sit_out(event, best_first(ratings), ledger, "lowest rated")
        waits = self._deferred(event, field, out.order)
        distance = by_rating(ratings)
        pairs, again = pair_nearest(
            out.order, distance, met=ledger.met, forbidden=forbidden_pairs(event), deferred=waits
        )
        games = tuple(
            game(
                ledger,
                a,
                other=b,
                rng=rng,
                reason=f"rated {ratings[a]:.0f} and {ratings[b]:.0f}, {distance(a, b) / PER_POINT:.0f} apart",
            )
            for a, b in pairs
        )
        played = counted(len(games), "game")
        first = f"Round {field.number}: {played} between the nearest ratings of those who have not met."
        why = list(out.why)
        rematches = [pair for pair in pairs if ledger.have_met(*pair)]
        if again:
            why.append(f"{counted(len(rematches), 'rematch', 'rematches')}: without any, not everybody could play.")
        deferred = [pair for pair in pairs if pair_of(*pair) in waits]
        if deferred:
            why.append(f"{counted(len(deferred), 'pair')} that should have waited for a later round had to meet.")
        details = {
            "ratings": {str(id_): round(ratings[id_], 3) for id_ in ratings},
            "deferred": [list(pair) for pair in deferred],
            "rematches": [list(pair) for pair in rematches],
        }
        return Round(
            number=field.number, games=games, byes=out.byes, explanation=Explanation(" ".join((first, *why)), details)
        )

    def ratings(self, event: Event, ledger: Ledger) -> dict[int, float]:
        """Everybody's rating after the games of the record."""
        ratings = {one.id: self.unrated if one.rating is None else one.rating for one in event.entrants}
        if self.update == "none":
            return ratings
        least = FLOOR if self.update == "gor" else -inf
        for number in range(1, len(event.rounds) + 1):
            before = dict(ratings)
            for id_, line in ledger.lines.items():
                moves = [
                    self._moved(before[id_], before[entry.opponent], min(max(entry.points / 2, 0.0), 1.0))
                    for entry in line.entries
                    if entry.round == number and entry.kind == "game" and entry.opponent is not None
                ]
                if moves:
                    ratings[id_] = max(least, before[id_] + fsum(moves))
        return ratings

    def _moved(self, mine: float, theirs: float, score: float) -> float:
        if self.update == "gor":
            return con(mine) * (score - expectancy(mine, theirs)[0])
        return self.k * (score - logistic(LOGIT * (mine - theirs)))

    def _deferred(self, event: Event, field: Field, order: Sequence[int]) -> set[Pair]:
        """Pairs that should wait."""
        if not self.defer_neighbors or len(order) < 2:
            return set()
        planned = event.planned
        waits: set[Pair] = set()
        if planned is not None and field.number < planned:
            waits.add(pair_of(order[0], order[1]))
        if field.number <= (_EARLY if planned is None else planned // 2):
            waits.update(pair_of(a, b) for a, b in pairwise(order))
            club = {one.id: one.club for one in field.players if one.club}
            waits.update(
                pair_of(a, b) for a in order for b in order if a < b and club.get(a) and club.get(a) == club.get(b)
            )
        return waits


SYSTEM: Final = declared(
    AccelRat, "accelrat", "from the top everybody takes the nearest opponent in rating not yet met"
)
