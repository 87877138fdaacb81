"""Answers of the API about the server: what it is, how it fares, where the API goes on.

Must not know: SQL, how addresses are read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec

from cgos_protocol.api import messages as api
from cgos_protocol.api.route import PREFIX
from cgos_protocol.errors import CgosError
from cgos_server import __version__
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus
from cgos_server.storage.reading.answers import Counts
from cgos_server.web.api.typed import Group
from cgos_server.web.pages.requests import venues_in_order
from cgos_server.web.site import Site

FRESH_MS: Final = 2_000
"""How old what is known of the live server may be."""

COUNTS_FRESH_MS: Final = 10_000

_server = Group("The server")


class LiveServer:
    """What the server that plays says of itself, asked for once for everybody."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known: tuple[int, ServerStatus | None] = (-FRESH_MS, None)

    async def status(self) -> ServerStatus | None:
        """Two seconds old at most; None where it does not answer."""
        at, known = self._known
        now = self._site.now_ms()
        if not 0 <= now - at < FRESH_MS:
            try:
                known = await self._site.ask(StatusRequest())
            except CgosError:
                known = None
            self._known = (now, known)
        return known


class ReadingServer:
    """The handlers.

    :param describe: makes the description of the API
    """

    def __init__(self, site: Site, live: LiveServer, describe: Callable[[], dict[str, Any]]) -> None:
        self._site = site
        self._history = site.history
        self._live = live
        self._describe = describe
        self._description: dict[str, Any] = {}
        self._counted: tuple[int, Counts | None] = (0, None)

    @_server.get("")
    async def index(self) -> api.Index:
        """What this server is, and where the API goes on."""
        return api.Index(
            server=self._site.settings.server_name,
            version=__version__,
            api=1,
            at=self._site.now_ms(),
            openapi=f"{PREFIX}/openapi.json",
            documentation="/docs/api",
            venues=[venue.name for venue in await venues_in_order(self._site)],
            incarnation=await self._site.history.server.check_cursor(None),
        )

    @_server.get("/openapi.json")
    async def openapi(self) -> dict[str, Any]:
        """This API described in OpenAPI 3.1."""
        self._description = self._description or self._describe()
        return self._description

    @_server.get("/status")
    async def status(self) -> api.Status:
        """Whether the server plays, and how much there is."""
        now, counts = await self._live.status(), await self._counts()
        return api.Status(
            server=self._site.settings.server_name,
            version=__version__,
            at=self._site.now_ms(),
            live=now is not None,
            ready=now.ready if now else None,
            draining=now.draining if now else None,
            up_s=now.up_s if now else None,
            playing=sum(venue.playing for venue in now.venues) if now else None,
            bots_here=len(now.bots) if now else None,
            bots=counts.bots,
            versions=counts.versions,
            ended=dict(sorted(counts.ended.items())),
            running=counts.running,
            moves=counts.moves,
            created_at=counts.created_at,
        )

    async def _counts(self) -> Counts:
        """How much there is that may be told, some seconds old at most: everything is counted."""
        at, known = self._counted
        now = self._site.now_ms()
        if known is None or not 0 <= now - at < COUNTS_FRESH_MS:
            known = await self._history.server.counts()
            known = msgspec.structs.replace(known, moves=known.moves - await self._hidden_moves())
            self._counted = now, known
        return known

    async def _hidden_moves(self) -> int:
        """How many moves of running games cannot be told yet."""
        if not any(map(self._site.settings.delay_ms, self._site.settings.venues)):
            return 0
        rows = await self._history.games.running()
        visible = await self._site.visible_rows(rows)
        return sum(row.moves - seen.moves for row, seen in zip(rows, visible, strict=True))
