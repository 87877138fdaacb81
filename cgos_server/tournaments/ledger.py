"""What everybody has done so far, read off an event's rounds once: points, colors, byes, whom they have met.

Must not know: any system, tie-breakers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from cgos_server.tournaments.base import Event, Game, Pair, Result, Round, pair_of

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
    """

    entries: list[Entry] = field(default_factory=list)
    score: int = 0
    whites: int = 0
    blacks: int = 0
    byes: int = 0

    @property
    def balance(self) -> int:
        """Games with White less games with Black."""
        return self.whites - self.blacks

    @property
    def opponents(self) -> list[int]:
        """Of games really played, in order; again for each game."""
        return [entry.opponent for entry in self.entries if entry.kind == "game" and entry.opponent is not None]

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


def counting(each: Round) -> list[Game]:
    """The games of a round but for void ones that were played again with the same colors, as if those had not been."""
    last = {(game.white, game.black): at for at, game in enumerate(each.games)}
    return [game for at, game in enumerate(each.games) if game.how != "void" or at == last[game.white, game.black]]


def ledger(event: Event, rounds: int | None = None) -> Ledger:
    """The ledger of an event, of only its first `rounds` where that is given."""
    lines = {one.id: Line() for one in event.entrants}
    met: Counter[Pair] = Counter()
    for each in event.rounds[:rounds]:
        met.update({game.pair for game in each.games})
        for game in counting(each):
            _enter(lines, each.number, game)
        for bye in each.byes:
            line = lines[bye.entrant]
            line.entries.append(Entry(each.number, "requested" if bye.requested else "bye", bye.points))
            line.score += bye.points
            line.byes += not bye.requested
        busy = set(each.ids)
        for one in event.entrants:
            if one.joined <= each.number and one.id not in busy:
                lines[one.id].entries.append(Entry(each.number, "absent"))
    return Ledger(lines, met)


def _enter(lines: Mapping[int, Line], number: int, game: Game) -> None:
    """Enters a game of that round on the lines of both."""
    result = game.result or _OPEN
    kind: Kind = "open" if game.how is None else "game" if game.how == "played" else game.how
    for id_, opponent, white in ((game.white, game.black, True), (game.black, game.white, False)):
        points, against = (result.white, result.black) if white else (result.black, result.white)
        line = lines[id_]
        line.entries.append(
            Entry(
                round=number,
                kind=kind,
                points=points,
                against=against,
                opponent=opponent,
                white=white,
                handicap=game.handicap,
            )
        )
        line.score += points
        line.whites += white and kind == "game"
        line.blacks += not white and kind == "game"
