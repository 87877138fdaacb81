"""All addresses of people's pages, and what runs beside them.

Must not know: what stands on a page.
"""

from __future__ import annotations

from functools import partial

from starlette.routing import BaseRoute, Route

from cgos_server.web.people import own_data, sign_in
from cgos_server.web.people.account import AccountPage, ErasePage, PasswordPage
from cgos_server.web.people.admin_bots import AdminAccounts, AdminBot, AdminBots, AdminConnections
from cgos_server.web.people.admin_server import AdminAudit, AdminGames, AdminHome, AdminVenues
from cgos_server.web.people.own_bot import OwnBotPage
from cgos_server.web.people.webhooks import Webhooks
from cgos_server.web.site import Site


def routes(site: Site) -> list[BaseRoute]:
    """The addresses; webhooks begin to be told with the application."""
    webhooks = Webhooks(site)
    site.attend(webhooks.heard, webhooks.run)
    kinds = (
        PasswordPage,
        ErasePage,
        OwnBotPage,
        AdminHome,
        AdminGames,
        AdminVenues,
        AdminAudit,
        AdminBots,
        AdminBot,
        AdminConnections,
        AdminAccounts,
    )
    pages = [AccountPage(site, webhooks), *(kind(site) for kind in kinds)]
    forms = [Route(page.address, page.answer, methods=["GET", "POST"] if page.forms else ["GET"]) for page in pages]
    signing = [Route(path, partial(answer, site), methods=methods) for path, (answer, methods) in sign_in.PAGES.items()]
    data = [
        Route(f"/account/data.{suffix}", partial(own_data.answer, site, packed=suffix == "zip"))
        for suffix in ("json", "zip")
    ]
    return [*signing, *data, *forms]
