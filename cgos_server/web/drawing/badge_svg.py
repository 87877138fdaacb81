"""A badge: two words side by side in a small SVG picture, as READMEs and forum signatures show them.

Nothing in it comes from elsewhere, no script, no style sheet; whatever the words are, they are only words. Must not
know: ratings, HTTP.
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

STYLES: Final = ("flat", "square", "plain", "large")
"""Rounded, with corners, without the dark field on the left, and twice as high."""

COLORS: Final = {"known": "#2c6e49", "provisional": "#8a5a00", "none": "#5f6368", "rejected": "#9a3324"}
"""What the right field's color says: a settled rating or a yes, a provisional rating, neither, a no. White letters
have a contrast of at least 5 to 1 on each."""

LONGEST: Final = 40
"""Letters of a field; what is longer is cut."""

_DARK: Final = "#3a3d42"
_NARROW: Final = frozenset("fijlrtI.,:;|!'() -")
_WIDE: Final = frozenset("mwMW@%±–")


def badge_svg(left: str, right: str, color: str = "none", style: str = "flat") -> str:
    """The picture.

    :param left: what the badge is about; left out by the style ``plain``
    :param color: a key of :data:`COLORS`
    :param style: one of :data:`STYLES`
    """
    left, right = clean(left), clean(right)
    high = 32 if style == "large" else 20
    size = high * 11 / 20
    first = 0.0 if style == "plain" else _width(left, size) + size
    second = _width(right, size) + size
    whole = first + second
    title = right if style == "plain" else f"{left}: {right}"
    radius = 0 if style == "square" else 3
    parts = [
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
            'aria-label="{title}"><title>{title}</title>'
            '<clipPath id="r"><rect width="{w}" height="{h}" rx="{radius}"/></clipPath><g clip-path="url(#r)">'
        ).format(w=f"{whole:.1f}", h=high, title=title, radius=radius)
    ]
    if first:
        parts.append(Markup('<rect width="{:.1f}" height="{}" fill="{}"/>').format(first, high, _DARK))
    parts.append(
        Markup('<rect x="{:.1f}" width="{:.1f}" height="{}" fill="{}"/></g>').format(
            first, second, high, COLORS.get(color, COLORS["none"])
        )
    )
    parts.append(
        Markup('<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="{:g}">').format(size)
    )
    for word, at, width in ((left, 0.0, first), (right, first, second)):
        if width:
            parts.append(
                Markup(
                    '<text x="{:.1f}" y="{:.1f}" textLength="{:.1f}" lengthAdjust="spacingAndGlyphs">{}</text>'
                ).format(at + size / 2, high * 0.7, width - size, word)
            )
    parts.append(Markup("</g></svg>"))
    return "".join(parts)


def clean(word: str) -> str:
    """At most :data:`LONGEST` letters, of which none turns the text round or breaks an XML file; never empty."""
    shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in word).strip()
    return (shown if len(shown) <= LONGEST else shown[: LONGEST - 1] + "…") or "–"


def _width(word: str, size: float) -> float:
    """About how wide it is; the picture says so to whoever draws it, so that no font can break its field."""
    return sum(0.4 if letter in _NARROW else 0.95 if letter in _WIDE else 0.65 for letter in word) * size
