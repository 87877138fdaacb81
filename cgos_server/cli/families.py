"""`cgos-server family`: which bots are one engine under several names.

Must not know: what ratings make of it.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table
from cgos_server.cli.perform import perform_and_say
from cgos_server.cli.reading import read
from cgos_server.service.requests import FamilyLink, FamilyUnlink


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
    found: dict[str, list[str]] = {}
    for row in read(setup, lambda history: history.bots.page()):
        if row.family is not None:
            found.setdefault(row.family, []).append(row.name)
    if as_json:
        print_json(found)
        return
    print_table(("family of", "bots"), [(leader, ", ".join(members)) for leader, members in sorted(found.items())])


@family.command("link")
@click.argument("name")
@click.argument("leader")
@configured
def family_link(setup: Setup, name: str, leader: str) -> None:
    """Put the bot NAME into the family of the bot LEADER."""
    perform_and_say(setup, FamilyLink(bot=name, leader=leader))


@family.command("unlink")
@click.argument("name")
@configured
def family_unlink(setup: Setup, name: str) -> None:
    """Take the bot NAME out of its family."""
    perform_and_say(setup, FamilyUnlink(bot=name))
