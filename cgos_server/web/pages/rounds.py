"""Rounds: a venue's latest ones, one with everything that it was decided from, and why two bots met.

Must not know: SQL, the live server, how pairs are made.
"""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.games import RoundDetail
from cgos_protocol.api.route import LARGEST
from cgos_protocol.errors import Code
from cgos_protocol.ids import GameId
from cgos_server.presentation.explaining import explain_unpaired
from cgos_server.service.pairing.explained import PARTNERS, order_in_words
from cgos_server.web.pages.requests import before, refused_as_404, stored_game, venue_of, with_query
from cgos_server.web.site import Pages, Site

ROUNDS: Final = 30
"""Rounds on one page of the list."""

_NO_ROUND: Final = "There is no round of this number on the server."

READY: Final = 100
"""Of those who were ready so many are shown unless all are asked for."""


async def latest(site: Site, request: Request) -> Response:
    """The latest rounds of a venue."""
    name = request.path_params["name"]
    await venue_of(site, name)
    earlier = before(request)
    rows = await site.history.pairings.rounds(name, ROUNDS + 1, earlier)
    page = rows[:ROUNDS]
    older = with_query(request, before=page[-1].number) if len(rows) > ROUNDS else None
    return site.render(
        "rounds.html",
        here=name,
        name=name,
        rounds=page,
        older=older,
        first=earlier is None,
        newest=with_query(request, before=None),
    )


async def one_round(site: Site, request: Request) -> Response:
    """One round."""
    explained = await _explained(site, request.path_params["id"], None)
    return _page(site, request, explained)


async def pairing(site: Site, request: Request) -> Response:
    """Why the two of a game met."""
    game = (await stored_game(site, request)).detail
    if game.pairing is None:
        why = await explain_unpaired(site.history, game)
        return site.render("no_pairing.html", here=game.game.venue, game=game.game, why=why)
    explained = await _explained(site, game.pairing.round, game.game.id)
    return _page(site, request, explained)


def _page(site: Site, request: Request, explained: RoundDetail) -> Response:
    everybody = request.query_params.get("ready") == "all"
    return site.render(
        "round.html",
        here=explained.venue,
        explained=explained,
        partners_shown=PARTNERS,
        order_in_words=order_in_words,
        ready_shown=len(explained.ready) if everybody else READY,
        everybody=with_query(request, ready="all"),
    )


async def _explained(site: Site, number: int, game: GameId | None) -> RoundDetail:
    with refused_as_404(_NO_ROUND, Code.NO_ROUND):
        if number <= LARGEST:
            return await site.explaining.round(number, game)
    raise HTTPException(404, _NO_ROUND)


PAGES: Final[Pages] = {
    "/venue/{name}/rounds": latest,
    "/round/{id:int}": one_round,
    "/game/{id:int}/pairing": pairing,
}
