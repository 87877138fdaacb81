"""Rounds: a venue's latest ones, one with everything that it was decided from, and why two bots met.

Must not know: SQL, the live server, how pairs are made.
"""

from __future__ import annotations

from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cgos_protocol.api.games import RoundDetail
from cgos_protocol.api.route import LARGEST
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import GameId
from cgos_server.service.pairing.explained import PARTNERS
from cgos_server.web.pages.requests import before, stored_game, venue_of, with_query
from cgos_server.web.site import Site

ROUNDS: Final = 30
"""Rounds on one page of the list."""

READY: Final = 100
"""Of those who were ready so many are shown unless all are asked for."""


class RoundPages:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def rounds(self, request: Request) -> Response:
        """The latest rounds of a venue."""
        name = request.path_params["name"]
        await venue_of(self._site, name)
        earlier = before(request)
        rows = await self._site.history.pairings.rounds(name, ROUNDS + 1, earlier)
        page = rows[:ROUNDS]
        older = with_query(request, before=page[-1].number) if len(rows) > ROUNDS else None
        return self._site.render(
            "rounds.html",
            here=name,
            name=name,
            rounds=page,
            older=older,
            first=earlier is None,
            newest=with_query(request, before=None),
        )

    async def round(self, request: Request) -> Response:
        """One round."""
        explained = await self._explained(request.path_params["id"], None)
        return self._page(request, explained)

    async def pairing(self, request: Request) -> Response:
        """Why the two of a game met."""
        game = (await stored_game(self._site, request)).detail
        if game.pairing is None:
            return self._site.render("no_pairing.html", here=game.game.venue, game=game.game)
        explained = await self._explained(game.pairing.round, game.game.id)
        return self._page(request, explained)

    def _page(self, request: Request, explained: RoundDetail) -> Response:
        everybody = request.query_params.get("ready") == "all"
        return self._site.render(
            "round.html",
            here=explained.venue,
            explained=explained,
            partners_shown=PARTNERS,
            ready_shown=len(explained.ready) if everybody else READY,
            everybody=with_query(request, ready="all"),
        )

    async def _explained(self, number: int, game: GameId | None) -> RoundDetail:
        try:
            if number <= LARGEST:
                return await self._site.explaining.round(number, game)
        except NotFound as refusal:
            if refusal.code is not Code.NO_ROUND:
                raise
        raise HTTPException(404, "There is no round of this number on the server.")


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    pages = RoundPages(site)
    return [
        Route("/venue/{name}/rounds", pages.rounds),
        Route("/round/{id:int}", pages.round),
        Route("/game/{id:int}/pairing", pages.pairing),
    ]
