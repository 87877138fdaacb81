"""`cgos-server version`: which version succeeds which.

Must not know: what ratings make of it.
"""

from __future__ import annotations

import click

from cgos_protocol.api.messages import VersionLink
from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table
from cgos_server.cli.reading import read
from cgos_server.storage.reading.history import History


@click.group()
def version() -> None:
    """Which version succeeds which.

    A new version succeeds the newest one of its bot, or of its bot's family, unless somebody says otherwise.
    """


@version.command("list")
@click.argument("bot", metavar="[NAME]", required=False)
@json_option
@configured
def version_list(setup: Setup, bot: str | None, as_json: bool) -> None:
    """Whom versions succeed, by venue: all, or those of the bot NAME."""
    links = read(setup, lambda history: _links(history, bot))
    if as_json:
        print_json(links)
        return
    rows = [(link.version, link.predecessor, link.venue, link.sd, "yes" if link.surely else "no") for link in links]
    print_table(("version", "succeeds", "venue", "sd of the step", "surely"), rows)


async def _links(history: History, bot: str | None) -> list[VersionLink]:
    if bot is None:
        return await history.ledger.predecessors(await history.bots.version_names())
    return await history.ledger.predecessors(each.id for each in (await history.bots.detail(bot)).versions)


add_declared(version)
