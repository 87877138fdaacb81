"""`cgos-server anchor`: versions whose rating is known from elsewhere; together they hold a venue's scale.

Must not know: how ratings are computed.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, json_option, venue_option
from cgos_server.cli.output import print_json, print_table, without
from cgos_server.cli.reading import read, venues_asked
from cgos_server.core.rating.registry import sure
from cgos_server.storage.reading.answers import StandingRow
from cgos_server.storage.reading.history import History


@click.group()
def anchor() -> None:
    """Versions whose rating is known; they hold the scale.

    Several in a venue are a basket: each counts by how exactly it is known.
    """


@anchor.command("list")
@venue_option
@json_option
@configured
def anchor_list(setup: Setup, venue: str | None, as_json: bool) -> None:
    """The anchors of every venue."""

    async def ask(history: History) -> dict[str, list[StandingRow]]:
        return {name: _anchors(await history.ratings.standings(name)) for name in await venues_asked(history, venue)}

    by_venue = read(setup, ask)
    if as_json:
        told = {name: [without(row, "rank", "half_width") for row in anchors] for name, anchors in by_venue.items()}
        print_json(told)
        return
    rows = [
        (name, row.version, f"{row.mean:.1f}", f"{row.spread:g}" if sure(row.system) else None, row.games)
        for name, anchors in by_venue.items()
        for row in anchors
    ]
    print_table(("venue", "anchor", "rating", "sd", "games"), rows)


def _anchors(rows: Iterable[StandingRow]) -> list[StandingRow]:
    """Each anchor once, as a system shows it that says how exactly it is known, if there is one."""
    by_version: dict[str, StandingRow] = {}
    for row in rows:
        if row.anchor and (
            row.version not in by_version or (sure(row.system) and not sure(by_version[row.version].system))
        ):
            by_version[row.version] = row
    return sorted(by_version.values(), key=lambda row: (-row.mean, row.version))


add_declared(anchor)
