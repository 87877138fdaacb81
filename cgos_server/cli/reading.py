"""Commands that read: they ask the database, whether a server runs on it or not.

Must not know: the live server, how answers are shown.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from cgos_protocol.errors import ConfigError
from cgos_protocol.ids import VenueId
from cgos_server.cli.common import Setup, one_venue
from cgos_server.config.venues import venue_value
from cgos_server.core.rating.base import RatingSystem
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.venue import Venue
from cgos_server.storage import schema
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History

if TYPE_CHECKING:
    from cgos_server.presentation.settings import WebSettings
    from cgos_server.presentation.strengths import Strengths

T = TypeVar("T")


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def read(setup: Setup, question: Callable[[History], Awaitable[T]]) -> T:
    """Ask the database, whether a server runs or not. Raises SchemaMismatch where it cannot be read."""
    return read_from(setup.database, question)


def read_from(location: Location, question: Callable[[History], Awaitable[T]]) -> T:
    """As :func:`read`, from any database."""
    schema.check(location)

    async def ask() -> T:
        async with History(location) as history:
            return await question(history)

    return asyncio.run(ask())


async def venues_asked(history: History, venue: str | None) -> list[str]:
    """The names of the venues that a command is about: one, or all that the database knows."""
    return [venue] if venue is not None else [row.name for row in await history.server.venues()]


def page_settings(setup: Setup) -> WebSettings:
    """What the pages would know of the configuration: commands show the same."""
    from cgos_server.presentation.settings import VenueSettings, WebSettings

    venues = {each.name: VenueSettings.of(venue_value(each, VenueId(0)), 0) for each in setup.config.venue}
    config = setup.config
    return WebSettings(server_name=config.server.name, venues=venues, questions_share=config.questions.share)


async def known_strengths(setup: Setup, history: History, venue: str) -> Strengths | None:
    """What is known of a venue's strengths jointly, as the pages and the API know it."""
    from cgos_server.presentation.strengths import StrengthsOf

    return await StrengthsOf(history, page_settings(setup)).venue(venue)


def headline(setup: Setup, venue: str, there: Collection[str]) -> str:
    """The system whose numbers are shown unless another one is asked for; the configured one where none has published
    yet."""
    rated = page_settings(setup).rated(venue)
    return next(iter(rated.order(there)), rated.systems[0])


async def common_venue(setup: Setup, history: History, venue: str | None, one: str, other: str) -> str:
    """`venue`, or the only one where both versions have played, or the only one that is configured. Raises
    ConfigError."""
    if venue is None:
        rows = [row for row in await history.ratings.ranked([one, other]) if row.games]
        common = {row.venue for row in rows if row.version == one} & {row.venue for row in rows if row.version == other}
        common &= {each.name for each in setup.config.venue}
        if len(common) == 1:
            return common.pop()
    return one_venue(setup, venue)


def venue_terms(setup: Setup, venue: str) -> Venue:
    """How a venue rates, by the configuration. Raises ConfigError for one that it does not name."""
    for each in setup.config.venue:
        if each.name == venue:
            return venue_value(each, VenueId(0))
    names = ", ".join(each.name for each in setup.config.venue)
    raise ConfigError(
        "--venue",
        f"there is no venue {venue} in {setup.origin}, which says how it is rated",
        f"Give the right --config. Its venues are: {names}.",
    )


def system_of(terms: Venue, name: str) -> RatingSystem:
    """The rating system of that name with the venue's options. Raises Refused where they do not fit."""
    return rating_system(name, terms.initial, terms.rating_options.get(name, {}))
