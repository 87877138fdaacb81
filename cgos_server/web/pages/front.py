"""The front page: events that are on, what is played now, the best of all venues, the newest results.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.games import Game
from cgos_server.core.rating.registry import sure
from cgos_server.service.ratings.listed import best
from cgos_server.storage.reading.answers import StandingRow
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.events.listing import glance
from cgos_server.web.pages.requests import Systems, terms_of, venues_in_order
from cgos_server.web.pages.wall import SmallBoard, small_boards
from cgos_server.web.site import Pages, Site

FRONT_ROWS: Final = 8
"""Bots of each venue, running games and results that are shown."""

BOARDS: Final = 3
"""Running games whose boards are shown: those that have come furthest, of the ones that are listed."""

EVENTS: Final = 3
"""Events that are on, and as many that come."""

_RUNNING_MOST: Final = 500
"""Running games are counted so far."""


class VenueView(NamedTuple):
    """A venue on the front page. `rated`: so many versions; `port` is None where it is closed."""

    name: str
    terms: str
    port: int | None
    standings: list[StandingRow]
    rated: int
    sure: bool
    running: int


async def show(site: Site, request: Request) -> Response:
    """All venues."""
    history = site.history
    running = await site.visible_rows(await history.games.find(GameFilter(running=True), _RUNNING_MOST + 1))
    newest = await history.games.find(GameFilter(), 1)
    results = await history.games.find(GameFilter(running=False), FRONT_ROWS)
    venues = []
    for venue in await venues_in_order(site):
        name = venue.name
        rated = await Systems(site).rated(name)
        system = next(iter(rated), "")
        rows = await best(history, name, system, FRONT_ROWS) if system else []
        venues.append(
            VenueView(
                name=name,
                terms=terms_of(venue),
                port=site.settings.ports.get(name),
                standings=rows,
                rated=rated.get(system, 0),
                sure=sure(system),
                running=sum(game.venue == name for game in running),
            )
        )
    return site.render(
        "front.html",
        refresh=True,
        base=site.address(request),
        events=await glance(site, EVENTS),
        venues=venues,
        rows=FRONT_ROWS,
        running=running[:FRONT_ROWS],
        running_count=len(running),
        running_most=_RUNNING_MOST,
        boards=await _boards(site, running[:FRONT_ROWS]),
        games=newest[0].id if newest else 0,
        rated=sum(view.rated for view in venues),
        results=results,
    )


async def _boards(site: Site, running: list[Game]) -> list[SmallBoard]:
    furthest = sorted(running, key=lambda game: -game.moves)[:BOARDS]
    return small_boards(await site.hub.standing(furthest))


PAGES: Final[Pages] = {"/": show}
