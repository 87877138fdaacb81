"""The rows of standings as HTML.

Written in Python and not as a template: hundreds of rows a page, and many pages a second. What stands in a row is what
`parts.html` writes in short tables. Must not know: which versions are shown, in which order.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from markupsafe import Markup, escape

from cgos_protocol.api.messages import Standing
from cgos_server.presentation import words
from cgos_server.web.drawing.interval_svg import Scale, beside_rating, standing_interval

_ANCHOR: Final = '<abbr title="anchor: its rating is fixed">=</abbr>'
_PROVISIONAL: Final = '<abbr title="provisional: too few games to trust it">?</abbr>'


def standing_rows(rows: Iterable[Standing], on: Scale, now_ms: int) -> Markup:
    """One row a version: place, name, rating, interval where the system says one, games, last game."""
    return Markup("".join(_row(row, on, now_ms) for row in rows))


def _row(row: Standing, on: Scale, now_ms: int) -> str:
    name = escape(row.version)
    mark = _ANCHOR if row.anchor else _PROVISIONAL if row.provisional else ""
    beside = beside_rating(row)
    width = row.half_width
    interval = "" if width is None else f'<td class="wide" data-v="{width}">{standing_interval(on, row)}</td>'
    last, at = "", row.last_game_at
    if at is not None:
        last = (
            f'<time datetime="{words.machine_moment(at)}" title="{words.moment(at)} UTC">{words.ago(at, now_ms)}</time>'
        )
    return (
        f'<tr data-name="{name}"><td class="n rank">{"" if row.rank is None else row.rank}</td>'
        f'<td><a href="/bot/{quote(row.version, safe="")}">{name}</a></td>'
        f'<td class="n rating" data-v="{row.mean}">{row.mean:.0f}<span class="mark">{mark}</span>{beside}</td>'
        f"{interval}"
        f'<td class="n">{row.games}</td><td class="when wide" data-v="{"" if at is None else at}">{last}</td></tr>\n'
    )
