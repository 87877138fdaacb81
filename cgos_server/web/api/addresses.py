"""All addresses of the API: its table of routes with everybody's handlers.

Must not know: what handlers do.
"""

from __future__ import annotations

from starlette.routing import BaseRoute

from cgos_protocol.api.routes import ROUTES
from cgos_server.web.api import admin, exports, live, own, reading, reading_bots, reading_games
from cgos_server.web.api.framework import Handler, api_routes
from cgos_server.web.site import Site


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it."""
    found: dict[str, Handler] = {}
    for module in (reading, reading_bots, reading_games, exports, live, own, admin):
        found |= module.handlers(site)
    return found


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of the API."""
    return api_routes(site, ROUTES, handlers(site))
