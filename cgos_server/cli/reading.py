"""Commands that read: they ask the database, whether a server runs on it or not.

Must not know: the live server, how answers are shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from cgos_server.cli.common import Setup
from cgos_server.config import venue_value
from cgos_server.core.venue import Venue
from cgos_server.errors import ConfigError
from cgos_server.storage import schema
from cgos_server.storage.history import History

T = TypeVar("T")


def read(setup: Setup, question: Callable[[History], Awaitable[T]]) -> T:
    """Ask the database, whether a server runs or not. Raises SchemaMismatch where it cannot be read."""
    schema.check(setup.database)

    async def ask() -> T:
        async with History(setup.database) as history:
            return await question(history)

    return asyncio.run(ask())


async def venues_asked(history: History, venue: str | None) -> list[str]:
    """The names of the venues that a command is about: one, or all that the database knows."""
    return [venue] if venue is not None else [row.name for row in await history.venues()]


def venue_terms(setup: Setup, venue: str) -> Venue:
    """How a venue rates, by the configuration. Raises ConfigError for one that it does not name."""
    for each in setup.config.venue:
        if each.name == venue:
            return venue_value(each, 0)
    names = ", ".join(each.name for each in setup.config.venue)
    raise ConfigError(
        "--venue",
        f"there is no venue {venue} in {setup.origin}, which says how it is rated",
        f"Give the right --config. Its venues are: {names}.",
    )
