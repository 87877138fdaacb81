"""The live streams as operations of the API. Must not know: how they are made."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.live import GameEvent, VenueEvent
from cgos_protocol.api.route import NDJSON, SSE, Limit
from cgos_server.web.api.reading.parameters import GameNumber, OnlyVenue
from cgos_server.web.api.typed import Group
from cgos_server.web.live.streams import Streams
from cgos_server.web.site import Site

_live = Group("Live")

_KEPT_OPEN: Final = (
    "Events of `text/event-stream`, or with `Accept: application/x-ndjson` or `format=ndjson` a line of JSON each. "
)
Format = Annotated[Literal["sse", "ndjson"] | None, "The same as asking for that type by `Accept`."]
"""Which :mod:`cgos_server.web.live.streams` reads, together with that header."""


class Live:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._streams = Streams(site.hub)

    @_live.get(
        "/live",
        about=_KEPT_OPEN + "The first one says what runs now, and so does any after a gap.",
        media=(SSE, NDJSON),
        limit=Limit.STREAMS,
    )
    async def live(
        self,
        request: Request,
        venue: OnlyVenue = None,
        moves: Annotated[bool, "Tell every move of every running game."] = False,
        format: Format = None,  # noqa: A002, ARG002
    ) -> Annotated[Response, VenueEvent]:
        """What happens now, as it happens."""
        return await self._streams.venue(request, venue, moves)

    @_live.get(
        "/games/{game}/live",
        about=_KEPT_OPEN
        + "A reader of events that comes back with `Last-Event-ID` misses nothing; one that had the event `end` gets "
        "204, by which an EventSource ends. Moves are shown after the venue's delay.",
        empty="By its `Last-Event-ID` the reader has had the end of the game.",
        media=(SSE, NDJSON),
        limit=Limit.STREAMS,
    )
    async def game_live(
        self,
        request: Request,
        game: GameNumber,
        since: Annotated[int | None, "Moves after this ply."] = None,
        format: Format = None,  # noqa: A002, ARG002
    ) -> Annotated[Response, GameEvent]:
        """A game's moves as they are played, to its end."""
        return await self._streams.game(request, game, since or 0)
