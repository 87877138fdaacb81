"""How to bring a bot to this very server: commands that can be copied as they are.

Must not know: SQL, the live server.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cgos_server.core import clock
from cgos_server.core.clock import TimeControl, TimeSystem
from cgos_server.core.games.base import Ruleset
from cgos_server.errors import StoreError
from cgos_server.protocol import names
from cgos_server.web.connecting import Place, commands
from cgos_server.web.site import Site

_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?")
_ANYWHERE = ("", "0.0.0.0", "::")


class ConnectPage:
    """The handler."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def connect(self, request: Request) -> Response:
        """How to bring a bot here."""
        settings = self._site.settings
        host = bots_host(settings.bots_host, settings.public_url, request.headers.get("host", ""))
        chosen = _chosen(list(settings.ports), request.query_params.get("venue"))
        fixed = await self._fixed(chosen)
        return self._site.render(
            "connect.html",
            here="/connect",
            host=host,
            ports=settings.ports,
            chosen=chosen,
            commands=commands(
                place_of(host, chosen or "9x9", settings.ports.get(chosen, 6809), settings.websocket, fixed)
            ),
            websocket=settings.websocket,
            encrypted=settings.public_url.startswith("https:"),
            registration=settings.registration,
            accounts=settings.accounts,
            name_min=names.NAME_MIN,
            name_max=names.NAME_MAX,
        )

    async def _fixed(self, venue: str) -> Any:
        """What is played there, as it is stored. Where that cannot be read just now the rest is worth showing."""
        try:
            return next((row.fixed for row in await self._site.history.venues() if row.name == venue), None)
        except StoreError:
            return None


def bots_host(configured: str, public_url: str, asked: str) -> str:
    """Where bots find the server: as configured, or where its pages are, or by which they were asked for.

    :param asked: the header Host, which may be anything
    """
    if configured not in _ANYWHERE:
        return f"[{configured}]" if ":" in configured else configured
    if public_url:
        found = urlsplit(public_url).hostname or "localhost"
        return f"[{found}]" if ":" in found else found
    match = _HOST.fullmatch(asked)
    return match[1] if match else "localhost"


def place_of(host: str, venue: str, port: int, websocket: int, fixed: Any) -> Place:
    """Where a bot is to play, in a venue as it is stored; None stands for one that has never been open."""
    rules = Ruleset() if fixed is None else msgspec.convert(fixed, Ruleset)
    time = TimeControl(TimeSystem.ABSOLUTE, 300_000_000)
    if fixed is not None:
        time = msgspec.convert(fixed["time"], TimeControl)
    return Place(host, port, websocket, venue, rules, clock.remaining_ms(time, clock.start(time)))


def _chosen(venues: list[str], asked: str | None) -> str:
    """The venue of the examples; empty where none is open."""
    return asked if asked in venues and asked is not None else next(iter(venues), "")


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    return [Route("/connect", ConnectPage(site).connect)]
