"""Counts and points as people say them, for the explanations of rounds. Must not know: what they are about."""

from __future__ import annotations

from collections.abc import Sequence


def counted(count: int, one: str, several: str = "") -> str:
    """``1 game``, ``2 games``; `several` where it is not `one` with an s."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def in_points(points: float) -> str:
    """``1 point``, ``2.5 points``."""
    return f"{points:g} point{'s' * (points != 1)}"


def listed(words: Sequence[str]) -> str:
    """``one``; ``one and two``; ``one, two and three``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def rematches_said(count: int) -> str:
    """Why there are so many, as a sentence."""
    return f"{counted(count, 'rematch', 'rematches')}: with fewer, not everybody could play."
