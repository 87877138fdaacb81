"""Pictures for links in messages and forums (Open Graph, 1200 by 630 points): a board, a rating, the top of a venue.

Drawn by Pillow with the one font that it brings along; letters that this font lacks become ``?``. Pillow is imported
when the first picture is asked for. A picture takes a tenth of a second: call this in a thread. Must not know: the
database, HTTP.
"""

from __future__ import annotations

import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import COLUMNS
from cgos_server.web.drawing.board_svg import star_points

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont

WIDTH: Final = 1200
HEIGHT: Final = 630

_PAPER, _INK, _SOFT, _LINE = "#f7f4ec", "#1b1b1b", "#5d5a52", "#d8d0bd"
_WOOD, _GRID = "#e6c88c", "#6b5327"
_STONES: Final = ("#1b1b1b", "#fdfdfb")
_MARGIN: Final = 60
_FINER: Final = 2
"""Boards are drawn so many times as large and made smaller, which rounds their edges."""


class Line(NamedTuple):
    """A line of a list: what stands on the left, and what on the right."""

    left: str
    right: str


def board_card(
    size: int, stones: Mapping[str, Color], last: str | None, heading: Sequence[str], text: Sequence[str], place: str
) -> bytes:
    """A position with words beside it, as PNG.

    :param size: board edge in points, 2-25
    :param stones: color by vertex
    :param last: vertex of the last move, None for none or a pass
    :param heading: lines in large letters
    :param text: lines below them
    :param place: the server's name
    """
    image, draw = _paper()
    edge = HEIGHT - 2 * 35
    image.paste(_board(edge, size, stones, last), (35, 35))
    left = edge + 35 + 50
    top = 70.0
    for line in heading:
        top += _fitted(draw, (left, top), word=line, size=56, room=WIDTH - left - 40, ink=_INK) + 18
    top += 20
    for line in text:
        top += _fitted(draw, (left, top), word=line, size=32, room=WIDTH - left - 40, ink=_SOFT) + 14
    _fitted(draw, (left, HEIGHT - 75), word=place, size=28, room=WIDTH - left - 40, ink=_SOFT)
    return _png(image)


def name_card(name: str, value: str, text: Sequence[str], place: str) -> bytes:
    """A name and a rating, as PNG.

    :param value: ``1873 ± 42``; may be empty
    """
    image, draw = _paper()
    room = WIDTH - 2 * _MARGIN
    _fitted(draw, (_MARGIN, 90), word=name, size=96, room=room, ink=_INK)
    _fitted(draw, (_MARGIN, 240), word=value, size=110, room=room, ink="#2c6e49")
    top = 400.0
    for line in text:
        top += _fitted(draw, (_MARGIN, top), word=line, size=36, room=room, ink=_SOFT) + 16
    _fitted(draw, (_MARGIN, HEIGHT - 75), word=place, size=28, room=room, ink=_SOFT)
    return _png(image)


def list_card(title: str, lines: Sequence[Line], text: str, place: str) -> bytes:
    """A list of at most five under a title, as PNG."""
    image, draw = _paper()
    room = WIDTH - 2 * _MARGIN
    _fitted(draw, (_MARGIN, 50), word=title, size=72, room=room, ink=_INK)
    _fitted(draw, (_MARGIN, 140), word=text, size=30, room=room, ink=_SOFT)
    for row, line in enumerate(lines[:5]):
        top = 205 + 68 * row
        draw.line((_MARGIN, top, WIDTH - _MARGIN, top), fill=_LINE, width=2)
        shown, font = _words(line.right, 40, room * 0.4)
        draw.text((WIDTH - _MARGIN, top + 10), shown, _INK, font, anchor="ra")
        _fitted(draw, (_MARGIN, top + 10), word=f"{row + 1}  {line.left}", size=40, room=room * 0.58, ink=_INK)
    _fitted(draw, (_MARGIN, HEIGHT - 65), word=place, size=28, room=room, ink=_SOFT)
    return _png(image)


def plain(word: str) -> str:
    """The word in letters that the font has: without accents where it lacks them, ``?`` for what has no likeness."""
    likened = unicodedata.normalize("NFKD", word.translate(_LIKENESS))
    return "".join(
        letter if letter in _KNOWN else "?" for letter in likened if not unicodedata.category(letter).startswith("M")
    )


_KNOWN: Final = frozenset(map(chr, range(0x20, 0x7F))) | frozenset("±·…")
_LIKENESS: Final = {ord("×"): "x", ord("–"): "-", ord("—"): "-", ord("ß"): "ss", ord("æ"): "ae", ord("ø"): "o"}


def _paper() -> tuple[Image, ImageDraw]:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH, HEIGHT), _PAPER)
    return image, ImageDraw.Draw(image)


def _png(image: Image) -> bytes:
    written = io.BytesIO()
    # Few colors, and edges in between: a palette of 64 is not told from the whole, and is a third as large.
    image.quantize(64).save(written, "PNG", optimize=True)
    return written.getvalue()


def _font(size: float) -> FreeTypeFont:
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):  # a Pillow that was built without FreeType
        raise OSError("Pillow has no scalable font")
    return font


def _words(word: str, size: float, room: float) -> tuple[str, FreeTypeFont]:
    """The text and the font in which it fits: smaller letters first, down to three fifths, then fewer."""
    shown = plain(word)[:200]
    font = _font(size)
    if font.getlength(shown) > room:
        font = _font(max(size * 0.6, size * room / font.getlength(shown)))
    if font.getlength(shown) > room:
        while shown and font.getlength(shown + "…") > room:
            shown = shown[:-1]
        shown += "…"
    return shown, font


def _fitted(draw: ImageDraw, at: tuple[float, float], word: str, size: float, room: float, ink: str) -> float:
    """Draw it in the room there is; how high the line is."""
    shown, font = _words(word, size, room)
    draw.text(at, shown, ink, font)
    return size


def _board(edge: int, size: int, stones: Mapping[str, Color], last: str | None) -> Image:
    from PIL import Image, ImageDraw

    full = edge * _FINER
    image = Image.new("RGB", (full, full), _WOOD)
    draw = ImageDraw.Draw(image)
    cell = full / (size + 0.4)
    first = cell * 0.7

    def place(name: str) -> tuple[float, float]:
        return first + cell * COLUMNS.index(name[0]), first + cell * (size - int(name[1:]))

    def disc(name: str, radius: float, fill: str | None, outline: str | None = None, width: int = 1) -> None:
        x, y = place(name)
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill, outline, width)

    end = first + cell * (size - 1)
    for index in range(size):
        at = first + cell * index
        draw.line((first, at, end, at), fill=_GRID, width=2 * _FINER)
        draw.line((at, first, at, end), fill=_GRID, width=2 * _FINER)
    for dot in star_points(size):
        disc(dot, cell * 0.11, _GRID)
    for name, color in stones.items():
        disc(name, cell * 0.48, fill=_STONES[color], outline=_STONES[0], width=_FINER)
    if last is not None and last in stones:
        disc(last, cell * 0.2, fill=None, outline=_STONES[stones[last].other], width=3 * _FINER)
    return image.resize((edge, edge), Image.Resampling.LANCZOS)
