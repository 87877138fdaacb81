"""`cgos-server anchor`: versions whose rating is known from elsewhere; together they hold a venue's scale.

Must not know: how ratings are computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import click

from cgos_server.cli.common import Setup, configured, json_option, one_venue, venue_option
from cgos_server.cli.output import print_json, print_table
from cgos_server.cli.perform import perform_and_say
from cgos_server.cli.reading import read, venues_asked
from cgos_server.core.rating.registry import sure
from cgos_server.service.requests import AnchorSet, AnchorUnset
from cgos_server.storage.answers import Standing
from cgos_server.storage.history import History

_WHERE = click.option("--venue", metavar="VENUE", help="The venue; needed where there are several.")


@click.group()
def anchor() -> None:
    """Versions whose rating is known; they hold the scale.

    Several in a venue are a basket: each counts by how exactly it is known.
    """


@anchor.command("set", context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("rating", type=float)
@click.option(
    "--sd",
    type=float,
    metavar="SD",
    help="How exactly it is known: standard deviation, Elo (500 at most). Without this as the rating system has it.",
)
@_WHERE
@configured
def anchor_set(setup: Setup, name: str, rating: float, sd: float | None, venue: str | None) -> None:
    """Fix the rating of NAME at RATING.

    NAME is a bot, or a version by its wire name. Setting it again replaces rating and SD.
    """
    if not math.isfinite(rating):
        raise click.BadParameter(f"{rating} is no rating.", param_hint="RATING")
    if sd is not None and not math.isfinite(sd):
        raise click.BadParameter(f"{sd} is no standard deviation.", param_hint="--sd")
    perform_and_say(setup, AnchorSet(venue=one_venue(setup, venue), bot=name, rating=rating, sd=sd))


@anchor.command("unset")
@click.argument("name")
@_WHERE
@configured
def anchor_unset(setup: Setup, name: str, venue: str | None) -> None:
    """Let the rating of NAME move again, from where it stands."""
    perform_and_say(setup, AnchorUnset(venue=one_venue(setup, venue), bot=name))


@anchor.command("list")
@venue_option
@json_option
@configured
def anchor_list(setup: Setup, venue: str | None, as_json: bool) -> None:
    """The anchors of every venue."""

    async def ask(history: History) -> dict[str, list[Standing]]:
        return {name: _anchors(await history.ratings.standings(name)) for name in await venues_asked(history, venue)}

    found = read(setup, ask)
    if as_json:
        print_json(found)
        return
    rows = [
        (name, row.version, f"{row.mean:.1f}", f"{row.spread:g}" if sure(row.system) else None, row.games)
        for name, anchors in found.items()
        for row in anchors
    ]
    print_table(("venue", "anchor", "rating", "sd", "games"), rows)


def _anchors(rows: Iterable[Standing]) -> list[Standing]:
    """Each anchor once, as a system shows it that says how exactly it is known, if there is one."""
    found: dict[str, Standing] = {}
    for row in rows:
        if row.anchor and (row.version not in found or (sure(row.system) and not sure(found[row.version].system))):
            found[row.version] = row
    return sorted(found.values(), key=lambda row: (-row.mean, row.version))
