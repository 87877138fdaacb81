"""McMahon: stronger entrants start with more points, so that those of equal strength meet from the first round on.

Knows what a group's pairs are to be like. Must not know: starts, how groups are paired, how tie-breakers are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from cgos_protocol.options import Choice
from cgos_server.tournaments.base import Chance, declared
from cgos_server.tournaments.event import Field
from cgos_server.tournaments.pairing.groups import METHODS, CostOf, by_method
from cgos_server.tournaments.systems.from_starts import GroupByGroup


@dataclass(frozen=True, kw_only=True)
class McMahon(GroupByGroup):
    """Swiss pairing from a head start: entrants of equal score meet, and who is stronger starts with more points.

    For fields of very different strength in few rounds; any number will do. The usual number of groups for five rounds
    is 1-4 for 10 to 20 entrants, 5-8 for 25 to 50, 10-15 for 85 to 110 (Vuorinen 2010, table 4.1; advice, not
    enforced). The McMahon score (MMS) is the starting points, the points of games and byes, and half a point for each
    absence, the sum of the latter rounded down to whole points; disconnected engines are absent. Rounds before a late
    entrant joined are no absences: such a one has what it started with (our choice). Starts:
    :func:`cgos_server.tournaments.standings.grades.starting_points`; ratings are read as those of Go players (20k =
    100, 1d = 2100), so for another scale give each entrant its `start`, or all the same by floor and bar.

    Groups are those of equal whole points, from the top (that half points count with the points below them is our
    choice). Nobody meets the same opponent twice unless the whole field cannot be paired otherwise; pairs that must not
    meet never do. In an odd field the lowest of those with the fewest byes sits out. Who floats, whom it meets, and
    when groups are paired together: :func:`cgos_server.tournaments.pairing.groups.pair_groups`. Colors:
    :mod:`cgos_server.tournaments.pairing.colors`. Order inside a group: standings, then rating, then a lot (our
    choice). Draws: `order` (id), `seeding` (id; method `random`), `color` (better placed, other).

    Source: Vuorinen (2010), chapter 4. Standings: MMS, SOS, SODOS, CUSS, then a shared place.

    Options (with `floor` and `bar` the same, all start equal):

    - `absences`: `all`, or `pairing`: points for them count for pairing and in the sums of opponents, but not in one's
      own final score (Vuorinen 2010, 6.1, for EPM); or `none`: an absence gives nothing.
    - `handicap`: the one with fewer points has Black and receives as many stones as there are whole points between
      the two, less `reduction`, at most 9; 1 stone means that Black begins without komi but half a point. Games of
      those who started at the bar are even. Handicap by difference of scores is custom in Go events; the default
      reduction of 1, the cap, and that one of the two at the bar is enough for an even game are our choice.

    Details: `groups` (ids, best first), `scores`, and `floats`, `merged`, `rematches` of
    :class:`cgos_server.tournaments.pairing.groups.Paired`.
    """

    name = "mcmahon"

    method: Annotated[str, Choice(METHODS, meaning="how groups are paired inside")] = "folding"

    @property
    def by(self) -> str:
        return self.method

    def cost_of(self, field: Field, rng: Chance) -> CostOf:  # noqa: ARG002 - only places count
        return by_method(self.method, rng)


SYSTEM: Final = declared(McMahon, "mcmahon", "a Swiss in which the stronger start with more points")
