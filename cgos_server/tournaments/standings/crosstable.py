"""Crosstables: who met whom, by rounds and pair by pair, as values and as the text that people know.

The text of a cell of a round is the opponent's number in the table, a sign and a color:

- ``12+w`` a win with White against number 12, ``12=b`` a draw with Black, ``12-b2`` a loss with Black and two stones;
- ``12+!`` and ``12-!`` a forfeit without a game, ``12x`` a void game, ``12n`` one without contest, ``12?w`` no result
  yet;
- ``bye+`` a bye given because the field was odd, ``off=`` one asked for: a win's points, a draw's, or ``-`` none;
- ``--`` absent; empty: had not entered yet. Several games of one round have commas between.

The text of a pair is one letter a game: ``1``, ``=``, ``0``; by forfeit ``+``, ``=``, ``-``; ``?`` no result yet, ``x``
void. Signs go by a side's own points. Must not know: how a table is shown, tie-breakers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from cgos_server.tournaments.base import DRAW, WIN, Event, Standings
from cgos_server.tournaments.ledger import Entry, Kind, Line, ledger

_PLAYED: Final = ("game", "forfeit")


class Cell(Struct, frozen=True, kw_only=True):
    """What an entrant did in a round.

    :ivar opponent: its number in the table; None without one
    :ivar points: half points, own
    :ivar against: half points of the opponent
    :ivar white: had White; None where nobody had a color
    :ivar handicap: stones that Black received
    """

    kind: Kind
    opponent: int | None
    points: int
    against: int
    white: bool | None
    handicap: int
    text: str


class CrossRow(Struct, frozen=True, kw_only=True):
    """One entrant's line.

    :ivar number: 1, 2... down the table; what cells refer to
    :ivar place: the same for those whom nothing separates
    :ivar values: in points, one for each of :attr:`Crosstable.order`
    :ivar rounds: cells of each round; none in a round before it entered
    """

    number: int
    place: int
    entrant: int
    name: str
    values: tuple[float | None, ...]
    rounds: tuple[tuple[Cell, ...], ...]


class Pair(Struct, frozen=True, kw_only=True):
    """What number `row` made against number `column`, over all their games.

    :ivar points: half points, own
    :ivar games: how many count: played or forfeited
    """

    row: int
    column: int
    points: int
    games: int
    text: str


class Crosstable(Struct, frozen=True, kw_only=True):
    """:ivar name: of the event
    :ivar order: words of the values
    :ivar rounds: how many
    :ivar rows: best first
    :ivar pairs: of those who have been paired, both ways round, by row and column
    """

    name: str
    order: tuple[str, ...]
    rounds: int
    rows: tuple[CrossRow, ...]
    pairs: tuple[Pair, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Heads of the table by rounds."""
        return self._heads(range(1, self.rounds + 1))

    @property
    def text(self) -> tuple[tuple[object, ...], ...]:
        """Lines of the table by rounds."""
        return tuple(
            self._line(row, (",".join(cell.text for cell in cells) for cells in row.rounds)) for row in self.rows
        )

    @property
    def everybody_met(self) -> bool:
        """Whether every two have been paired, so that the table pair by pair has no holes."""
        return len(self.rows) > 1 and len(self.pairs) == len(self.rows) * (len(self.rows) - 1)

    @property
    def matrix_columns(self) -> tuple[str, ...]:
        """Heads of the table pair by pair."""
        return self._heads(row.number for row in self.rows)

    @property
    def matrix_text(self) -> tuple[tuple[object, ...], ...]:
        """Lines of the table pair by pair: ``.`` where two have not been paired, ``*`` for oneself."""
        texts = {(pair.row, pair.column): pair.text for pair in self.pairs}
        texts |= {(row.number, row.number): "*" for row in self.rows}
        return tuple(
            self._line(row, (texts.get((row.number, other.number), ".") for other in self.rows)) for row in self.rows
        )

    @property
    def _shares_places(self) -> bool:
        return any(row.place != row.number for row in self.rows)

    def _heads(self, numbers: Iterable[int]) -> tuple[str, ...]:
        place = ["place"] if self._shares_places else []
        return ("no", *place, "name", *map(str, numbers), *self.order)

    def _line(self, row: CrossRow, cells: Iterable[str]) -> tuple[object, ...]:
        place = [row.place] if self._shares_places else []
        values = (None if value is None else round(value, 2) for value in row.values)
        return (row.number, *place, row.name, *cells, *values)


def crosstable(event: Event, standings: Standings) -> Crosstable:
    """The crosstable of an event in the order of its standings, open games included."""
    lines = ledger(event).lines
    numbers = {row.entrant: number for number, row in enumerate(standings.rows, 1)}
    rows = tuple(
        CrossRow(
            number=numbers[row.entrant],
            place=row.place,
            entrant=row.entrant,
            name=row.name,
            values=row.values,
            rounds=_by_rounds(lines[row.entrant], len(event.rounds), numbers),
        )
        for row in standings.rows
    )
    pairs = tuple(pair for id_, number in numbers.items() for pair in _pairs(number, lines[id_], numbers))
    return Crosstable(name=event.name, order=standings.order, rounds=len(event.rounds), rows=rows, pairs=pairs)


def _by_rounds(line: Line, count: int, numbers: dict[int, int]) -> tuple[tuple[Cell, ...], ...]:
    cells: list[list[Cell]] = [[] for _ in range(count)]
    for entry in line.entries:
        cells[entry.round - 1].append(_cell(entry, numbers))
    return tuple(map(tuple, cells))


def _cell(entry: Entry, numbers: dict[int, int]) -> Cell:
    opponent = None if entry.opponent is None else numbers[entry.opponent]
    return Cell(
        kind=entry.kind,
        opponent=opponent,
        points=entry.points,
        against=entry.against,
        white=entry.white if entry.kind in ("game", "open") else None,
        handicap=entry.handicap,
        text=_cell_text(entry, opponent),
    )


def _cell_text(entry: Entry, opponent: int | None) -> str:
    match entry.kind:
        case "absent":
            return "--"
        case "bye":
            return f"bye{_sign(entry.points)}"
        case "requested":
            return f"off{_sign(entry.points)}"
        case "void":
            return f"{opponent}x"
        case "no-contest":
            return f"{opponent}n"
        case "forfeit":
            return f"{opponent}{_sign(entry.points)}!"
    sign = "?" if entry.kind == "open" else _sign(entry.points)
    return f"{opponent}{sign}{'w' if entry.white else 'b'}{entry.handicap or ''}"


def _sign(points: int) -> str:
    return "+" if points >= WIN else "=" if points >= DRAW else "-"


def _pairs(number: int, line: Line, numbers: dict[int, int]) -> list[Pair]:
    by_opponent: defaultdict[int, list[Entry]] = defaultdict(list)
    for entry in line.entries:
        if entry.opponent is not None:
            by_opponent[numbers[entry.opponent]].append(entry)
    return [
        Pair(
            row=number,
            column=opponent,
            points=sum(entry.points for entry in entries),
            games=sum(entry.kind in _PLAYED for entry in entries),
            text="".join(map(_letter, entries)),
        )
        for opponent, entries in sorted(by_opponent.items())
    ]


def _letter(entry: Entry) -> str:
    match entry.kind:
        case "open":
            return "?"
        case "void":
            return "x"
        case "no-contest":
            return "n"
        case "forfeit":
            return _sign(entry.points)
    return "1" if entry.points >= WIN else "=" if entry.points >= DRAW else "0"
