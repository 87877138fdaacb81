"""The lines that a CGOS server sends to an engine, as values.

Lenient where real servers differ (blanks, case, negative times), strict where a guess could cost a game.
Must not know: sockets, engines, what is answered.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.session import GameSetup


class BadLine(Exception):
    """The server sent a line that its protocol does not allow. The text names the line and what is wrong with it."""


class Greeting(NamedTuple):
    """``protocol [genmove_analyze]``: who are you? `analysis`: moves may carry analysis."""

    analysis: bool


class NameWanted(NamedTuple):
    """``username``."""


class PasswordWanted(NamedTuple):
    """``password``."""


class Refusal(NamedTuple):
    """``Error: <sentence>``; the server closes the connection after it."""

    sentence: str


class Info(NamedTuple):
    """``info <text>``: a word to people."""

    text: str


class Played(NamedTuple):
    """``play <color> <move> <msec left>``: the opponent moved."""

    color: Color
    move: str
    left_ms: int


class MoveWanted(NamedTuple):
    """``genmove <color> <msec left>``: it is this client's move."""

    color: Color
    left_ms: int


class GameEnded(NamedTuple):
    """``gameover <date> <result> <text or nothing>``."""

    date: str
    result: str
    detail: str


class Other(NamedTuple):
    """A first word that this client does not know. It is reported and otherwise ignored."""

    line: str


Message = Greeting | NameWanted | PasswordWanted | Refusal | Info | GameSetup | Played | MoveWanted | GameEnded | Other


def parse(line: str) -> Message:
    """Read one line, already stripped and not empty. Raises BadLine."""
    if line.startswith("Error:"):
        return Refusal(line.removeprefix("Error:").strip())
    word, _, rest = line.partition(" ")
    fields = rest.split()
    match word:
        case "protocol":
            return Greeting("genmove_analyze" in fields)
        case "username":
            return NameWanted()
        case "password":
            return PasswordWanted()
        case "info":
            return Info(rest.strip())
        case "setup":
            return _setup(line, fields)
        case "play":
            if len(fields) != 3:
                raise BadLine(f"'play' needs a color, a move and a time: {line!r}")
            return Played(_color(line, fields[0]), fields[1].upper(), _msec(line, fields[2]))
        case "genmove":
            if len(fields) != 2:
                raise BadLine(f"'genmove' needs a color and a time: {line!r}")
            return MoveWanted(_color(line, fields[0]), _msec(line, fields[1]))
        case "gameover":
            if len(fields) < 2:
                raise BadLine(f"'gameover' needs a date and a result: {line!r}")
            return GameEnded(fields[0], fields[1], " ".join(fields[2:]))
        case _:
            return Other(line)


def _setup(line: str, fields: list[str]) -> GameSetup:
    if len(fields) < 6 or len(fields) % 2:
        raise BadLine(f"'setup' needs six fields and then pairs of move and time: {line[:200]!r}")
    game, size = _number(line, fields[0]), _number(line, fields[1])
    if not 2 <= size <= 25:
        raise BadLine(f"'setup' names a board of size {size}; this client plays 2 to 25: {line[:200]!r}")
    white, white_label = _player(fields[4])
    black, black_label = _player(fields[5])
    history = fields[6:]
    return GameSetup(
        game=GameId(game),
        size=size,
        komi2=_komi2(line, fields[2]),
        level_ms=_msec(line, fields[3]),
        black=black,
        black_label=black_label,
        white=white,
        white_label=white_label,
        moves=tuple((move.upper(), _msec(line, left)) for move, left in zip(history[::2], history[1::2], strict=True)),
    )


def _player(text: str) -> tuple[str, str]:
    """``name(1800?)`` as name and rating."""
    name, _, label = text.partition("(")
    return name, label.removesuffix(")")


def _color(line: str, text: str) -> Color:
    match text.lower():
        case "b" | "black":
            return Color.BLACK
        case "w" | "white":
            return Color.WHITE
    raise BadLine(f"{text!r} is not a color in {line!r}")


def _number(line: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadLine(f"{text!r} is not a whole number in {line[:200]!r}") from None


def _msec(line: str, text: str) -> int:
    return max(0, _number(line, text))


def _komi2(line: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > 1000:
        raise BadLine(f"{text!r} is not a komi in {line[:200]!r}")
    return round(value * 2)
