"""A rating over time or over games as an SVG picture: the mean as a line in its 95 % band, with ticks that people count
by.

Pure functions of numbers; colors are classes that the style sheet fills. Must not know: whose rating it is, where it
comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from cgos_protocol import intervals
from cgos_server.presentation.pictures.axis import TICKS, axis, ticks

WIDTH: Final = 600
HEIGHT: Final = 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 8, 14, 26
_WORD_ROOM: Final = 60.0
"""What a marked place needs from left to right."""

_DAY_MS: Final = 86_400_000
_STEPS_MS: Final = (
    *(1000 * seconds for seconds in (1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, 43_200)),
    *(_DAY_MS * days for days in (1, 2, 7, 14, 30, 91, 182, 365, 730, 1825)),
)


class Point(NamedTuple):
    """A rating after something happened.

    :ivar at: where it stands from left to right: Unix milliseconds, or a number of games
    :ivar lower: where the 95 % interval begins; None where the system does not say one
    :ivar upper: where it ends
    """

    at: float
    mean: float
    lower: float | None
    upper: float | None


class Mark(NamedTuple):
    """A place from left to right that deserves a word, such as a new version."""

    at: float
    word: str


def time_ticks(low: float, high: float, most: int = TICKS) -> list[tuple[float, str]]:
    """Moments at round distances between two times (Unix ms), each with its word (UTC)."""
    span = high - low
    step = next((step for step in _STEPS_MS if span / step <= most), _STEPS_MS[-1])
    while span / step > 2 * most:
        step *= 2
    first = math.ceil(low / step)
    places = [at * step for at in range(first, math.floor(high / step) + 1)]
    if step >= _DAY_MS:
        form = "%b %d" if step < 60 * _DAY_MS else "%b %Y"
        return [(at, _word(at, form)) for at in places]
    form = "%H:%M:%S" if step < 60_000 else "%H:%M"
    # Over more than a day midnight has the date, so that no hour is taken for another day's.
    return [(at, _word(at, form if span < _DAY_MS or at % _DAY_MS else "%b %d")) for at in places]


def band_svg(points: Sequence[Point], over_time: bool, title: str, marks: Sequence[Mark] = ()) -> Markup:
    """The picture; `title` says whose it is, and the picture describes itself to people who cannot see it.

    :param points: one at least, from left to right
    :raises ValueError: without a point
    """
    if not points:
        raise ValueError("there is nothing to draw")
    left, right = points[0].at, points[-1].at
    if right <= left:
        left, right = left - 1, right + 1
    lows = [point.mean if point.lower is None else point.lower for point in points]
    highs = [point.mean if point.upper is None else point.upper for point in points]
    bottom, top = _shown_ratings(points, lows, highs)
    x = axis(left, right, _LEFT, WIDTH - _RIGHT)
    y = axis(bottom, top, HEIGHT - _BOTTOM, _TOP)
    parts = [
        Markup(
            '<svg class="band" viewBox="0 0 {} {}" role="img" aria-labelledby="band-title band-text">'
            '<title id="band-title">{}</title><desc id="band-text">{}</desc>'
        ).format(WIDTH, HEIGHT, title, describe(points, over_time))
    ]
    for each in ticks(bottom, top):
        height = y(each)
        parts.append(
            Markup(
                '<path class="rule" d="M{left} {height}H{right}"/>'
                '<text x="{before}" y="{base}" text-anchor="end">{rating:.0f}</text>'
            ).format(
                left=_LEFT,
                height=height,
                right=WIDTH - _RIGHT,
                before=_LEFT - 6,
                base=round(height + 4, 1),
                rating=each,
            )
        )
    below = time_ticks(left, right) if over_time else [(each, f"{each:g}") for each in ticks(left, right)]
    for at, word in below:
        parts.append(
            Markup('<text x="{}" y="{}" text-anchor="middle">{}</text>').format(
                min(max(x(at), _LEFT), WIDTH - _RIGHT - 20), HEIGHT - 8, word
            )
        )
    parts += _marks([mark for mark in marks if left <= mark.at <= right], x)
    if any(point.lower is not None for point in points):
        above = [f"{x(point.at)} {y(high)}" for point, high in zip(points, highs, strict=True)]
        back = [f"{x(point.at)} {y(low)}" for point, low in zip(points, lows, strict=True)][::-1]
        parts.append(Markup('<path class="range" d="M{}Z"/>').format(_path([*above, *back])))
    line = [f"{x(point.at)} {y(point.mean)}" for point in points]
    parts.append(Markup('<path class="mean" d="M{}"/>').format(_path(line)))
    parts.append(Markup('<circle class="dot" cx="{}" cy="{}" r="3"/></svg>').format(*line[-1].split()))
    return Markup("").join(parts)


def _shown_ratings(points: Sequence[Point], lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest rating that the picture has room for."""
    least, most = min(point.mean for point in points), max(point.mean for point in points)
    # A newcomer's band may be a thousand points wide: what came later should still be seen, its last interval whole.
    room = max(60.0, 1.6 * (most - least))
    bottom = max(min(lows), min(lows[-1], least - room))
    top = min(max(highs), max(highs[-1], most + room))
    return (bottom - 20, top + 20) if top - bottom < 40 else (bottom, top)


def _marks(marks: Sequence[Mark], x: Callable[[float], float]) -> Iterator[Markup]:
    """Upright lines with their words. Many that came close together would be a smear: the first stands for all."""
    drawn = -_WORD_ROOM
    for mark in sorted(marks, key=lambda mark: mark.at):
        if x(mark.at) - drawn >= _WORD_ROOM:
            drawn = x(mark.at)
            anchor, beside = ("end", drawn - 4) if drawn > WIDTH / 2 else ("start", drawn + 4)
            yield Markup('<path class="mark" d="M{} {}V{}"/>').format(drawn, _TOP, HEIGHT - _BOTTOM)
            yield Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(beside, _TOP + 9, anchor, mark.word)


def describe(points: Sequence[Point], over_time: bool) -> str:
    """What the picture shows, in two sentences."""

    def rating(point: Point) -> str:
        return intervals.written(point.mean, point.lower, point.upper)

    def where(point: Point) -> str:
        return f"on {_word(point.at, '%Y-%m-%d')}" if over_time else f"after {point.at:g} games"

    low = min(points, key=lambda point: point.mean)
    high = max(points, key=lambda point: point.mean)
    first, last = points[0], points[-1]
    return (
        f"From {rating(first)} {where(first)} to {rating(last)} {where(last)}. "
        f"Lowest {low.mean:.0f} {where(low)}, highest {high.mean:.0f} {where(high)}."
    )


def _path(places: Sequence[str]) -> Markup:
    return escape("L".join(places))


def _word(ms: float, form: str) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime(form)
