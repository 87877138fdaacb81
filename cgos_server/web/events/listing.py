"""All events: what is on, what comes, what is over; as a page and as a feed.

Must not know: SQL, what stands on an event's own page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api.events import BotEvent, EventSummary
from cgos_server.presentation.events import answers
from cgos_server.storage.reading.events.questions import EventRow
from cgos_server.tournaments.running.state import AFTER, Phase
from cgos_server.web.events.public_page import PublicPage
from cgos_server.web.pages.requests import before, with_query
from cgos_server.web.people.feeds import FeedEntry, feed
from cgos_server.web.site import Pages, Site, event_path

OVER: Final = 30
"""Events that are over, on one page."""

FED: Final = 50
"""Events that a feed tells of."""

FEED: Final = "/events.atom"


class EventsPage(PublicPage):
    """The list."""

    address = "/events"
    menu = "/events"
    template = "events/events.html"

    async def shown(self, request: Request) -> dict[str, Any]:
        rows = await self.site.history.events.all()
        earlier = before(request)
        over = [row for row in rows if row.phase in AFTER and (earlier is None or row.id < earlier)]
        page = over[:OVER]
        now = await self.site.events.summaries([row for row in rows if row.phase not in AFTER])
        soon = sorted((each for each in now if each.phase != "running"), key=_when)
        return {
            "refresh": earlier is None,
            "on": [each for each in now if each.phase == "running"],
            "coming": [each for each in soon if not _is_overdue(each, self.site.now_ms())],
            "overdue": [each for each in soon if _is_overdue(each, self.site.now_ms())],
            "over": await self.site.events.summaries(page),
            "any": bool(rows),
            "first": earlier is None,
            "older": with_query(request, before=page[-1].id) if len(over) > OVER else None,
            "feed": FEED,
        }


def _when(event: EventSummary) -> tuple[bool, int, int]:
    """Those that start soon first, those without a time last."""
    return event.starts_at is None, event.starts_at or 0, event.id


def _is_overdue(event: EventSummary, now: int) -> bool:
    """True where the start has passed (Unix ms), and nobody has opened the event."""
    return event.phase == "announced" and event.starts_at is not None and event.starts_at < now


class Glance(NamedTuple):
    """Events on the front page: those that are on, those that come, and whether there are others."""

    on: list[EventSummary]
    coming: list[EventSummary]
    more: bool


async def glance(site: Site, most: int) -> Glance:
    """Up to `most` events that run, the latest first, and as many that come."""
    rows = [row for row in await site.history.events.all() if row.phase not in AFTER]
    on = [row for row in rows if row.phase == Phase.RUNNING]
    coming = [row for row in rows if row.phase != Phase.RUNNING]
    summaries = sorted(await site.events.summaries(coming[: 4 * most]), key=_when)
    more = len(on) > most or len(coming) > most
    soon = [each for each in summaries if not _is_overdue(each, site.now_ms())]
    return Glance(await site.events.summaries(on[:most]), soon[:most], more)


async def of_bot(site: Site, bot: str, most: int) -> tuple[list[BotEvent], int]:
    """The latest events of a bot with where its versions stand, and how many there are."""
    rows = await site.history.events.of_bot_named(bot)
    latest = [answers.of_bot(await site.events.at(row), bot) for row in rows[:most]]
    return [each for each in latest if each.entrants], len(rows)


async def feed_of_all(site: Site, request: Request) -> Response:
    """When events are announced, start and end."""
    summaries = await site.events.summaries(_latest(await site.history.events.all()))
    entries = sorted((entry for each in summaries for entry in _entries(each)), key=lambda entry: -entry.at)
    return feed(site, request, "Events", page="/events", own=FEED, entries=entries[:FED])


def _latest(rows: Sequence[EventRow]) -> Sequence[EventRow]:
    return rows[:FED]


def _entries(event: EventSummary) -> list[FeedEntry]:
    page, name = event_path(event.name), event.name
    moments = [
        ("announced", event.announced_at, f"{name} is announced", event.about or f"{event.system} in {event.venue}."),
        ("started", event.started_at, f"{name} has started", f"{event.field} entrants."),
        ("ended", event.ended_at, f"{name} is {event.phase}", event.status),
    ]
    return [
        FeedEntry(path=page, id=f"{page}#{what}", at=at, title=title, summary=text)
        for what, at, title, text in moments
        if at is not None
    ]


PAGES: Final[Pages] = {FEED: feed_of_all}
