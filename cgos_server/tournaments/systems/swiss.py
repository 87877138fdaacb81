"""Swiss: entrants with equal points meet, and nobody meets the same opponent twice.

Knows the order before a round and how it becomes groups. Must not know: how groups are paired inside, how tie-breakers
are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Final

from cgos_protocol.options import Choice
from cgos_server.tournaments.base import Chance, Entrant, Event, Explanation, Round, declared
from cgos_server.tournaments.chance import Lots, lots_of
from cgos_server.tournaments.event import Field, forbidden_pairs
from cgos_server.tournaments.ledger import Ledger
from cgos_server.tournaments.pairing.byes import sit_out
from cgos_server.tournaments.pairing.colors import game
from cgos_server.tournaments.pairing.groups import METHODS, by_method, pair_groups
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.words import counted, in_points, listed

SAME: Final = "same"


@dataclass(frozen=True, kw_only=True)
class Swiss(ByRounds):
    """Swiss by groups of equal points, as Go and card tournaments have it: pairs from the top group down.

    For fields in which a round robin would take too long. ceil(log2 N) rounds find a single unbeaten winner among N if
    there are no draws; the number of rounds is to be fixed beforehand, and any number will do. Nobody meets the same
    opponent twice unless the whole field cannot be paired otherwise; pairs that must not meet never do. In an odd field
    the lowest of those with the fewest byes sits out, so that nobody has a second bye before everybody has had one. An
    odd group's middle entrant floats one group down, further only if it has met all of it.

    Order inside a group: standings (points and tie-breakers), then the initial order. The initial order is that of the
    ratings, then of those without one, by lot; equal ratings by lot as well. That lot is one for the whole event:
    `order`, keyed by id, of the lots of round 0. Other draws: `seeding` (id; method `random`), `color` (better placed,
    other). Colors: :mod:`cgos_server.tournaments.pairing.colors`.

    Source: Vuorinen (2010). Who floats, whom it meets, when groups are paired together and the last way
    out are our choice: :func:`cgos_server.tournaments.pairing.groups.pair_groups`; so are `adjacent`, the second bye,
    the tie-breakers (Buchholz, then Sonneborn-Berger) and the order inside groups.

    Of eight, the method `folding` makes 1-8, 2-7, 3-6, 4-5; `double-folding` 1-4, 2-3, 5-8, 6-7; `translation` 1-5,
    2-6, 3-7, 4-8; `adjacent` 1-2, 3-4, 5-6, 7-8; `random` any pairs.

    Details: `groups` (ids, best first), `points` of each group, and `floats`, `merged`, `rematches` of
    :class:`cgos_server.tournaments.pairing.groups.Paired`.
    """

    name = "swiss"
    tie_breakers = ("points", "buchholz", "sonneborn-berger")

    method: Annotated[str, Choice(METHODS, meaning="how groups are paired inside")] = "folding"
    first_round: Annotated[str, Choice((SAME, *METHODS), meaning="the method of the first round")] = SAME
    initial_order: Annotated[str, Choice(("rating", "lot"), meaning="where the initial order comes from")] = "rating"
    within: Annotated[
        str, Choice(("standings", "initial"), meaning="the order inside groups: standings or the initial one")
    ] = "standings"

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        out = sit_out(event, self._order(event, field, ledger), ledger)
        groups = [list(group) for _, group in groupby(out.order, key=lambda id_: ledger.lines[id_].score)]
        method = self.first_round if field.number == 1 and self.first_round != SAME else self.method
        paired = pair_groups(groups, by_method(method, rng), ledger.met, forbidden_pairs(event))
        points = [ledger.lines[group[0]].score / 2 for group in groups]
        of = {id_: value for value, group in zip(points, groups, strict=True) for id_ in group}
        games = tuple(game(ledger, a, other=b, rng=rng, reason=_reason(of[a], of[b], method)) for a, b in paired.pairs)
        in_groups = f" in groups of {listed([f'{each:g}' for each in points])} points" if len(points) > 1 else ""
        first = f"Round {field.number}: {counted(len(games), 'game')}{in_groups}."
        why = (*out.why, *paired.sentences(points))
        details = {"groups": groups, "points": points, **paired.details()}
        return Round(
            number=field.number, games=games, byes=out.byes, explanation=Explanation(" ".join((first, *why)), details)
        )

    def _order(self, event: Event, field: Field, ledger: Ledger) -> list[int]:
        """Ids of those who are there, best first."""
        places = {row.entrant: row.place for row in self.standings(event).rows} if self.within == "standings" else {}
        rated = self.initial_order == "rating"
        lots = lots_of(Lots(event.seed, 0), [one.id for one in field.players], "order")

        def key(one: Entrant) -> tuple[float, ...]:
            rating = one.rating if rated and one.rating is not None else float("-inf")
            return (-ledger.lines[one.id].score, places.get(one.id, 0), -rating, lots[one.id], one.id)

        return [one.id for one in sorted(field.players, key=key)]


def _reason(one: float, other: float, method: str) -> str:
    return f"{in_points(one)} each, by {method}" if one == other else f"{one:g} and {other:g} points"


SYSTEM: Final = declared(Swiss, "swiss", "those of equal points meet")
