"""Ratings with their intervals as small SVG bars on one scale, so that a column of them can be compared by eye.

Colors are classes that the style sheet fills. Must not know: whose ratings they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from cgos_protocol import intervals
from cgos_protocol.api.messages import Standing
from cgos_server.presentation import words

WIDTH: Final = 200
_HEIGHT: Final = 12
_ROOM: Final = 150.0
"""Elo beyond the lowest and the highest rating; an interval that goes further is cut there."""


class Scale(NamedTuple):
    """Which ratings are at the left and the right end."""

    low: float
    high: float

    def place(self, rating: float) -> float:
        """Where a rating lies, 0..WIDTH."""
        share = (rating - self.low) / (self.high - self.low)
        return round(WIDTH * min(max(share, 0.0), 1.0), 1)


def scale(means: Iterable[float]) -> Scale:
    """A scale for these ratings."""
    known = list(means) or [0.0]
    return Scale(min(known) - _ROOM, max(known) + _ROOM)


def interval_svg(on: Scale, mean: float, ends: tuple[float, float], words: str) -> Markup:
    """The bar of a rating from its lower to its upper end; `words` says the same to people who cannot see it."""
    left, right, at = on.place(ends[0]), on.place(ends[1]), on.place(mean)
    middle = _HEIGHT // 2
    return Markup(
        f'<svg class="interval" viewBox="0 0 {WIDTH} {_HEIGHT}" width="{WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="{escape(words)}">'
        f'<rect class="range" x="{left}" y="{middle - 2}" width="{max(right - left, 1):.1f}" height="4" rx="2"/>'
        f'<circle class="mean" cx="{at}" cy="{middle}" r="3.2"/></svg>'
    )


def standing_interval(on: Scale, row: Standing) -> Markup:
    """The bar of a standing, nothing where its system says no interval."""
    if row.lower is None or row.upper is None:
        return Markup("")
    return interval_svg(on, row.mean, (row.lower, row.upper), words.standing(row))


def beside_rating(row: Standing) -> Markup:
    """What stands beside the rating in a row where the bar has no room, or is not there: ``± 42``, ``1820 to 2100``, or
    ``at least 2320`` where the games say of one end only; the whole interval where a pointer rests."""
    whole = intervals.beside(row.mean, row.lower, row.upper)
    if sided := intervals.one_sided(row.mean, row.lower, row.upper):
        return Markup('<span class="pm"><abbr title="{}">{}</abbr></span>').format(whole, sided)
    return Markup('<span class="pm">{}</span>').format(whole) if whole else Markup("")
