"""`cgos-server bot transcript` and `bot connections`: what a bot and the server said to each other, and when it came.

Both are read, the one from the transcripts' files, the other from the database. Must not know: the live server.
"""

from __future__ import annotations

import asyncio

import click

from cgos_protocol.api.people import TranscriptLine
from cgos_protocol.ids import BotId
from cgos_server.assembly.reaching import transcripts_of
from cgos_server.cli.common import Setup, configured, game_number, json_option
from cgos_server.cli.output import print_json, print_list, say, shown, when
from cgos_server.cli.reading import read
from cgos_server.presentation import transcript_lines as wire
from cgos_server.presentation.answers import published
from cgos_server.presentation.words import moment
from cgos_server.service.nodes.commands import LinesRequest


@click.command()
@click.argument("name")
@click.option("--game", type=game_number, metavar="GAME", help="Only what is about this game.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=1000, show_default=True, help="The last so many lines."
)
@json_option
@configured
def transcript(setup: Setup, name: str, game: int | None, limit: int, as_json: bool) -> None:
    """What the bot NAME and the server said to each other.

    As long as transcripts are kept. Each line with the time of day (UTC), the seconds since the line before, and whose
    it is: < the bot's, > the server's. Passwords are masked.
    """
    bot = read(setup, lambda history: history.bots.detail(name))
    wanted = LinesRequest(bot=BotId(bot.id), game=game, limit=limit)
    lines, missing = asyncio.run(transcripts_of(setup.config).lines(wanted))
    if missing:
        say(f"What these nodes wrote down is missing, as they do not answer: {', '.join(missing)}.")
    if as_json:
        print_json(published(lines, list[TranscriptLine]))
        return
    if not lines:
        say("Nothing is kept of it.")
    for line in wire.as_text(lines).splitlines():
        click.echo(shown(line))


@click.command()
@click.argument("name", required=False)
@click.option("--address", metavar="ADDRESS", help="Only from exactly this address; without NAME whoever it was.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most so many.")
@json_option
@configured
def connections(setup: Setup, name: str | None, address: str | None, limit: int, as_json: bool) -> None:
    """When the bot NAME, or a version, was signed in; without NAME all bots.

    Newest first, with where it came from and why it went.
    """
    rows = read(setup, lambda history: history.bots.connections(name, address=address, limit=limit))
    print_list(
        rows,
        {
            "connection": lambda row: row.id,
            "version": lambda row: row.version,
            "venue": lambda row: row.venue,
            "from (UTC)": lambda row: moment(row.opened_at),
            "to (UTC)": lambda row: when(row.closed_at),
            "address": lambda row: row.address,
            "client": lambda row: row.client,
            "ended": lambda row: row.reason,
        },
        as_json=as_json,
    )


COMMANDS = (transcript, connections)
"""They are added to the group `bot`."""
