"""`cgos-server bots`, `bot` and `token`: who may play.

What changes something is declared by its command. Must not know: how it is done.
"""

from __future__ import annotations

import click

from cgos_server.cli.bots import wire
from cgos_server.cli.bots.figures import bot_show
from cgos_server.cli.bots.personal import bot_export
from cgos_server.cli.commands.declared import add_declared
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_list, when
from cgos_server.cli.reading import read
from cgos_server.presentation.words import last_seen, moment
from cgos_server.storage.reading.answers import BotRow

# -- bots


@click.command()
@json_option
@configured
def bots(setup: Setup, as_json: bool) -> None:
    """All registered bots."""
    rows = read(setup, lambda history: history.bots.page())
    print_list(
        rows,
        {
            "bot": lambda row: row.name,
            "state": _state,
            "owner": lambda row: row.owner,
            "tokens": lambda row: row.tokens,
            "registered (UTC)": lambda row: moment(row.created_at),
            "last seen (UTC)": lambda row: last_seen(row.last_seen_at, row.signed_in),
            "versions": lambda row: ", ".join(version for version in row.versions if version != row.name),
            "reason": lambda row: row.reason,
        },
        as_json=as_json,
    )
    for row in () if as_json else rows:
        for suspension in row.suspended:
            click.echo(
                f"{suspension.version} is suspended in {suspension.venue} since {moment(suspension.at)}: "
                f"{suspension.spoilt} games in a row went wrong on its side, the last one was {suspension.reason}."
            )


def _state(row: BotRow) -> str:
    """What a bot may do: the end of a ban, and whether its owner has paused it, besides its state."""
    until = f" until {moment(row.until)}" if row.state == "disabled" and row.until is not None else ""
    return f"{row.state}{until}{', paused' if row.paused else ''}"


@click.group()
def bot() -> None:
    """Show, add, shut out, take back a bot; its password."""


for _command in (*wire.COMMANDS, bot_show):
    bot.add_command(_command)
bot.add_command(bot_export)
add_declared(bot)


# -- tokens


@click.group()
def token() -> None:
    """Make, list and revoke bots' tokens.

    A token is the fast way to sign in; it is accepted where a password is asked.
    """


@token.command("list")
@click.argument("name")
@json_option
@configured
def token_list(setup: Setup, name: str, as_json: bool) -> None:
    """The tokens of the bot NAME, without their texts."""
    print_list(
        read(setup, lambda history: history.bots.tokens(name)),
        {
            "token": lambda row: row.id,
            "label": lambda row: row.label,
            "made (UTC)": lambda row: moment(row.created_at),
            "revoked (UTC)": lambda row: when(row.revoked_at),
        },
        as_json=as_json,
    )


add_declared(token)
