"""The page with the rules of a venue.

Must not know: SQL, the live server, how a rule is said.
"""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from cgos_protocol.clock import TimeControl
from cgos_protocol.games.base import Ruleset
from cgos_server.presentation.rules import pairing_options, sections
from cgos_server.presentation.settings import VenueSettings
from cgos_server.web.pages.requests import venue_of
from cgos_server.web.site import Site


class RulesPage:
    """The handler."""

    def __init__(self, site: Site) -> None:
        self._site = site

    async def rules(self, request: Request) -> Response:
        """All rules of a venue."""
        name = request.path_params["name"]
        venue = await venue_of(self._site, name)
        settings = self._site.settings.venues.get(name)
        known = settings or VenueSettings()
        rules = msgspec.convert(venue.fixed, Ruleset)
        time = msgspec.convert(venue.fixed["time"], TimeControl)
        return self._site.render(
            "rules.html",
            here=name,
            name=name,
            opened_at=venue.created_at,
            open=settings is not None,
            sections=await asyncio.to_thread(sections, rules, time, known),
            method=known.method,
            options=await asyncio.to_thread(pairing_options, known.method, known.pairing),
        )


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    return [Route("/venue/{name}/rules", RulesPage(site).rules)]
