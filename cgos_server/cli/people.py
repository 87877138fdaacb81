"""`cgos-server bots`, `bot`, `approve` and `token`: who may play.

Must not know: how it is done; the requests are :mod:`cgos_server.service.requests`'s.
"""

from __future__ import annotations

import time
from pathlib import Path

import click

from cgos_server.cli import owners, wire
from cgos_server.cli.bot_figures import bot_show
from cgos_server.cli.common import Setup, configured, json_option, password, password_option
from cgos_server.cli.games import date
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.perform import perform, perform_and_say
from cgos_server.cli.reading import read
from cgos_server.service.people import DAY_MS
from cgos_server.service.requests import (
    Approve,
    BotAdd,
    BotDisable,
    BotEnable,
    BotPasswd,
    BotRecall,
    TokenMade,
    TokenMake,
    TokenRevoke,
)
from cgos_server.storage.answers import BotRow
from cgos_server.web.words import last_seen, moment

# -- bots


@click.command()
@json_option
@configured
def bots(setup: Setup, as_json: bool) -> None:
    """All registered bots."""
    rows = read(setup, lambda history: history.bots.page())
    if as_json:
        print_json(rows)
        return
    print_table(
        ("bot", "state", "owner", "tokens", "registered (UTC)", "last seen (UTC)", "versions", "reason"),
        [
            (
                row.name,
                _state(row),
                row.owner,
                row.tokens,
                moment(row.created_at),
                last_seen(row.last_seen_at, row.signed_in),
                ", ".join(version for version in row.versions if version != row.name),
                row.reason,
            )
            for row in rows
        ],
    )
    for row in rows:
        for aside in row.set_aside:
            click.echo(
                f"{aside.version} is set aside in {aside.venue} since {moment(aside.at)}: {aside.spoilt} games in a "
                f"row went wrong on its side, the last one was {aside.reason}."
            )


def _state(row: BotRow) -> str:
    """What a bot may do: the end of a ban, and whether its owner has paused it, besides its state."""
    until = f" until {moment(row.until)}" if row.state == "disabled" and row.until is not None else ""
    return f"{row.state}{until}{', paused' if row.paused else ''}"


@click.group()
def bot() -> None:
    """Show, add, shut out, take back a bot; its password."""


for _command in (*owners.COMMANDS, *wire.COMMANDS):
    bot.add_command(_command)


bot.add_command(bot_show)


@bot.command("add")
@click.argument("name")
@password_option
@configured
def bot_add(setup: Setup, name: str, password_file: Path | None) -> None:
    """Register the bot NAME."""
    perform_and_say(setup, BotAdd(name=name, password=password(name, password_file)))


@bot.command("passwd")
@click.argument("name")
@password_option
@configured
def bot_passwd(setup: Setup, name: str, password_file: Path | None) -> None:
    """Replace the password of the bot NAME."""
    perform_and_say(setup, BotPasswd(name=name, password=password(name, password_file)))


@bot.command("disable")
@click.argument("name")
@click.option("--reason", required=True, metavar="TEXT", help="Why: told to its author at every try, and kept.")
@click.option(
    "--until", metavar="DATE", callback=date, help="When (UTC) it may play again; without this: `bot enable`."
)
@click.option("--days", type=click.FloatRange(0, 3650, min_open=True), metavar="N", help="For how long, instead.")
@configured
def bot_disable(setup: Setup, name: str, reason: str, until: int | None, days: float | None) -> None:
    """Shut the bot NAME out and close its connections."""
    if days is not None:
        if until is not None:
            raise click.UsageError("Give --until or --days, not both.")
        until = time.time_ns() // 1_000_000 + round(days * DAY_MS)
    perform_and_say(setup, BotDisable(name=name, reason=reason, until=until))


@bot.command("enable")
@click.argument("name")
@configured
def bot_enable(setup: Setup, name: str) -> None:
    """Let the bot NAME in again."""
    perform_and_say(setup, BotEnable(name=name))


@bot.command("recall")
@click.argument("name")
@click.option("--venue", metavar="VENUE", help="Only there; without this everywhere.")
@configured
def bot_recall(setup: Setup, name: str, venue: str | None) -> None:
    """Let the bot NAME, or a version, play again that was set aside."""
    perform_and_say(setup, BotRecall(name=name, venue=venue))


@click.command()
@click.argument("name")
@configured
def approve(setup: Setup, name: str) -> None:
    """Let in a bot that waits for approval."""
    perform_and_say(setup, Approve(name=name))


# -- tokens


@click.group()
def token() -> None:
    """Make, list and revoke bots' tokens.

    A token is the fast way to sign in; it is accepted where a password is asked.
    """


@token.command("make")
@click.argument("name")
@click.option("--label", default="", metavar="TEXT", help="What it is for, for people.")
@configured
def token_make(setup: Setup, name: str, label: str) -> None:
    """Make a token for the bot NAME and print it, this once."""
    response = perform(setup, TokenMake(bot=name, label=label))
    if isinstance(response, TokenMade):
        say(f"Token {response.id} of {name}. It is not stored and not shown again:")
        click.echo(response.token)


@token.command("list")
@click.argument("name")
@json_option
@configured
def token_list(setup: Setup, name: str, as_json: bool) -> None:
    """The tokens of the bot NAME, without their texts."""
    rows = read(setup, lambda history: history.bots.tokens(name))
    if as_json:
        print_json(rows)
        return
    print_table(
        ("token", "label", "made (UTC)", "revoked (UTC)"),
        [(row.id, row.label, moment(row.created_at), _moment(row.revoked_at)) for row in rows],
    )


@token.command("revoke")
@click.argument("name")
@click.argument("number", type=int, metavar="ID")
@configured
def token_revoke(setup: Setup, name: str, number: int) -> None:
    """End the validity of token ID of the bot NAME."""
    perform_and_say(setup, TokenRevoke(bot=name, token=number))


def _moment(at: int | None) -> str | None:
    return None if at is None else moment(at)
