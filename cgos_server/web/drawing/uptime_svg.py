"""When somebody was there, as a strip from left to right.

Pure; colors are classes that the style sheet fills. Must not know: who it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup

WIDTH: Final = 480
_HEIGHT: Final = 16
_LEAST: Final = 1.6
"""What is narrower is drawn so wide, or nobody would see it."""


def uptime_svg(spans: Iterable[tuple[int, int]], since: int, until: int, words: str) -> Markup:
    """The strip of the time between `since` and `until`; `words` says the same to people who cannot see it.

    :param spans: beginnings and ends, Unix milliseconds, in any order
    """
    parts = [
        Markup('<svg class="uptime" viewBox="0 0 {} {}" role="img" aria-label="{}">').format(WIDTH, _HEIGHT, words),
        Markup('<rect class="off" width="{}" height="{}" rx="3"/>').format(WIDTH, _HEIGHT),
    ]
    drawn = -1.0
    for begin, end in sorted(spans):
        left = WIDTH * (max(begin, since) - since) / (until - since)
        right = WIDTH * (min(end, until) - since) / (until - since)
        if right < 0 or right <= drawn or left >= WIDTH or drawn >= WIDTH:
            continue
        left = max(drawn, min(left, WIDTH - _LEAST))
        width = min(max(right - left, _LEAST), WIDTH - left)
        parts.append(Markup('<path class="on" d="M{:.1f} 0h{:.1f}v{}h-{:.1f}z"/>').format(left, width, _HEIGHT, width))
        drawn = left + width
    return Markup("").join([*parts, Markup("</svg>")])
