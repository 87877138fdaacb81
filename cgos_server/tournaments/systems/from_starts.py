"""What systems with starting points have in common: scores, groups of equal score, handicap, standings; and the round
of those that pair group by group.

Must not know: any of these systems, how starting points are found, how tie-breakers are counted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, get_args

from cgos_protocol.options import Choice, Flag, Number
from cgos_server.tournaments.base import Bye, Chance, Entrant, Event, Explanation, Game, Round, Standings, System
from cgos_server.tournaments.chance import lots_of
from cgos_server.tournaments.event import Field, forbidden_pairs
from cgos_server.tournaments.kept import kept
from cgos_server.tournaments.ledger import Ledger, ledger
from cgos_server.tournaments.pairing.byes import sit_out
from cgos_server.tournaments.pairing.colors import game, once_more
from cgos_server.tournaments.pairing.groups import CostOf, pair_groups
from cgos_server.tournaments.standings.grades import FLOOR, GRADES, grade_index, rating_of, starting_points
from cgos_server.tournaments.standings.mms import Absences, course, mms
from cgos_server.tournaments.standings.tiebreaks import standings_by
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.words import counted, in_points

NO_BAR: Final = "none"
MOST_STONES: Final = 9

ABSENCES: Final = Choice(
    get_args(Absences), meaning="whether points for absences count: all, pairing (not in one's own final score) or none"
)


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
        groups: list[list[int]] = []
        for id_ in order:
            if groups and self.group(groups[-1][0]) == self.group(id_):
                groups[-1].append(id_)
            else:
                groups.append([id_])
        return groups


@dataclass(frozen=True, kw_only=True)
class FromStarts(ByRounds):
    """A system with starting points. Options: see :class:`cgos_server.tournaments.systems.mcmahon.McMahon`."""

    tie_breakers = ("mms", "sos", "sodos", "cuss")

    floor: Annotated[str, Choice(GRADES, meaning="grade of those who start with nothing, and of everybody weaker")] = (
        FLOOR
    )
    bar: Annotated[str, Choice((NO_BAR, *GRADES), meaning="grade of the top group, and of everybody stronger")] = NO_BAR
    absences: Annotated[Absences, ABSENCES] = "all"
    handicap: Annotated[bool, Flag(meaning="whether the one with fewer points receives stones")] = False
    reduction: Annotated[
        int,
        Number(
            0,
            MOST_STONES,
            whole=True,
            meaning="by how many stones the handicap is less than the whole points between the two",
        ),
    ] = 1

    def standings(self, event: Event) -> Standings:
        return standings_by(event, event.tie_breakers or self.tie_breakers, self.starts(event), self.absences)

    def starts(self, event: Event) -> Mapping[int, int]:
        """Id -> half points that everybody began with."""
        return _starting_points(event, self.floor, None if self.bar == NO_BAR else self.bar)

    def paired_by(self, event: Event, ledger: Ledger) -> dict[int, int]:
        """Id -> McMahon score for pairing after the rounds of a ledger, in half points."""
        starts = self.starts(event)
        return {id_: mms(line, starts[id_], absences=self.absences != "none") for id_, line in ledger.lines.items()}

    def scores(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Scores:
        """Those who are there by McMahon score, then place in the standings, then rating (of a grade where there is
        none), then by lot: `order` with the id as key."""
        starts = self.starts(event)
        scores = self.paired_by(event, ledger)
        places = {row.entrant: row.place for row in self.standings(event).rows}
        lots = lots_of(rng, [one.id for one in field.players], "order")

        def key(one: Entrant) -> tuple[float, ...]:
            rating = rating_of(one)
            strength = float("-inf") if rating is None else rating
            return (-scores[one.id], places[one.id], -strength, lots[one.id], one.id)

        return Scores(starts, scores, [one.id for one in sorted(field.players, key=key)])

    def game(self, scores: Scores, ledger: Ledger, better: int, other: int, rng: Chance, reason: str) -> Game:
        """A game of these two with its colors, and its stones where there is handicap."""
        return self.with_stones(scores, ledger, one=better, other=other, reason=reason) or game(
            ledger, better, other=other, rng=rng, reason=reason
        )

    def drawn(self, ledger: Ledger, starts: Mapping[int, int]) -> dict[int, list[tuple[int, int]]]:
        """Id -> (round, way) for each time that somebody was paired: way is 1 with a better group, -1 with a worse one,
        0 inside its own; groups as they were then.

        :param starts: id -> half points
        """
        absences = self.absences != "none"
        lines = ledger.lines
        last = max((line.entries[-1].round for line in lines.values() if line.entries), default=0)
        scores = {id_: course(line, starts[id_], last, absences) for id_, line in lines.items()}
        ways: dict[int, list[tuple[int, int]]] = {id_: [] for id_ in lines}
        for id_, line in lines.items():
            own = scores[id_]
            for entry in line.entries:
                if entry.opponent is not None:
                    before = entry.round - 1
                    mine, other = own[before] // 2, scores[entry.opponent][before] // 2
                    ways[id_].append((entry.round, (other > mine) - (other < mine)))
        return ways

    def with_stones(self, scores: Scores, ledger: Ledger, one: int, other: int, reason: str) -> Game | None:
        """A game of these two with handicap, where they have one; the one with fewer points is Black."""
        if not self.handicap:
            return None
        if self.bar != NO_BAR:
            bar = 2 * (grade_index(self.bar) - grade_index(self.floor))
            if max(scores.starts[one], scores.starts[other]) >= bar:
                return None
        apart = scores.scores[one] - scores.scores[other]
        stones = min(MOST_STONES, abs(apart) // 2 - self.reduction)
        if stones < 1:
            return None
        white, black = (one, other) if apart > 0 else (other, one)
        why = f"{reason}; Black has fewer points and receives {counted(stones, 'stone')}{once_more(ledger, one, other)}"
        return Game(black=black, white=white, handicap=stones, reason=why)

    def round(
        self, field: Field, scores: Scores, games: Sequence[Game], byes: Sequence[Bye], why: Sequence[str], details: Any
    ) -> Round:
        """The round, explained; `scores` (id as text -> points) of those who are there joins its details."""
        paired = len(scores.groups(scores.order))
        first = (
            f"Round {field.number}: {counted(len(games), 'game')}, {counted(paired, 'group')} of equal McMahon score."
        )
        shown = {str(id_): scores.scores[id_] / 2 for id_ in scores.order}
        return Round(
            number=field.number,
            games=tuple(games),
            byes=tuple(byes),
            explanation=Explanation(" ".join((first, *why)), {**details, "scores": shown}),
        )


@kept
def _starting_points(event: Event, floor: str, bar: str | None) -> Mapping[int, int]:
    return starting_points(event, floor, bar)


class GroupByGroup(FromStarts):
    """A system with starting points that pairs its groups by
    :func:`cgos_server.tournaments.pairing.groups.pair_groups`."""

    @property
    @abstractmethod
    def by(self) -> str:
        """What pairs inside a group are made by, in a word for people."""

    @abstractmethod
    def cost_of(self, field: Field, rng: Chance) -> CostOf:
        """What a pair costs inside a group; smaller is better."""

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        scores = self.scores(event, field, ledger, rng)
        out = sit_out(event, scores.order, ledger)
        groups = scores.groups(out.order)
        paired = pair_groups(groups, self.cost_of(field, rng), ledger.met, forbidden_pairs(event))
        games = [
            self.game(scores, ledger, better=a, other=b, rng=rng, reason=self._reason(scores, a, b))
            for a, b in paired.pairs
        ]
        why = (*out.why, *paired.sentences([scores.group(group[0]) for group in groups]))
        details = {"groups": groups, **paired.details()}
        return self.round(field, scores, games, out.byes, why=why, details=details)

    def _reason(self, scores: Scores, one: int, other: int) -> str:
        mine, theirs = scores.group(one), scores.group(other)
        return (
            f"both in the group of {in_points(mine)}, by {self.by}"
            if mine == theirs
            else f"groups of {mine} and {theirs} points"
        )


def scores_before(event: Event, system: System) -> list[dict[int, int]]:
    """Half points of everybody (by id) before each round: McMahon scores where the system pairs by them."""
    records = (ledger(event, each.number - 1) for each in event.rounds)
    if isinstance(system, FromStarts):
        return [system.paired_by(event, record) for record in records]
    return [{id_: line.score for id_, line in record.lines.items()} for record in records]
