"""What operators do to games, venues and the server, and the record of what was done.

Must not know: SQL, how a deed is done, who is an operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.routing import BaseRoute, Route

from cgos_protocol.errors import Code, Invalid
from cgos_server.service import requests as deeds
from cgos_server.storage.game_answers import GamesAsked
from cgos_server.web.pages.asked import PAGE_SIZE, Systems, before, by_system, page_of
from cgos_server.web.people import fields
from cgos_server.web.people.admin_bots import status_of_server
from cgos_server.web.people.desk import Deed, Desk
from cgos_server.web.people.sessions import Form, Visit
from cgos_server.web.site import Site

AUDIT_ROWS: Final = 50
ABORT_RESULTS: Final = ("Abort", "B+Forfeit", "W+Forfeit")
"""How a running game can be ended."""

DRAIN: Final = "drain"
"""What is typed before the server is sent to its end."""


class AdminHome(Desk):
    """The server as it is now."""

    template = "people/admin.html"
    admin = True

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        status, why = await status_of_server(self, request, here)
        pending = [bot for bot in await self.site.history.bots.page() if bot.state == "pending"]
        return {"here": "/admin", "live": status, "why": why, "pending": pending, "drain": DRAIN}

    offers: Mapping[str, Deed] = {
        "reload": Deed(
            lambda _form, _: deeds.Reload(),
            lambda _form, _: "The configuration will be read again; what concerns pairing holds from then on.",
        ),
        "drain": Deed(
            lambda form, _: _drain(form),
            lambda _form, _: (
                "No new game will begin, and the server ENDS when the running ones have ended. These pages end with "
                "it. Whoever manages the machine has to start it again."
            ),
        ),
    }


def _drain(form: Form) -> deeds.Request:
    if form.text("word") != DRAIN:
        raise Invalid(Code.CONFIRM, f"Type the word {DRAIN} if you mean it.")
    return deeds.Drain()


class AdminGames(Desk):
    """Running games, and what ended ones count as."""

    template = "people/admin_games.html"
    admin = True
    offers: Mapping[str, Deed] = {
        "abort": Deed(
            lambda form, _: deeds.GameAbort(
                game=fields.the_number(form, "game", "The game's number"),
                result=_one_of(form, "result", ABORT_RESULTS),
                reason=fields.needed(form, "reason", "The reason, which both sides are told,"),
            ),
            lambda form, _: (
                f"Game {form.text('game')} will end at once as {form.text('result')}. Both sides are told: "
                f"{form.text('reason')}"
            ),
        ),
        "correct": Deed(
            lambda form, _: deeds.GameCorrect(
                game=fields.the_number(form, "game", "The game's number"),
                result=_one_of(form, "result", deeds.RESULTS),
                reason=fields.needed(form, "reason", "The reason, which is kept,"),
            ),
            lambda form, _: (
                f"Game {form.text('game')} will count as {form.text('result')}, and the ratings change accordingly. "
                "Anybody can see that it was corrected, and why."
            ),
        ),
        "match": Deed(
            lambda form, _: deeds.Match(
                venue=fields.needed(form, "venue", "The venue"),
                white=fields.needed(form, "white", "White"),
                black=fields.needed(form, "black", "Black"),
            )
        ),
    }

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        ended = await self.site.history.games.find(GamesAsked(running=False), PAGE_SIZE + 1, before(request))
        page, older = page_of(ended)
        return {
            "here": "/admin",
            "running": await self.site.history.games.running(),
            "games": page,
            "older": older,
            "abort_results": ABORT_RESULTS,
            "results": deeds.RESULTS,
            "chosen": request.query_params.get("game", ""),
            "venues": list(self.site.settings.venues),
        }


def _one_of(form: Form, name: str, among: tuple[str, ...]) -> str:
    text = form.text(name)
    if text not in among:
        raise Invalid(Code.CHOOSE, f"Choose one of {', '.join(among)}.")
    return text


class AdminVenues(Desk):
    """Pairing and anchors."""

    template = "people/admin_venues.html"
    admin = True
    offers: Mapping[str, Deed] = {
        "pause": Deed(
            lambda form, _: deeds.VenuePause(venue=fields.needed(form, "venue", "The venue")),
            lambda form, _: f"Nobody will be paired in {form.text('venue')} until it is resumed. Running games go on.",
        ),
        "resume": Deed(lambda form, _: deeds.VenueResume(venue=fields.needed(form, "venue", "The venue"))),
        "pairing preview": Deed(lambda form, _: deeds.Preview(venue=fields.needed(form, "venue", "The venue"))),
        "anchor set": Deed(
            lambda form, _: deeds.AnchorSet(
                venue=fields.needed(form, "venue", "The venue"),
                bot=fields.needed(form, "bot", "The bot or version"),
                rating=_rating(form),
                sd=fields.real(form, "sd", "The standard deviation"),
            ),
            lambda form, _: (
                f"{form.text('bot')} will have the rating {form.text('rating')} in {form.text('venue')} from now on, "
                "and all other ratings follow it."
            ),
        ),
        "anchor unset": Deed(
            lambda form, _: deeds.AnchorUnset(
                venue=fields.needed(form, "venue", "The venue"), bot=fields.needed(form, "bot", "The bot or version")
            ),
            lambda form, _: f"The rating of {form.text('bot')} in {form.text('venue')} will move again.",
        ),
    }

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        status, why = await status_of_server(self, request, here)
        now = {} if status is None else {venue.name: venue for venue in status.venues}
        systems, venues = Systems(self.site), []
        for venue in await self.site.history.server.venues():
            tables = by_system(await self.site.history.ratings.standings(venue.name))
            rows = tables.get(systems.headline(venue.name, tables), [])
            venues.append((venue.name, now.get(venue.name), [row for row in rows if row.anchor]))
        return {"here": "/admin", "venues": venues, "why": why, "preview": None}


def _rating(form: Form) -> float:
    fields.needed(form, "rating", "The rating")
    rating = fields.real(form, "rating", "The rating")
    assert rating is not None
    return rating


class AdminAudit(Desk):
    """Who did what to the server."""

    template = "people/admin_audit.html"
    admin = True

    async def values(self, request: Request, _here: Visit) -> dict[str, Any]:
        asked = {name: request.query_params.get(name, "").strip()[:80] for name in ("actor", "action", "subject")}
        rows = await self.site.history.server.audit(
            AUDIT_ROWS + 1,
            before(request),
            actor=asked["actor"] or None,
            action=asked["action"] or None,
            subject=asked["subject"] or None,
        )
        older = rows[AUDIT_ROWS - 1].id if len(rows) > AUDIT_ROWS else None
        return {"here": "/admin", "rows": rows[:AUDIT_ROWS], "older": older, "asked": asked}


def routes(site: Site) -> list[BaseRoute]:
    """The addresses of this module."""
    both = ["GET", "POST"]
    return [
        Route("/admin", AdminHome(site).answer, methods=both),
        Route("/admin/games", AdminGames(site).answer, methods=both),
        Route("/admin/venues", AdminVenues(site).answer, methods=both),
        Route("/admin/audit", AdminAudit(site).answer),
    ]
