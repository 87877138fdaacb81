"""What operators do to games, venues and the server, and the record of what was done.

Must not know: SQL, what a command does, who is an operator.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request

from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.web.pages.requests import PAGE_SIZE, Systems, before, by_system, page_of
from cgos_server.web.people.admin_bots import statuses
from cgos_server.web.people.form_page import FormPage
from cgos_server.web.people.sessions import Visit

AUDIT_ROWS: Final = 50


class AdminHome(FormPage):
    """The server as it is now."""

    address = "/admin"
    template = "people/admin.html"

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        live, why = await statuses(self, request, here)
        pending = [bot for bot in await self.site.history.bots.page() if bot.state == "pending"]
        return {"live": live, "why": why, "pending": pending}


class AdminGames(FormPage):
    """Running games, and what ended ones count as."""

    address = "/admin/games"
    template = "people/admin_games.html"

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        ended = await self.site.history.games.find(GameFilter(running=False), PAGE_SIZE + 1, before(request))
        page, older = page_of(ended)
        return {
            "running": await self.site.history.games.running(),
            "games": page,
            "older": older,
            "filled": {"game": request.query_params.get("game", "")},
        }


class AdminVenues(FormPage):
    """Pairing and anchors."""

    address = "/admin/venues"
    template = "people/admin_venues.html"

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        live, why = await statuses(self, request, here)
        now = {venue.name: venue for status in live for venue in status.venues}
        systems, venues = Systems(self.site), []
        for venue in await self.site.history.server.venues():
            tables = by_system(await self.site.history.ratings.standings(venue.name))
            rows = tables.get(systems.headline(venue.name, tables), [])
            venues.append((venue.name, now.get(venue.name), [row for row in rows if row.anchor]))
        changes = await self.site.strength_changes.all()
        return {"venues": venues, "strength_changes": changes, "why": why, "preview": None}


class AdminAudit(FormPage):
    """Who did what to the server."""

    address = "/admin/audit"
    template = "people/admin_audit.html"

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        filters = {name: request.query_params.get(name, "").strip()[:80] for name in ("actor", "action", "subject")}
        rows = await self.site.history.server.audit(
            AUDIT_ROWS + 1,
            before(request),
            actor=filters["actor"] or None,
            action=filters["action"] or None,
            subject=filters["subject"] or None,
        )
        older = rows[AUDIT_ROWS - 1].id if len(rows) > AUDIT_ROWS else None
        return {"rows": rows[:AUDIT_ROWS], "older": older, "filters": filters}
