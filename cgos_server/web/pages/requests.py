"""What several pages do with what they were asked for: numbers of a query, portions of a list, systems of a venue.

Must not know: templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final
from urllib.parse import quote, urlencode

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from cgos_protocol.api.games import Game
from cgos_protocol.api.route import LARGEST
from cgos_protocol.clock import TimeControl
from cgos_protocol.errors import Code, Refused
from cgos_protocol.games.base import Ruleset
from cgos_server.presentation import words
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.service.ratings.listed import best
from cgos_server.storage.reading.answers import BotDetail, RankedRow, StandingRow, VenueRow
from cgos_server.web.site import Site

NO_BOT: Final = "There is no bot of this name on the server. Capitals matter."
NO_GAME: Final = "There is no game of this number on the server."

PAGE_SIZE: Final = 30
"""Games on one page of a list."""


class Systems:
    """Which rating systems a venue has, and which one is shown first."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def order(self, venue: str, there: Iterable[str]) -> list[str]:
        """Of rating systems that have published something in a venue, the headline first."""
        return self._site.settings.rated(venue).order(there)

    def headline(self, venue: str, there: Iterable[str]) -> str:
        """The first of them; empty for none."""
        return next(iter(self.order(venue, there)), "")

    def headlines(self, rows: Iterable[RankedRow]) -> dict[str, str]:
        """Venue -> the headline among the systems of these ratings."""
        there: dict[str, list[str]] = {}
        for row in rows:
            there.setdefault(row.venue, []).append(row.system)
        return {venue: self.headline(venue, systems) for venue, systems in there.items()}

    async def rated(self, venue: str) -> dict[str, int]:
        """Rating systems that have published something in a venue, the headline first, each with how many versions it
        has rated."""
        counts = await self._site.history.ratings.rated_counts(venue)
        return {system: counts[system] for system in self.order(venue, counts)}

    async def best(self, venue: str, limit: int) -> list[StandingRow]:
        """The first `limit` that are listed under the headline."""
        for system in await self.rated(venue):
            return await best(self._site.history, venue, system, limit)
        return []


async def venues_in_order(site: Site) -> list[VenueRow]:
    """All venues: the configured ones in their order, then those of before."""
    rows = {venue.name: venue for venue in await site.history.server.venues()}
    order = dict.fromkeys((*site.settings.venues, *rows))
    return [rows[name] for name in order if name in rows]


async def venue_of(site: Site, name: str) -> VenueRow:
    """The venue of this name; 404 where there is none."""
    venue = next((venue for venue in await site.history.server.venues() if venue.name == name), None)
    if venue is None:
        raise HTTPException(404, "There is no venue of this name on the server.")
    return venue


@contextmanager
def refused_as_404(sentence: str, *codes: Code) -> Iterator[None]:
    """What is refused with one of these codes, or with any where none is named, is a page that is not there."""
    try:
        yield
    except Refused as refusal:
        if codes and refusal.code not in codes:
            raise
        raise HTTPException(404, sentence) from refusal


async def bot_of(site: Site, name: str) -> BotDetail:
    """The bot of this name, or the one that has a version of this name; 404 where there is neither."""
    with refused_as_404(NO_BOT):
        try:
            return await site.history.bots.detail(name)
        except Refused:
            return await site.history.bots.detail((await site.history.bots.version(name)).bot)


async def stored_game(site: Site, request: Request) -> StoredGame:
    """The game whose number the address names; 404 where there is none."""
    game = request.path_params["id"]
    with refused_as_404(NO_GAME, Code.NO_GAME):
        if game <= LARGEST:
            return StoredGame(await site.history.games.detail(game))
    raise HTTPException(404, NO_GAME)


async def visible_game(site: Site, request: Request) -> StoredGame:
    """The same as far as anybody may see it."""
    return StoredGame(site.visible((await stored_game(site, request)).detail))


def by_system(rows: Iterable[StandingRow]) -> dict[str, list[StandingRow]]:
    """Rating system -> its standings, best first."""
    tables: dict[str, list[StandingRow]] = {}
    for row in rows:
        tables.setdefault(row.system, []).append(row)
    return tables


def terms_of(venue: VenueRow) -> str:
    """What is played in a venue."""
    rules = msgspec.convert(venue.fixed, Ruleset)
    return words.terms(rules, msgspec.convert(venue.fixed["time"], TimeControl))


def page_of(games: list[Game]) -> tuple[list[Game], int | None]:
    """The games of this page, and before which number the next one begins, if there is one."""
    page = games[:PAGE_SIZE]
    return page, page[-1].id if len(games) > PAGE_SIZE else None


def number(text: str | None) -> int | None:
    """A number from a query; 400 where it is none. Beyond what a number of a row can be it counts as the largest."""
    if text is None or not text.strip():
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 30:
        raise HTTPException(400, "Where this address should have a number it has something else.")
    return min(int(text), LARGEST)


def date(text: str | None) -> int | None:
    """The beginning of a day (UTC) from a query, as Unix ms; 400 where it is no date."""
    if text is None or not text.strip():
        return None
    try:
        return words.day_end(text.strip()[:10]) + 1 - DAY_MS
    except ValueError as error:
        raise HTTPException(400, "Where this address should have a date, such as 2026-01-31, it has not.") from error


def with_query(request: Request, **changes: str | int | None) -> str:
    """The address that was asked for, with these parts of its query changed, or with None left out."""
    query = {key: value for key, value in request.query_params.items() if value and key not in changes}
    query |= {key: str(value) for key, value in changes.items() if value is not None}
    path = quote(request.scope["path"])
    return f"{path}?{urlencode(query)}" if query else path


DAY_MS: Final = 86_400_000


def before(request: Request) -> int | None:
    """The number before which a portion of a list is to begin."""
    return number(request.query_params.get("before"))
