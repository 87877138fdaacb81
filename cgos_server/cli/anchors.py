"""`cgos-server anchor`: versions whose rating is known in advance; they hold a venue's scale.

Must not know: how ratings are computed.
"""

from __future__ import annotations

import math

import click

from cgos_server.cli.common import Setup, configured, json_option, one_venue, venue_option
from cgos_server.cli.output import print_json, print_table
from cgos_server.cli.perform import perform_and_say
from cgos_server.cli.reading import read, venues_asked
from cgos_server.service.admin import AnchorSet, AnchorUnset
from cgos_server.storage.answers import Standing
from cgos_server.storage.history import History

_WHERE = click.option("--venue", metavar="VENUE", help="The venue; needed where there are several.")


@click.group()
def anchor() -> None:
    """Bots whose rating is known; they hold the scale of a venue."""


@anchor.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("rating", type=float)
@_WHERE
@configured
def anchor_set(setup: Setup, name: str, rating: float, venue: str | None) -> None:
    """Fix the rating of the bot NAME at RATING."""
    if not math.isfinite(rating):
        raise click.BadParameter(f"{rating} is no rating.", param_hint="RATING")
    perform_and_say(setup, AnchorSet(venue=one_venue(setup, venue), bot=name, rating=rating))


@anchor.command("unset")
@click.argument("name")
@_WHERE
@configured
def anchor_unset(setup: Setup, name: str, venue: str | None) -> None:
    """Let the rating of the bot NAME move again, from where it stands."""
    perform_and_say(setup, AnchorUnset(venue=one_venue(setup, venue), bot=name))


@anchor.command("list")
@venue_option
@json_option
@configured
def anchor_list(setup: Setup, venue: str | None, as_json: bool) -> None:
    """The anchors of every venue."""

    async def ask(history: History) -> dict[str, list[Standing]]:
        return {
            name: [row for row in await history.standings(name) if row.anchor]
            for name in await venues_asked(history, venue)
        }

    found = read(setup, ask)
    if as_json:
        print_json(found)
        return
    rows = [(name, row.version, f"{row.mean:.1f}", row.games) for name, anchors in found.items() for row in anchors]
    print_table(("venue", "anchor", "rating", "games"), rows)
