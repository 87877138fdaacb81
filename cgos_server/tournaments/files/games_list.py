"""Results of anybody's games as text: tables, the headers of games in PGN, and lists of who beat whom.

- a table: its first line names the columns, in any case and order. Two of them are the players: ``black`` and
  ``white``, ``first`` and ``second`` (who moved first), ``player1`` and ``player2`` (nobody knows who moved first), or
  ``winner`` and ``loser``. ``result`` (or ``score``) is ``1-0``, ``B+R``, ``0.5``, ``draw`` or the like; winners and
  losers need none. The first of ``pair``, ``opening``, ``fen`` and ``round`` that is there says which games belong
  together. Other columns are passed over;
- a table without such a line: two cells a line are winner and loser, three are two players and the result;
- PGN: the tags ``White``, ``Black`` and ``Result`` of each game, and ``FEN``, ``Round`` or ``Opening``; moves are
  passed over;
- lists: ``Alder beat Birch``, ``Alder drew with Birch``, ``Alder Birch`` (the winner first) or ``Alder Birch 1-0``,
  names with blanks in double quotes.

Black moves first in a table and White in PGN, where nothing else is said. In a table that names colors ``1-0`` is a win
of White, whichever column stands first, as everywhere. Lines that begin with ``#`` and a blank are comments, outside of
PGN. Must not know: ratings, tests, events, files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from cgos_protocol.errors import Code
from cgos_protocol.lines.misread import CONTROL, Misread
from cgos_server.tournaments.files import pgn
from cgos_server.tournaments.files.delimited import DELIMITERS, Row, first_line, rows_of
from cgos_server.tournaments.files.result_words import Said, Whose, said

FirstMover: TypeAlias = Literal["black", "white"]

LONGEST_NAME: Final = 200
"""Characters."""


class GameResult(Struct, frozen=True, kw_only=True):
    """One game.

    :ivar first: name of the one who moved first; where that is not known, of the winner or of the one named first
    :ivar second: the other's
    :ivar score: of `first`: 1, 0.5 or 0
    :ivar neutral: True where nobody is known to have moved first
    :ivar opening: what the games of a pair have in common (name of a pair, an opening or a round); empty: nothing said
    """

    first: str
    second: str
    score: float
    neutral: bool = False
    opening: str = ""


class GamesList(Struct, frozen=True, kw_only=True):
    """What a text held.

    :ivar games: with a result, in the order of the text
    :ivar unfinished: how many games without a result were left out
    :ivar unplayed: how many games were left out that were decided without play (``1-0F``, ``+/-``, ``0-0``)
    :ivar how: how it was read, a sentence
    """

    games: list[GameResult]
    unfinished: int
    unplayed: int
    how: str


_fault: Final = partial(Misread, Code.RESULTS)

_Names: TypeAlias = tuple[str, str]
_COLORS: Final[_Names] = ("white", "black")
_WON: Final[_Names] = ("winner", "loser")
_UNKNOWN: Final[_Names] = ("player1", "player2")
_SIDES: Final[tuple[_Names, ...]] = (_COLORS, ("first", "second"), _WON, _UNKNOWN)
"""Names of the two columns of players; of those that are there the first count."""
_RESULT: Final = ("result", "score", "winner")
_TOGETHER: Final = ("pair", "opening", "fen", "round")
_TOGETHER_IN_PGN: Final = ("fen", "round", "opening")
"""Programs tell the opening of a game by its moves, so that the games of a pair may have two."""

_COMMENT: Final = re.compile(r"^[^\S\n]*#(?=[\s#]|\Z).*$", re.MULTILINE)
_WORD: Final = re.compile(r'"([^"]*)"|[^\s"]+')
_VERB: Final = re.compile(r"\s(?:(beats?|defeated)|(drew(?:\s+with)?)|lost\s+to)\s", re.IGNORECASE)

_KINDS: Final = "Give a table whose first line names the columns, PGN, or lines such as Alder beat Birch"


def read_games(text: str, *, first: FirstMover | None = None) -> list[GameResult]:
    """The games of a text that have a result; arguments and errors as of :func:`read`."""
    return read(text, first=first).games


def read(text: str, *, first: FirstMover | None = None) -> GamesList:
    """The games of a text, whichever of the forms above it has.

    :param first: the color that moves first; None: White in PGN, else Black
    :raises Misread: with the line that cannot be understood, or where there is no game
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").replace("\r\n", "\n").replace("\r", "\n")
    if pgn.begins_with_header(text):
        done = _from_pgn(text, first or "white")
    else:
        text = _COMMENT.sub("", text)
        begin = first_line(text)
        delimited = any(mark in begin for mark in DELIMITERS) and not _VERB.search(begin)
        done = _from_rows(rows_of(text, _fault) if delimited else _lines(text), first or "black")
    if not (done.games or done.unfinished or done.unplayed):
        raise _fault(1, 1, "there is no game", _KINDS)
    return done


class _Collector:
    """Makes games of two names and the word of a result.

    :param sides: what the columns of the two are called; words are about the first of them
    :param first: the color that moves first, where `sides` are colors
    :param alone: whether a number alone is understood: not in a table in which Black stands before White
    """

    def __init__(self, sides: _Names, first: FirstMover, alone: bool = True) -> None:
        self._sides, self._alone = sides, alone
        self._neutral = sides not in (_COLORS, ("first", "second"))
        self._swapped = sides == _COLORS and first == "black"
        self._names: dict[str, str] = {}
        self._points: dict[str, float | Whose] = {}
        self._games: list[GameResult] = []
        self._left_out = {Whose.NOBODY: 0, Whose.UNPLAYED: 0}

    def add(self, one: str, other: str, word: str, opening: str = "") -> None:
        """:raises _NotUnderstood: where a name or the word is none"""
        names = self._names
        one, other = names.get(one) or self._name(one), names.get(other) or self._name(other)
        if one == other:
            raise _NotUnderstood(f"{one!r} cannot play itself", "Name two players")
        points = self._points[word] if word in self._points else self._points_of(word)
        if isinstance(points, Whose):
            self._left_out[points] += 1
            return
        if self._swapped:
            one, other, points = other, one, 1.0 - points
        self._games.append(
            GameResult(first=one, second=other, score=points, neutral=self._neutral, opening=opening.strip())
        )

    def games_list(self, how: str) -> GamesList:
        """What was added."""
        unfinished, unplayed = self._left_out.values()
        return GamesList(games=self._games, unfinished=unfinished, unplayed=unplayed, how=how)

    def _name(self, text: str) -> str:
        name = text.strip()
        if not name:
            raise _NotUnderstood("a player has no name", "Give both names")
        if CONTROL.search(name):
            raise _NotUnderstood("there is an end of line or the like inside a name", "Take it out")
        if len(name) > LONGEST_NAME:
            raise _NotUnderstood(f"a name has more than {LONGEST_NAME} characters", "Shorten it")
        self._names[text] = name
        return name

    def _points_of(self, word: str) -> float | Whose:
        """Return the points of the first of the two, or why the game does not count."""
        points = self._points[word] = _points(word, self._sides, self._alone)
        return points


class _NotUnderstood(Exception):
    """A problem whose line is not known yet.

    :ivar remedy: what to do about it
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy

    def at(self, line: int) -> Misread:
        """The error to raise."""
        return _fault(line, 1, str(self), self.remedy)


def _points(word: str, sides: _Names, alone: bool) -> float | Whose:
    heard = said(word)
    if sides == _WON:
        if not word.strip():
            return 1.0
        if heard == Said(0.0, Whose.ORDER) or heard == Said(0.0, Whose.ALONE):
            raise _NotUnderstood(f"{word.strip()!r} says that the winner lost", "Let winner and result say the same")
    elif not word.strip():
        raise _NotUnderstood("the result is missing", "Give such as 1-0, or * for a game that has none")
    if heard is None:
        raise _NotUnderstood(f"{word.strip()!r} is no result", "Give such as 1-0, B+R, 0.5, draw or *")
    if heard.whose in (Whose.NOBODY, Whose.UNPLAYED):
        return heard.whose
    if heard.whose is Whose.WHITE and sides != _COLORS:
        if sides == _WON:
            return 1.0
        raise _NotUnderstood(
            f"{word.strip()!r} names a color, but nobody knows who had it", "Name the columns black and white"
        )
    if heard.whose is Whose.ALONE and not alone:
        raise _NotUnderstood(
            f"{word.strip()!r} does not say whose points these are",
            "Give 1-0 where White won, B+ or W+, or name the columns first, second and score",
        )
    return heard.points


# --- tables and lists ---------------------------------------------------------------------------------------------


class _Columns(NamedTuple):
    """Where a table has what. Indices of cells; -1: nowhere.

    :ivar sides: what the columns of the players are called
    :ivar names_winner: True where the result is the winner's name or color
    """

    sides: _Names
    one: int
    other: int
    result: int
    names_winner: bool
    together: int


def _from_rows(rows: Iterable[Row], first: FirstMover) -> GamesList:
    every = iter(rows)
    begin = next(every, None)
    if begin is None:
        raise _fault(1, 1, "there is no game", _KINDS)
    columns = _columns(begin)
    if columns is None:
        return _without_names(chain((begin,), every))
    return _with_names(every, columns, first)


def _with_names(rows: Iterable[Row], columns: _Columns, first: FirstMover) -> GamesList:
    one, other, result = columns.one, columns.other, columns.result
    collector = _Collector(columns.sides, first, alone=columns.sides != _COLORS or one < other)
    last = max(one, other, result)
    for row in rows:
        cells = row.cells
        if len(cells) <= last:
            raise _fault(row.line, 1, f"{len(cells)} cells are fewer than the columns named", "Give them all")
        word = cells[result] if result >= 0 else ""
        if columns.names_winner and word.strip() in (cells[one].strip(), cells[other].strip()):
            word = "1-0" if word.strip() == cells[one].strip() else "0-1"
        opening = cells[columns.together] if 0 <= columns.together < len(cells) else ""
        try:
            collector.add(cells[one], cells[other], word, opening=opening)
        except _NotUnderstood as problem:
            raise problem.at(row.line) from None
    return collector.games_list(_how(columns.sides, first))


def _columns(header: Row) -> _Columns | None:
    """The columns that a line names; None where it names no players.

    :raises Misread: where it names one twice, or none for the result
    """
    names = [re.sub(r"[\s_]", "", cell).lower() for cell in header.cells]
    sides = next((pair for pair in _SIDES if set(pair) <= set(names)), None)
    if sides is None:
        return None
    result = next((name for name in _RESULT if name in names and name not in sides), "")
    if not result and sides != _WON:
        raise _fault(header.line, 1, "no column says the result", "Name one result")
    together = next((name for name in _TOGETHER if name in names), "")
    for name in (*sides, result, together):
        if name and names.count(name) > 1:
            raise _fault(header.line, 1, f"there are two columns {name!r}", "Take one of them out")
    return _Columns(
        sides=sides,
        one=names.index(sides[0]),
        other=names.index(sides[1]),
        result=names.index(result) if result else -1,
        names_winner=result == "winner",
        together=names.index(together) if together else -1,
    )


def _without_names(rows: Iterable[Row]) -> GamesList:
    """Lines of two names, the winner first, or of two names and a result."""
    collector = _Collector(_UNKNOWN, "black")
    for row in rows:
        if len(row.cells) not in (2, 3):
            problem = "there is one word only" if len(row.cells) == 1 else f"there are {len(row.cells)} words or cells"
            remedy = (
                "Give winner and loser, or two players and the result, names with blanks in quotes; or name columns"
            )
            raise _fault(row.line, 1, problem, remedy)
        try:
            collector.add(row.cells[0], row.cells[1], row.cells[2] if len(row.cells) == 3 else "1-0")
        except _NotUnderstood as problem:
            raise problem.at(row.line) from None
    return collector.games_list(
        "The winner, or the one of whom the result is, stands first; nobody knows who moved first."
    )


def _lines(text: str) -> Iterator[Row]:
    """Lists: sentences, and words with blanks between."""
    for number, line in enumerate(text.split("\n"), 1):
        verb = _VERB.search(line)
        if verb:
            word = "1-0" if verb[1] else "1/2-1/2" if verb[2] else "0-1"
            yield Row(number, (_bare(line[: verb.start()]), _bare(line[verb.end() :]), word))
            continue
        if line.count('"') % 2:
            raise _fault(number, 1, "a quote is not closed", "Close it")
        words = tuple(each[1] if each[0].startswith('"') else each[0] for each in _WORD.finditer(line))
        if words:
            yield Row(number, words)


def _bare(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 1 and name[0] == name[-1] == '"' else name


def _how(sides: _Names, first: FirstMover) -> str:
    if sides == _COLORS:
        return f"{first.capitalize()} moved first; 1-0 is a win of White."
    if sides == _WON:
        return "Winner and loser; nobody knows who moved first."
    if sides == _UNKNOWN:
        return "Two players; nobody knows who moved first."
    return "The first of the two moved first."


# --- PGN ----------------------------------------------------------------------------------------------------------


def _from_pgn(text: str, first: FirstMover) -> GamesList:
    collector = _Collector(_COLORS, first)
    for line, tags in pgn.headers(text):
        together = next((tags[name] for name in _TOGETHER_IN_PGN if tags.get(name, "?") not in ("?", "-", "")), "")
        try:
            collector.add(tags.get("white", ""), tags.get("black", ""), tags.get("result", ""), opening=together)
        except _NotUnderstood as problem:
            raise problem.at(line) from None
    return collector.games_list(_how(_COLORS, first))
