"""`cgos-server games`, `show` and `sgf`: what was played.

All of it is read from the database. Must not know: the live server.
"""

from __future__ import annotations

from pathlib import Path

import click

from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.game_text import describe
from cgos_server.cli.output import print_json, print_table
from cgos_server.cli.reading import read
from cgos_server.errors import Refused
from cgos_server.protocol.sgf import write
from cgos_server.storage.answers import GameRow
from cgos_server.web.stored_game import StoredGame
from cgos_server.web.words import moment


@click.command()
@venue_option
@click.option("--bot", metavar="NAME", help="Only games of this bot.")
@click.option("--running", is_flag=True, help="Only games that are going on.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most so many.")
@click.option("--before", type=game_number, metavar="GAME", help="Only games older than this one.")
@json_option
@configured
def games(
    setup: Setup, venue: str | None, bot: str | None, running: bool, limit: int, before: int | None, as_json: bool
) -> None:
    """The latest games, newest first."""
    if running and (bot is not None or before is not None):
        raise click.UsageError("--running goes with --venue and --limit only.")
    if running:
        rows = read(setup, lambda history: history.running_games(venue))[:limit]
    else:
        rows = read(setup, lambda history: history.games(venue, bot, limit, before))
    if as_json:
        print_json(rows)
        return
    print_table(
        ("game", "venue", "black", "white", "result", "moves", "started (UTC)"),
        [
            (
                row.id, row.venue, f"{row.black} ({row.black_label})", f"{row.white} ({row.white_label})",
                _result(row), row.moves, moment(row.started_at),
            )
            for row in rows
        ],
    )  # fmt: skip


@click.command()
@click.argument("game", type=game_number)
@json_option
@configured
def show(setup: Setup, game: int, as_json: bool) -> None:
    """One game with everything about it.

    Board, moves with clocks, verdict, why the two met, what it did to their ratings.
    """
    found = read(setup, lambda history: history.game(game))
    if as_json:
        print_json(found)
    else:
        describe(found)


@click.command()
@click.argument("game", type=game_number)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write it to FILE.")
@configured
def sgf(setup: Setup, game: int, output: Path | None) -> None:
    """The record of one game as SGF."""
    found = read(setup, lambda history: history.game(game))
    text = write(StoredGame(found).record(setup.config.server.name))
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise Refused("cannot-write", f"{output} cannot be written: {error.strerror}.") from error


def _result(row: GameRow) -> str:
    if row.result is None:
        return "running"
    return row.result if row.corrected is None else f"{row.result}, now {row.corrected}"
