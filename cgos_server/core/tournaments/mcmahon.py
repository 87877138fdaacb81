"""McMahon: stronger entrants start with more points, so that those of equal strength meet from the first round on.

Knows starts, scores, groups and handicap, also for the systems that differ only in how they pair. Must not know: how
groups are paired inside, how tie-breakers are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final

from cgos_server.core.options import Choice, Flag, Number, Option
from cgos_server.core.tournaments.base import Bye, Chance, Entrant, Event, Explanation, Game, Round, Standings
from cgos_server.core.tournaments.by_rounds import ByRounds
from cgos_server.core.tournaments.colours import game
from cgos_server.core.tournaments.event import Field
from cgos_server.core.tournaments.grades import FLOOR, GRADES, grade_index, nominal_rating, starting_points
from cgos_server.core.tournaments.groups import METHODS, by_method, odd_one_out, pair_groups
from cgos_server.core.tournaments.ledger import Ledger
from cgos_server.core.tournaments.mms import mms
from cgos_server.core.tournaments.rematches import Pair, pair_of
from cgos_server.core.tournaments.tiebreaks import standings_by

NO_BAR: Final = "none"
MOST_STONES: Final = 9

MCMAHON_OPTIONS: Final[Mapping[str, Option]] = MappingProxyType(
    {
        "floor": Choice(GRADES),
        "bar": Choice((NO_BAR, *GRADES)),
        "absences": Choice(("all", "pairing")),
        "handicap": Flag(),
        "reduction": Number(0, MOST_STONES, whole=True),
    }
)
"""Of every system with starting points; see :class:`McMahon`."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Where everybody stands before a round.

    :ivar starts: id -> half points
    :ivar scores: id -> McMahon score for pairing, half points
    :ivar order: ids of those who are there, best first
    """

    starts: Mapping[int, int]
    scores: Mapping[int, int]
    order: Sequence[int]

    def group(self, id_: int) -> int:
        """The whole points of an entrant: those who have the same are one group."""
        return self.scores[id_] // 2

    def groups(self, order: Sequence[int]) -> list[list[int]]:
        """These ids, best first, as groups."""
        found: list[list[int]] = []
        for id_ in order:
            if found and self.group(found[-1][0]) == self.group(id_):
                found[-1].append(id_)
            else:
                found.append([id_])
        return found


class FromStarts(ByRounds):
    """What systems with starting points have in common: scores, standings, handicap. Options: see :class:`McMahon`."""

    tie_breakers = ("mms", "sos", "sodos", "cuss")

    def __init__(self, floor: str, bar: str, absences: str, handicap: bool, reduction: int) -> None:
        self._floor, self._bar = floor, None if bar == NO_BAR else bar
        self._own_absences = absences == "all"
        self._handicap, self._reduction = handicap, reduction

    def standings(self, event: Event) -> Standings:
        starts = starting_points(event, self._floor, self._bar)
        return standings_by(event, event.tie_breakers or self.tie_breakers, starts, self._own_absences)

    def scores(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Scores:
        """Those who are there by McMahon score, then place in the standings, then rating (of a grade where there is
        none), then by lot: `order` with the id as key."""
        starts = starting_points(event, self._floor, self._bar)
        scores = {id_: mms(line, starts[id_]) for id_, line in ledger.lines.items()}
        places = {row.entrant: row.place for row in self.standings(event).rows}

        def key(one: Entrant) -> tuple[float, ...]:
            return (-scores[one.id], places[one.id], -_strength(one), rng.unit("order", one.id), one.id)

        return Scores(starts, scores, [one.id for one in sorted(field.players, key=key)])

    def game(self, scores: Scores, ledger: Ledger, better: int, other: int, rng: Chance, reason: str) -> Game:
        """A game of these two with its colours, and its stones where there is handicap."""
        return self.with_stones(scores, better, other, reason) or game(ledger, better, other, rng, reason)

    def with_stones(self, scores: Scores, one: int, other: int, reason: str) -> Game | None:
        """A game of these two with handicap, where they have one; the one with fewer points is Black."""
        if not self._handicap:
            return None
        if self._bar is not None:
            bar = 2 * (grade_index(self._bar) - grade_index(self._floor))
            if max(scores.starts[one], scores.starts[other]) >= bar:
                return None
        apart = scores.scores[one] - scores.scores[other]
        stones = min(MOST_STONES, abs(apart) // 2 - self._reduction)
        if stones < 1:
            return None
        white, black = (one, other) if apart > 0 else (other, one)
        received = "1 stone" if stones == 1 else f"{stones} stones"
        return Game(white, black, handicap=stones, reason=f"{reason}; Black has fewer points and receives {received}")

    def round(
        self, field: Field, scores: Scores, games: Sequence[Game], byes: Sequence[Bye], why: Sequence[str], details: Any
    ) -> Round:
        """The round, explained; `scores` (id as text -> points) of those who are there joins its details."""
        paired = len(scores.groups(scores.order))
        first = f"Round {field.number}: {len(games)} games among {paired} groups of equal McMahon score."
        shown = {str(id_): scores.scores[id_] / 2 for id_ in scores.order}
        return Round(
            field.number, tuple(games), tuple(byes), Explanation(" ".join((first, *why)), {**details, "scores": shown})
        )


class McMahon(FromStarts):
    """Swiss pairing from a head start: entrants of equal score meet, and who is stronger starts with more points.

    For fields of very different strength in few rounds; any number will do. The usual number of groups for five rounds
    is 1-4 for 10 to 20 entrants, 5-8 for 25 to 50, 10-15 for 85 to 110 (Vuorinen 2010, table 4.1; advice, not
    enforced). The McMahon score (MMS) is the starting points, the points of games and byes, and half a point for each
    absence, the sum of the latter rounded down to whole points; disconnected engines are absent. Rounds before a late
    entrant joined are no absences: such a one has what it started with (our choice). Starts:
    :func:`cgos_server.core.tournaments.grades.starting_points`; ratings are read as those of Go players (20k = 100, 1d
    = 2100), so for another scale give each entrant its `start`, or all the same by floor and bar.

    Groups are those of equal whole points, from the top (that half points count with the points below them is our
    choice). Nobody meets the same opponent twice unless the whole field cannot be paired otherwise; pairs that must not
    meet never do. In an odd field the lowest of those with the fewest byes sits out. Who floats, whom he meets, and
    when groups are paired together: :func:`cgos_server.core.tournaments.groups.pair_groups`. Colours:
    :mod:`cgos_server.core.tournaments.colours`. Order inside a group: standings, then rating, then a lot (our choice).
    Draws: `order` (id), `seeding` (id; method `random`), `colour` (better placed, other).

    Source: Vuorinen (2010), chapter 4. Standings: MMS, SOS, SODOS, CUSS, then a shared place.

    Options:

    - `floor`, `bar`: grades of those who start with nothing and of the top group, also for everybody weaker or
      stronger; `bar` is `none` by default. With both the same, all start equal.
    - `method`: how groups are paired inside: `folding`, `double-folding`, `translation`, `random` or `adjacent`.
    - `absences`: `all`, or `pairing`: points for them count for pairing and in the sums of opponents, but not in one's
      own final score (Vuorinen 2010, 6.1, for EPM).
    - `handicap`: the one with fewer points has Black and receives as many stones as there are whole points between
      the two, less `reduction`, at most 9; 1 stone means that Black begins without komi but half a point. Games of
      those who started at the bar are even. Handicap by difference of scores is custom in Go events; the default
      reduction of 1, the cap, and that one of the two at the bar is enough for an even game are our choice.

    Details: `groups` (ids, best first), `scores`, and `floats`, `merged`, `rematches` of
    :class:`cgos_server.core.tournaments.groups.Paired`.
    """

    name = "mcmahon"
    OPTIONS: ClassVar[Mapping[str, Option]] = MappingProxyType({**MCMAHON_OPTIONS, "method": Choice(METHODS)})

    def __init__(
        self,
        floor: str = FLOOR,
        bar: str = NO_BAR,
        absences: str = "all",
        handicap: bool = False,
        reduction: int = 1,
        method: str = "folding",
    ) -> None:
        super().__init__(floor, bar, absences, handicap, reduction)
        self._method = method

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        scores = self.scores(event, field, ledger, rng)
        byes, order, why = sit_out(event, scores.order, ledger)
        groups = scores.groups(order)
        paired = pair_groups(groups, by_method(self._method, rng), ledger.met, barred(event))
        number = {id_: at for at, group in enumerate(groups, 1) for id_ in group}
        games = [
            self.game(scores, ledger, a, b, rng, _reason(number[a], number[b], self._method)) for a, b in paired.pairs
        ]
        if paired.merged:
            named = "; ".join(f"{numbers[0]} to {numbers[-1]}" for numbers in paired.merged)
            why.append(f"Paired together, because they could not be paired by themselves: groups {named}.")
        if paired.rematches:
            why.append(f"{len(paired.rematches)} of the games are rematches: with fewer, not everybody could play.")
        return self.round(field, scores, games, byes, why, {"groups": groups, **paired.details()})


def sit_out(event: Event, order: Sequence[int], ledger: Ledger) -> tuple[list[Bye], list[int], list[str]]:
    """Who sits out because the field is odd, the others in the same order, and why, in sentences."""
    if len(order) % 2 == 0:
        return [], list(order), []
    out = odd_one_out(order, ledger, barred(event))
    rest = [id_ for id_ in order if id_ != out]
    return [Bye(out, event.bye_points)], rest, [sat_out(name_of(event, out))]


def drawn(ledger: Ledger, starts: Mapping[int, int]) -> dict[int, list[tuple[int, int]]]:
    """Id -> (round, way) for each time that somebody was paired: way is 1 with a better group, -1 with a worse one, 0
    inside his own; groups as they were then.

    :param starts: id -> half points
    """
    last = max((entry.round for line in ledger.lines.values() for entry in line.entries), default=0)
    found: dict[int, list[tuple[int, int]]] = {id_: [] for id_ in ledger.lines}
    for number in range(1, last + 1):
        group = {id_: mms(line, starts[id_], number - 1) // 2 for id_, line in ledger.lines.items()}
        for id_, line in ledger.lines.items():
            for entry in line.entries:
                if entry.round == number and entry.opponent is not None:
                    mine, other = group[id_], group[entry.opponent]
                    found[id_].append((number, (other > mine) - (other < mine)))
    return found


def barred(event: Event) -> frozenset[Pair]:
    """(smaller id, larger id) of those who must never meet."""
    return frozenset(pair_of(one, other) for one, other in event.forbidden)


def name_of(event: Event, id_: int) -> str:
    """Of an entrant."""
    return next(one.name for one in event.entrants if one.id == id_)


def sat_out(name: str) -> str:
    """Why somebody has a bye, as a sentence."""
    return f"{name} sits out: the field is odd, and nobody with as few byes stands lower."


def _strength(one: Entrant) -> float:
    if one.rating is not None:
        return one.rating
    return float(nominal_rating(one.grade)) if one.grade else float("-inf")


def _reason(one: int, other: int, method: str) -> str:
    return f"group {one}, by {method}" if one == other else f"from groups {one} and {other}"
