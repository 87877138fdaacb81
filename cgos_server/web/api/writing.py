"""Answers of the API to commands: each as its declaration says, with the few that need something more.

Must not know: who may have what done, what commands do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cgos_protocol.api import people
from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import ApiRoute
from cgos_server.service.control import ArrangedGame, ServerStatus
from cgos_server.service.people.authority import Sight
from cgos_server.web.api.acting import performing
from cgos_server.web.api.caller import person_of
from cgos_server.web.api.framework import ApiRequest, Handler
from cgos_server.web.site import Site


def server_now(status: ServerStatus) -> people.ServerNow:
    """What operators see of the live server by the API."""
    return people.ServerNow(
        pid=status.pid,
        version=status.version,
        up_s=status.up_s,
        ready=status.ready,
        draining=status.draining,
        venues=status.venues,
        games=status.games,
        bots=status.bots,
        moves=status.moves,
        ended=status.ended,
        warnings=status.warnings,
        errors=status.errors,
    )


def arranged(game: ArrangedGame) -> people.Arranged:
    """A game that is about to begin, without the labels of ratings."""
    return people.Arranged(
        game=game.game, venue=game.venue, black=game.black, white=game.white, rated=game.rated, plies=game.plies
    )


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it. What one's bot does just now is answered elsewhere: it is remembered."""

    async def may_be_reached(request: ApiRequest) -> None:
        await person_of(site, request.request, Sight.OWN_BOTS)  # or strangers would have names looked up
        await site.outside.permit(request.body.url)

    before = {"make_webhook": may_be_reached}
    shown: dict[str, Callable[[Any], Any]] = {"admin_status": server_now, "arrange_match": arranged}
    return {
        route.id: performing(site, command, route, before=before.get(route.id), shown=shown.get(route.id))
        for command, route in on(ApiRoute)
        if route.id != "bot_now"
    }
