"""How to bring a bot to this very server: commands that can be copied as they are.

Must not know: SQL, the live server.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol import names
from cgos_protocol.errors import StoreError
from cgos_server.presentation.connecting import (
    addresses,
    bots_host,
    commands,
    place_of,
    tls_addresses,
    websocket_address,
)
from cgos_server.web.site import Pages, Site


async def show(site: Site, request: Request) -> Response:
    """How to bring a bot here."""
    settings = site.settings
    host = bots_host(settings.bots_host, settings.public_url, request.headers.get("host", ""))
    chosen = _chosen(list(settings.ports), request.query_params.get("venue"))
    lines = addresses(settings, host)
    by_tls = tls_addresses(settings, host)
    websocket = websocket_address(settings.websocket_url, host, settings.websocket, tls=settings.websocket_tls)
    place = place_of(
        lines.get(chosen, f"{host}:6809"),
        websocket,
        chosen or "9x9",
        await _fixed(site, chosen),
        lines_tls=by_tls.get(chosen, ""),
    )
    return site.render(
        "connect.html",
        here="/connect",
        addresses=lines,
        chosen=chosen,
        by_tls=by_tls,
        commands=commands(place),
        websocket=websocket,
        registration=settings.registration,
        accounts=settings.accounts,
        name_min=names.NAME_MIN,
        name_max=names.NAME_MAX,
    )


async def _fixed(site: Site, venue: str) -> Any:
    """What is played there, as it is stored. Where that cannot be read just now the rest is worth showing."""
    try:
        return next((row.fixed for row in await site.history.server.venues() if row.name == venue), None)
    except StoreError:
        return None


def _chosen(venues: list[str], named: str | None) -> str:
    """The venue of the examples; empty where none is open."""
    return named if named in venues and named is not None else next(iter(venues), "")


PAGES: Final[Pages] = {"/connect": show}
