"""`cgos-server db prune`: what the database need not keep any longer.

Must not know: how rows are removed.
"""

from __future__ import annotations

import click

from cgos_server.cli.commands.perform import perform
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.reading import now_ms, read
from cgos_server.presentation.words import count
from cgos_server.service.commands.server import Prune
from cgos_server.service.pruning import would_go


@click.command()
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@json_option
@configured
def prune(setup: Setup, dry_run: bool, as_json: bool) -> None:
    """Remove what the configuration keeps no longer.

    See [retention] there. A running server does it every hour by itself; told by this command it begins at once, in the
    background.
    """
    days = setup.config.retention.days()
    if dry_run:
        counted = read(setup, lambda history: would_go(history.keeping, days, now_ms()))
        rows, in_background = {kind.value: number for kind, number in counted.items()}, False
    else:
        answer = perform(setup, Prune())
        rows, in_background = answer.rows, answer.in_background
    if as_json:
        print_json({"dry_run": dry_run, "in_background": in_background, "rows": rows})
    elif in_background:
        say("The server removes it from now on, beside its games; its log says when it is done.")
    elif not rows:
        say("Everything is kept for ever: the configuration says nothing else in [retention].")
    else:
        kept = {kind.value: number for kind, number in days.items()}
        print_table(
            ("kind", "kept", "would go" if dry_run else "removed"),
            [(kind, count(round(kept[kind]), "day"), number) for kind, number in rows.items()],
        )
