"""An owner's home: the bots with how they fare, tokens, sessions, webhooks, feeds; claiming a bot.

Must not know: SQL, what a command does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.figures import Ending
from cgos_protocol.errors import Code, NotFound
from cgos_server.presentation.questions.reading import Wanted
from cgos_server.service.commands.tokens import SCOPES
from cgos_server.storage.reading.answers import RankedRow
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.people_answers import OwnedBot
from cgos_server.web.pages.requests import Systems, number
from cgos_server.web.people import fields
from cgos_server.web.people.form_page import FormPage
from cgos_server.web.people.sessions import PRIVATE, Form, Visit, drop_cookie, session_cookie, visit
from cgos_server.web.people.webhooks import Webhooks
from cgos_server.web.questions.listing import rows_of
from cgos_server.web.site import Site

TODAY_MAX: Final = 500
"""Games of a day that are counted; beyond, the page says so."""

VERSIONS: Final = 20
"""Of one bot, how many versions are looked at: the latest."""

BOTS: Final = 20
"""On one page."""

QUESTIONS: Final = 10
"""Latest questions that are shown."""

EVENT_WORDS: Final = {
    "game-started": "a game begins",
    "game-ended": "a game has ended",
    "event-started": "an event that it entered has started",
    "event-round": "a round of an event is paired",
    "event-ended": "an event is over",
    "question": "a question about it has ended, is stopped or resumed",
    "time-losses": "three games in a row lost on time",
    "suspended": "suspended: gets no more games in a venue",
    "strength-changed": "seems to have become stronger or weaker under one name",
    "signed-in": "signed in",
    "signed-out": "signed out",
}


SCOPE_WORDS: Final = {"bots": "my bots", "admin": "what operators may do"}


class Fare(NamedTuple):
    """How one bot's latest versions fare. `ratings`: under the headline of each venue; `lost`: reason -> games lost so;
    `games`: all that ended; `today`: begun since midnight UTC."""

    bot: OwnedBot
    ratings: list[RankedRow]
    today: int
    games: int
    lost: dict[str, int]

    def share(self, *reasons: str) -> float:
        """Of its ended games, how many it lost for one of these reasons, from 0 to 1."""
        return sum(self.lost.get(reason, 0) for reason in reasons) / max(1, self.games)


async def fare(site: Site, bot: OwnedBot) -> Fare:
    """How a bot fares in all venues."""
    systems, versions = Systems(site), bot.versions[-VERSIONS:]
    ranked = await site.history.ratings.ranked(versions)
    ratings: list[RankedRow] = []
    games, lost = 0, dict[str, int]()
    for venue in dict.fromkeys(row.venue for row in ranked):
        there = [row for row in ranked if row.venue == venue]
        headline = systems.headline(venue, {row.system for row in there})
        ratings += [row for row in there if row.system == headline]
    for known in await site.history.server.venues():
        verdicts = await site.history.records.verdicts(known.name, versions)
        games += sum(row.games for row in verdicts)
        for reason, count in losses(verdicts).items():
            lost[reason] = lost.get(reason, 0) + count
    midnight = site.now_ms() // fields.DAY_MS * fields.DAY_MS
    today = await site.history.games.find(GameFilter(bot=bot.name, since=midnight), TODAY_MAX)
    return Fare(bot=bot, ratings=ratings, today=len(today), games=games, lost=lost)


def losses(verdicts: Sequence[Ending]) -> dict[str, int]:
    """Reason -> games lost for it."""
    by_reason: dict[str, int] = {}
    for row in verdicts:
        if row.outcome == "lost":
            by_reason[row.reason] = by_reason.get(row.reason, 0) + row.games
    return by_reason


class AccountPage(FormPage):
    """The owner's home."""

    address = "/account"
    template = "people/account.html"

    def __init__(self, site: Site, webhooks: Webhooks) -> None:
        super().__init__(site)
        self._webhooks = webhooks

    async def values(self, request: Request, here: Visit) -> dict[str, Any]:
        history, person = self.site.history, here.person
        bots = await history.people.bots_of(person.owner_id)
        first, now = number(request.query_params.get("from")) or 0, self.site.now_ms()
        access = [
            row
            for row in await history.people.access_of(person.owner_id)
            if row.revoked_at is None and (row.expires_at is None or row.expires_at > now)
        ]
        webhooks = await history.people.webhooks(person.owner_id)
        await self.site.deliveries.refresh()
        return {
            "strength_changes": [
                (bot.name, change)
                for bot in bots[first : first + BOTS]
                for change in await self.site.strength_changes.of(bot.versions)
            ],
            "fares": [await fare(self.site, bot) for bot in bots[first : first + BOTS]],
            "choices": {
                "own bot": {"": "all my bots"} | {bot.name: bot.name for bot in bots},
                "events": EVENT_WORDS,
                "scopes": {scope: SCOPE_WORDS[scope] for scope in SCOPES if scope != "admin" or person.admin},
            },
            "following": first + BOTS if len(bots) > first + BOTS else None,
            "today_max": TODAY_MAX,
            "tokens": [row for row in access if row.kind == "token"],
            "sessions": [row for row in access if row.kind == "session"],
            "questions": (await rows_of(self.site, Wanted(owner=person.name), QUESTIONS))[0],
            "webhooks": [(row, self.site.deliveries.of(row.id)) for row in webhooks],
            "counted_since": self.site.deliveries.since,
            "venues": list(self.site.settings.venues),
        }

    async def other(self, _request: Request, here: Visit, form: Form) -> str | None:
        if form.text("deed") == "webhook add":
            await self.site.outside.permit(fields.needed(form, "url", "The address"))
        if form.text("deed") != "webhook test":
            return None
        number = int(fields.needed(form, "webhook", "The webhook"))
        for row in await self.site.history.people.webhooks(here.person.owner_id):
            if row.id == number and row.stopped_at is None:
                return await self._webhooks.test(row)
        raise NotFound(Code.UNKNOWN_WEBHOOK, f"You have no webhook {number} that is sent to.")


class PasswordPage(FormPage):
    """Another password for oneself."""

    address = "/account/password"
    template = "people/password.html"
    following = "/account"

    async def values(self, _request: Request, _here: Visit) -> dict[str, Any]:
        return {}


class ErasePage(FormPage):
    """Being erased: the form is its own confirmation, since it asks for the name and the password."""

    address = "/account/erase"
    template = "people/erase.html"

    async def values(self, _request: Request, here: Visit) -> dict[str, Any]:
        return {"bots": await self.site.history.people.bots_of(here.person.owner_id)}

    async def done(self, request: Request, here: Visit, answer: Any, form: Form) -> Response:
        if await visit(self.site, request) is not None:
            return await super().done(request, here, answer, form)
        response = self.site.render("people/erased.html", sentence=answer.sentence)
        drop_cookie(self.site, request, response, session_cookie(self.site, request))
        response.headers.update(PRIVATE)
        return response
