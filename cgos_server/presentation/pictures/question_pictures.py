"""What a question's games say, as pictures: a test's log-likelihood ratio pair by pair, Elo with its interval, counts.

SVGs that stand alone or are parts of a page, whose sheet may fill their grounds and inks. What a color says is said by
words or by a place too. Must not know: how any of it is computed, files, addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from cgos_server.presentation.pictures.axis import axis, ticks
from cgos_server.presentation.pictures.svg import plain, points_text, svg

WIDTH: Final = 640
_LEFT, _RIGHT, _TOP = 58, 14, 42
_LLR_BOTTOM: Final = 268
_FONT: Final = 12

_LINE, _RULE, _SOFT, _GOOD, _BAD = "#1f5c99", "#d5d5d5", "#666666", "#2f6b3a", "#9a3324"


def llr_svg(
    path: Sequence[tuple[int, float]], reject_at: float, accept_at: float, *, title: str = "", inline: bool = True
) -> str:
    """The ratio from the first pair to the latest, between its bounds.

    :param path: (pairs that count, the ratio after them), at least one, in their order
    :param reject_at: at this ratio and below it the test rejects, `accept_at`: at this one and above it accepts
    :param inline: it is a part of a page; else it stands alone, with its title
    """
    last, llr = path[-1]
    ratios = [ratio for _, ratio in path]
    room = 0.12 * (accept_at - reject_at)
    x = axis(0.0, max(last, 1), _LEFT, WIDTH - _RIGHT)
    low, high = min(reject_at, *ratios) - room, max(accept_at, *ratios) + room
    y = axis(low, high, _LLR_BOTTOM, _TOP)
    line = "L".join(f"{x(pairs):g} {y(ratio):g}" for pairs, ratio in path)
    parts = [
        _area("accepts", _GOOD, _TOP, y(accept_at)),
        _area("rejects", _BAD, y(reject_at), _LLR_BOTTOM),
        *_across([value for value in ticks(low, high) if reject_at < value < accept_at], y),
        *_bound("accepts", _GOOD, y(accept_at), f"accepted at {signed(accept_at, 2)}", above=True),
        *_bound("rejects", _BAD, y(reject_at), f"rejected at {signed(reject_at, 2)}", above=False),
        *_below(x, [value for value in ticks(0, max(last, 1)) if value == int(value)], _LLR_BOTTOM + 18, "pairs"),
        f'<path class="course" fill="none" stroke="{_LINE}" stroke-width="2" stroke-linejoin="round" d="M{line}"/>',
        f'<circle class="at" fill="{_LINE}" cx="{x(last):g}" cy="{y(llr):g}" r="4"/>',
    ]
    words = (
        f"After {last} pairs the log-likelihood ratio is {signed(llr, 2)}. "
        f"At {signed(accept_at, 2)} the test accepts, at {signed(reject_at, 2)} it rejects."
    )
    return svg(
        parts,
        WIDTH,
        _LLR_BOTTOM + 28,
        font=_FONT,
        title=title or "Log-likelihood ratio",
        text=plain(words),
        inline=inline,
    )


def elo_svg(
    value: float | None, lower: float | None, upper: float | None, *, origin: float | None = 0.0, title: str = ""
) -> str:
    """An estimate in its 95 % interval on a scale of Elo, as a part of a page.

    :param lower: where the interval begins; None: it is open there, `upper` likewise
    :param origin: a value that is always shown, such as no difference; None: none
    """
    known = [each for each in (value, lower, upper, origin) if each is not None] or [0.0]
    room = max(5.0, 0.15 * (max(known) - min(known)))
    low, high = min(known) - room, max(known) + room
    x = axis(low, high, _RIGHT, WIDTH - _RIGHT)
    left, right = low if lower is None else lower, high if upper is None else upper
    parts = list(_below(x, ticks(low, high), 98, "", grid=(_TOP, 78)))
    if origin is not None:
        parts.append(f'<path class="zero" stroke="{_SOFT}" stroke-width="1.5" d="M{x(origin):g} {_TOP}V78"/>')
    parts.append(
        f'<rect class="range" fill="{_LINE}" fill-opacity="0.4" x="{x(left):g}" y="56" '
        f'width="{max(x(right) - x(left), 1.0):.1f}" height="8" rx="4"/>'
    )
    parts += [_arrow(x(low), -1)] if lower is None else []
    parts += [_arrow(x(high), 1)] if upper is None else []
    if value is not None:
        parts.append(f'<circle class="at" fill="{_LINE}" cx="{x(value):g}" cy="60" r="6"/>')
    words = f"{'Not known' if value is None else signed(value, 1)}, {interval_words(lower, upper)}."
    return svg(parts, WIDTH, 104, font=_FONT, title=title or "Elo", text=plain(words), inline=True)


def counts_svg(counts: Sequence[int], *, title: str = "") -> str:
    """How many pairs brought 0, 1/2, 1, 3/2 and 2 points, as a part of a page.

    :param counts: five of them
    """
    most, all_ = max(*counts, 1), max(sum(counts), 1)
    wide, apart = 96, 124
    parts = []
    for cell, count in enumerate(counts):
        left, high = 24 + cell * apart, round(84 * count / most, 1)
        middle, points = left + wide / 2, points_text(cell) or "0"
        parts += [
            f'<rect class="cell{cell}" fill="{_LINE}" fill-opacity="{0.25 + 0.15 * cell:.2f}" x="{left}" '
            f'y="{148 - high:g}" width="{wide}" height="{max(high, 1):g}"/>',
            f'<text x="{middle:g}" y="{142 - high:g}" text-anchor="middle">{count}</text>',
            f'<text class="faint" fill="{_SOFT}" x="{middle:g}" y="166" text-anchor="middle">{points}</text>',
        ]
    listed = ", ".join(f"{count} of {points_text(cell) or '0'}" for cell, count in enumerate(counts))
    words = f"Pairs by their points: {listed}; {100 * counts[2] / all_:.0f} % were even."
    return svg(parts, WIDTH, 174, font=_FONT, title=title or "Pairs by points", text=plain(words), inline=True)


def signed(value: float, digits: int) -> str:
    """A number with a real minus: ``−2.94``; zero has no sign."""
    return f"{value:z.{digits}f}".replace("-", "\N{MINUS SIGN}")


def interval_words(lower: float | None, upper: float | None) -> str:
    """An interval whose ends may be open: ``3.1 to 30.2``, ``at least −15.2``, ``at most 3.0``, ``any``."""
    if lower is not None and upper is not None:
        return f"{signed(lower, 1)} to {signed(upper, 1)}"
    if lower is not None:
        return f"at least {signed(lower, 1)}"
    return "any" if upper is None else f"at most {signed(upper, 1)}"


def _area(kind: str, color: str, top: float, bottom: float) -> str:
    return (
        f'<rect class="{kind}" fill="{color}" fill-opacity="0.12" x="{_LEFT}" y="{top:g}" '
        f'width="{WIDTH - _LEFT - _RIGHT}" height="{max(bottom - top, 0.0):.1f}"/>'
    )


def _bound(kind: str, color: str, y: float, words: str, *, above: bool) -> Iterator[str]:
    yield f'<path class="{kind} bound" stroke="{color}" stroke-width="1.5" d="M{_LEFT} {y:g}H{WIDTH - _RIGHT}"/>'
    yield f'<text class="{kind}" fill="{color}" x="{_LEFT + 6}" y="{y - 5 if above else y + 15:g}">{words}</text>'


def _across(values: Sequence[float], y: Callable[[float], float]) -> Iterator[str]:
    for value in values:
        yield f'<path class="line" stroke="{_RULE}" d="M{_LEFT} {y(value):g}H{WIDTH - _RIGHT}"/>'
        yield (
            f'<text class="faint" fill="{_SOFT}" x="{_LEFT - 6}" y="{y(value) + 4:g}" text-anchor="end">'
            f"{_tick(value)}</text>"
        )


def _below(
    x: Callable[[float], float],
    values: Sequence[float],
    y: float,
    unit: str,
    grid: tuple[float, float] | None = None,
) -> Iterator[str]:
    """Numbers below an axis; `unit` follows the last one. `grid`: from where to where a line goes up from each."""
    for value in values:
        at, last = x(value), value == values[-1] and unit
        if grid is not None:
            yield f'<path class="line" stroke="{_RULE}" d="M{at:g} {grid[0]:g}V{grid[1]:g}"/>'
        edge = at > WIDTH - (60 if last else 24)
        yield (
            f'<text class="faint" fill="{_SOFT}" x="{WIDTH - _RIGHT if edge else at:g}" y="{y:g}" '
            f'text-anchor="{"end" if edge else "middle"}">{_tick(value)}{f" {unit}" if last else ""}</text>'
        )


def _arrow(x: float, way: int) -> str:
    """The end of an interval that is open."""
    return f'<path class="at" fill="{_LINE}" d="M{x:g} 53L{x + 9 * way:g} 60L{x:g} 67z"/>'


def _tick(value: float) -> str:
    return f"{value:g}".replace("-", "\N{MINUS SIGN}") if value else "0"
