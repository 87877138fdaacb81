"""Pages of one event besides its own: all standings, the crosstable, rounds, games, entrants, the log, its feed.

Must not know: SQL, how anything is paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_server.presentation.events import answers
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.pictures.svg import linked
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import AFTER, BEFORE
from cgos_server.tournaments.standings.crosstable import Cell, CrossRow
from cgos_server.web.events import views
from cgos_server.web.events.event_page import crosstable_picture, made_of, page_of, record_of
from cgos_server.web.pages.requests import number
from cgos_server.web.people.feeds import FeedEntry, feed
from cgos_server.web.site import Pages, Site, event_path

PICTURED: Final = 150
"""Entrants up to which the crosstable is drawn pair by pair; beyond, its cells cannot be told apart."""

BY_ROUNDS: Final = 100
"""Lines of the crosstable by rounds on one page."""

NAMED: Final = 60
"""Games that an address may name."""

FED: Final = 50
_TOLD: Final = (
    log.Announced,
    log.Opened,
    log.Forbidden,
    log.Lifted,
    log.Closed,
    log.Started,
    log.Paired,
    log.Ruled,
    log.TakenBack,
    log.Paused,
    log.Resumed,
    log.Extended,
    log.Finished,
    log.Cancelled,
)
"""What the feed of an event tells; entries and single games are on its page."""


def _shown(site: Site, template: str, record: EventRecord, **values: Any) -> Response:
    return site.render(
        f"events/{template}.html",
        refresh=record.state.phase not in AFTER,
        here="/events",
        name=record.state.settings.name,
        event=answers.summary(record),
        **values,
    )


async def standings(site: Site, request: Request) -> Response:
    """Everybody who started, best first."""
    record = await record_of(site, request.path_params["event"])
    table = record.standings
    shown = views.portion(table.rows, page_of(request))
    return _shown(
        site,
        "standings",
        record,
        order=[views.head(word) for word in table.order],
        rows=views.standing_lines(record, shown.rows),
        portion=shown,
        remark=table.remark,
    )


async def cross(site: Site, request: Request) -> Response:
    """Who met whom: as a picture pair by pair where that can be read, and by rounds."""
    shown = await made_of(site, request.path_params["event"], partial(_cross, page=page_of(request)))
    return _shown(site, "crosstable", **shown)


def _cross(record: EventRecord, page: int) -> dict[str, Any]:
    """What its page shows."""
    table = record.results.crosstable
    shown = views.portion(table.rows, page, BY_ROUNDS)
    return {
        "record": record,
        "picture": crosstable_picture(record) if len(table.rows) <= PICTURED else None,
        "heads": range(1, table.rounds + 1),
        "rows": _lines(record, shown.rows),
        "portion": shown,
        "first": "".join(map(views.head, table.order[:1])),
    }


def _lines(record: EventRecord, rows: Sequence[CrossRow]) -> list[tuple[CrossRow, list[Markup], str]]:
    """Of each row: the row, of each round its cells with where they lead, and the first value of the standings."""
    links = views.cell_links(record, record.results.crosstable, rows)
    return [
        (row, [_cells(row, cells, links) for cells in row.rounds], "".join(map(views.figure, row.values[:1])))
        for row in rows
    ]


def _cells(row: CrossRow, cells: Sequence[Cell], links: Mapping[tuple[int, int], str]) -> Markup:
    """The cells of one round, made here since a large table has thousands."""
    return Markup(" ").join(
        Markup(linked(links[row.number, cell.opponent], cell.text) if cell.opponent else cell.text) for cell in cells
    )


async def rounds(site: Site, request: Request) -> Response:
    """All rounds, the latest first: those with few games whole."""
    record = await record_of(site, request.path_params["event"])
    begun = len(record.state.event.rounds)
    shown = views.portion(range(begun, 0, -1), page_of(request), max(1, 200 // max(1, _widest(record))))
    return _shown(
        site,
        "rounds",
        record,
        rounds=[views.pairings(record, at) for at in shown.rows],
        most=views.ROWS,
        portion=shown,
    )


def _widest(record: EventRecord) -> int:
    return max((len(each.games) for each in record.state.event.rounds), default=1)


async def games(site: Site, request: Request) -> Response:
    """Some games of it: those that the address names by their numbers in the event."""
    record = await record_of(site, request.path_params["event"])
    wanted = {number(text) for text in request.query_params.getlist("n")[:NAMED]} - {None}
    chosen = [(at, game) for at, game in record.state.event.games if game.id in wanted]
    if not chosen:
        raise HTTPException(404, "This event has no such game. It may have been taken back: the event's log says so.")
    return _shown(
        site,
        "games",
        record,
        games=[views.shown(answers.game(record, at, game), record.state.phase) for at, game in chosen],
        rounds=sorted({at for at, _ in chosen}),
    )


async def entrants(site: Site, request: Request) -> Response:
    """Who has entered."""
    record = await record_of(site, request.path_params["event"])
    shown = views.portion(answers.entrants(record), page_of(request))
    return _shown(
        site,
        "entrants",
        record,
        rows=shown.rows,
        portion=shown,
        started=record.state.phase not in BEFORE,
    )


async def whole_log(site: Site, request: Request) -> Response:
    """Everything that happened, the latest first."""
    record = await record_of(site, request.path_params["event"])
    shown = views.portion(range(len(record.entries) - 1, -1, -1), page_of(request))
    return _shown(
        site,
        "log",
        record,
        rows=[(record.entries[at], record.sentences[at]) for at in shown.rows],
        portion=shown,
    )


async def feed_of_one(site: Site, request: Request) -> Response:
    """What happened in it, but for entries and single games."""
    record = await record_of(site, request.path_params["event"])
    name = record.state.settings.name
    page = event_path(name)
    incarnation = await site.history.server.incarnation()
    entries = [
        FeedEntry(
            path=f"{page}/log",
            id=f"{page}#entry-{entry.seq}{incarnation.suffix}",
            at=entry.at,
            title=f"{name}: {log.kind_of(entry.said).replace('-', ' ')}",
            summary=said,
        )
        for entry, said in zip(reversed(record.entries), reversed(record.sentences), strict=True)
        if isinstance(entry.said, _TOLD)
    ]
    return feed(site, request, name, page=page, own=f"{page}/feed.atom", entries=entries[:FED])


PAGES: Final[Pages] = {
    "/events/{event}/standings": standings,
    "/events/{event}/crosstable": cross,
    "/events/{event}/rounds": rounds,
    "/events/{event}/games": games,
    "/events/{event}/entrants": entrants,
    "/events/{event}/log": whole_log,
    "/events/{event}/feed.atom": feed_of_one,
}
