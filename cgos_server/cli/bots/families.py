"""`cgos-server family`: which bots are one engine under several names.

Must not know: what ratings make of it.
"""

from __future__ import annotations

import click

from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table
from cgos_server.cli.reading import read


@click.group()
def family() -> None:
    """Bots that are one engine under several names.

    A new one begins where its predecessor stands. Versions of one bot are a family by themselves.
    """


@family.command("list")
@json_option
@configured
def family_list(setup: Setup, as_json: bool) -> None:
    """All families of more than one bot."""
    families: dict[str, list[str]] = {}
    for row in read(setup, lambda history: history.bots.page()):
        if row.family is not None:
            families.setdefault(row.family, []).append(row.name)
    if as_json:
        print_json(families)
        return
    print_table(("family of", "bots"), [(leader, ", ".join(members)) for leader, members in sorted(families.items())])


add_declared(family)
