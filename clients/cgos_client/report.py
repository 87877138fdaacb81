"""What people and programs get to read: results on the standard output, everything else on the standard error.

Decides how lines look. Must not know: where results come from.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
from contextlib import suppress
from pathlib import Path

import click

from cgos_client.bridge import GameResult

LOG_BYTES = 10_000_000
LOG_FILES = 3


def print_result(result: GameResult, as_json: bool) -> None:
    """One line for one game on the standard output. A reader that has gone away stops no game."""
    with suppress(BrokenPipeError):
        click.echo(json.dumps(result._asdict(), separators=(",", ":")) if as_json else result_line(result))


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
    """Time and sentence; a word in front of what needs attention."""

    def format(self, record: logging.LogRecord) -> str:
        word = f"{record.levelname.lower()}: " if record.levelno >= logging.WARNING else ""
        return f"{self.formatTime(record, '%H:%M:%S')} {word}{record.getMessage()}"


def set_up_logs(level: int, file: Path | None) -> None:
    """Lines from `level` up on the standard error; every line of both dialogues in `file`, which is rotated.

    Raises OSError where `file` cannot be written.
    """
    logger = logging.getLogger("cgos_client")
    logger.setLevel(logging.DEBUG)
    stderr = logging.StreamHandler()
    stderr.setLevel(level)
    stderr.setFormatter(_Plain())
    logger.addHandler(stderr)
    if file is not None:
        rotated = logging.handlers.RotatingFileHandler(
            file, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8"
        )
        rotated.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        logger.addHandler(rotated)
