"""The live streams: one game from any move on, and what happens in a venue or everywhere.

Server-sent events, or NDJSON for programs. A stream has no outbox: it has a place in what everybody shares, so whoever
reads slowly costs nothing and misses nothing, and is let go after a while. Must not know: how boards are kept.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from cgos_protocol.errors import OurFault, Refused, StoreError
from cgos_protocol.ids import GameId
from cgos_server.web.around.caching import weights
from cgos_server.web.around.disconnect import while_there
from cgos_server.web.live.bell import rang
from cgos_server.web.live.framing import END, Form, framed, heartbeat, opening, remark
from cgos_server.web.live.hub import Hub
from cgos_server.web.live.news import Portion

HEARTBEAT_S: Final = 15.0
"""A stream that has nothing to say says so after so long."""

SEND_S: Final = 30.0
"""Time in which a viewer must take what it is sent; it comes again from where it was."""


UNREADABLE: Final = "this cannot be read just now; come again"
STOPPING: Final = "the server stops; come again"


class Streaming(Response):
    """An answer that lasts: sends what comes, until it ends, nobody reads it any more or the visitor has gone."""

    def __init__(self, chunks: AsyncGenerator[bytes, None], form: Form) -> None:
        self._chunks = chunks
        self.status_code = 200
        self.background = None
        self.media_type = form.value
        self.init_headers({"Cache-Control": "no-store, no-transform", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await while_there(receive, self._tell(scope, send))
        except* (TimeoutError, OSError):
            pass  # whoever does not read, or has left, comes again from the last thing it had

    async def _tell(self, scope: Scope, send: Send) -> None:
        async with contextlib.aclosing(self._chunks) as chunks:
            await _sent(send, {"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            if scope["method"] != "HEAD":
                async for chunk in chunks:
                    await _sent(send, {"type": "http.response.body", "body": chunk, "more_body": True})
            await _sent(send, {"type": "http.response.body", "body": b"", "more_body": False})


async def _sent(send: Send, message: Message) -> None:
    async with asyncio.timeout(SEND_S):
        await send(message)


class Streams:
    """The handlers."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    async def game(self, request: Request, game: GameId, since: int) -> Response:
        """A game's moves after ply `since`, or after the last one that a returning browser had; then its end. One that
        had the end gets nothing."""
        last = _last_ply(request)
        # Refused, where it is, before anything is sent.
        async with self._hub.watching(game):
            pass
        if request.headers.get("last-event-id") == END:
            return Response(status_code=204)  # by which a browser's EventSource comes back no more
        form = form_of(request)
        return Streaming(self.game_chunks(game, since if last is None else last, form), form)

    async def venue(self, request: Request, venue: str | None, moves: bool) -> Response:
        """What happens in a venue, or in all; with `moves` every move of every game."""
        await self._hub.picture(venue, moves)
        place = self._hub.news.place(request.headers.get("last-event-id", ""))
        form = form_of(request)
        return Streaming(self.venue_chunks(venue, moves, place, form), form)

    async def game_chunks(self, game: GameId, since: int, form: Form) -> AsyncGenerator[bytes, None]:
        """What a viewer of the game gets that knows `since` moves."""
        yield opening(form)
        try:
            async with self._hub.watching(game) as board:
                known = since
                while not self._hub.stopping:
                    ring, over = board.bell.listen(), board.over
                    if board.broken:
                        yield remark(UNREADABLE, form)
                        return
                    shown = board.released
                    chunk, known = board.since(known, form)
                    if chunk:
                        yield chunk
                    if known < shown:
                        continue
                    if over:
                        return
                    if not ring.is_set() and not await rang(ring, HEARTBEAT_S):
                        yield heartbeat(form)
        except (Refused, StoreError, OurFault):
            yield remark(UNREADABLE, form)
        else:
            yield remark(STOPPING, form)

    async def venue_chunks(
        self, venue: str | None, moves: bool, place: int | None, form: Form
    ) -> AsyncGenerator[bytes, None]:
        """What a viewer of the venue, or (None) of all, gets that was told everything before `place`."""
        yield opening(form)
        self._hub.followers += moves
        try:
            async for chunk in self._news_chunks(venue, moves, place, form):
                yield chunk
        finally:
            self._hub.followers -= moves

    async def _news_chunks(
        self, venue: str | None, moves: bool, place: int | None, form: Form
    ) -> AsyncGenerator[bytes, None]:
        news = self._hub.news
        while not self._hub.stopping:
            ring = self._hub.bell.listen()
            portion = None if place is None else news.since(place, venue, moves, form)
            if portion is None:
                try:
                    picture = await self._hub.picture(venue, moves)
                except (Refused, StoreError):
                    yield remark(UNREADABLE, form)
                    return
                portion = Portion(framed([picture.games], form), picture.place)
            chunk, place = portion
            if chunk:
                yield chunk
            if place == news.head and not ring.is_set() and not await rang(ring, HEARTBEAT_S):
                yield heartbeat(form)
        yield remark(STOPPING, form)


def form_of(request: Request) -> Form:
    """By ``?format=``, else by what the visitor likes as well as events, or better."""
    named = request.query_params.get("format", "")
    if named:
        return Form.NDJSON if named == "ndjson" else Form.SSE
    liked = weights(request.headers.get("accept", ""))
    lines = liked.get(Form.NDJSON.value, 0.0)
    return Form.NDJSON if lines > 0 and lines >= liked.get(Form.SSE.value, 0.0) else Form.SSE


def _last_ply(request: Request) -> int | None:
    text = request.headers.get("last-event-id", "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 9 else None
