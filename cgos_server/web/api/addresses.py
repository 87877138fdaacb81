"""All addresses of the API: its table of routes with everybody's handlers.

Must not know: what handlers do.
"""

from __future__ import annotations

from functools import partial

from starlette.routing import BaseRoute

from cgos_server.web.api import acting, openapi
from cgos_server.web.api.framework import Handler, api_routes
from cgos_server.web.api.operations import ROUTES
from cgos_server.web.api.reading import handlers as readers
from cgos_server.web.site import Site


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it."""
    reading = readers.handlers(site, describe=partial(openapi.document, ROUTES))
    return reading | acting.handlers(site)


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of the API."""
    return api_routes(site, ROUTES, handlers(site))
