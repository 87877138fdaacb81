"""What a check says: how it is, one sentence, and what to do where something is wrong.

Must not know: what is checked, how findings are shown.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Level(StrEnum):
    """How it is. Only `WRONG` makes the command fail."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"
    UNKNOWN = "unknown"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at.

    :ivar check: the check's word, filled in by whoever runs the check
    :ivar sentence: what there is
    :ivar remedy: what to do about it; empty where all is well
    """

    level: Level
    sentence: str
    remedy: str = ""
    check: str = ""


def ok(sentence: str) -> Finding:
    return Finding(level=Level.OK, sentence=sentence)


def warning(sentence: str, remedy: str) -> Finding:
    return Finding(level=Level.WARNING, sentence=sentence, remedy=remedy)


def wrong(sentence: str, remedy: str) -> Finding:
    return Finding(level=Level.WRONG, sentence=sentence, remedy=remedy)


def unknown(sentence: str, remedy: str = "") -> Finding:
    """Nobody could look; `sentence` says why."""
    return Finding(level=Level.UNKNOWN, sentence=sentence, remedy=remedy)
