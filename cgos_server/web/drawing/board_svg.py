"""A Go board as an SVG picture: grid, star points, coordinates, stones, a mark on the last move, words for the blind;
besides, where they are known, whose each point will be and which moves were considered.

What stands on the board is in groups of their own, so that a script can put other stones on the same grid. Colors are
classes that the style sheet fills, with attributes for where there is none; nothing is inline, so that a strict content
policy holds. Must not know: rules, games, where the stones come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from markupsafe import Markup

from cgos_protocol.games.base import Color
from cgos_protocol.games.go_rules import handicap
from cgos_protocol.games.notation import COLUMNS

CELL: Final = 40
"""Distance between two lines, in the picture's units."""

_MARGIN: Final = 44
_SMALL_MARGIN: Final = 24
_RADIUS: Final = 19
_FILL: Final = ("#1b1b1b", "#fdfdfb")
_LEAST_OWNED: Final = 0.08
_MANY_LINES: Final = 14
"""From so many on a board is drawn so small that what is written on it has to be larger."""


class Proposal(NamedTuple):
    """A move that was considered.

    :ivar letter: what it goes by
    :ivar words: a figure or two, in few characters; may be empty
    """

    vertex: str
    letter: str
    words: str


def star_points(size: int) -> tuple[str, ...]:
    """Vertices of the customary dots: none below 7 lines, on even boards the corners only."""
    if size < 7:
        return ()
    return handicap(size, 4 if size % 2 == 0 or size < 9 else 5 if size < 17 else 9).black


def board_svg(
    size: int,
    stones: Mapping[str, Color],
    last: str | None,
    title: str,
    description: str,
    *,
    numbers: Mapping[str, int] | None = None,
    owners: Mapping[str, float] | None = None,
    proposals: Sequence[Proposal] = (),
) -> Markup:
    """The picture.

    :param size: board edge in points, 2-25
    :param stones: color by vertex (``D4``)
    :param last: vertex of the last move, None for none or a pass
    :param title: short, for people who cannot see the picture
    :param description: a sentence or two for them
    :param numbers: vertex -> the move that put the stone there, to be written on it
    :param owners: vertex -> whose it will be, from -1 (White's) to 1 (Black's)
    :param proposals: moves to be shown on points without a stone
    """
    full = _full(size, _MARGIN)
    return Markup("").join(
        (
            Markup(
                '<svg class="board" viewBox="0 0 {full} {full}" role="img" aria-labelledby="board-title board-text"'
                ' data-size="{size}" data-cell="{cell}" data-margin="{margin}">'
                '<title id="board-title">{title}</title><desc id="board-text">{description}</desc>'
            ).format(full=full, size=size, cell=CELL, margin=_MARGIN, title=title, description=description),
            *_ground(size, _MARGIN),
            *_names(size),
            *_stones(size, _MARGIN, stones, last if not numbers else None),
            *_owners(size, owners or {}, stones),
            *_numbers(size, numbers or {}, stones, last),
            *_proposals(size, proposals, stones),
            Markup("</svg>"),
        )
    )


def small_board_svg(size: int, stones: Mapping[str, Color], last: str | None, title: str) -> Markup:
    """A picture without coordinates, for many on a page. `title`: for people who cannot see it."""
    full = _full(size, _SMALL_MARGIN)
    return Markup("").join(
        (
            Markup(
                '<svg class="board small" viewBox="0 0 {full} {full}" role="img" aria-label="{title}"'
                ' data-size="{size}" data-cell="{cell}" data-margin="{margin}">'
            ).format(full=full, title=title, size=size, cell=CELL, margin=_SMALL_MARGIN),
            *_ground(size, _SMALL_MARGIN),
            *_stones(size, _SMALL_MARGIN, stones, last),
            Markup("</svg>"),
        )
    )


def _full(size: int, margin: int) -> int:
    return CELL * (size - 1) + 2 * margin


def _ground(size: int, margin: int) -> Iterator[Markup]:
    """Wood, lines and dots."""
    full = _full(size, margin)
    yield Markup(f'<rect class="wood" width="{full}" height="{full}" rx="6" fill="#e6c88c"/>')
    grid = _grid(size, margin)
    yield Markup(f'<path class="grid" fill="none" stroke="#6b5327" stroke-linecap="square" d="{grid}"/>')
    yield Markup('<g class="star" fill="#6b5327">')
    for dot in star_points(size):
        x, y = _place(dot, size, margin)
        yield Markup(f'<circle cx="{x}" cy="{y}" r="4"/>')
    yield Markup("</g>")


def _names(size: int) -> Iterator[Markup]:
    full = _full(size, _MARGIN)
    letters = 15 if size < _MANY_LINES else 19
    yield Markup(f'<g class="names" fill="#6b5327" font-size="{letters}" text-anchor="middle" aria-hidden="true">')
    for index in range(size):
        x, y = _place(f"{COLUMNS[index]}{index + 1}", size, _MARGIN)
        yield Markup(f'<text x="{x}" y="{full - 8}">{COLUMNS[index]}</text><text x="14" y="{y + 5}">{index + 1}</text>')
    yield Markup("</g>")


def _stones(size: int, margin: int, stones: Mapping[str, Color], last: str | None) -> Iterator[Markup]:
    yield Markup('<g class="stones">')
    for name, color in stones.items():
        x, y = _place(name, size, margin)
        yield Markup(
            f'<circle class="{color.letter}" cx="{x}" cy="{y}" r="{_RADIUS}" fill="{_FILL[color]}" stroke="#1b1b1b"/>'
        )
    if last is not None and last in stones:
        x, y = _place(last, size, margin)
        color = stones[last]
        yield Markup(
            f'<circle class="last {color.letter}" cx="{x}" cy="{y}" r="8" fill="none"'
            f' stroke="{_FILL[color.other]}" stroke-width="3"/>'
        )
    yield Markup("</g>")


def _owners(size: int, owners: Mapping[str, float], stones: Mapping[str, Color]) -> Iterator[Markup]:
    """A square on each point, the larger the surer; not on stones that stay what they are."""
    yield Markup('<g class="owners" aria-hidden="true">')
    for name, owner in owners.items():
        color = Color.BLACK if owner > 0 else Color.WHITE
        if abs(owner) < _LEAST_OWNED or stones.get(name) is color:
            continue
        x, y = _place(name, size, _MARGIN)
        half = round(3 + 9 * min(abs(owner), 1.0), 1)
        yield Markup(
            f'<rect class="{color.letter}" x="{x - half:g}" y="{y - half:g}" width="{2 * half:g}"'
            f' height="{2 * half:g}" fill="{_FILL[color]}"/>'
        )
    yield Markup("</g>")


def _numbers(size: int, numbers: Mapping[str, int], stones: Mapping[str, Color], last: str | None) -> Iterator[Markup]:
    letters = 15 if size < _MANY_LINES else 18
    yield Markup(f'<g class="numbers" font-size="{letters}" text-anchor="middle" aria-hidden="true">')
    for name, number in numbers.items():
        if name in stones:
            x, y = _place(name, size, _MARGIN)
            now = " now" if name == last else ""
            fill = _FILL[stones[name].other]
            yield Markup(f'<text class="{stones[name].letter}{now}" x="{x}" y="{y + 5}" fill="{fill}">{number}</text>')
    yield Markup("</g>")


def _proposals(size: int, proposals: Sequence[Proposal], stones: Mapping[str, Color]) -> Iterator[Markup]:
    yield Markup('<g class="proposals" text-anchor="middle" aria-hidden="true">')
    for rank, proposal in enumerate(proposals):
        if proposal.vertex in stones or proposal.vertex[0] not in COLUMNS or not proposal.vertex[1:].isdecimal():
            continue
        x, y = _place(proposal.vertex, size, _MARGIN)
        best = " best" if rank == 0 else ""
        yield Markup('<g class="proposal{}"><circle cx="{}" cy="{}" r="18" fill="#7db7d8"/>').format(best, x, y)
        base = y if proposal.words else y + 5
        yield Markup('<text x="{}" y="{}" font-size="15">{}</text>').format(x, base, proposal.letter)
        if proposal.words:
            yield Markup('<text x="{}" y="{}" font-size="11">{}</text>').format(x, y + 12, proposal.words)
        yield Markup("</g>")
    yield Markup("</g>")


def _place(name: str, size: int, margin: int) -> tuple[int, int]:
    """Where a vertex lies in the picture."""
    return margin + CELL * COLUMNS.index(name[0]), margin + CELL * (size - int(name[1:]))


def _grid(size: int, margin: int) -> str:
    edge = CELL * (size - 1)
    offsets = [margin + CELL * index for index in range(size)]
    return "".join(f"M{margin} {at}h{edge}M{at} {margin}v{edge}" for at in offsets)
