"""All addresses of events.

Must not know: what stands on a page.
"""

from __future__ import annotations

from functools import partial

from starlette.routing import BaseRoute, Route

from cgos_server.web.events import listing, parts
from cgos_server.web.events.admin_page import AdminEvents
from cgos_server.web.events.event_page import EventPage, RoundPage
from cgos_server.web.events.listing import EventsPage
from cgos_server.web.site import Site


def routes(site: Site) -> list[BaseRoute]:
    """The addresses."""
    plain = [Route(path, partial(answer, site)) for path, answer in {**listing.PAGES, **parts.PAGES}.items()]
    pages = [kind(site) for kind in (EventsPage, EventPage, RoundPage, AdminEvents)]
    return [
        *plain,
        *(Route(page.address, page.answer, methods=["GET", "POST"] if page.forms else ["GET"]) for page in pages),
    ]
