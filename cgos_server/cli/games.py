"""`cgos-server standings`, `games`, `history`, `show` and `sgf`: what was played and who stands where.

All of it is read from the database. Must not know: the live server.
"""

from __future__ import annotations

from pathlib import Path

import click

from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.game_text import describe
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.reading import read, venues_asked
from cgos_server.errors import Refused
from cgos_server.protocol.sgf import write
from cgos_server.storage.answers import RatingPoint, Standing
from cgos_server.storage.history import History
from cgos_server.web.stored_game import StoredGame
from cgos_server.web.words import moment


@click.command()
@venue_option
@json_option
@configured
def standings(setup: Setup, venue: str | None, as_json: bool) -> None:
    """Who stands where, venue by venue."""

    async def ask(history: History) -> dict[str, list[Standing]]:
        return {name: await history.standings(name) for name in await venues_asked(history, venue)}

    found = read(setup, ask)
    if as_json:
        print_json(found)
        return
    for index, (name, rows) in enumerate(found.items()):
        if index:
            click.echo()
        print_table(
            ("rank", "name", "rating", "state", "games", "last game"),
            [
                (
                    rank, row.version, round(row.mean), _state(row),
                    row.games, row.last_game,
                )
                for rank, row in enumerate(rows, 1)
            ],
            title=name,
        )  # fmt: skip


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
                row.result or "running", row.moves, moment(row.started_at),
            )
            for row in rows
        ],
    )  # fmt: skip


@click.command()
@click.argument("name")
@venue_option
@json_option
@configured
def history(setup: Setup, name: str, venue: str | None, as_json: bool) -> None:
    """Every change of a version's rating.

    Oldest first, with the game that caused it.
    """

    async def ask(history: History) -> dict[str, list[RatingPoint]]:
        return {each: await history.rating_history(name, each) for each in await venues_asked(history, venue)}

    found = {each: points for each, points in read(setup, ask).items() if points}
    if as_json:
        print_json(found)
        return
    if not found:
        say(f"{name} has no rating yet.")
    for index, (each, points) in enumerate(found.items()):
        if index:
            click.echo()
        print_table(
            ("entry", "at (UTC)", "what", "game", "opponent", "score", "from", "to", "games"),
            [
                (
                    point.seq, moment(point.at), point.kind, point.game, point.opponent,
                    None if point.score2 is None else f"{point.score2 / 2:g}",
                    f"{point.before_mean:.1f}", f"{point.after_mean:.1f}", point.games,
                )
                for point in points
            ],
            title=each,
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


def _state(row: Standing) -> str:
    return "anchor" if row.anchor else "provisional" if row.provisional else "settled"
