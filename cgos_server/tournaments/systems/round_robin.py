"""Round robin: everybody meets everybody, by a table of numbers.

Must not know: results.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.options import Choice, Flag
from cgos_server.tournaments.base import Bye, Chance, Event, Explanation, Game, Round, declared
from cgos_server.tournaments.event import Field
from cgos_server.tournaments.ledger import Ledger, ledger
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.systems.fixed_field import fixed, latecomers, require_two, starters, too_late
from cgos_server.tournaments.words import listed


class Board(NamedTuple):
    """Two numbers that meet, 1 or more; `first` is the one of the upper row, or the one that a table names first."""

    first: int
    second: int
    first_is_white: bool

    @property
    def numbers(self) -> tuple[int, int]:
        return (self.first, self.second)


@dataclass(frozen=True, kw_only=True)
class RoundRobin(ByRounds):
    """Everybody meets everybody once, or twice with colors reversed.

    For a small field that shall be compared fully. N entrants take N - 1 rounds, N where N is odd; twice as many with
    `double`. Numbers are the order of registration of those who are there when the first round begins. With an odd N
    everybody has exactly one free round (a bye) in a cycle.

    Options. `double`: a second cycle, in the same order, with colors reversed. `table`: who meets whom when, `circle`
    (Vuorinen 2010, section 3.1) or `berger` (FIDE Handbook, Berger tables; Schurig 1886, made known by Berger).
    `colors` of the circle: `balanced` (our choice, the default): the counts of colors of one entrant differ by 1 over
    a cycle, by at most 2 where N is odd; or `literal`, Vuorinen's rule: the upper row has Black in odd rounds and White
    in even ones, by which counts differ by up to 4. The Berger tables have their own colors: the counts differ by 1,
    and by 0 where N is odd.

    Standings: points, then Sonneborn-Berger (our choice; Vuorinen names none). Vuorinen argues against the direct
    encounter, which therefore has to be asked for. Who beat each other in a circle share a place, if nothing else
    separates them.

    Where Vuorinen is silent, our choice. The opponents of somebody who has withdrawn, or who asked for a bye, have a
    free round instead of that game, which is not made up for; results of before stand. With an odd N the first one to
    enter late takes the seat that gives the free round, and meets those whose turn is still to come; other late
    entrants are not paired, and the summary says so. Two who must not meet cannot be in one round robin, unless they
    have met: the next round is refused.

    Details of a round: `cycle`, 1 or 2; `upper` and `lower`: ids by boards, null for the free seat. Draws: none.
    """

    name = "round-robin"
    tie_breakers = ("points", "sonneborn-berger")

    double: Annotated[bool, Flag(meaning="whether everybody meets everybody twice")] = False
    table: Annotated[str, Choice(("circle", "berger"), meaning="where the order of the games is taken from")] = "circle"
    colors: Annotated[
        str, Choice(("balanced", "literal"), meaning="whether colors are evened out or as in the circle")
    ] = "balanced"

    def __post_init__(self) -> None:
        if (self.table, self.colors) == ("berger", "literal"):
            raise Invalid(
                Code.TOURNAMENT_OPTION,
                "round-robin: the Berger tables have their own colors. Leave out colors, or choose table=circle.",
            )

    @property
    def _cycles(self) -> int:
        return 2 if self.double else 1

    def length(self, event: Event) -> int:
        return self._cycles * rounds_for(len(starters(event, keep_byes=True)))

    def pair(self, event: Event, rng: Chance) -> Round:
        require_two("A round robin", len(starters(event, keep_byes=True)))
        return super().pair(event, rng)

    def closed(self, event: Event) -> str:
        if not event.rounds or None in self._seats(event, ledger(event)):
            return ""
        return fixed("a round robin without a free seat")

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:  # noqa: ARG002 - no lots
        seats = self._seats(event, ledger)
        self._require_allowed(event, seats, field.number)
        names = event.names
        there = {one.id for one in field.players}
        cycle, number = self._turn(field.number, len(seats))
        boards = self._boards(len(seats), number)
        games: list[Game] = []
        byes: list[Bye] = []
        sentences = [
            f"Round {number} of the table, cycle {cycle}." if self._cycles > 1 else f"Round {number} of the table."
        ]
        for board in boards:
            pair = [seats[at - 1] for at in board.numbers]
            able = [id_ for id_ in pair if id_ in there]
            if len(able) == 2:
                reason = f"numbers {board.first} and {board.second} of the table"
                white, black = able if board.first_is_white == (cycle == 1) else reversed(able)
                games.append(Game(black=black, white=white, reason=reason))
            elif able:
                missing = next((names[id_] for id_ in pair if id_ is not None and id_ not in there), "")
                why = f": {missing} is not there" if missing else ""
                sentences.append(f"{names[able[0]]} has a free round{why}.")
                byes.append(Bye(able[0], event.bye_points))
        seated = {id_ for id_ in seats if id_ is not None}
        late = too_late([one for one in field.players if one.id not in seated])
        details = {
            "cycle": cycle,
            "upper": [seats[board.first - 1] for board in boards],
            "lower": [seats[board.second - 1] for board in boards],
        }
        return Round(
            number=field.number,
            games=tuple(games),
            byes=tuple(byes),
            explanation=Explanation(" ".join(sentences) + late, details),
        )

    def _seats(self, event: Event, ledger: Ledger) -> list[int | None]:
        """The id of each number; None: nobody, whoever meets that number has a free round."""
        first = starters(event, keep_byes=True)
        seats: list[int | None] = [one.id for one in first]
        if len(seats) % 2:
            known = {one.id for one in first}
            others = [one.id for one in event.entrants if one.id not in known]
            played = [id_ for id_ in others if any(entry.opponent is not None for entry in ledger.lines[id_].entries)]
            waiting = [one.id for one in latecomers(event, keep_byes=True)]
            seats.append(next(iter((*played, *waiting)), None))
        return seats

    def _turn(self, number: int, seats: int) -> tuple[int, int]:
        """Cycle and round of the table, from 1, of a round."""
        cycle, at = divmod(number - 1, rounds_for(seats))
        return cycle + 1, at + 1

    def _boards(self, seats: int, number: int) -> list[Board]:
        if self.table == "berger":
            return berger(seats, number)
        return circle(seats, number, balanced=self.colors == "balanced")

    def _require_allowed(self, event: Event, seats: Sequence[int | None], number: int) -> None:
        """Raises Refused where two who must not meet are still to meet."""
        if not event.forbidden:
            return
        names = event.names
        for later in range(number, self._cycles * rounds_for(len(seats)) + 1):
            for board in self._boards(len(seats), self._turn(later, len(seats))[1]):
                pair = _present((seats[at - 1] for at in board.numbers), event.withdrawn)
                if pair in event.forbidden:
                    raise Invalid(
                        Code.FORBIDDEN_PAIR,
                        f"In a round robin everybody meets everybody, but {listed([names[id_] for id_ in pair])}, who "
                        f"would meet in round {later}, must not. Withdraw one of them, or lift that.",
                    )


def rounds_for(entrants: int) -> int:
    """How many rounds one cycle takes; 0 for fewer than two."""
    return 0 if entrants < 2 else entrants - 1 + entrants % 2


def circle(seats: int, number: int, balanced: bool = True) -> list[Board]:
    """The boards of a round by turning the seats about number 1 (Vuorinen 2010, section 3.1).

    :param seats: an even number
    :param number: 1 to seats - 1
    :param balanced: colors, see :class:`RoundRobin`
    """
    half = seats // 2
    upper, lower = list(range(1, half + 1)), list(range(half + 1, seats + 1))
    if half > 1:
        for _ in range(number - 1):
            upper, lower = [upper[0], lower[0], *upper[1:-1]], [*lower[1:], upper[-1]]
    even = number % 2 == 0
    boards: list[Board] = []
    for at, (first, second) in enumerate(zip(upper, lower, strict=True), 1):
        first_is_white = even if not balanced or at == 1 else at % 2 == 1
        boards.append(Board(first, second, first_is_white))
    return boards


def berger(seats: int, number: int) -> list[Board]:
    """The boards of a round by the Berger tables, White first, in their order.

    The numbers but the last one meet where their sum is round + 1, modulo seats - 1; the one that would meet itself
    meets the last one. The smaller number has White where the sum of the two is odd, else the larger one; the last
    number has White against the upper half.

    :param seats: an even number
    :param number: 1 to seats - 1
    """
    ring = seats - 1
    center = next(at for at in range(1, seats) if (2 * at - number - 1) % ring == 0)
    pairs = [(center, seats) if 2 * center <= seats else (seats, center)]
    for step in range(1, seats // 2):
        low, high = sorted(((center + step - 1) % ring + 1, (center - step - 1) % ring + 1))
        pairs.append((low, high) if (low + high) % 2 else (high, low))
    return [Board(white, black, True) for white, black in pairs]


def _present(pair: Iterable[int | None], withdrawn: Sequence[int]) -> tuple[int, ...]:
    """The two ids, smaller first; fewer where nobody has a seat or somebody has withdrawn."""
    return tuple(sorted(id_ for id_ in pair if id_ is not None and id_ not in withdrawn))


SYSTEM: Final = declared(RoundRobin, "round-robin", "everybody meets everybody once, or twice")
