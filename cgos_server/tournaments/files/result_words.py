"""What people write for the result of a game: ``1-0``, ``B+R``, ``W+3.5``, ``0.5``, ``draw``, ``*``.

Decides what such a word says, and of whom. Must not know: which player has which column, files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple


class Whose(Enum):
    """Whose points a word gives."""

    WHITE = "white"
    """Of White, by the word itself: ``W+R``, ``black wins``."""
    ORDER = "order"
    """Of the one who is named first, or of White where colors are known: ``1-0``."""
    ALONE = "alone"
    """A number alone: of the one who is named first: ``1``, ``win``."""
    BOTH = "both"
    """A draw."""
    NOBODY = "nobody"
    """The game has no result: ``*``."""
    UNPLAYED = "unplayed"
    """The result was given without play, or less than one point was given in all: ``1-0F``, ``+/-``, ``0-0``."""


class Said(NamedTuple):
    """What a word says: points, 1, 0.5 or 0, and whose they are."""

    points: float
    whose: Whose


_WORDS: Final[Mapping[str, Said]] = MappingProxyType(
    dict.fromkeys(("draw", "drawn", "tie", "tied", "jigo", "remis", "=", "1/2", "1/2-1/2"), Said(0.5, Whose.BOTH))
    | dict.fromkeys(("*", "?", "void", "abort", "unfinished", "noresult"), Said(0.5, Whose.NOBODY))
    | dict.fromkeys(("win", "won"), Said(1.0, Whose.ALONE))
    | dict.fromkeys(("loss", "lost"), Said(0.0, Whose.ALONE))
)
_COLOR: Final = re.compile(r"(b|w|black|white)(?:\+.*|wins?|won)?")
_FORFEIT: Final = re.compile(r"[-+][-/][-+]|(?=.*f)[01]f?-[01]f?")
_NUMBER: Final = re.compile(r"[0-9]{0,3}(?:\.[0-9]{0,3})?", re.ASCII)
_ALIKE: Final = str.maketrans({"½": "1/2", "\N{EN DASH}": "-", "\N{MINUS SIGN}": "-", ":": "-", " ": None, "_": None})


def said(word: str) -> Said | None:
    """What the word of a result says; None: it is none."""
    text = word.strip().lower().translate(_ALIKE)
    known = _WORDS.get(text)
    if known is not None:
        return known
    color = _COLOR.fullmatch(text)
    if color:
        return Said(float(color[1][0] == "w"), Whose.WHITE)
    left, dash, right = text.partition("-")
    points, others = _points(left), _points(right) if dash else None
    if _FORFEIT.fullmatch(text) or (points is not None and others is not None and points + others < 1.0):
        return Said(0.0, Whose.UNPLAYED)
    if points is None or (dash and others != 1.0 - points):
        return None
    if points == 0.5:
        return Said(0.5, Whose.BOTH)
    return Said(points, Whose.ORDER if dash else Whose.ALONE)


def _points(text: str) -> float | None:
    """1, 0.5 or 0; None: another number, or none."""
    text = "0.5" if text == "1/2" else text.replace(",", ".")
    if not _NUMBER.fullmatch(text) or not text.strip("."):
        return None
    points = float(text)
    return points if points in (0.0, 0.5, 1.0) else None
