"""Events as plain tables, the text that spreadsheets read and write.

One line a player, in the order of registration. The first line names the columns, in any case and order:

=============  =====================================================================================================
``name``       the only one that must be there
``id``         number of the player, what cells refer to; without the column the first player is 1, the next 2...
``rating``     empty: unknown
``grade``      such as ``4d``
``country``
``club``
``start``      points that a McMahon entrant starts with
``status``     ``withdrawn``, or empty
``forbidden``  ids of players that must not be met, with blanks between
``points``     written from the results; compared with them by :func:`check_scores`
``place``      written, not read
``r1 r2...``   rounds
=============  =====================================================================================================

Other columns are kept. The text of a cell of a round, several games with commas between:

- ``12+w``, ``12=b``, ``12-b2``: a win with White against player 12, a draw with Black, a loss with two stones;
- ``12+w!``, ``12-b!``: by forfeit, never started; ``12xw``: void; ``12nw``: no contest; ``12?w``: no result yet. The
  color may be left out for forfeits and games that count for nothing; then the smaller id has White;
- ``bye+`` or ``bye``: given because the field was odd, a point; ``bye=``: half a point; ``bye-``: none; ``bye++``: two
  points, where a round is two games;
- ``off-`` or ``off``, ``off=``, ``off+``: the same for a bye that was asked for. In a column after the last one with
  games or byes given, it asks for the round that is to come;
- ``--``: absent; empty: has not entered yet, or, behind other rounds, absent.

A table has no place for system, options, seed, number of rounds, tie-breakers, name of the event, explanations and
points other than 1, one half and 0. Fields are parted by comma, semicolon or tab, whichever the first line has most of.
Must not know: systems, files.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from cgos_protocol.errors import Code
from cgos_protocol.lines.misread import CONTROL, Misread, text_of
from cgos_server.tournaments.base import WIN, Bye, Entrant, Event, Game, Pair, Round, pair_of
from cgos_server.tournaments.checking import MOST_RATING, MOST_START
from cgos_server.tournaments.files.delimited import Row, delimiter_of, first_line, names_column, rows_of
from cgos_server.tournaments.files.halves import POINTS, Half, game_of, requests_in
from cgos_server.tournaments.ledger import ledger

FIELDS: Final = ("id", "name", "rating", "grade", "country", "club", "start", "status", "forbidden", "points", "place")
ID_MAX: Final = 10**9 - 1
ROUND_MAX: Final = 999
MOST_PLAYERS: Final = 50_000

_MOST: Final[Mapping[str, float]] = MappingProxyType(
    {"rating": MOST_RATING, "start": MOST_START / 2, "points": math.inf}
)
_ROUND: Final = re.compile(r"r([1-9][0-9]{0,2})", re.ASCII)
_GAME: Final = re.compile(r"([1-9][0-9]{0,8})([-+=?xn])([wb]?)([0-9]{0,2})(!?)", re.ASCII)
_BYE: Final = re.compile(r"(bye|off)(\+\+|[-+=]?)")
_MORE_THAN_A_WIN: Final = frozenset({"++", "+=", "=+"})
"""Signs of two halves that no game of a table has."""

_fault: Final = partial(Misread, Code.CSV)
_SAME: Final = "Let both lines say the same"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A file as it was found.

    :ivar names: of its columns, as written
    :ivar columns: index by lower-case name
    :ivar rounds: number of the round by index of its column
    :ivar marked: begins with a byte order mark
    """

    delimiter: str
    end: str
    marked: bool
    names: tuple[str, ...]
    columns: Mapping[str, int]
    rounds: Mapping[int, int]
    rows: tuple[Row, ...]

    def cell(self, row: Row, name: str) -> str:
        at = self.columns.get(name, len(row.cells))
        return row.cells[at].strip() if at < len(row.cells) else ""

    def fault(self, row: Row, name: str, problem: str, remedy: str) -> Misread:
        """The error about a cell; its column is counted in cells."""
        return _fault(row.line, self.columns.get(name, 0) + 1, f"({name}) {problem}", remedy)


_Entered = Mapping[int, tuple[Row, Entrant]]
"""Players by id, each with its line."""


def read(data: bytes) -> Table:
    """The table of a file's bytes.

    :raises Misread: where it is no table, has no `name`, or has a column twice
    """
    text, _ = text_of(Code.CSV, data)
    marked = text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}")
    text = text[marked:]
    rows = list(rows_of(text, _fault))
    if len(rows) > MOST_PLAYERS + 1:
        excess = rows[MOST_PLAYERS + 1].line
        raise _fault(excess, 1, f"there are more than {MOST_PLAYERS} players", "Leave those beyond out")
    if not rows:
        raise _fault(1, 1, "the file is empty", "Give a line with the names of columns, then one for a player")
    names = rows[0].cells
    columns: dict[str, int] = {}
    for at, name in enumerate(names):
        key = name.strip().lower()
        if key in columns and (key in FIELDS or _ROUND.fullmatch(key)):
            raise _fault(rows[0].line, at + 1, f"there is a second column {key!r}", "Take one of them out")
        columns.setdefault(key, at)
    if "name" not in columns:
        raise _fault(rows[0].line, 1, "no column is called name", "Name the columns in the first line")
    rounds = {at: int(number[1]) for key, at in columns.items() if (number := _ROUND.fullmatch(key))}
    end = "\r\n" if "\r\n" in text else "\n"
    return Table(
        delimiter=delimiter_of(text),
        end=end,
        marked=marked,
        names=names,
        columns=columns,
        rounds=rounds,
        rows=tuple(rows[1:]),
    )


def looks_alike(text: str) -> bool:
    """Whether this is the beginning of a table: its first line names a column ``name``."""
    return names_column(first_line(text), "name")


def to_event(table: Table, system: str) -> Event:
    """The event of a table.

    :raises Misread: where a cell cannot be understood, or two contradict each other
    """
    entrants: dict[int, tuple[Row, Entrant]] = {}
    named: dict[str, Row] = {}
    for number, row in enumerate(table.rows, 1):
        one = _entrant(table, row, number)
        if one.id in entrants:
            problem = f"player {one.id} is in line {entrants[one.id][0].line} too"
            raise table.fault(row, "id", problem, "Give every player a number of its own")
        namesake = named.setdefault(one.name.casefold(), row)
        if namesake is not row and "id" not in table.columns:
            problem = f"{one.name} is in line {namesake.line} too"
            raise table.fault(row, "name", problem, "Give another name, or a column id if they are two players")
        entrants[one.id] = (row, one)
    texts = {id_: _texts(table, row) for id_, (row, _) in entrants.items()}
    begun = _begun(texts)
    byes: dict[int, list[Bye]] = defaultdict(list)
    halves: dict[int, dict[int, list[Half]]] = defaultdict(dict)
    for id_, (row, one) in entrants.items():
        entrants[id_] = (row, replace(one, joined=min(next(iter(texts[id_]), begun + 1), begun + 1)))
        for number, text in texts[id_].items():
            bye = _bye(id_, text)
            if bye:
                byes[number].append(bye)
            else:
                halves[number][id_] = list(_halves(table, row, number=number, text=text, entrants=entrants))
    rounds = [
        Round(number=number, games=tuple(_games(table, number, halves[number], entrants)), byes=tuple(byes[number]))
        for number in range(1, begun + 1)
    ]
    to_come = [Round(number=number, games=(), byes=tuple(byes[number])) for number in sorted(byes) if number > begun]
    given = [bye.points for each in rounds for bye in each.byes if not bye.requested]
    return Event(
        system=system,
        entrants=tuple(one for _, one in entrants.values()),
        rounds=tuple(rounds),
        withdrawn=tuple(id_ for id_, (row, _) in entrants.items() if _is_withdrawn(table, row)),
        requests=requests_in(rounds + to_come),
        forbidden=_forbidden(table, entrants),
        bye_points=min(given[-1], WIN) if given else WIN,
    )


def _entrant(table: Table, row: Row, number: int) -> Entrant:
    if len(row.cells) > len(table.names) and any(cell.strip() for cell in row.cells[len(table.names) :]):
        raise _fault(row.line, len(table.names) + 1, "the line has more cells than there are columns", "Name them all")
    name = table.cell(row, "name")
    if not name:
        raise table.fault(row, "name", "the player has no name", "Give one")
    for field in ("name", "grade", "country", "club"):
        if CONTROL.search(table.cell(row, field)):
            raise table.fault(row, field, "there is an end of line or the like inside the cell", "Take it out")
    word = table.cell(row, "id")
    id_ = number
    if "id" in table.columns:
        if not (word.isascii() and word.isdigit() and len(word) <= 9 and 1 <= int(word) <= ID_MAX):
            raise table.fault(row, "id", f"{word!r} is no number of a player", "Give a whole number, 1 or more")
        id_ = int(word)
    rating, start = (_number(table, row, field) for field in ("rating", "start"))
    if start is not None and 2 * start != round(2 * start):
        raise table.fault(row, "start", f"{start:g} is not in whole or half points", "Give such as 1.5")
    return Entrant(
        id=id_,
        name=name,
        rating=rating,
        start=None if start is None else round(2 * start),
        grade=table.cell(row, "grade"),
        country=table.cell(row, "country"),
        club=table.cell(row, "club"),
    )


def _number(table: Table, row: Row, field: str) -> float | None:
    """A number of a cell, a comma for the decimal point too; None: empty."""
    word = table.cell(row, field)
    if not word:
        return None
    try:
        value = float(word.replace(",", "."))
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise table.fault(row, field, f"{word!r} is no number", "Give a number, or leave the cell empty")
    if abs(value) > _MOST[field]:
        raise table.fault(row, field, f"{word!r} is too large", f"Give {_MOST[field]:g} at most")
    return value


def _is_withdrawn(table: Table, row: Row) -> bool:
    word = table.cell(row, "status").lower()
    if word not in ("", "withdrawn"):
        raise table.fault(row, "status", f"{word!r} is no status", "Give withdrawn, or leave the cell empty")
    return bool(word)


def _forbidden(table: Table, entrants: _Entered) -> tuple[Pair, ...]:
    pairs: dict[Pair, None] = {}
    for id_, (row, _) in entrants.items():
        for word in table.cell(row, "forbidden").split():
            other = int(word) if word.isascii() and word.isdigit() and len(word) <= 9 else 0
            if other not in entrants or other == id_:
                raise table.fault(row, "forbidden", f"{word!r} is no other player's id", "Give ids, blanks between")
            pairs[pair_of(id_, other)] = None
    return tuple(pairs)


def _texts(table: Table, row: Row) -> dict[int, str]:
    """What a player's cells say, by rounds in order; without empty ones."""
    texts = ((table.rounds[at], cell.strip().lower()) for at, cell in enumerate(row.cells) if at in table.rounds)
    return dict(sorted((number, text) for number, text in texts if text))


def _begun(texts: Mapping[int, Mapping[int, str]]) -> int:
    """The last round with a game or a bye given."""
    cells = (cell for theirs in texts.values() for cell in theirs.items())
    return max((number for number, text in cells if text != "--" and not text.startswith("off")), default=0)


def _bye(id_: int, text: str) -> Bye | None:
    bye = _BYE.fullmatch(text)
    if not bye:
        return None
    requested = bye[1] == "off"
    if bye[2] == "++":
        return Bye(id_, 2 * WIN, requested)
    return Bye(id_, POINTS[bye[2] or ("-" if requested else "+")], requested)


def _halves(table: Table, row: Row, number: int, text: str, entrants: _Entered) -> Iterator[Half]:
    """The games of a player's cell."""
    for part in () if text == "--" else text.split(","):
        game = _GAME.fullmatch(part.strip())
        opponent, sign, color, stones, forfeit = game.groups() if game else ("", "", "", "", "")
        counts = sign not in ("x", "n")
        if not game or (counts and not color and not forfeit) or (forfeit and sign in "?xn"):
            problem = f"{part.strip()!r} is not understood"
            raise table.fault(row, f"r{number}", problem, "Give such as 12+w, 3=b, 7-b!, bye or off")
        if int(opponent) not in entrants:
            raise table.fault(row, f"r{number}", f"there is no player {opponent}", "Give the id of a player")
        yield Half(
            opponent=int(opponent),
            sign=sign,
            color=color,
            stones=int(stones) if stones else None,
            forfeit=bool(forfeit),
        )


def _games(table: Table, number: int, halves: Mapping[int, list[Half]], entrants: _Entered) -> Iterator[Game]:
    """The games of a round, by what each player's cell has of it."""
    for id_, every in halves.items():
        row = entrants[id_][0]
        for opponent in dict.fromkeys(half.opponent for half in every):
            mine = [half for half in every if half.opponent == opponent]
            theirs = [half for half in halves.get(opponent, ()) if half.opponent == id_]
            other = entrants[opponent][0]
            if opponent == id_ or len(mine) != len(theirs):
                problem = f"player {id_} meets {opponent}, but not the other way round (line {other.line})"
                raise table.fault(row, f"r{number}", problem, _SAME)
            for half in mine if id_ < opponent else ():
                facing = next((one for one in theirs if one.color != half.color or not half.color), None)
                possible = facing is not None and half.sign + facing.sign not in _MORE_THAN_A_WIN
                game = game_of(id_, half, facing) if facing is not None and possible else None
                if facing is None or game is None:
                    problem = f"the game against {opponent} is another in line {other.line}"
                    raise table.fault(row, f"r{number}", problem, _SAME)
                theirs.remove(facing)
                yield game


def check_scores(table: Table, event: Event) -> Iterator[str]:
    """Sentences where the column of points does not follow from the results."""
    scores = ledger(event).lines
    for row, one in zip(table.rows, event.entrants, strict=True):
        says = _number(table, row, "points")
        if says is not None and 2 * says != scores[one.id].score:
            column = table.columns["points"] + 1
            yield (
                f"Line {row.line}, column {column}: {one.name} has {says:g} points, "
                f"but the results give {scores[one.id].score / 2:g}."
            )
