"""The rows of standings as HTML.

Written in Python and not as a template: hundreds of rows a page, and many pages a second. What stands in a row is what
`parts.html` writes in short tables. Must not know: which versions are shown, in which order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from markupsafe import Markup, escape

from cgos_protocol.api.messages import Standing
from cgos_server.presentation import ranks, words
from cgos_server.presentation.ranks import Alike
from cgos_server.web.drawing.interval_svg import Scale, beside_rating, standing_interval

_ANCHOR: Final = '<abbr title="anchor: its rating is fixed">=</abbr>'
_PROVISIONAL: Final = '<abbr title="provisional: not settled yet">?</abbr>'


def standing_rows(
    rows: Iterable[Standing], on: Scale, now_ms: int, ranked: Mapping[str, Alike] | None = None, ruled: bool = False
) -> Markup:
    """One row a version: place, what is said of it where anything is, name, rating, interval where the system says one,
    games, last game.

    :param ranked: from whom each version cannot be told apart; None where nothing is said of ranks
    :param ruled: the rows stand by place: a rule is drawn between neighbors that are told apart
    """
    return Markup("".join(_row(row, on, now_ms=now_ms, ranked=ranked, ruled=ruled) for row in rows))


def _rank(row: Standing, ranked: Mapping[str, Alike] | None) -> str:
    """The cell with the interval of a rank."""
    if ranked is None:
        return ""
    odds, alike = ranks.odds(row), ranked.get(row.version)
    if not odds:
        return '<td class="n sureness wide" data-v=""></td>'
    if alike is not None and alike.last > alike.first:
        odds += f"; not to be told apart from some of its neighbors of places {alike.first} to {alike.last}"
    return (
        f'<td class="n sureness wide" data-v="{row.rank_upper}"><abbr title="{escape(odds)}">'
        f"{ranks.interval(row)}</abbr></td>"
    )


def _row(row: Standing, on: Scale, now_ms: int, ranked: Mapping[str, Alike] | None, ruled: bool) -> str:
    alike = ranked.get(row.version) if ranked is not None and ruled else None
    rule = ' class="apart"' if alike is not None and alike.apart else ""
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
        f'<tr{rule} data-name="{name}"><td class="n rank">{"" if row.rank is None else row.rank}</td>'
        f"{_rank(row, ranked)}"
        f'<td><a href="/bot/{quote(row.version, safe="")}">{name}</a></td>'
        f'<td class="n rating" data-v="{row.mean}">{row.mean:.0f}<span class="mark">{mark}</span>{beside}</td>'
        f"{interval}"
        f'<td class="n">{row.games}</td><td class="when wide" data-v="{"" if at is None else at}">{last}</td></tr>\n'
    )
