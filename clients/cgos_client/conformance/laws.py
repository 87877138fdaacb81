"""What holds for every line of every server, whatever it is about: real clients end or hang where it is broken.

Must not know: connections, transcripts.
"""

from __future__ import annotations

import re
from typing import Final

from cgos_client.conformance.tcl_list import list_fault

_PLAYER_WORDS: Final = frozenset(
    ["info", "protocol", "username", "password", "Error:", "setup", "genmove", "gameover", "play"]
)
_VIEWER_WORDS: Final = frozenset(["info", "protocol", "Error:", "match", "setup", "update", "gameover"])
_NUMBER: Final = re.compile(r"\d+")
_KOMI: Final = re.compile(r"-?\d+(\.\d+)?")
_SEAT: Final = re.compile(r"[A-Za-z0-9_.-]+\(\d+\??\)")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


def broken(line: str, viewer: bool) -> str | None:
    """None where `line` (without its end) may be sent to a player, or to a viewer; else what is wrong with it."""
    if not line.strip():
        return None if viewer else "a blank line"
    if line[0].isspace():
        return "a line that begins with white space"
    if not (line.isascii() and line.isprintable()):
        return "a line with characters outside printable ASCII"
    word, *fields = line.split()
    if word not in (_VIEWER_WORDS if viewer else _PLAYER_WORDS):
        return f"a line that begins with {word!r}, a word that clients do not know"
    if (fault := list_fault(line)) is not None:
        return f"a line that is no Tcl list ({fault})"
    return None if viewer else _fields(word, fields)


def _fields(word: str, fields: list[str]) -> str | None:
    """What is wrong with the parameters of a player's line."""
    match word:
        case "protocol":
            return None if fields in ([], ["genmove_analyze"]) else "'protocol' has no parameter but genmove_analyze"
        case "username" | "password":
            return f"{word!r} has no parameters" if fields else None
        case "setup":
            return _setup(fields)
        case "play" | "genmove":
            count, number = (3, "three") if word == "play" else (2, "two")
            if len(fields) != count:
                return f"{word!r} has exactly {number} parameters: clients count"
            return _color(fields[0]) or _ms(fields[-1])
        case "gameover":
            if len(fields) < 2:
                return "'gameover' has a date and a result"
            return None if _DATE.fullmatch(fields[0]) else f"{fields[0]!r} is no date such as 2026-01-31"
    return None


def _setup(fields: list[str]) -> str | None:
    if len(fields) < 6 or len(fields) % 2:
        return "'setup' has six parameters, and after them an even number"
    game, size, komi, level, *seats = fields[:6]
    for number in (game, size):
        if not _NUMBER.fullmatch(number):
            return f"{number!r} is no whole number"
    if not _KOMI.fullmatch(komi):
        return f"{komi!r} is no komi"
    for seat in seats:
        if not _SEAT.fullmatch(seat):
            return f"{seat!r} is not <name>(<rating>), the rating a whole number, with '?' where provisional"
    return next((fault for ms in (level, *fields[7::2]) if (fault := _ms(ms)) is not None), None)


def _color(text: str) -> str | None:
    return None if text in ("b", "w") else f"{text!r} is neither 'b' nor 'w'"


def _ms(text: str) -> str | None:
    return None if _NUMBER.fullmatch(text) else f"{text!r} is no whole number of milliseconds from 0 up"
