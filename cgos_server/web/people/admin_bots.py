"""What operators do to bots, their connections and people's accounts.

Must not know: SQL, how a deed is done, who is an operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from cgos_protocol.errors import Refused
from cgos_server.service import requests as deeds
from cgos_server.service.control import ServerStatus
from cgos_server.storage.answers import BotRow
from cgos_server.web.people import fields
from cgos_server.web.people.desk import Deed, Desk
from cgos_server.web.people.sessions import Form, Visit
from cgos_server.web.site import Site

ROWS: Final = 100
"""Bots, accounts or connections on one page; a search finds the others."""

STATES: Final = ("pending", "active", "disabled")


async def status_of_server(desk: Desk, request: Request, here: Visit) -> tuple[ServerStatus | None, str]:
    """What the live server does, or why that is not known."""
    try:
        answer = await desk.site.on_behalf(here.session, request, deeds.StatusRequest())
    except Refused as refusal:
        return None, refusal.sentence
    assert isinstance(answer, deeds.StatusNow)
    return answer.status, ""


def until(form: Form, now_ms: int) -> int | None:
    """When it ends (Unix ms), from the days of the form; None for never. Raises Refused."""
    days = fields.whole(form, "days", what="Days", least=1, most=3660)
    return None if days is None else now_ms + days * fields.DAY_MS


def found_bots(bots: Sequence[BotRow], text: str, state: str) -> list[BotRow]:
    """Those whose name, or a version's, holds `text` whatever its capitals; those that wait for approval first."""
    wanted = text.lower()
    return sorted(
        (
            bot
            for bot in bots
            if state in ("", bot.state) and any(wanted in name.lower() for name in (bot.name, *bot.versions))
        ),
        key=lambda bot: bot.state != "pending",
    )


class AdminBots(Desk):
    """All bots."""

    template = "people/admin_bots.html"
    admin = True

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.offers: Mapping[str, Deed] = {
            "bot disable": Deed(
                lambda form, _: deeds.BotDisable(
                    name=fields.needed(form, "name", "The bot's name"),
                    reason=fields.needed(form, "reason", "The reason, which its author is told,"),
                    until=until(form, site.now_ms()),
                ),
                lambda form, _: (
                    f"{form.text('name')} will be sent away at once and kept out "
                    f"{'for ' + form.text('days') + ' days' if form.text('days') else 'until somebody enables it'}. "
                    f"Its author is told: {form.text('reason')}"
                ),
            ),
            "bot enable": Deed(lambda form, _: deeds.BotEnable(name=fields.needed(form, "name", "The bot's name"))),
            "approve": Deed(lambda form, _: deeds.Approve(name=fields.needed(form, "name", "The bot's name"))),
            "bot recall": Deed(lambda form, _: deeds.BotRecall(name=fields.needed(form, "name", "The bot's name"))),
            "bot add": Deed(
                lambda form, _: deeds.BotAdd(
                    name=fields.needed(form, "name", "The bot's name"), password=fields.same_twice(form, "new")
                )
            ),
            "bot passwd": Deed(
                lambda form, _: deeds.BotPasswd(
                    name=fields.needed(form, "name", "The bot's name"), password=fields.same_twice(form, "new")
                )
            ),
            "bot own": Deed(
                lambda form, _: deeds.BotOwn(
                    bot=fields.needed(form, "name", "The bot's name"), account=form.text("account") or None
                )
            ),
            "family link": Deed(
                lambda form, _: deeds.FamilyLink(
                    bot=fields.needed(form, "name", "The bot's name"),
                    leader=fields.needed(form, "leader", "The bot that leads the family"),
                )
            ),
            "family unlink": Deed(
                lambda form, _: deeds.FamilyUnlink(bot=fields.needed(form, "name", "The bot's name"))
            ),
        }

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        text, state = request.query_params.get("search", "").strip()[:40], request.query_params.get("state", "")
        bots = await self.site.history.bots.page()
        found = found_bots(bots, text, state)
        return {
            "here": "/admin",
            "bots": found[:ROWS],
            "found": len(found),
            "all": len(bots),
            "search": text,
            "state": state,
            "states": STATES,
        }


class AdminBot(Desk):
    """One bot, with all that can be done to it."""

    template = "people/admin_bot.html"
    admin = True

    def __init__(self, site: Site) -> None:
        super().__init__(site)
        self.offers = AdminBots(site).offers

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        try:
            bot = await self.site.history.bots.detail(request.path_params["name"])
        except Refused as refusal:
            raise HTTPException(404, "There is no bot of this name on the server. Capitals matter.") from refusal
        return {
            "here": "/admin",
            "bot": bot,
            "connections": await self.site.history.bots.connections(bot.name, limit=20),
        }


class AdminConnections(Desk):
    """Who is signed in now."""

    template = "people/admin_connections.html"
    admin = True
    offers: Mapping[str, Deed] = {
        "kick": Deed(
            lambda form, _: deeds.Kick(
                bot=fields.needed(form, "bot", "The bot's name"),
                reason=fields.needed(form, "reason", "The reason, which the bot is told,"),
            ),
            lambda form, _: (
                f"All connections of {form.text('bot')} will be closed; it may come back. It is told: "
                f"{form.text('reason')}"
            ),
        )
    }

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        status, why = await status_of_server(self, request, here)
        text = request.query_params.get("search", "").strip()[:40]
        bots = [] if status is None else [bot for bot in status.bots if text.lower() in bot.name.lower()]
        bots.sort(key=lambda bot: (bot.venue, bot.name))
        address = request.query_params.get("address", "").strip()[:64]
        past = await self.site.history.bots.connections(address=address, limit=ROWS) if address else []
        return {
            "here": "/admin",
            "bots": bots[:ROWS],
            "found": len(bots),
            "search": text,
            "why": why,
            "chosen": request.query_params.get("bot", "")[:40],
            "address": address,
            "past": past,
        }


class AdminAccounts(Desk):
    """People."""

    template = "people/admin_accounts.html"
    admin = True
    offers: Mapping[str, Deed] = {
        "account add": Deed(
            lambda form, _: deeds.AccountAdd(
                name=fields.needed(form, "name", "The name"),
                password=fields.same_twice(form, "new"),
                admin=form.text("admin") == "yes",
            )
        ),
        "account passwd": Deed(
            lambda form, _: deeds.AccountPasswd(
                name=fields.needed(form, "name", "The name"), password=fields.same_twice(form, "new")
            )
        ),
        "account grant": Deed(
            lambda form, _: deeds.AccountGrant(name=fields.needed(form, "name", "The name"), right="admin"),
            lambda form, _: f"{form.text('name')} will be able to do all that stands on these pages.",
        ),
        "account revoke": Deed(
            lambda form, _: deeds.AccountRevoke(name=fields.needed(form, "name", "The name"), right="admin"),
            lambda form, _: f"{form.text('name')} will be no operator any more.",
        ),
        "account disable": Deed(
            lambda form, _: deeds.AccountDisable(
                name=fields.needed(form, "name", "The name"),
                reason=fields.needed(form, "reason", "The reason, which is kept,"),
            ),
            lambda form, _: f"{form.text('name')} will be signed out everywhere and kept out. Its bots go on playing.",
        ),
        "account enable": Deed(lambda form, _: deeds.AccountEnable(name=fields.needed(form, "name", "The name"))),
    }

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        text = request.query_params.get("search", "").strip()[:40]
        found = [row for row in await self.site.history.people.accounts() if text.lower() in row.name.lower()]
        return {"here": "/admin", "accounts": found[:ROWS], "found": len(found), "search": text}


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    both = ["GET", "POST"]
    return [
        Route("/admin/bots", AdminBots(site).answer, methods=both),
        Route("/admin/bots/{name}", AdminBot(site).answer, methods=both),
        Route("/admin/connections", AdminConnections(site).answer, methods=both),
        Route("/admin/accounts", AdminAccounts(site).answer, methods=both),
    ]
