"""How to bring a bot to this very server: commands that can be copied as they are.

Must not know: the database.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cgos_server.protocol import names
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
        venues = list(settings.ports)
        return self._site.render(
            "connect.html",
            here="/connect",
            host=host,
            bare=host.strip("[]"),
            ports=settings.ports,
            chosen=_chosen(venues, request.query_params.get("venue")),
            websocket=settings.websocket,
            encrypted=settings.public_url.startswith("https:"),
            registration=settings.registration,
            accounts=settings.accounts,
            name_min=names.NAME_MIN,
            name_max=names.NAME_MAX,
        )


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


def _chosen(venues: list[str], asked: str | None) -> str:
    """The venue of the examples; empty where none is open."""
    return asked if asked in venues and asked is not None else next(iter(venues), "")


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    return [Route("/connect", ConnectPage(site).connect)]
