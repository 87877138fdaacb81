"""The live streams as operations of the API. Must not know: how they are made."""

from __future__ import annotations

from starlette.responses import Response

from cgos_server.web.api.framework import Asked, Handler
from cgos_server.web.live.streams import Streams
from cgos_server.web.site import Site


def handlers(site: Site) -> dict[str, Handler]:
    """Operation -> its handler."""
    streams = Streams(site.hub)

    async def game_live(asked: Asked) -> Response:
        return await streams.game(asked.request, asked.number("game") or 0, asked.number("since") or 0)

    async def live(asked: Asked) -> Response:
        return await streams.venue(asked.request, asked.text("venue"), bool(asked.flag("moves")))

    return {"live": live, "game_live": game_live}
