"""Answers of the API to commands: each as its declaration says, with the few that need something more.

Must not know: who may have what done, what commands do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import ApiRoute
from cgos_server.service.people.authority import Sight
from cgos_server.web.api.acting import performing, person_of
from cgos_server.web.api.admin import arranged, server_now
from cgos_server.web.api.framework import ApiRequest, Handler
from cgos_server.web.site import Site


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it. What one's bot does just now is answered elsewhere: it is remembered."""

    async def may_be_reached(asked: ApiRequest) -> None:
        await person_of(site, asked, Sight.OWN_BOTS)  # or strangers would have names looked up
        await site.outside.permit(asked.body.url)

    before = {"make_webhook": may_be_reached}
    shown: dict[str, Callable[[Any], Any]] = {"admin_status": server_now, "arrange_match": arranged}
    return {
        route.id: performing(site, command, route, before=before.get(route.id), shown=shown.get(route.id))
        for command, route in on(ApiRoute)
        if route.id != "bot_now"
    }
