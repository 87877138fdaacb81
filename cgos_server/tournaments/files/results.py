"""Lists of results that arrive together: plain lines, a table, or the headers of games in PGN.

- lines: ``WHITE BLACK SCORE`` or ``ID SCORE``, blanks between, names with blanks in double quotes; those that begin
  with ``#`` are comments;
- a table: its first line names the columns, ``game`` (an id) or ``white`` and ``black``, and ``result``; ``round`` may
  be there too;
- PGN: the tags ``White``, ``Black``, ``Result`` and ``Round`` of each game, ``GameId`` in place of the first two; moves
  are passed over, and so are games that still go on (``*``).

Must not know: events, whether there are such games, files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

from cgos_protocol.errors import Code
from cgos_protocol.lines.misread import Misread, text_of
from cgos_server.tournaments.files import pgn
from cgos_server.tournaments.files.delimited import first_line, names_column, rows_of

MOST: Final = 100_000
"""Results in one list."""

COLUMNS: Final = ("game", "white", "black", "result", "round")

_WORD: Final = re.compile(r'"([^"]*)"|[^\s"]+')
_UNFINISHED: Final = "*"
_FORFEITS: Final = MappingProxyType({"1-0F": "+/-", "0-1F": "-/+", "0F-0F": "-/-"})
"""How programs for chess write a forfeit in PGN -> our word."""

_fault: Final = partial(Misread, Code.RESULTS)


class Reported(NamedTuple):
    """One result. The game is named by `id`, or by `white` and `black` as written, and `round` where that is said.

    :ivar line: where it stands, 1 = the first; of a game in PGN, its first tag
    """

    line: int
    score: str
    id: int | None = None
    white: str = ""
    black: str = ""
    round: int | None = None


def read(data: bytes) -> list[Reported]:
    """The results of a list's bytes.

    :raises Misread: with the line that cannot be understood, or where there is none
    """
    text, _ = text_of(Code.RESULTS, data)
    lines = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").splitlines()
    text = "\n".join(lines)
    first = first_line(text)
    if pgn.begins_with_header(text):
        results = list(_pgn(text))
    elif names_column(first, "result"):
        results = list(_table(text))
    else:
        results = list(_lines(lines))
    if not results:
        raise _fault(1, 1, "there is no result", "Give lines such as Alder Birch 1-0, a table, or PGN")
    if len(results) > MOST:
        raise _fault(results[MOST].line, 1, f"there are more than {MOST} results", "Give fewer at a time")
    return results


def _lines(lines: Sequence[str]) -> Iterator[Reported]:
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        if line.count('"') % 2:
            raise _fault(number, 1, "a quote is not closed", "Close it")
        words = [word[1] if word[0].startswith('"') else word[0] for word in _WORD.finditer(line)]
        if len(words) == 3:
            yield Reported(number, words[2], black=words[1], white=words[0])
        elif len(words) == 2:
            yield Reported(number, words[1], id=_whole(number, words[0], "id of a game"))
        elif words:
            problem = "there is one word only" if len(words) == 1 else f"there are {len(words)} words"
            raise _fault(number, 1, problem, "Give WHITE BLACK SCORE or ID SCORE, names with blanks in quotes")


def _table(text: str) -> Iterator[Reported]:
    names: list[str] = []
    for row in rows_of(text, _fault):
        cells = [cell.strip() for cell in row.cells]
        if names:
            yield _reported(row.line, dict(zip(names, cells, strict=False)))
            continue
        names = [cell.lower() for cell in cells]
        if "game" not in names and not {"white", "black"} <= set(names):
            raise _fault(row.line, 1, "no columns name the game", "Name a column game, or columns white and black")


def _pgn(text: str) -> Iterator[Reported]:
    for line, tags in pgn.headers(text):
        result = tags.get("result", "")
        if result == _UNFINISHED:
            continue
        number = tags.get("round", "").partition(".")[0]
        tags["round"] = number if number.isascii() and number.isdigit() else ""
        yield _reported(line, tags | {"game": tags.get("gameid", ""), "result": _FORFEITS.get(result, result)})


def _reported(line: int, values: Mapping[str, str]) -> Reported:
    id_, white, black, score, number = (values.get(name, "") for name in COLUMNS)
    if not id_ and not (white and black):
        raise _fault(line, 1, "no game is named", "Give its id, or White and Black")
    if not score:
        raise _fault(line, 1, "the result is missing", "Give such as 1-0")
    return Reported(
        line=line,
        score=score,
        id=_whole(line, id_, "id of a game") if id_ else None,
        black=black,
        white=white,
        round=_whole(line, number, "number of a round") if number else None,
    )


def _whole(line: int, word: str, what: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 15 and int(word)):
        raise _fault(line, 1, f"{word!r} is no {what}", "Give a whole number, 1 or more")
    return int(word)
