"""A crosstable as a picture: rows and columns by place, every pair's result as a color and as a figure.

An SVG that stands alone, or a part of a page: then its grounds and inks are classes that the page's sheet may fill, and
cells lead to games. The better the result, the darker the cell, so that it can be read without colors, printed or by
people who do not tell them apart. Must not know: events, files, addresses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from cgos_server.presentation.pictures.svg import INK, linked, plain, points_text, shortened, svg, width_of
from cgos_server.tournaments.standings.crosstable import CrossRow, Crosstable, Pair

_STOPS: Final = ((252, 224, 184), (122, 168, 206), (8, 48, 107))
"""No points, half, all: each darker than the one before."""

_SHADES: Final = 16
_UNKNOWN: Final = "#eeeeee"
_SELF: Final = "#bbbbbb"
_PAPER: Final = "#ffffff"
_BLACK: Final = "#000000"
_LINE: Final = "#cccccc"
_TOP: Final = 44


class Sizes(NamedTuple):
    """In the picture's units.

    :ivar cell: edge of a cell
    :ivar font: of names and heads
    :ivar number: where the rows' numbers end
    :ivar name: where names begin
    :ivar left: where the first column begins
    :ivar top: where the first row begins
    """

    cell: int
    font: int
    number: int
    name: int
    left: int
    top: int


Links = Mapping[tuple[int, int], str]
"""(Row, column) of a crosstable -> an address."""


def crosstable_svg(table: Crosstable, links: Links | None = None) -> str:
    """The picture; the figure in a cell is what the row's entrant made against the column's, over all their games.

    :param links: where cells lead, for a picture that is a part of a page; None: it stands alone
    """
    sizes = _sizes(table)
    count = len(table.rows)
    edge = count * sizes.cell
    width = max(sizes.left + edge + 10, 660)
    height = sizes.top + edge + 56
    over = _links(table, sizes, links or {})
    parts = (*_labels(table, sizes), *_cells(table, sizes), *over, *_legend(sizes.top + edge + 24))
    title, text = table.name or "Crosstable", _description(table)
    return svg(parts, width, height, font=sizes.font, title=title, text=text, inline=links is not None)


def shade(share: float) -> str:
    """The color of a share of the points, 0..1, in one of sixteen steps."""
    step = round(_SHADES * min(max(share, 0.0), 1.0)) / _SHADES * 2
    low = min(int(step), 1)
    mixed = zip(_STOPS[low], _STOPS[low + 1], strict=True)
    return "#" + "".join(f"{round(one + (step - low) * (other - one)):02x}" for one, other in mixed)


def ink(share: float) -> str:
    """The color of figures on :func:`shade`, whichever is easier to read there."""
    return _PAPER if share > 0.7 else _BLACK


def figure(pair: Pair) -> str:
    """What stands in a cell: the letter of the only game, or of several the points and how many counted."""
    if len(pair.text) == 1:
        return "½" if pair.text == "=" else pair.text
    if not pair.games:
        return "?" if "?" in pair.text else "x"
    return f"{points_text(pair.points)}/{pair.games}"


def _sizes(table: Crosstable) -> Sizes:
    count = len(table.rows)
    several = any(len(pair.text) > 1 for pair in table.pairs)
    cell, font, wide = (22, 13, 30) if count <= 30 else (16, 11, 24) if count <= 60 else (12, 9, 20)
    letter = font * 0.62
    number = 12 + round(len(str(count)) * letter)
    name = number + font // 2
    longest = max((width_of(shortened(row.name)) for row in table.rows), default=0)
    made = max((len(_made(row)) for row in table.rows), default=0)
    left = name + round((longest + made + 1) * letter) + 8
    return Sizes(cell=wide if several else cell, font=font, number=number, name=name, left=left, top=_TOP + font + 4)


def _made(row: CrossRow) -> str:
    """The first value of the standings."""
    return "" if not row.values or row.values[0] is None else f"{round(row.values[0], 2):g}"


def _labels(table: Crosstable, sizes: Sizes) -> Iterator[str]:
    """Who the rows are, and the numbers over the columns."""
    heights = [sizes.top + round((at + 0.5) * sizes.cell + sizes.font * 0.36) for at in range(len(table.rows))]
    for anchor, x, shown in (
        ("end", sizes.number, [str(row.number) for row in table.rows]),
        ("start", sizes.name, [shortened(row.name) for row in table.rows]),
        ("end", sizes.left - 6, [_made(row) for row in table.rows]),
    ):
        yield f'<g text-anchor="{anchor}">'
        for y, text in zip(heights, shown, strict=True):
            yield f'<text x="{x}" y="{y}">{plain(text)}</text>'
        yield "</g>"
    yield f'<g text-anchor="middle" font-size="{min(sizes.font, round(sizes.cell * 0.55))}">'
    for at, row in enumerate(table.rows):
        yield f'<text x="{_middle(sizes, at)}" y="{sizes.top - 5}">{row.number}</text>'
    yield "</g>"


def _middle(sizes: Sizes, at: int) -> str:
    return f"{sizes.left + (at + 0.5) * sizes.cell:g}"


def _cells(table: Crosstable, sizes: Sizes) -> Iterator[str]:
    """Colors first, one path each; then figures, those of one letter together for each row."""
    count = len(table.rows)
    colors: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    colors[_SELF] = [(at, at) for at in range(count)]
    figures: list[str] = []
    rows: defaultdict[int, list[Pair]] = defaultdict(list)
    for pair in table.pairs:
        rows[pair.row - 1].append(pair)
        colors[_color(pair)].append((pair.row - 1, pair.column - 1))
    for at, pairs in sorted(rows.items()):
        figures += _figures(at, pairs, sizes)
    for color, places in sorted(colors.items()):
        kind = ' class="self"' if color == _SELF else ""
        yield f'<path{kind} fill="{color}" d="{"".join(_square(row, column, sizes) for row, column in places)}"/>'
    edge = count * sizes.cell
    grid = "".join(
        f"M{sizes.left} {sizes.top + at * sizes.cell}h{edge}M{sizes.left + at * sizes.cell} {sizes.top}v{edge}"
        for at in range(count + 1)
    )
    yield f'<path class="line" fill="none" stroke="{_LINE}" stroke-width="0.5" d="{grid}"/>'
    yield f'<g text-anchor="middle" font-size="{min(14, round(sizes.cell * 0.62))}">'
    yield from figures
    yield "</g>"


def _links(table: Crosstable, sizes: Sizes, links: Links) -> Iterator[str]:
    """Over each cell that leads somewhere, what can be followed there."""
    names = {row.number: row.name for row in table.rows}
    for pair in table.pairs:
        address = links.get((pair.row, pair.column))
        if address is None:
            continue
        x, y = sizes.left + (pair.column - 1) * sizes.cell, sizes.top + (pair.row - 1) * sizes.cell
        said = f"<title>{plain(f'{names[pair.row]} against {names[pair.column]}: {figure(pair)}')}</title>"
        size = f'x="{x}" y="{y}" width="{sizes.cell}" height="{sizes.cell}"'
        yield linked(address, f'<rect class="cell" {size} fill-opacity="0">{said}</rect>')


def _square(row: int, column: int, sizes: Sizes) -> str:
    x, y = sizes.left + column * sizes.cell, sizes.top + row * sizes.cell
    return f"M{x} {y}h{sizes.cell}v{sizes.cell}h-{sizes.cell}z"


def _color(pair: Pair) -> str:
    return shade(_share(pair)) if pair.games else _UNKNOWN


def _share(pair: Pair) -> float:
    """Of the points to be had."""
    return pair.points / (2 * pair.games) if pair.games else 0.0


def _figures(at: int, pairs: Iterable[Pair], sizes: Sizes) -> Iterator[str]:
    y = f"{sizes.top + (at + 0.72) * sizes.cell:g}"
    for color in (_PAPER, _BLACK):
        toned = [pair for pair in pairs if ink(_share(pair)) == color]
        short = [pair for pair in toned if len(figure(pair)) == 1]
        if short:
            # One place for each letter: a tenth of the bytes of a text element a cell.
            places = " ".join(_middle(sizes, pair.column - 1) for pair in short)
            yield f'<text fill="{color}" y="{y}" x="{places}">{"".join(map(figure, short))}</text>'
        for pair in toned:
            shown = figure(pair)
            if len(shown) > 1:
                small = round(sizes.cell * min(0.42, 1.5 / len(shown)))
                x = _middle(sizes, pair.column - 1)
                yield f'<text fill="{color}" y="{y}" x="{x}" font-size="{small}">{shown}</text>'


def _legend(y: int) -> Iterator[str]:
    """What colors and figures mean."""
    yield '<g font-size="12">'
    x = 8
    for color, on_it, mark, words in (
        (shade(1.0), ink(1.0), "1", "won, + by forfeit"),
        (shade(0.5), ink(0.5), "½", "drawn"),
        (shade(0.0), ink(0.0), "0", "lost, - by forfeit"),
        (_UNKNOWN, INK, "?", "no result yet, x void, n no contest"),
        (_PAPER, INK, "", "not met"),
    ):
        kind = ' class="ground"' if color == _PAPER else ""
        yield f'<rect{kind} x="{x}" y="{y - 12}" width="16" height="16" fill="{color}" stroke="{_LINE}"/>'
        yield f'<text x="{x + 8}" y="{y}" fill="{on_it}" text-anchor="middle">{mark}</text>'
        yield f'<text x="{x + 21}" y="{y}">{words}</text>'
        x += 36 + round(len(words) * 5.8)
    words = "Row against column; 1½/2 is one and a half points of two games. The darker, the more."
    yield f'<text x="8" y="{y + 22}">{words}</text>'
    yield "</g>"


def _description(table: Crosstable) -> str:
    words = (
        f"Rows and columns are {len(table.rows)} entrants by place; a cell says what the row made against the column."
    )
    if table.rows:
        best = table.rows[0]
        word = table.order[0] if table.order else ""
        made = f" with {best.values[0]:g} ({word})" if best.values and best.values[0] is not None else ""
        words += f" First is {best.name}{made}."
    return plain(words)
