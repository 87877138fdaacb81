"""`cgos-server audit`: who did what to the server.

Must not know: the commands.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import Setup, configured, game_number, json_option
from cgos_server.cli.output import print_list
from cgos_server.cli.reading import read
from cgos_server.presentation.words import audit_details, moment


@click.command()
@click.option("--actor", metavar="NAME", help="Only what this one did, such as an account or `operator`.")
@click.option("--action", metavar="DEED", help="Only this deed, such as `bot disable`.")
@click.option("--subject", metavar="NAME", help="Only what was done to this one, such as a bot or `game 17`.")
@click.option("--before", type=game_number, metavar="NUMBER", help="Only rows before this one.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="How many rows.")
@json_option
@configured
def audit(
    setup: Setup,
    actor: str | None,
    action: str | None,
    subject: str | None,
    before: int | None,
    limit: int,
    as_json: bool,
) -> None:
    """Who did what to the server, newest first."""
    rows = read(
        setup,
        lambda history: history.server.audit(limit=limit, before=before, actor=actor, action=action, subject=subject),
    )
    print_list(
        rows,
        {
            "number": lambda row: row.id,
            "when (UTC)": lambda row: moment(row.at),
            "who": lambda row: row.actor,
            "did": lambda row: row.action,
            "to": lambda row: row.subject,
            "detail": lambda row: audit_details(row.detail, between=", ") or None,
        },
        as_json=as_json,
    )
