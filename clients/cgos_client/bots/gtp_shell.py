"""A built-in bot as a GTP program: reads commands, writes answers, so that any other tool can use it.

Protocol: GTP version 2 (G. Farnebäck, 2002). Must not know: servers, how a bot chooses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TextIO

from cgos_client.bots.engines import Bot, IllegalMove
from cgos_client.version import __version__
from cgos_protocol.games.base import Color

UNTIMED_MS = 86_400_000
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class _Failure(Exception):
    """The command is answered with a question mark and this text."""


class GtpShell:
    """One bot behind GTP."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._size = 9
        self._komi2 = 14
        self._left_ms: dict[Color, int] = {}
        self._level_ms = UNTIMED_MS
        self._commands: dict[str, Callable[[list[str]], str]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: f"cgos-client {bot.name}",
            "version": lambda _: __version__,
            "known_command": lambda arguments: str(" ".join(arguments) in self._commands).lower(),
            "list_commands": lambda _: "\n".join(self._commands),
            "quit": lambda _: "",
            "boardsize": self._boardsize,
            "clear_board": self._clear_board,
            "komi": self._komi,
            "play": self._play,
            "genmove": self._genmove,
            "time_settings": self._time_settings,
            "time_left": self._time_left,
        }
        if bot.analyses:
            self._commands["cgos-genmove_analyze"] = self._genmove_analyze

    def serve(self, commands: TextIO, answers: TextIO) -> None:
        """Answer commands until ``quit`` or the end of input."""
        for line in commands:
            answer = self.answer(line)
            if answer is not None:
                answers.write(answer)
                answers.flush()
                if self._word(line) == "quit":
                    return

    def answer(self, line: str) -> str | None:
        """The whole answer to one line, its empty line included; None for a line without a command."""
        words = _words(line)
        number = words.pop(0) if words and words[0].isdigit() else ""
        if not words:
            return None
        command = self._commands.get(words[0])
        if command is None:
            return f"?{number} unknown command\n\n"
        try:
            return f"={number} {command(words[1:])}".rstrip() + "\n\n"
        except _Failure as failure:
            return f"?{number} {failure}\n\n"

    def _word(self, line: str) -> str:
        return next((word for word in _words(line) if not word.isdigit()), "")

    def _boardsize(self, arguments: list[str]) -> str:
        size = _whole(arguments, 1)[0]
        try:
            self._bot.new_game(size, self._komi2)
        except ValueError:
            raise _Failure("unacceptable size") from None
        self._size = size
        return ""

    def _clear_board(self, _: list[str]) -> str:
        self._bot.new_game(self._size, self._komi2)
        self._left_ms.clear()
        return ""

    def _komi(self, arguments: list[str]) -> str:
        try:
            komi = float(arguments[0])
        except (IndexError, ValueError):
            komi = math.nan
        if not math.isfinite(komi):
            raise _Failure("syntax error")
        self._komi2 = round(komi * 2)
        self._bot.komi2 = self._komi2
        return ""

    def _play(self, arguments: list[str]) -> str:
        if len(arguments) != 2:
            raise _Failure("syntax error")
        color = _color(arguments)
        try:
            self._bot.play(color, arguments[1])
        except IllegalMove:
            raise _Failure("illegal move") from None
        return ""

    def _genmove(self, arguments: list[str]) -> str:
        color = _color(arguments)
        return self._bot.genmove(color, self._left_ms.get(color, self._level_ms))

    def _genmove_analyze(self, arguments: list[str]) -> str:
        move = self._genmove(arguments)
        return f"\n{self._bot.analysis() or '{}'}\nplay {move}"

    def _time_settings(self, arguments: list[str]) -> str:
        main, period, stones = _whole(arguments, 3)
        untimed = period > 0 and stones == 0
        self._level_ms = UNTIMED_MS if untimed else 1000 * (main + (period // stones if stones else 0))
        return ""

    def _time_left(self, arguments: list[str]) -> str:
        color = _color(arguments)
        seconds, stones = _whole(arguments[1:], 2)
        self._left_ms[color] = 1000 * seconds // max(1, stones)
        return ""


def _words(line: str) -> list[str]:
    return _CONTROL.sub("", line.partition("#")[0]).split()


def _color(arguments: list[str]) -> Color:
    match arguments[:1]:
        case [word] if word.lower() in ("b", "black"):
            return Color.BLACK
        case [word] if word.lower() in ("w", "white"):
            return Color.WHITE
    raise _Failure("syntax error")


def _whole(arguments: list[str], count: int) -> list[int]:
    if len(arguments) != count or not all(word.isdigit() for word in arguments):
        raise _Failure("syntax error")
    return [int(word) for word in arguments]
