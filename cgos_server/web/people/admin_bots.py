"""What operators do to bots, their connections and people's accounts.

Must not know: SQL, what a command does, who is an operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request

from cgos_protocol.errors import Refused
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus
from cgos_server.storage.reading.answers import BotDetail, BotRow
from cgos_server.web.pages.requests import NO_BOT, refused_as_404
from cgos_server.web.people.form_page import FormPage
from cgos_server.web.people.sessions import Visit

ROWS: Final = 100
"""Bots, accounts or connections on one page; a search finds the others."""

STATES: Final = ("pending", "active", "disabled")


async def statuses(page: FormPage, request: Request, here: Visit) -> tuple[list[ServerStatus], str]:
    """What each server that plays does, or why that is not known."""
    try:
        return await page.site.everywhere_on_behalf(here.session, request, StatusRequest()), ""
    except Refused as refusal:
        return [], refusal.sentence


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


def newest_versions(bot: BotDetail) -> dict[str, str]:
    """The versions of a bot that a form offers, newest first."""
    newest = sorted(bot.versions, key=lambda version: -version.id)[:ROWS]
    return {version.name: version.name for version in newest}


class AdminBots(FormPage):
    """All bots."""

    address = "/admin/bots"
    template = "people/admin_bots.html"

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        text, state = request.query_params.get("search", "").strip()[:40], request.query_params.get("state", "")
        bots = await self.site.history.bots.page()
        matching = found_bots(bots, text, state)
        return {
            "bots": matching[:ROWS],
            "matching": len(matching),
            "all": len(bots),
            "search": text,
            "state": state,
            "states": STATES,
        }


class AdminBot(FormPage):
    """One bot, with all that can be done to it."""

    address = "/admin/bots/{bot}"
    template = "people/admin_bot.html"

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        with refused_as_404(NO_BOT):
            bot = await self.site.history.bots.detail(request.path_params["bot"])
        return {
            "bot": bot,
            "filled": {"account": bot.owner or ""},
            "choices": {"version": newest_versions(bot)},
            "connections": await self.site.history.bots.connections(bot.name, limit=20),
            "strength_changes": await self.site.strength_changes.of([version.name for version in bot.versions]),
        }


class AdminConnections(FormPage):
    """Who is signed in now."""

    address = "/admin/connections"
    template = "people/admin_connections.html"

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        live, why = await statuses(self, request, here)
        text = request.query_params.get("search", "").strip()[:40]
        bots = [bot for status in live for bot in status.bots if text.lower() in bot.name.lower()]
        bots.sort(key=lambda bot: (bot.venue, bot.name))
        address = request.query_params.get("address", "").strip()[:64]
        past = await self.site.history.bots.connections(address=address, limit=ROWS) if address else []
        return {
            "bots": bots[:ROWS],
            "matching": len(bots),
            "search": text,
            "why": why,
            "filled": {"bot": request.query_params.get("bot", "")[:40]},
            "address": address,
            "past": past,
        }


class AdminAccounts(FormPage):
    """People."""

    address = "/admin/accounts"
    template = "people/admin_accounts.html"

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        text = request.query_params.get("search", "").strip()[:40]
        matching = [row for row in await self.site.history.people.accounts() if text.lower() in row.name.lower()]
        return {"accounts": matching[:ROWS], "matching": len(matching), "search": text}
