"""FIDE's tournament report files (TRF16) as documents: every line as it was found, and what the player lines say.

TRF16: FIDE Handbook C.04.A, annex 2 (2015), by Christian Krause. TRF(x): the ``XX`` lines of Roberto Ricca's JaVaFo.
TRF-2026: FIDE (2025), with comments ``###`` and three-digit codes for most of what the ``XX`` lines say. bbpPairings
adds ``BB`` lines to TRF(x). What a document says about the whole tournament is read in
:mod:`cgos_server.tournaments.files.trf_records`. Columns are characters, counted from 1.

Real programs write less than the standard asks: short lines, ratings of ``0000`` or none, one ``0`` for no opponent,
names that are too long or padded by bytes, so that all that follows is some columns off. All of this is read; a line
that cannot be understood is refused with its place. Must not know: events, systems, files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from cgos_protocol.errors import Code
from cgos_protocol.lines.misread import Misread, text_of

RESULTS: Final = "10=+-WDLHFUZ* "
"""Codes of a cell's result; letters of either case. 1 = 0: a game; W D L: one of less than a move; + -: by forfeit; H F
Z: byes of half, full and no points, asked for; U: given by the pairing; *: a game that is still played; blank: none, or
absent."""

POINTS_MAX: Final = 999
ID_MAX: Final = 9999
ROUND_MAX: Final = 999
PROGRAM_ROUNDS: Final = 99
"""Rounds that other programs know as a rule: for what holds to the end of an event whose length nobody planned."""
CELL: Final = 10
"""Columns of a round."""

FIRST_CELL: Final = 91
"""Column 92, from 0."""

_LINE: Final = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_POINTS: Final = re.compile(r"([0-9]{0,2})(?:[.,]([0-9])0*)?", re.ASCII)
_SHIFTED: Final = re.compile(r"(?: [0-9]{2}| {2}[0-9])\.[0-9] [ 0-9]{3}[0-9](?:  |$)", re.ASCII)
_SHIFT_MAX: Final = 60


class Line(NamedTuple):
    """One line; `end` is what ended it: CR, LF, both, or nothing at the end of the file."""

    text: str
    end: str


class Cell(NamedTuple):
    """What a player line says of one round.

    :ivar opponent: starting rank; 0: none
    :ivar color: ``w``, ``b``, or ``-`` for none
    :ivar result: one of :data:`RESULTS`, upper case
    :ivar column: where it begins
    """

    opponent: int
    color: str
    result: str
    column: int

    @property
    def is_blank(self) -> bool:
        return self.opponent == 0 and self.color == "-" and self.result == " "


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """A 001 line.

    :ivar line: its index in the document
    :ivar id: starting rank, 1 to 9999
    :ivar rating: None: none, or 0
    :ivar points: tenths; None: none given
    :ivar rank: None: none given
    :ivar shift: how many columns to the right of the standard's all that follows the name is
    """

    line: int
    id: int
    name: str
    rating: int | None
    federation: str
    points: int | None
    rank: int | None
    cells: tuple[Cell, ...]
    shift: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file as it was found.

    :ivar encoding: one of :data:`cgos_protocol.lines.misread.ENCODINGS`
    :ivar marked: begins with a byte order mark, which is no part of `lines`
    :ivar players: in the order of their lines
    """

    lines: tuple[Line, ...]
    encoding: str
    marked: bool
    players: tuple[Player, ...]

    @property
    def end(self) -> str:
        """What ends its lines."""
        return next((line.end for line in self.lines if line.end), "\r\n")


def read(data: bytes) -> Document:
    """The document of a file's bytes.

    :raises Misread: where a player line cannot be understood
    """
    text, encoding = text_of(Code.TRF, data)
    marked = text.startswith("\N{ZERO WIDTH NO-BREAK SPACE}")
    lines = _LINE.findall(text, int(marked))
    return document([Line(*line) for line in lines if line != ("", "")], encoding, marked=marked)


def document(lines: Iterable[Line], encoding: str = "utf-8", *, marked: bool = False) -> Document:
    """The document of these lines. Raises Misread where a player line cannot be understood."""
    lines = tuple(lines)
    players: list[Player] = []
    seen: dict[int, int] = {}
    for at, line in enumerate(lines):
        if line.text.startswith("001"):
            player = _player(at, line.text)
            if player.id in seen:
                problem = f"starting rank {player.id} is that of line {seen[player.id] + 1} too"
                raise fault(at, 5, problem, "Give every player a number of its own")
            seen[player.id] = at
            players.append(player)
    return Document(lines=lines, encoding=encoding, marked=marked, players=tuple(players))


def write(document: Document) -> bytes:
    """The file's bytes: those that were read where nothing was changed.

    A file that was not UTF-8 becomes UTF-8 if it has got characters that its encoding has not.
    """
    text = "".join(line.text + line.end for line in document.lines)
    if document.encoding != "utf-8":
        try:
            return text.encode(document.encoding)
        except UnicodeEncodeError:
            pass
    mark = "\N{ZERO WIDTH NO-BREAK SPACE}" if document.marked else ""
    return (mark + text).encode("utf-8", "replace")


def fault(at: int, column: int, problem: str, remedy: str) -> Misread:
    """The error about the line of index `at` and a column counted from 1."""
    return Misread(code=Code.TRF, line=at + 1, column=column, problem=problem, remedy=remedy)


def tenths(text: str) -> int | None:
    """Points such as ``11.5`` in tenths; None where it is no number of points."""
    parts = _POINTS.fullmatch(text.strip())
    return int(parts[1] or 0) * 10 + int(parts[2] or 0) if parts and parts[0] else None


def _player(at: int, text: str) -> Player:
    id_ = _number(at, text, start=4, stop=8, what="starting rank")
    if id_ is None or id_ == 0:
        raise fault(at, 5, "the player has no starting rank", "Give a number from 1 to 9999 in columns 5 to 8")
    shift = _shift(text)
    points = text[80 + shift : 84 + shift]
    scored = tenths(points)
    if scored is None and points.strip():
        raise fault(at, 81 + shift, f"{points.strip()!r} is not a number of points", "Give points such as 4.5")
    return Player(
        line=at,
        id=id_,
        name=text[14 : 47 + shift].strip(),
        rating=_number(at, text, start=48 + shift, stop=52 + shift, what="rating") or None,
        federation=text[53 + shift : 56 + shift].strip(),
        points=scored,
        rank=_number(at, text, start=85 + shift, stop=89 + shift, what="rank"),
        cells=_cells(at, text, FIRST_CELL + shift),
        shift=shift,
    )


def _shift(text: str) -> int:
    """How far points, rank and rounds are from their columns, where they are not in them but elsewhere beyond doubt."""
    if _fits(text, 0):
        return 0
    for by in range(1, _SHIFT_MAX + 1):
        for shift in (by, -by):
            if _SHIFTED.match(text, 79 + shift) and _fits(text, shift):
                return shift
    return 0


def _fits(text: str, shift: int) -> bool:
    points = text[80 + shift : 84 + shift]
    try:
        _number(0, text, start=48 + shift, stop=52 + shift, what="rating")
        _number(0, text, start=85 + shift, stop=89 + shift, what="rank")
        _cells(0, text, FIRST_CELL + shift)
    except Misread:
        return False
    return not points.strip() or tenths(points) is not None


def _cells(at: int, text: str, start: int) -> tuple[Cell, ...]:
    if text[start - 2 : start].strip():
        raise fault(at, start - 1, f"{text[start - 2 : start].strip()!r} stands before round 1", "Leave blanks there")
    cells = []
    stop = len(text.rstrip())
    if stop > start + CELL * ROUND_MAX:
        raise fault(
            at, start + CELL * ROUND_MAX + 1, f"there are more than {ROUND_MAX} rounds", "Leave those beyond out"
        )
    for begin in range(start, stop, CELL):
        part = text[begin : begin + CELL].ljust(CELL)
        for offset in (4, 6, 8, 9):
            if part[offset] != " ":
                raise fault(at, begin + offset + 1, f"{part[offset]!r} stands between two columns", "Put a blank there")
        opponent = _number(at, part, start=0, stop=4, what="opponent", offset=begin) or 0
        color, result = part[5].lower(), part[7].upper()
        if color not in "wb- ":
            raise fault(at, begin + 6, f"{part[5]!r} is no color", "Give w, b or -")
        if result not in RESULTS:
            raise fault(at, begin + 8, f"{part[7]!r} is no result", "Give one of 1 0 = + - W D L H F U Z *")
        cells.append(Cell(opponent, "-" if color == " " else color, result, begin + 1))
    while cells and cells[-1].is_blank:
        cells.pop()
    return tuple(cells)


def _number(at: int, text: str, start: int, stop: int, what: str, offset: int = 0) -> int | None:
    """The number in these columns (from 0), None where they are blank."""
    part = text[start:stop].strip(" ")
    if not part:
        return None
    if not (part.isascii() and part.isdigit()):
        column = offset + start + 1
        raise fault(at, column, f"{part!r} is no {what}", f"Give a number in columns {column} to {column + 3}")
    return int(part)
