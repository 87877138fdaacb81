"""Reads the main lines of SGF files as openings, FF[1] to FF[4] (Arno Hollosi, red-bean.com/sgf).

The main line takes the first variation everywhere. Only what a game of a venue can begin with is taken: alternating
moves from Black on an empty board. The root may lack its semicolon, as in files of the Nihon Ki-in. Must not know:
where files lie, which moves are legal.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import from_sgf
from cgos_protocol.openings import NAME_MAX, Draft, Fault

_TOKEN: Final = re.compile(
    r"(?P<space>\s+)|(?P<mark>[();])|(?P<key>[A-Za-z]+)|\[(?P<value>(?:[^\]\\]|\\.)*)\]", re.DOTALL
)
_ESCAPE: Final = re.compile(r"\\(\r\n|\n\r|.)", re.DOTALL)
_CHARSET: Final = re.compile(rb"\bCA\s*\[\s*([\w.:-]{1,40})\s*\]")
_WIDE: Final[Mapping[bytes, str]] = MappingProxyType(
    {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16", b"(\x00": "utf-16-le", b"\x00(": "utf-16-be"}
)
_SUPERSETS: Final[Mapping[str, str]] = MappingProxyType(
    {"shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "big5": "cp950", "euc_kr": "cp949"}
)
"""What programs write under these names."""
_GUESSES: Final = ("cp1252", "cp932", "gb18030", "cp950", "cp949", "latin-1")
"""The last one always fits. The first one that fits is taken, unless another one finds more nodes."""
_AMBIGUOUS: Final = re.compile(rb"[\x80-\xff][\\\]]")
"""A bracket or a backslash that may be the second half of a letter."""
_SET_UP: Final = ("AB", "AW", "AE")


@dataclass(slots=True)
class _Node:
    """Properties with their raw values; `line` is where the node begins."""

    line: int
    values: dict[str, list[str]] = field(default_factory=dict)

    def first(self, key: str) -> str:
        """The first value of a property, unescaped, in one line; empty where there is none."""
        return " ".join(_ESCAPE.sub(_escaped, self.values.get(key, [""])[0]).split())


class _Broken(Exception):
    """The file is no SGF from here on."""


def decode(data: bytes) -> str:
    """Return the text of a file: UTF-8, UTF-16, the encoding that its property ``CA`` names, or a likely one."""
    if data[:2] in _WIDE:
        return data.decode(_WIDE[data[:2]], "replace")
    named = _named_encoding(data)
    for encoding in ("utf-8", *named) if b"\x1b" not in data else (*named, "utf-8"):
        with suppress(UnicodeError):
            return data.decode(encoding)
    texts = [data.decode(encoding, "replace") for encoding in named if encoding != "utf-8"]
    for encoding in _GUESSES:
        with suppress(UnicodeError):
            texts.append(data.decode(encoding))
    if not _AMBIGUOUS.search(data):
        return texts[0]
    return max(texts, key=lambda text: sum(map(len, _games(text)[0])))


def _named_encoding(data: bytes) -> tuple[str, ...]:
    """Return the encoding that a file names, if it is known. Latin-1 tells nothing: programs write it unasked."""
    found = _CHARSET.search(data)
    with suppress(LookupError, UnicodeError):
        name = codecs.lookup(found[1].decode()).name if found else "iso8859-1"
        if name not in ("iso8859-1", "ascii") and "(;".encode(name) == b"(;":
            return (_SUPERSETS.get(name, name),)
    return ()


def main_lines(text: str, size: int, stem: str) -> tuple[list[Draft], list[Fault]]:
    """The main line of each game of a collection, with weight 1.

    A game is called by its ``GN``, without one by `stem`, with a number where the file has several games.

    :param size: the venue's board; games on another are faults
    """
    games, faults = _games(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}"))
    drafts: list[Draft] = []
    for number, nodes in enumerate(games, 1):
        name = nodes[0].first("GN")[:NAME_MAX] or (stem if len(games) == 1 else f"{stem}-{number}")
        fault = _unfit(nodes[0], size)
        if fault is not None:
            faults.append(fault)
            continue
        moves, fault = _moves(nodes, size, name)
        if fault is None:
            drafts.append(Draft(name, tuple(moves), 1.0, nodes[0].line))
        else:
            faults.append(fault)
    return drafts, sorted(faults)


def _unfit(root: _Node, size: int) -> Fault | None:
    """Why a game with this root is none for a venue with that board."""
    if root.first("GM") not in ("", "1"):
        return Fault(root.line, f"this is not Go (GM[{root.first('GM')}])", "Take it out of the file")
    width = root.first("SZ") or "19"
    if width not in (str(size), f"{size}:{size}"):
        return Fault(root.line, f"the board is {width} and the venue's is {size}", "Take it out of the file")
    return None


def _moves(nodes: list[_Node], size: int, name: str) -> tuple[list[str], Fault | None]:
    """The vertices of a main line, or what is wrong with it."""
    moves: list[str] = []
    for node in nodes:
        if any(key in node.values for key in _SET_UP):
            remedy = "Give an opening as moves only; games begin on an empty board"
            return moves, Fault(node.line, f"game {name} sets up stones", remedy)
        made = [color for color in Color if color.letter.upper() in node.values]
        if not made:
            continue
        due = Color.WHITE if len(moves) % 2 else Color.BLACK
        if made != [due]:
            remedy = "Let the colors alternate, beginning with Black, one move a node"
            return moves, Fault(node.line, f"move {len(moves) + 1} of game {name} is not {due.name.lower()}'s", remedy)
        point = node.first(due.letter.upper())
        try:
            moves.append(from_sgf(point, size))
        except ValueError:
            what = f'move {len(moves) + 1} of game {name}, "{point}", is not on the board'
            return moves, Fault(node.line, what, f"Give points of a {size}x{size} board")
    return moves, None


def _games(text: str) -> tuple[list[list[_Node]], list[Fault]]:
    """The main line of every game that can be read, at least one node each, and where the file is broken."""
    reader = _Reader()
    at, line = 0, 1
    try:
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise _Broken("a property's value without its end" if text[at] == "[" else f'"{text[at]}"')
            reader.take(match, line)
            line += text.count("\n", at, match.end())
            at = match.end()
        if reader.depth:
            raise _Broken("the end of the file")
    except _Broken as broken:
        return reader.games, [Fault(line, f"{broken} is not expected here", "Give an SGF file")]
    if not reader.games:
        return [], [Fault(1, "there is no game in the file", "Give an SGF file")]
    return reader.games, []


class _Reader:
    """Takes tokens and keeps the nodes of the main lines.

    :ivar depth: how many trees are open
    """

    __slots__ = ("_fresh", "_key", "_line", "_node", "_whole", "depth", "games")

    def __init__(self) -> None:
        self.games: list[list[_Node]] = []
        self.depth = 0
        self._line: list[_Node] = []
        self._node: _Node | None = None
        self._key = ""
        self._fresh = False  # a tree was opened and has no node yet
        self._whole = False  # the game's first tree that ends, ends the main line

    def take(self, match: re.Match[str], line: int) -> None:
        """Raises _Broken where the token cannot stand here."""
        if match["space"] is not None:
            return
        if match["mark"] is not None:
            self._mark(match["mark"], line)
        elif match["key"] is not None:
            self._named(match["key"], line)
        elif self._node is None or not self._key:
            raise _Broken("a value without a property")
        else:
            self._node.values[self._key].append(match["value"])

    def _mark(self, mark: str, line: int) -> None:
        if self._node is not None and self._key and not self._node.values[self._key]:
            raise _Broken(f'"{mark}" after a property without a value')
        if mark == "(":
            if self._fresh:
                raise _Broken('"("')
            if self.depth == 0:
                self._line, self._whole = [], False
            self.depth += 1
            self._fresh = True
        elif mark == ";":
            if not self.depth or (self._node is None and not self._fresh):
                raise _Broken('";"')
            self._node = _Node(line)
            self._fresh = False
            if not self._whole:
                self._line.append(self._node)
        else:
            if not self.depth or self._fresh:
                raise _Broken('")"')
            self._node, self._whole = None, True
            self.depth -= 1
            if not self.depth:
                self.games.append(self._line)
        self._key = ""

    def _named(self, word: str, line: int) -> None:
        if self._fresh and self.depth == 1:
            self._mark(";", line)
        if self._node is None or self._fresh or (self._key and not self._node.values[self._key]):
            raise _Broken(f'"{word}"')
        # Before FF[4] a name could be spelt with small letters in between, which do not count.
        self._key = "".join(letter for letter in word if letter.isupper())
        if not self._key:
            raise _Broken(f'"{word}"')
        self._node.values.setdefault(self._key, [])


def _escaped(match: re.Match[str]) -> str:
    """A backslash keeps the character after it; before a line end both go."""
    return "" if match[1][0] in "\r\n" else match[1]
