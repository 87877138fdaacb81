"""The page with the rules of a venue.

Must not know: SQL, the live server, how a rule is said.
"""

from __future__ import annotations

import asyncio
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.clock import TimeControl
from cgos_protocol.games.base import Ruleset
from cgos_server.presentation.rules import pairing_options, sections
from cgos_server.presentation.settings import VenueSettings
from cgos_server.web.pages.requests import venue_of
from cgos_server.web.site import Pages, Site


async def show(site: Site, request: Request) -> Response:
    """All rules of a venue."""
    name = request.path_params["name"]
    venue = await venue_of(site, name)
    settings = site.settings.venues.get(name)
    known = settings or VenueSettings()
    rules = msgspec.convert(venue.fixed, Ruleset)
    time = msgspec.convert(venue.fixed["time"], TimeControl)
    strengths = await site.strengths.venue(name)
    newcomer = None if strengths is None else strengths.newcomer
    return site.render(
        "rules.html",
        here=name,
        name=name,
        opened_at=venue.created_at,
        open=settings is not None,
        sections=await asyncio.to_thread(sections, rules, time, known, newcomer=newcomer),
        method=known.method,
        options=await asyncio.to_thread(pairing_options, known.method, known.pairing),
    )


PAGES: Final[Pages] = {"/venue/{name}/rules": show}
