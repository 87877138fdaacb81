"""`cgos-server odds`: who of a venue's best is stronger than whom, as the page of that name shows it.

Must not know: the live server, how strengths are computed.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import Setup, configured, json_option, one_venue
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.reading import known_strengths, page_settings, read
from cgos_server.presentation import words
from cgos_server.presentation.answers import after_games
from cgos_server.presentation.strengths import Strengths
from cgos_server.storage.reading.history import History


@click.command()
@click.argument("venue", required=False)
@json_option
@configured
def odds(setup: Setup, venue: str | None, as_json: bool) -> None:
    """Who is stronger than whom among the best of VENUE.

    Per cent of probability that the version of the row is the stronger, from the saved joint distribution of all
    strengths. `rate odds` compares any two, from all results of now.
    """
    where = one_venue(setup, venue)

    async def ask(history: History) -> tuple[Strengths | None, str]:
        known = await known_strengths(setup, history, where)
        return known, "" if known is None else await after_games(history, where, known.seq)

    known, place = read(setup, ask)
    names = [] if known is None else [known.names[version] for version in known.table.versions]
    if as_json:
        print_json(
            {
                "venue": where,
                "system": None if known is None else known.system,
                "seq": None if known is None else known.seq,
                "versions": names,
                "superior": [] if known is None else known.table.superior,
            }
        )
        return
    if known is None or not names:
        say(words.IN_SANDBOX if where in page_settings(setup).sandboxes else "There is nothing to compare yet.")
        return
    rows = zip(names, known.table.superior, strict=True)
    print_table(
        ("", "version", *map(str, range(1, len(names) + 1))),
        [
            (at, name, *(None if share is None else words.likelihood(share) for share in shares))
            for at, (name, shares) in enumerate(rows, 1)
        ],
        title=f"{where}, {known.system}, {place}",
    )
