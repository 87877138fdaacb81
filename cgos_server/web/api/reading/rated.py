"""Which venue, and which of its rating systems, a reader of the API means.

Must not know: routes, SQL.
"""

from __future__ import annotations

from cgos_protocol.errors import Code, NotFound
from cgos_server.web.around.problems import Wrong
from cgos_server.web.pages.requests import Systems
from cgos_server.web.site import Site


async def systems_of(site: Site, venue: str) -> list[str]:
    """The rating systems that have published in a venue, the headline first; as configured before anything is.

    Raises Refused for a venue that is not there.
    """
    published = Systems(site).order(venue, await site.history.ratings.rated_counts(venue))
    return published or list(site.settings.rated(venue).systems if venue in site.settings.venues else ())


async def system_meant(site: Site, venue: str, system: str | None) -> str:
    """This rating system, or (None) the headline; empty where there is none. Raises NotFound."""
    return system_among(system, await systems_of(site, venue), venue)


def system_among(system: str | None, systems: list[str], venue: str) -> str:
    """The same where the venue's systems are known."""
    if system is None:
        return systems[0] if systems else ""
    if system not in systems:
        raise NotFound(Code.NO_SYSTEM, f"{venue} is not rated by a system of this name. Choose: {', '.join(systems)}.")
    return system


async def venue_meant(site: Site, venue: str | None, version: str) -> str:
    """This venue, or (None) the only one where a version is rated. Raises NotFound, Wrong."""
    if venue is not None:
        return venue
    rated = sorted({row.venue for row in await site.history.ratings.ranked([version])})
    if len(rated) == 1:
        return rated[0]
    if not rated:
        raise NotFound(Code.NO_RATING, f"{version} is not rated in any venue.")
    raise Wrong("venue", f"{version} is rated in several venues: say `venue`, one of {', '.join(rated)}.")
