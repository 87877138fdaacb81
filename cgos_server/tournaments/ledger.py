"""What everybody has done so far, read off an event's rounds once: points, colors, byes, whom they have met.

Must not know: any system, tie-breakers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, Literal, NamedTuple, TypeAlias

from cgos_server.tournaments.base import Entrant, Event, Game, Pair, Result, Round, pair_of
from cgos_server.tournaments.kept import grown, kept

Kind: TypeAlias = Literal["game", "forfeit", "void", "no-contest", "open", "bye", "requested", "absent"]
"""`game`: counts for everything. `forfeit`, `void`, `no-contest`: paired but not played. `open`: no result yet. `bye`:
given because the field was odd. `requested`: a bye asked for. `absent`: none of these."""


_OPEN: Final = Result(0, 0)
"""What a game without a result gives."""


class Entry(NamedTuple):
    """What an entrant did in a round; several for several games.

    :ivar points: half points that it gave
    :ivar against: half points of the opponent
    :ivar white: had White; None without a game
    """

    round: int
    kind: Kind
    points: int = 0
    against: int = 0
    opponent: int | None = None
    white: bool | None = None
    handicap: int = 0

    @property
    def other(self) -> int:
        """The opponent, where there is one."""
        assert self.opponent is not None, self
        return self.opponent


@dataclass(slots=True, kw_only=True)
class Line:
    """An entrant's record.

    :ivar entries: by rounds, from the one in which it joined
    :ivar score: half points
    :ivar whites: games really played with White
    :ivar blacks: and with Black
    :ivar byes: how many were given because the field was odd
    :ivar idle: rounds in which it asked for a bye or was absent
    """

    entries: list[Entry] = field(default_factory=list)
    score: int = 0
    whites: int = 0
    blacks: int = 0
    byes: int = 0
    idle: int = 0

    @property
    def balance(self) -> int:
        """Games with White less games with Black."""
        return self.whites - self.blacks

    @property
    def opponents(self) -> list[int]:
        """Of games really played, in order; again for each game."""
        return [entry.opponent for entry in self.entries if entry.kind == "game" and entry.opponent is not None]

    @property
    def forfeit_wins(self) -> int:
        """How many games it has won that were never started."""
        return sum(entry.kind == "forfeit" and entry.points > entry.against for entry in self.entries)

    def copy(self) -> Line:
        """One that can grow by itself."""
        return Line(
            entries=self.entries.copy(),
            score=self.score,
            whites=self.whites,
            blacks=self.blacks,
            byes=self.byes,
            idle=self.idle,
        )

    def score_before(self, number: int) -> int:
        """Half points when round `number` began."""
        return sum(entry.points for entry in self.entries if entry.round < number)


@dataclass(slots=True)
class Ledger:
    """:ivar lines: by id, in the order of registration
    :ivar met: (smaller id, larger id) -> in how many rounds they were paired, whatever came of it
    """

    lines: dict[int, Line]
    met: Counter[Pair]

    def have_met(self, one: int, other: int) -> bool:
        return pair_of(one, other) in self.met

    def copy(self) -> Ledger:
        """One that can grow by itself."""
        return Ledger({id_: line.copy() for id_, line in self.lines.items()}, self.met.copy())


@kept
def counting(each: Round) -> tuple[Game, ...]:
    """The games of a round but for void ones that were played again with the same colors, as if those had not been."""
    if not each.has_void:
        return each.games
    last = {(game.white, game.black): at for at, game in enumerate(each.games)}
    return tuple(game for at, game in enumerate(each.games) if game.how != "void" or at == last[game.white, game.black])


def ledger(event: Event, rounds: int | None = None) -> Ledger:
    """The ledger of an event, of only its first `rounds` where that is given. Callers must not change it."""
    return grown(event.rounds[:rounds], (event.entrants,), _blank, _enter_round)


def _blank(entrants: Sequence[Entrant]) -> Ledger:
    """Of an event without a round."""
    return Ledger({one.id: Line() for one in entrants}, Counter())


def _enter_round(ledger: Ledger, each: Round, entrants: Sequence[Entrant]) -> None:
    """Adds the round that follows those of the ledger."""
    number, lines = each.number, ledger.lines
    ledger.met.update(set(each.pairs))
    for game in counting(each):
        _enter(lines, number, game)
    for bye in each.byes:
        line = lines[bye.entrant]
        line.entries.append(Entry(number, "requested" if bye.requested else "bye", bye.points))
        line.score += bye.points
        line.byes += not bye.requested
        line.idle += bye.requested
    busy = set(each.ids)
    for one in entrants:
        if one.id not in busy and one.joined <= number:
            lines[one.id].entries.append(Entry(number, "absent"))
            lines[one.id].idle += 1


def _enter(lines: Mapping[int, Line], number: int, game: Game) -> None:
    """Enters a game of that round on the lines of both."""
    result = game.result or _OPEN
    kind: Kind = "open" if game.result is None else "game" if result.how == "played" else result.how
    white, black, handicap = lines[game.white], lines[game.black], game.handicap
    white.entries.append(Entry._make((number, kind, result.white, result.black, game.black, True, handicap)))
    black.entries.append(Entry._make((number, kind, result.black, result.white, game.white, False, handicap)))
    white.score += result.white
    black.score += result.black
    if kind == "game":
        white.whites += 1
        black.blacks += 1


class Course(NamedTuple):
    """Where everybody stood after each round: [0] before the first one, [r] after round r; by id.

    :ivar scores: half points
    :ivar balances: games with White less games with Black
    """

    scores: tuple[Mapping[int, int], ...]
    balances: tuple[Mapping[int, int], ...]


@kept
def course(event: Event) -> Course:
    """The course of an event; who had not entered yet has nothing."""
    length = len(event.rounds) + 1
    scores: list[dict[int, int]] = [{} for _ in range(length)]
    balances: list[dict[int, int]] = [{} for _ in range(length)]
    for id_, line in ledger(event).lines.items():
        gained, turned = [0] * length, [0] * length
        for number, kind, points, _, _, white, _ in line.entries:
            gained[number] += points
            if kind == "game":
                turned[number] += 1 if white else -1
        for of, steps in ((scores, gained), (balances, turned)):
            for after, sum_ in zip(of, accumulate(steps), strict=True):
                after[id_] = sum_
    return Course(tuple(scores), tuple(balances))
