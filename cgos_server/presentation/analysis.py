"""Reads what engines say about positions: JSON of any shape, in CGOS's form where it can be used.

Everything here is hostile until checked: figures of wrong types, infinite ones, vertices beside the board, texts of any
length, any nesting. What cannot be used is left out, field by field; nothing raises. Must not know: where analyses are
kept, how they are shown.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from cgos_protocol.api.live import Analysis, Candidate
from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import COLUMNS, PASS_WORD, normal

CANDIDATES: Final = 12
"""Moves that are kept of an analysis."""

VARIATION: Final = 24
"""Moves of a variation that are kept."""

COMMENT: Final = 1000
"""Characters of a comment that are kept."""

_LARGEST_SCORE: Final = 1250.0
"""Points; twice the largest board."""

_LARGEST_COUNT: Final = 2**53 - 1
"""What a browser holds as a whole number."""

_LOOKED_AT: Final = 400
"""Entries of a list of moves that are looked at."""

_LEVELS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_OWNERSHIP: Final = re.compile("[A-Za-z0-9+/]+")
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and those that turn the direction of writing for whatever stands beside."""


def read(text: str | None, size: int) -> Analysis | None:
    """What can be used of an analysis; None for nothing.

    :param text: JSON as it was sent
    :param size: board edge in points, 2-25
    """
    if text is None:
        return None
    try:
        fields = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    moves = fields.get("moves")
    result = Analysis(
        winrate=_share(fields.get("winrate")),
        score=_score(fields.get("score")),
        visits=_count(fields.get("visits")),
        comment=_comment(fields.get("comment")),
        ownership=_ownership(fields.get("ownership"), size),
        moves=tuple(_candidates(moves, size)) if isinstance(moves, list) else (),
    )
    return None if result == Analysis() else result


def black_winrate(analysis: Analysis, mover: Color) -> float | None:
    """Black's chance as the mover sees it, 0..1."""
    if analysis.winrate is None or mover is Color.BLACK:
        return analysis.winrate
    return 1.0 - analysis.winrate


def black_score(analysis: Analysis, mover: Color) -> float | None:
    """Black's expected margin in points as the mover sees it."""
    if analysis.score is None or mover is Color.BLACK:
        return analysis.score
    return -analysis.score


def owners(analysis: Analysis, mover: Color, size: int) -> dict[str, float]:
    """Vertex -> whose it will be: -1 White's .. 1 Black's. Empty where nothing is said."""
    sign = 1.0 if mover is Color.BLACK else -1.0
    return {
        f"{COLUMNS[index % size]}{size - index // size}": sign * min(_LEVELS.index(level) / 31 - 1, 1.0)
        for index, level in enumerate(analysis.ownership)
    }


def _candidates(moves: list[Any], size: int) -> Iterator[Candidate]:
    """The first ones that name a point of the board, each point once."""
    seen: set[str] = set()
    for entry in moves[:_LOOKED_AT]:
        if not isinstance(entry, dict) or len(seen) == CANDIDATES:
            continue
        vertex = _vertex(entry.get("move"), size)
        if vertex is None or vertex in seen:
            continue
        seen.add(vertex)
        yield Candidate(
            move=vertex,
            winrate=_share(entry.get("winrate")),
            score=_score(entry.get("score")),
            prior=_share(entry.get("prior")),
            visits=_count(entry.get("visits")),
            pv=tuple(_variation(entry.get("pv"), size)),
        )


def _variation(value: object, size: int) -> Iterator[str]:
    """Its moves as far as all of them are moves."""
    if not isinstance(value, str):
        return
    for word in value[:2000].split()[:VARIATION]:
        vertex = _vertex(word, size)
        if vertex is None:
            return
        yield vertex


def _vertex(value: object, size: int) -> str | None:
    word = normal(value) if isinstance(value, str) and len(value) <= 8 else None
    if word is None or word == PASS_WORD:
        return word
    row = word[1:]
    if word[0] in COLUMNS[:size] and row.isascii() and row.isdecimal() and row[0] != "0" and int(row) <= size:
        return word
    return None


def _number(value: object) -> float | None:
    # A whole number may be too large for a float, and True is a number to Python.
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _LARGEST_COUNT:
        return None
    return float(value) if math.isfinite(value) else None


def _share(value: object) -> float | None:
    number = _number(value)
    return round(number, 4) if number is not None and 0.0 <= number <= 1.0 else None


def _score(value: object) -> float | None:
    number = _number(value)
    return round(number, 2) + 0.0 if number is not None and abs(number) <= _LARGEST_SCORE else None


def _count(value: object) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number >= 0 else None


def _comment(value: object) -> str:
    if not isinstance(value, str):
        return ""
    text = _UNSEEN.sub(" ", value[: 4 * COMMENT]).strip()
    return text if len(text) <= COMMENT else text[: COMMENT - 1] + "…"


def _ownership(value: object, size: int) -> str:
    if not isinstance(value, str) or len(value) != size * size or not _OWNERSHIP.fullmatch(value):
        return ""
    return value
