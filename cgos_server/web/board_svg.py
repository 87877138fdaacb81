"""A Go board as an SVG picture: grid, star points, coordinates, stones, a mark on the last move, words for the blind.

Colours are classes that the style sheet fills, with attributes for where there is none; nothing is inline, so that a
strict content policy holds. Must not know: rules, games, where the stones come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from markupsafe import Markup

from cgos_server.core.games.base import Color
from cgos_server.core.games.go_rules import handicap
from cgos_server.core.games.notation import COLUMNS

CELL: Final = 40
"""Distance between two lines, in the picture's units."""

_MARGIN: Final = 44
_RADIUS: Final = 19
_FILL: Final = ("#1b1b1b", "#fdfdfb")


def star_points(size: int) -> tuple[str, ...]:
    """Vertices of the customary dots: none below 7 lines, on even boards the corners only."""
    if size < 7:
        return ()
    return handicap(size, 4 if size % 2 == 0 or size < 9 else 5 if size < 17 else 9).black


def board_svg(size: int, stones: Mapping[str, Color], last: str | None, title: str, description: str) -> Markup:
    """The picture.

    :param size: board edge in points, 2-25
    :param stones: color by vertex (``D4``)
    :param last: vertex of the last move, None for none or a pass
    :param title: short, for people who cannot see the picture
    :param description: a sentence or two for them
    """
    return Markup("").join(_parts(size, stones, last, title, description))


def _parts(size: int, stones: Mapping[str, Color], last: str | None, title: str, description: str) -> Iterator[Markup]:
    edge = CELL * (size - 1)
    full = edge + 2 * _MARGIN
    yield Markup(
        f'<svg class="board" viewBox="0 0 {full} {full}" role="img" aria-labelledby="board-title board-text">'
        '<title id="board-title">{}</title><desc id="board-text">{}</desc>'
        f'<rect class="wood" width="{full}" height="{full}" rx="6" fill="#e6c88c"/>'
    ).format(title, description)
    yield Markup(f'<path class="grid" fill="none" stroke="#6b5327" stroke-linecap="square" d="{_grid(size, edge)}"/>')
    yield Markup('<g class="star" fill="#6b5327">')
    for dot in star_points(size):
        x, y = _place(dot, size)
        yield Markup(f'<circle cx="{x}" cy="{y}" r="4"/>')
    yield Markup('</g><g class="names" fill="#6b5327" font-size="15" text-anchor="middle" aria-hidden="true">')
    for index in range(size):
        x, y = _place(f"{COLUMNS[index]}{index + 1}", size)
        yield Markup(f'<text x="{x}" y="{full - 8}">{COLUMNS[index]}</text><text x="14" y="{y + 5}">{index + 1}</text>')
    yield Markup("</g>")
    for name, color in stones.items():
        x, y = _place(name, size)
        yield Markup(
            f'<circle class="{color.letter}" cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_FILL[color]}" stroke="#1b1b1b"/>'
        )
    if last is not None and last in stones:
        x, y = _place(last, size)
        color = stones[last]
        yield Markup(
            f'<circle class="last {color.letter}" cx="{x}" cy="{y}" r="8" fill="none"'
            f' stroke="{_FILL[color.other]}" stroke-width="3"/>'
        )
    yield Markup("</svg>")


def _place(name: str, size: int) -> tuple[int, int]:
    """Where a vertex lies in the picture."""
    return _MARGIN + CELL * COLUMNS.index(name[0]), _MARGIN + CELL * (size - int(name[1:]))


def _grid(size: int, edge: int) -> str:
    offsets = [_MARGIN + CELL * index for index in range(size)]
    return "".join(f"M{_MARGIN} {at}h{edge}M{at} {_MARGIN}v{edge}" for at in offsets)
