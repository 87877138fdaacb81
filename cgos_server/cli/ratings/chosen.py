"""Which venues and rating systems a command about ratings is asked for.

Must not know: any single command.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import Setup, WordOf
from cgos_server.cli.reading import venues_asked
from cgos_server.core.rating.registry import systems
from cgos_server.storage.reading.history import History

systems_option = click.option(
    "--system",
    "chosen",
    type=WordOf(lambda: systems().names),
    multiple=True,
    help="Only this rating system; may be repeated.",
)


async def rated_venues(setup: Setup, history: History, venue: str | None) -> list[str]:
    """One venue, or all that have a past and are configured, which is where their options are said."""
    configured_ones = {each.name for each in setup.config.venue}
    return [each for each in await venues_asked(history, venue) if venue is not None or each in configured_ones]
