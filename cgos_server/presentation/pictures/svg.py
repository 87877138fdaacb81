"""What all pictures are made of: the frame of an SVG, texts in it, names and points.

An SVG stands alone, or is a part of a page, which has its title and whose sheet may fill its grounds and inks. Must not
know: what is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from unicodedata import east_asian_width
from xml.sax.saxutils import escape

NAME: Final = 26
"""Letters of a name that are shown; one more is an ellipsis."""

INK: Final = "#222222"
_HEAD: Final = 32
"""What the title takes, which a page has in a heading of its own."""


def svg(parts: Iterable[str], width: int, height: int, font: int, title: str, text: str, inline: bool = False) -> str:
    """A picture.

    :param font: size of what has no size of its own
    :param text: what it shows, for those who cannot see it; escaped already
    :param inline: it is a part of a page, which shows the title itself; else it stands alone
    """
    title = plain(title)
    if inline:
        label = f"{title}. {text}".replace('"', "&quot;")
        return (
            f'<svg class="picture" viewBox="0 {_HEAD} {width} {height - _HEAD}" width="{width}" '
            f'height="{height - _HEAD}" role="group" aria-label="{label}" font-size="{font}" fill="currentColor">\n'
            + "\n".join(parts)
            + "\n</svg>\n"
        )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'role="img" aria-labelledby="title text" font-family="sans-serif" font-size="{font}" fill="{INK}">',
            f'<title id="title">{title}</title>',
            f'<desc id="text">{text}</desc>',
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
            f'<text x="8" y="24" font-size="16" font-weight="bold">{title}</text>',
            *parts,
            "</svg>\n",
        ]
    )


def linked(address: str, part: str) -> str:
    """A part of a picture that leads somewhere; what it is called stands in it."""
    return f'<a href="{quoted(address)}">{part}</a>'


def quoted(text: str) -> str:
    """Text for an attribute between double quotes."""
    return plain(text).replace('"', "&quot;")


def plain(text: str) -> str:
    """Text for an XML document: what cannot be printed becomes a question mark."""
    return escape("".join(letter if letter.isprintable() else "?" for letter in text))


def width_of(text: str) -> int:
    """About how wide a text is, in letters of the Latin alphabet."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def points_text(halves: int) -> str:
    """Half points as ``1½``, ``½`` or ``2``."""
    whole, half = divmod(halves, 2)
    return f"{whole or ''}½" if half else str(whole)


def shortened(name: str) -> str:
    """A name of at most `NAME` letters, or its beginning and an ellipsis."""
    return name if len(name) <= NAME else name[:NAME] + "…"
