"""What both bots of a game thought of it, move by move, as an SVG picture: a curve for each, and between them an area
where they did not agree.

Colors are classes that the style sheet fills. Must not know: what is drawn, where the figures come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from markupsafe import Markup

WIDTH: Final = 600
HEIGHT: Final = 110


def curves_svg(
    black: Mapping[int, float],
    white: Mapping[int, float],
    *,
    plies: int,
    ply: int,
    bound: float,
    kind: str,
    title: str,
) -> Markup:
    """The picture; upwards is good for Black.

    :param black: ply -> what Black's bot thought, from -`bound` to `bound`; `white` likewise, of the same thing
    :param plies: moves on the whole width
    :param ply: where the cursor is
    :param kind: a class for the style sheet and for scripts
    :param title: for people who cannot see it
    """
    return Markup(
        '<svg class="curves {kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{title}"'
        ' preserveAspectRatio="none" data-bound="{bound:g}">'
        '<path class="apart" d="{apart}"/>'
        '<path class="even" d="M0 {middle}H{width}"/>'
        '<path class="curve b" d="{black}"/><path class="curve w" d="{white}"/>'
        '<path class="cursor" d="M{cursor:g} 0V{height}"/></svg>'
    ).format(
        kind=kind,
        width=WIDTH,
        height=HEIGHT,
        title=title,
        bound=bound,
        apart=apart(black, white, plies, bound),
        middle=HEIGHT // 2,
        black=curve(black, plies, bound),
        white=curve(white, plies, bound),
        cursor=_x(ply, plies),
    )


def curve(values: Mapping[int, float], plies: int, bound: float) -> str:
    """The line through these values, as the `d` of a path."""
    places = [f"{_x(ply, plies):g} {_y(value, bound):g}" for ply, value in sorted(values.items())]
    return "M" + "L".join(places) if places else ""


def apart(one: Mapping[int, float], other: Mapping[int, float], plies: int, bound: float) -> str:
    """The area between two lines, each going straight from value to value, where both are drawn."""
    if not one or not other:
        return ""
    first, last = max(min(one), min(other)), min(max(one), max(other))
    at = sorted(ply for ply in {*one, *other} if first <= ply <= last)
    if len(at) < 2:
        return ""
    there = [f"{_x(ply, plies):g} {_y(_between(one, ply), bound):g}" for ply in at]
    back = [f"{_x(ply, plies):g} {_y(_between(other, ply), bound):g}" for ply in reversed(at)]
    return "M" + "L".join(there + back) + "Z"


def _between(values: Mapping[int, float], ply: int) -> float:
    """The line's value at `ply`, which lies between its ends."""
    if ply in values:
        return values[ply]
    before = max(at for at in values if at < ply)
    after = min(at for at in values if at > ply)
    share = (ply - before) / (after - before)
    return values[before] + share * (values[after] - values[before])


def _x(ply: int, plies: int) -> float:
    return round(WIDTH * ply / max(plies, 1), 1)


def _y(value: float, bound: float) -> float:
    share = min(max(value / bound, -1.0), 1.0)
    return round(HEIGHT / 2 - share * (HEIGHT / 2 - 3), 1)
