"""A venue's standings, now and as they were: sorted, searched, filtered, in portions; and its games of now.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cgos_protocol.api.messages import Standing
from cgos_protocol.errors import Code
from cgos_server.core.rating.registry import sure
from cgos_server.presentation import ranks, words
from cgos_server.presentation.answers import after_games
from cgos_server.presentation.settings import VenueSettings
from cgos_server.service.ratings.listed import RETIRED_DAYS, Listing, listing
from cgos_server.storage.reading.answers import StandingRow
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.drawing.interval_svg import Scale, scale
from cgos_server.web.drawing.standing_rows import standing_rows
from cgos_server.web.pages.requests import DAY_MS, Systems, date, number, refused_as_404, terms_of, venue_of, with_query
from cgos_server.web.site import Pages, Site

ROWS: Final = 200
"""Versions on one page of standings."""

_RECENT: Final = 10
_RUNNING: Final = 60
_LONGEST_SEARCH: Final = 60

Key = Callable[[Standing], Any]

COLUMNS: Final[dict[str, tuple[Key, bool]]] = {
    "rank": (lambda row: row.rank, False),
    "sureness": (lambda row: row.rank_upper, False),
    "name": (lambda row: row.version.lower(), False),
    "rating": (lambda row: row.mean, True),
    "spread": (lambda row: row.spread if row.half_width is None else row.half_width, False),
    "games": (lambda row: row.games, True),
    "seen": (lambda row: row.last_game_at, True),
}
"""Column -> what it is sorted by, and whether the largest is asked for first."""


class StandingsQuery(NamedTuple):
    """What a page of standings was asked for.

    :ivar everybody: also those that are not listed by default
    :ivar sort: a key of :data:`COLUMNS`
    :ivar page: from 1
    """

    search: str
    settled: bool
    everybody: bool
    sort: str
    down: bool
    page: int

    @classmethod
    def of(cls, request: Request) -> StandingsQuery:
        """From an address. Raises HTTPException where it makes no sense."""
        query = request.query_params
        sort = query.get("sort") or "rank"
        column = sort.removeprefix("-")
        if column not in COLUMNS:
            raise HTTPException(400, f"Standings cannot be sorted by this. Choose from: {', '.join(COLUMNS)}.")
        return cls(
            search=(query.get("q") or "").strip()[:_LONGEST_SEARCH],
            settled=bool(query.get("settled")),
            everybody=query.get("show") == "all",
            sort=column,
            down=sort.startswith("-"),
            page=number(query.get("page")) or 1,
        )

    @classmethod
    def of_all(cls, page: int) -> StandingsQuery:
        """What a page of standings is that was asked for nothing."""
        return cls(search="", settled=False, everybody=False, sort="rank", down=False, page=page)

    def choose(self, listed: Listing) -> list[StandingRow]:
        """The rows that are wanted, in the order that is wanted; those without a value stand last."""
        wanted = self.search.lower()
        matching = [
            row
            for row in listed.rows
            if wanted in row.version.lower()
            and not (self.settled and row.provisional)
            and (self.everybody or listed.lists(row))
        ]
        key = COLUMNS[self.sort][0]
        known = [row for row in matching if key(row) is not None]
        known.sort(key=key, reverse=self.down)
        return known + [row for row in matching if key(row) is None]


class _Sureness(NamedTuple):
    """What is said of ranks: of each version and of all together; None where nothing is."""

    alike: dict[str, ranks.Alike] | None
    sentences: list[str] | None


async def show(site: Site, request: Request) -> Response:
    """Standings, running and recent games of one venue."""
    name = request.path_params["name"]
    venue = await venue_of(site, name)
    query = StandingsQuery.of(request)
    history = site.history
    systems = list(await Systems(site).rated(name))
    system = request.query_params.get("system") or next(iter(systems), "")
    if system and system not in systems:
        raise HTTPException(404, "This venue is not rated by a system of this name.")
    as_of = await _as_of(site, request, name)
    listed = listing(await _rows(site, name, system, as_of) if system else [], site.settings.rated(name).system)
    matching = query.choose(listed)
    sureness = await _sureness(site, name, system, as_of=as_of, listed=listed)
    pages = max(1, -(-len(matching) // ROWS))
    page = min(query.page, pages)
    now = as_of is None
    last = await history.ledger.last_entry(name)
    running = await site.visible_rows(await history.games.running(name)) if now else []
    recent = await history.games.find(GameFilter(venue=name, running=False), _RECENT) if now else []
    return site.render(
        "venue.html",
        refresh=now and not request.query_params,
        here=name,
        name=name,
        base=site.address(request),
        terms=terms_of(venue),
        port=site.settings.ports.get(name),
        address=site.settings.venues.get(name, VenueSettings()).public_address,
        systems=systems,
        system=system,
        sure=sure(system),
        all=len(listed.rows),
        matching=len(matching),
        rows=_table(
            matching[(page - 1) * ROWS : page * ROWS],
            on=scale(row.mean for row in listed.rows),
            now_ms=site.now_ms(),
            sureness=sureness,
            query=query,
        ),
        ranked=sureness.sentences,
        provisional=sum(bool(row.provisional) for row in listed.rows),
        loose=words.loose_scale(listed.rows),
        retired=len(listed.retired),
        unrated=sum(row.rank is None for row in listed.rows),
        whole=not query.search and not query.settled and pages == 1,
        retired_days=RETIRED_DAYS,
        anchors=any(row.anchor for row in listed.rows),
        query=query,
        heads=_heads(request, query),
        page=page,
        earlier=with_query(request, page=page - 1) if page > 1 else None,
        later=with_query(request, page=page + 1) if page < pages else None,
        pages=pages,
        plain=with_query(request, q=None, settled=None, show="all", page=None),
        as_of=as_of,
        on=request.query_params.get("on", ""),
        last=last,
        place=await after_games(history, name, last if as_of is None else as_of),
        running=running[:_RUNNING],
        more_running=len(running) > _RUNNING,
        games=recent,
    )


async def to_games(site: Site, request: Request) -> Response:
    """To the games of a venue."""
    name = request.path_params["name"]
    await venue_of(site, name)
    return RedirectResponse(f"/games?{urlencode({'venue': name})}")


async def _as_of(site: Site, request: Request, venue: str) -> int | None:
    """After which entry the standings are to be; None for now."""
    as_of, day = number(request.query_params.get("as_of")), date(request.query_params.get("on"))
    if as_of is None and day is not None:
        return await site.history.ledger.entry_at(venue, day + DAY_MS - 1)
    return as_of


async def _rows(site: Site, venue: str, system: str, as_of: int | None) -> list[StandingRow]:
    with refused_as_404("The ledger of this venue has fewer entries.", Code.NO_ENTRY):
        return await site.history.ratings.standings(venue, system, as_of)


async def _sureness(site: Site, venue: str, system: str, as_of: int | None, listed: Listing) -> _Sureness:
    summary = await site.history.ranks.summary(venue, system, as_of) if system else None
    if summary is None:
        return _Sureness(None, None)
    by_place = [row.version for row in listed.rows if listed.lists(row)]
    return _Sureness(ranks.alike(summary, by_place), ranks.sentences(summary))


def _table(rows: Sequence[StandingRow], on: Scale, now_ms: int, sureness: _Sureness, query: StandingsQuery) -> Markup:
    """The rows of a page; ruled where it shows those that are listed, by place."""
    ruled = query == StandingsQuery.of_all(query.page)
    return standing_rows(rows, on, now_ms, ranked=sureness.alike, ruled=ruled)


def _heads(request: Request, query: StandingsQuery) -> dict[str, tuple[str, str]]:
    """Column -> the address that sorts by it, and how it is sorted: ``ascending``, ``descending`` or empty."""
    heads = {}
    for column, (_, largest_first) in COLUMNS.items():
        here = column == query.sort
        down = not query.down if here else largest_first
        heads[column] = (
            with_query(request, sort=f"-{column}" if down else column, page=None),
            ("descending" if query.down else "ascending") if here else "",
        )
    return heads


PAGES: Final[Pages] = {
    "/venue/{name}": show,
    "/venue/{name}/games": to_games,
}
