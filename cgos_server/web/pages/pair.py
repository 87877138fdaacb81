"""Two versions compared: what came of their games, what was to be expected, who is stronger; all their games.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from cgos_server.presentation.answers import after_games
from cgos_server.service.ratings.expectation import compare
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.pages.requests import PAGE_SIZE, Systems, before, page_of, refused_as_404, venue_of, with_query
from cgos_server.web.site import Pages, Site, venue_path


async def pair(site: Site, request: Request) -> Response:
    """Two versions in a venue."""
    name = request.path_params["name"]
    await venue_of(site, name)
    one, other = (request.query_params.get(key, "").strip() for key in ("a", "b"))
    if not one or not other or one == other:
        return site.render("pair_form.html", 400 if one or other else 200, here=name, name=name, one=one, other=other)
    history = site.history
    with refused_as_404("There is no bot of one of these names on the server. Capitals matter."):
        record = await history.records.pair(name, one, other)
    both = GameFilter(venue=name, bot=one, opponent=other, exact=True)
    games, older = page_of(await history.games.find(both, PAGE_SIZE + 1, before(request)))
    games = await site.visible_rows(games)
    systems = list(await Systems(site).rated(name))
    ratings = {
        row.version: row
        for row in await history.ratings.ranked([one, other])
        if row.venue == name and row.system in systems[:1] and name not in site.settings.sandboxes
    }
    known = await site.strengths.venue(name)
    compared = compare(one, other, rated=ratings.get(one), its=ratings.get(other), known=known)
    a_game = None if compared is None else compared.chances.a_game(record.one_black, record.games - record.one_black)
    return site.render(
        "pair.html",
        here=name,
        name=name,
        one=one,
        other=other,
        record=record,
        points=record.one_wins + record.draws / 2,
        expected=None if a_game is None else a_game * record.with_result,
        ratings=[ratings.get(one), ratings.get(other)],
        compared=compared,
        place="" if compared is None else await after_games(history, name, compared.seq),
        games=games,
        first=before(request) is None,
        older=None if older is None else with_query(request, before=older),
        newest=with_query(request, before=None),
    )


async def odds(site: Site, request: Request) -> Response:
    """Who is stronger than whom among the best of a venue; two of them have a page of their own."""
    name = request.path_params["name"]
    await venue_of(site, name)
    one, other = request.query_params.get("a"), request.query_params.get("b")
    if one is not None and other is not None:
        return RedirectResponse(f"{venue_path(name)}/pair?{urlencode({'a': one, 'b': other})}")
    known = await site.strengths.venue(name)
    place = "" if known is None else await after_games(site.history, name, known.seq)
    return site.render("odds.html", here=name, name=name, known=known, place=place)


PAGES: Final[Pages] = {
    "/venue/{name}/pair": pair,
    "/venue/{name}/odds": odds,
}
