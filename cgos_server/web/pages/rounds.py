"""Acts of pairing: a venue's latest ones, one with everything that it was decided from, and why two bots met.

Must not know: SQL, the live server, how pairs are made.
"""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cgos_server.errors import OurFault, Refused
from cgos_server.service.pairing_explained import Explained, Replay, explain
from cgos_server.storage.answers import RoundDetail
from cgos_server.web.pages.asked import LARGEST, before, stored_game, venue_of, with_query
from cgos_server.web.site import Site

ROUNDS: Final = 30
"""Acts on one page of the list."""

READY: Final = 100
"""Of those who were ready so many are shown."""

_KEPT: Final = 16
"""Explanations that are kept: what was decided once never changes."""


class RoundPages:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._kept: dict[tuple[int, int | None], Explained] = {}
        # Deciding a large act once more takes a while: one at a time, so that other pages have a processor left.
        self._one_at_a_time = asyncio.Lock()

    async def rounds(self, request: Request) -> Response:
        """The latest acts of pairing of a venue."""
        name = request.path_params["name"]
        await venue_of(self._site, name)
        earlier = before(request)
        found = await self._site.history.rounds(name, ROUNDS + 1, earlier)
        page = found[:ROUNDS]
        older = with_query(request, before=page[-1].number) if len(found) > ROUNDS else None
        return self._site.render(
            "rounds.html", here=name, name=name, rounds=page, older=older, first=earlier is None,
            newest=with_query(request, before=None),
        )  # fmt: skip

    async def round(self, request: Request) -> Response:
        """One act of pairing."""
        explained = await self._explained(request.path_params["id"], None)
        return self._site.render("round.html", here=explained.venue, told=explained, ready_shown=READY)

    async def pairing(self, request: Request) -> Response:
        """Why the two of a game met."""
        game = (await stored_game(self._site, request)).detail
        if game.pairing is None:
            return self._site.render("no_pairing.html", here=game.game.venue, game=game.game)
        explained = await self._explained(game.pairing.round, game.game.id)
        return self._site.render("round.html", here=explained.venue, told=explained, ready_shown=READY)

    async def _explained(self, number: int, game: int | None) -> Explained:
        key = number, game
        async with self._one_at_a_time:
            if key in self._kept:
                return self._kept[key]
            try:
                if number > LARGEST:
                    raise Refused("no-round", "")
                detail = await self._site.history.round(number)
            except Refused as refusal:
                raise HTTPException(404, "There is no act of pairing of this number on the server.") from refusal
            names = await self._site.history.version_names()
            try:
                found = await asyncio.to_thread(explain, detail, names, game)
            except OurFault:
                found = _told(detail, game)
            while len(self._kept) >= _KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = found
            return found


def _told(detail: RoundDetail, game: int | None) -> Explained:
    """An act whose record of what it was decided from cannot be read: what was said then."""
    return Explained(
        round=detail.id,
        venue=detail.venue,
        number=detail.number,
        at=detail.at,
        policy=detail.policy,
        method=detail.method,
        options=detail.options or {},
        seed=detail.seed,
        total=detail.total,
        game=next((row for row in detail.pairings if row.game == game), None),
        pairs=detail.pairings,
        ready=[],
        sits_out={str(version): str(why) for version, why in (detail.sits_out or {}).items()},
        notes=list(detail.notes or ()),
        partners={},
        replay=Replay(None, "The record of what it was decided from cannot be read by this program."),
    )


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    pages = RoundPages(site)
    return [
        Route("/venue/{name}/rounds", pages.rounds),
        Route("/round/{id:int}", pages.round),
        Route("/game/{id:int}/pairing", pages.pairing),
    ]
