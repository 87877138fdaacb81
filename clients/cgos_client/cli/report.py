"""What people and programs get to read: results on the standard output, everything else on the standard error.

Decides how lines look. Must not know: where results come from.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TextIO

import click
import msgspec

from cgos_client.playing.events import Event, GameResult
from cgos_client.playing.together import SLOT, WHO
from cgos_client.settings import BadSetting

LOG_BYTES = 10_000_000
LOG_FILES = 3


MakingRoom = Callable[[], AbstractContextManager[None]]
"""What has to be round a line that is written to the terminal, so that what else is drawn there is not torn."""


def print_result(result: Event, as_json: bool, making_room: MakingRoom = nullcontext, who: str = "") -> None:
    """A listener: one line for each finished game on the standard output.

    A reader that has gone away, or a full disk, stops no game.

    :param who: the bot, where there are several
    """
    if not isinstance(result, GameResult):
        return
    fields = ({"bot": who} if who else {}) | msgspec.structs.asdict(result)
    with suppress(OSError), making_room():
        if as_json:
            click.echo(json.dumps(fields, separators=(",", ":")))
        else:
            click.echo(f"{who}, {result_line(result)}" if who else result_line(result))


def result_line(result: GameResult) -> str:
    """``game 17: B+3.5, won as black against Alice (1800?), 9x9, komi 7.0, 61 moves``."""
    how = {True: "won", False: "lost", None: "drawn" if result.result == "Draw" else "no result"}[result.won]
    label = f" ({result.opponent_rating})" if result.opponent_rating else ""
    detail = f" ({result.detail})" if result.detail else ""
    return (
        f"game {result.game}: {result.result}{detail}, {how} as {result.color} against {result.opponent}{label}, "
        f"{result.size}x{result.size}, komi {result.komi}, {result.moves} moves"
    )


class _Plain(logging.Formatter):
    """Time, the bot where there are several, and sentence; a word in front of what needs attention."""

    def format(self, record: logging.LogRecord) -> str:
        word = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        return f"{self.formatTime(record, '%H:%M:%S')} {_place()}{word}{record.getMessage()}"


class _Dated(logging.Formatter):
    """For files: the day too, and how much attention a line needs.

    :param whose: False for a file of one bot, whose lines need not say so
    """

    def __init__(self, whose: bool) -> None:
        super().__init__("%(asctime)s")
        self._whose = whose

    def formatMessage(self, record: logging.LogRecord) -> str:
        return f"{record.asctime} {record.levelname} {_place(self._whose)}{record.message}"


def _place(whose: bool = True) -> str:
    """``Bot, slot 2: ``, where there are several bots or several engines."""
    words = [WHO.get()] if whose and WHO.get() else []
    words += [f"slot {SLOT.get()}"] if SLOT.get() else []
    return f"{', '.join(words)}: " if words else ""


class _Terminal(logging.StreamHandler[TextIO]):
    """The standard error; what else is drawn there makes room."""

    def __init__(self, making_room: MakingRoom) -> None:
        super().__init__()
        self._making_room = making_room

    def emit(self, record: logging.LogRecord) -> None:
        with self._making_room():
            super().emit(record)


def set_up_logs(level: int, file: Path | None, making_room: MakingRoom = nullcontext) -> None:
    """Lines from `level` up on the standard error; everything in a file, which is rotated.

    :param making_room: round every line on the standard error
    :raises BadSetting: the file cannot be written
    """
    logger = logging.getLogger("cgos_client")
    logger.setLevel(logging.DEBUG)
    stderr = _Terminal(making_room)
    stderr.setLevel(level)
    stderr.setFormatter(_Plain())
    logger.addHandler(stderr)
    if file is None:
        return
    try:
        logger.addHandler(_rotated(file))
    except OSError as error:
        raise BadSetting(f"--log {file}: the file cannot be written ({error.strerror}).") from None


def log_dialogues(directory: Path, who: str | None = None) -> None:
    """The server's dialogue in ``wire.log`` of `directory`, the engine's in ``gtp.log``; both are rotated.

    :param directory: is made where needed
    :param who: the bot whose dialogues alone are written; None: all
    :raises OSError: a file cannot be written
    """
    directory.mkdir(parents=True, exist_ok=True)
    for part in ("wire", "gtp"):
        handler = _rotated(directory / f"{part}.log", whose=who is None)
        if who is not None:
            handler.addFilter(lambda _: WHO.get() == who)
        logging.getLogger(f"cgos_client.{part}").addHandler(handler)


def _rotated(file: Path, whose: bool = True) -> logging.Handler:
    handler = logging.handlers.RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    handler.setFormatter(_Dated(whose))
    return handler
