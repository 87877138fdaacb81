"""The page of one event: how far it is, who leads, who plays and who is next, how it was paired, what happened.

Must not know: SQL, how anything is paired.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from markupsafe import Markup
from starlette.requests import Request

from cgos_protocol.errors import Code, Refused
from cgos_server.presentation.events import answers
from cgos_server.presentation.events.announcement import lines, rating_sentence
from cgos_server.presentation.events.record import EventRecord
from cgos_server.presentation.pictures.brackets import bracket_of
from cgos_server.presentation.pictures.crosstable_picture import crosstable_svg
from cgos_server.presentation.pictures.movement_picture import movement_svg
from cgos_server.service.commands.declaration import Right
from cgos_server.service.events.entering import Entry
from cgos_server.tournaments.running.state import AFTER, BEFORE
from cgos_server.tournaments.scores import RESULTS, result_words
from cgos_server.tournaments.systems.bubble import Bubble
from cgos_server.tournaments.tournament import system_of
from cgos_server.web.events import schedule, views
from cgos_server.web.events.public_page import PublicPage, not_there
from cgos_server.web.pages.requests import number, refused_as_404
from cgos_server.web.people.sessions import Visit
from cgos_server.web.site import Site

T = TypeVar("T")

NO_EVENT: Final = "There is no event of this name on the server. Capitals matter."

LEADERS: Final = 30
"""Of the standings so many stand on the event's own page."""

PAIRINGS: Final = 30
"""Of the latest round likewise."""

SMALL: Final = 40
"""Entrants up to which the crosstable stands on the event's own page."""

LOGGED: Final = 10
"""Latest entries of the log that stand there."""


async def record_of(site: Site, name: str) -> EventRecord:
    """The event of that name; 404 where there is none."""
    with refused_as_404(NO_EVENT, Code.NO_EVENT):
        return await site.events.named(name)


async def made_of(site: Site, name: str, make: Callable[[EventRecord], T]) -> T:
    """What `make` makes of the event of that name; 404 where there is none."""
    with refused_as_404(NO_EVENT, Code.NO_EVENT):
        return await site.events.made_of(name, make)


def page_of(request: Request) -> int:
    """Which portion of a long list is wanted, from 1."""
    return number(request.query_params.get("page")) or 1


class EventPage(PublicPage):
    """One event."""

    address = "/events/{event}"
    menu = "/events"
    template = "events/event.html"

    async def shown(self, request: Request) -> dict[str, Any]:
        record = await record_of(self.site, request.path_params["event"])
        state = record.state
        rounds = len(state.event.rounds)
        return {
            "refresh": state.phase not in AFTER,
            "name": state.settings.name,
            "base": self.site.address(request),
            "record": record,
            "state": state,
            "before": state.phase in BEFORE,
            "event": answers.summary(record),
            "rating": rating_sentence(state.settings, self.site.settings.sandboxes),
            "settings": lines(state.settings),
            "facts": views.facts(record),
            "order": [views.head(word) for word in record.standings.order],
            "standings": views.standing_lines(record, record.standings.rows[:LEADERS]),
            "more_standings": max(0, len(record.standings.rows) - LEADERS),
            "remark": record.standings.remark,
            "doing": views.doing(record),
            "latest": views.pairings(record, rounds) if rounds else None,
            "most": PAIRINGS,
            "schedule": schedule.of(self.site, record),
            "bracket": picture(record, _bracket),
            "movement": picture(record, _movement),
            "crosstable": crosstable_picture(record) if len(state.event.entrants) <= SMALL else None,
            "has_crosstable": rounds > 0,
            "entrants": answers.entrants(record) if state.phase in BEFORE else [],
            "log": list(zip(record.entries, record.sentences, strict=True))[: -LOGGED - 1 : -1],
            "logged": len(record.entries),
        }

    async def own(self, request: Request, here: Visit, shown: dict[str, Any]) -> dict[str, Any]:
        record: EventRecord = shown["record"]
        owned = await self.site.history.people.bots_of(here.person.owner_id)
        names = [version for bot in owned for version in reversed(bot.versions)]
        by_name = {seat.name: seat for seat in record.state.seats.values()}
        admin = here.person.admin
        seats = list(by_name.values()) if admin else [by_name[name] for name in names if name in by_name]
        free = {name: name for name in names if name not in by_name}
        owners = [word for word, (kind, _) in self.forms.items() if kind.allowed is not Right.OPERATOR]
        return {
            "entries": [Entry(record.state, seat) for seat in seats[:MOST_SEATS]],
            "has_versions": bool(names),
            "owners": owners if free or admin else [],
            "operators": [word for word in self.forms if word not in owners],
            "choices": ({} if admin else {"version": free}) | {"result": _RESULT_CHOICES},
            "filled": {"number": request.query_params.get("number", "")[:12]},
        }


_SCORES: Final = ("0-1", "1-0", "1/2-1/2", "0-0", "-/+", "+/-", "-/-", "no-contest")
_RESULT_CHOICES: Final = {score: result_words(RESULTS[score]) for score in _SCORES}
"""What a game can be ruled to be, in words, Black first."""

MOST_SEATS: Final = 50
"""Entrants with buttons beside them."""


def picture(record: EventRecord, draw: Callable[[EventRecord], str | None]) -> Markup | None:
    """A drawing; None where there is nothing to draw, or the record does not fit its system any more."""
    try:
        drawn = record.once(f"picture{draw.__name__}", lambda: draw(record))
    except (Refused, ValueError):
        return None
    return None if drawn is None else Markup(drawn)


def _bracket(record: EventRecord) -> str | None:
    return bracket_of(record.state.event, views.match_links(record))


def _movement(record: EventRecord) -> str | None:
    system = system_of(record.state.event)
    if not isinstance(system, Bubble) or not record.state.event.rounds:
        return None
    return movement_svg(record.state.event, system.trace(record.state.event))


def crosstable_picture(record: EventRecord) -> Markup | None:
    """The crosstable drawn pair by pair; None where no round has begun."""
    return picture(record, _crosstable)


def _crosstable(record: EventRecord) -> str | None:
    if not record.state.event.rounds:
        return None
    table = record.results.crosstable
    return crosstable_svg(table, views.cell_links(record, table, table.rows))


class RoundPage(PublicPage):
    """One round of an event, with its games; operators go from there to rule them."""

    address = "/events/{event}/rounds/{round}"
    menu = "/events"
    template = "events/round.html"

    async def shown(self, request: Request) -> dict[str, Any]:
        record = await record_of(self.site, request.path_params["event"])
        word = request.path_params["round"]
        at = int(word) if word.isascii() and word.isdecimal() and len(word) < 10 else 0
        if not 1 <= at <= len(record.state.event.rounds):
            raise not_there("This event has no round of this number, or it has not begun.")
        each = views.pairings(record, at)
        return {
            "refresh": record.state.phase not in AFTER,
            "name": record.state.settings.name,
            "event": answers.summary(record),
            "each": each,
            "portion": views.portion(each.games, page_of(request)),
            "number": at,
            "rounds": len(record.state.event.rounds),
        }
