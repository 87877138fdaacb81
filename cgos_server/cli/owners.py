"""What is said about bots' owners on the command line, under `cgos-server bot`: whose a bot is, and what it is to do.

Must not know: how it is done; the requests are :mod:`cgos_server.service.requests`'s.
"""

from __future__ import annotations

import click

from cgos_protocol.errors import OurFault
from cgos_server.cli.asking import ask_server
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.perform import perform_and_say
from cgos_server.service.owning import MOST_GAMES_A_DAY
from cgos_server.service.requests import BotDrain, BotLimit, BotLook, BotOwn, BotPause, BotRelease, BotResume, BotSeen
from cgos_server.web.words import moment


@click.command()
@click.argument("name")
@click.argument("account")
@configured
def own(setup: Setup, name: str, account: str) -> None:
    """Give the bot NAME to the account ACCOUNT.

    Whoever owned it does so no more. Owners claim their bots themselves, on the pages, with the bot's password.
    """
    perform_and_say(setup, BotOwn(bot=name, account=account))


@click.command()
@click.argument("name")
@configured
def release(setup: Setup, name: str) -> None:
    """Take the bot NAME from its owner.

    What the owner wanted for it (pause, limits) ends as well.
    """
    perform_and_say(setup, BotRelease(bot=name))


@click.command()
@click.argument("name")
@configured
def pause(setup: Setup, name: str) -> None:
    """Give the bot NAME no new game until `resume`.

    Wherever it signs in, also after a restart of the server. Running games go on.
    """
    perform_and_say(setup, BotPause(bot=name))


@click.command()
@click.argument("name")
@configured
def resume(setup: Setup, name: str) -> None:
    """Give the bot NAME games again."""
    perform_and_say(setup, BotResume(bot=name))


@click.command()
@click.argument("name")
@configured
def drain(setup: Setup, name: str) -> None:
    """Send the bot NAME home when its games have ended.

    It may come back at once.
    """
    perform_and_say(setup, BotDrain(bot=name))


@click.command()
@click.argument("name")
@click.option(
    "--games-a-day",
    type=click.IntRange(0, MOST_GAMES_A_DAY),
    metavar="N",
    help="Games that it begins within 24 hours; without this any number.",
)
@click.option("--avoid", multiple=True, metavar="VERSION", help="A version that it does not meet; may be repeated.")
@click.option(
    "--hours", default="", metavar="HOURS", help="When its games may begin, in UTC: 22-6, or Mon-Fri 18-24, Sat."
)
@configured
def limit(setup: Setup, name: str, games_a_day: int | None, avoid: tuple[str, ...], hours: str) -> None:
    """Set all limits of the bot NAME; without options there are none.

    They hold on top of what the bot itself says.
    """
    perform_and_say(setup, BotLimit(bot=name, games_a_day=games_a_day, avoid=list(avoid), hours=hours))


@click.command()
@click.argument("name")
@json_option
@configured
def now(setup: Setup, name: str, as_json: bool) -> None:
    """What the bot NAME does just now, and why it is not paired.

    One line for each of its versions and venues in the running server.
    """
    response = ask_server(setup, BotLook(bot=name))
    if not isinstance(response, BotSeen):
        raise OurFault("The server did not say what the bot does.")
    if as_json:
        print_json(response.versions)
    elif not response.versions:
        say(f"{name} is not signed in, and no game of it runs.")
    else:
        print_table(
            ("version", "venue", "state", "since (UTC)", "games", "why"),
            [
                (
                    row.name,
                    row.venue,
                    row.state,
                    moment(round(row.since * 1000)),
                    ", ".join(map(str, row.games)) or None,
                    row.why,
                )
                for row in response.versions
            ],
        )


COMMANDS = (own, release, pause, resume, drain, limit, now)
"""They are added to the group `bot`."""
