"""EPM: McMahon groups paired by a search that gives everybody, from the top, the opponent that suits best.

Knows what makes an opponent suit. Must not know: how the search goes, who floats, how scores are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum
from typing import Annotated, Final

from cgos_protocol.options import Choice, Number
from cgos_server.tournaments.base import Chance, declared
from cgos_server.tournaments.event import Field
from cgos_server.tournaments.pairing.groups import METHODS, PER_POINT, Cost, CostOf, by_method, by_rating
from cgos_server.tournaments.standings.grades import rating_of
from cgos_server.tournaments.standings.mms import Absences
from cgos_server.tournaments.systems.from_starts import ABSENCES, GroupByGroup

RATING: Final = "rating"
GRADE: Final = 100.0


@dataclass(frozen=True, kw_only=True)
class Epm(GroupByGroup):
    """McMahon with EPM's search: the best of a group takes the cheapest opponent, then the next best, and so on.

    For fields of very different strength, in any number of rounds. Scores, starting points, floor, bar and handicap are
    those of :class:`cgos_server.tournaments.systems.mcmahon.McMahon`, but points for absences count, unless asked
    otherwise, only for pairing and for the opponents' sums, not in one's own final score. Odd groups send their middle
    entrant down, who meets the middle of the next group. The search goes through a group's pairings in the order in
    which its members prefer their opponents, best member first, and takes the first without rematches; that is not the
    one of the smallest total cost. Where it gives up, after a million pairs tried, the smallest total cost is taken.
    Nobody meets the same opponent twice unless the whole field cannot be paired otherwise; pairs that must not meet
    never do. Byes and colors as in McMahon. Draws: `order` (id), `seeding` (id; cost `random`), `color` (better
    placed, other).

    Source: Vuorinen (2010), section 6.1, with the repairs told in :mod:`cgos_server.tournaments.pairing.epm_search`.
    The thesis does not give its cost; ours follows its measure of a tournament, the difference in strength of those who
    meet. What else is left open is in :func:`cgos_server.tournaments.pairing.groups.pair_groups`.

    Options, besides those of McMahon:

    - `cost`: with `rating`, who has none counts as its grade's, and without a grade as the mean of those who are there.
      Else how far a pair is from a method of seeding.
    - `same_country`, `same_club`: rating points, with other costs places. For engines: of one author, of one family.
    - `absences`: `pairing` by default.

    Details: `groups` (ids, best first), `scores`, and `floats`, `merged`, `rematches` of
    :class:`cgos_server.tournaments.pairing.groups.Paired`.
    """

    name = "epm"

    absences: Annotated[Absences, ABSENCES] = "pairing"
    cost: Annotated[
        str, Choice((RATING, *METHODS), meaning="what a pair costs: the difference of ratings, or by a seeding")
    ] = RATING
    same_country: Annotated[float, Number(0, 10_000, meaning="points added where both are of one country")] = GRADE
    same_club: Annotated[float, Number(0, 10_000, meaning="points added where both are of one club")] = GRADE

    @property
    def by(self) -> str:
        return self.cost

    def cost_of(self, field: Field, rng: Chance) -> CostOf:
        """The cost inside a group, in thousandths of a rating point or of a place."""
        country = {one.id: one.country for one in field.players}
        club = {one.id: one.club for one in field.players}
        same_country, same_club = (round(points * PER_POINT) for points in (self.same_country, self.same_club))
        by_strength = by_rating(strengths(field))

        def of(members: Sequence[int]) -> Cost:
            places = None if self.cost == RATING else by_method(self.cost, rng)(members)

            def cost(one: int, other: int) -> int:
                apart = by_strength(one, other) if places is None else places(one, other) * PER_POINT
                if country[one] and country[one] == country[other]:
                    apart += same_country
                if club[one] and club[one] == club[other]:
                    apart += same_club
                return apart

            return cost

        return of


def strengths(field: Field) -> dict[int, float]:
    """Rating points of those who are there: the rating, else the grade's, else the mean of the others; 0 where nobody
    has either."""
    known = {one.id: rating for one in field.players if (rating := rating_of(one)) is not None}
    mean = fsum(known.values()) / len(known) if known else 0.0
    return {one.id: known.get(one.id, mean) for one in field.players}


SYSTEM: Final = declared(Epm, "epm", "a McMahon in which the better placed choose first")
