"""A strict double of the Tk viewer: it raises where the real one would show an error or stop."""

from __future__ import annotations

import re

from support.protocol.tcl import ClientStops, tcl_list

_VERTEX = re.compile(r"([A-HJ-Z])([1-9]\d?)|PA.*")
_COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"


class ViewerStops(ClientStops):
    """A viewer of the field would not survive this line."""


class TkViewer:
    """Hears lines as lists of words and keeps what a person would see.

    :ivar listed: game -> result as its list shows it, ``-`` while it runs
    :ivar boards: game -> moves on its board
    :ivar shown: game -> result beside its board
    :ivar infos: what it was told in words
    """

    def __init__(self) -> None:
        self.listed: dict[str, str] = {}
        self.boards: dict[str, list[str]] = {}
        self.shown: dict[str, str] = {}
        self.used: dict[str, tuple[int, int]] = {}
        self.unknown: list[str] = []
        self.infos: list[str] = []
        self._size: dict[str, int] = {}

    def hear(self, data: bytes) -> list[str]:
        text = data.decode("ascii")
        if text and not text.endswith("\n"):
            raise ViewerStops(f"unfinished line: {text!r}")
        lines = text.split("\n")[:-1]
        for line in lines:
            self._hear(line)
        return lines

    def _hear(self, line: str) -> None:
        if not line.strip() or line[0] == " " or not line.isprintable() or set(line) & set('{}[]"\\;$'):
            raise ViewerStops(f"blank, or dangerous where it is evaluated: {line!r}")
        word, *words = tcl_list(line)
        match word:
            case "match":
                game, _, _, size, komi, white, black, result = words
                int(game), int(size), float(komi)
                _seats(white, black)
                known = self.listed.setdefault(game, result)
                if known != "-" and result == "-":
                    raise ViewerStops(f"a game that has ended runs again: {line!r}")
            case "gameover":
                game, result, white, black = words
                if self.listed.get(game) != "-":
                    raise ViewerStops(f"no such game runs: {line!r}")
                self.listed[game] = result
                self.used[game] = int(white), int(black)
            case "setup" if words[1:] == ["?"]:
                self.unknown.append(words[0])
            case "setup":
                game, _, _, size, komi, white, black, level, *rest = words
                _seats(white, black)
                float(komi), int(level)
                if game in self.boards:
                    raise ViewerStops(f"there is a board of this game already: {line!r}")
                self.boards[game] = []
                self._size[game] = int(size)
                if len(rest) % 2:
                    rest.append("")
                for move, left in zip(rest[::2], rest[1::2], strict=True):
                    self._step(game, move, left, line)
            case "update":
                game, move, *left = words
                if move != "resign":
                    self._step(game, move, left[0] if left else "", line)
            case "info":
                self.infos.append(line[5:])
            case "Error:":
                pass
            case _:
                raise ViewerStops(f"unknown word: {line!r}")

    def _step(self, game: str, move: str, left: str, line: str) -> None:
        if game not in self.boards:
            raise ViewerStops(f"nobody watches this game: {line!r}")
        if move[1:2] == "+":
            self.shown[game] = move
            return
        if game in self.shown:
            raise ViewerStops(f"a move after the end: {line!r}")
        vertex = _VERTEX.fullmatch(move.upper())
        size = self._size[game]
        if vertex is None or (vertex[1] and (_COLUMNS.index(vertex[1]) >= size or int(vertex[2]) > size)):
            raise ViewerStops(f"{move!r} is no move: {line!r}")
        if not left.isdigit():
            raise ViewerStops(f"{left!r} is no time: {line!r}")
        self.boards[game].append(move)


def _seats(*seats: str) -> None:
    for seat in seats:
        if not re.fullmatch(r"[^\s()]+\([^\s()]+\)", seat):
            raise ViewerStops(f"{seat!r} is no player with a rating")
