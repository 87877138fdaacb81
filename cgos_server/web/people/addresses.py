"""All addresses of people's pages, and what runs beside them.

Must not know: what stands on a page.
"""

from __future__ import annotations

from starlette.routing import BaseRoute

from cgos_server.web.people import account, admin_bots, admin_server, own_bot, sign_in
from cgos_server.web.people.webhooks import Webhooks
from cgos_server.web.site import Site


def routes(site: Site) -> list[BaseRoute]:
    """The addresses; webhooks begin to be told with the application."""
    webhooks = Webhooks(site)
    site.attend(webhooks.heard, webhooks.run)
    return [
        *sign_in.routes(site),
        *account.routes(site, webhooks),
        *own_bot.routes(site),
        *admin_server.routes(site),
        *admin_bots.routes(site),
    ]
