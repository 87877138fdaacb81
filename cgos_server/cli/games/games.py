"""`cgos-server games`, `show` and `sgf`: what was played.

All of it is read from the database. Must not know: the live server.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import click
import msgspec

from cgos_protocol.api.games import Game
from cgos_protocol.ids import GameId
from cgos_protocol.sgf.writing import write
from cgos_protocol.verdict import Reason
from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.files import whole
from cgos_server.cli.games.game_text import describe
from cgos_server.cli.output import print_json, print_list
from cgos_server.cli.reading import read
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.presentation.words import moment
from cgos_server.storage.reading.game_answers import GameFilter

P = ParamSpec("P")
T = TypeVar("T")


def date(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """A day or a moment in UTC as Unix milliseconds."""
    if text is None:
        return None
    try:
        given = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no date. Write 2026-01-31, or 2026-01-31T18:00.") from None
    return round((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * 1000)


def filters(command: Callable[Concatenate[GameFilter, P], T]) -> Callable[..., T]:
    """Give a command the options by which games are looked for, and what they say as its first argument."""

    @venue_option
    @click.option("--bot", metavar="NAME", help="Only games of this bot or version.")
    @click.option("--opponent", metavar="NAME", help="Only against this bot or version; goes with --bot.")
    @click.option("--event", metavar="EVENT", help="Only games of this event.")
    @click.option("--reason", type=click.Choice([*map(str, Reason)]), help="Only games that ended so.")
    @click.option("--result", type=click.Choice(("B", "W", "draw", "none")), help="Only games that count so now.")
    @click.option("--min-moves", type=click.IntRange(0), metavar="N", help="Only ended games of at least N moves.")
    @click.option("--max-moves", type=click.IntRange(0), metavar="N", help="Only ended games of at most N moves.")
    @click.option("--since", metavar="DATE", callback=date, help="Only games begun then (UTC) or later.")
    @click.option("--until", metavar="DATE", callback=date, help="Only games begun before then (UTC).")
    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        names = ("venue", "bot", "opponent", "reason", "result", "min_moves", "max_moves", "since", "until", "event")
        values = {name: kwargs.pop(name) for name in names}
        if values["opponent"] is not None and values["bot"] is None:
            raise click.UsageError("--opponent goes with --bot.")
        return command(msgspec.convert(values, GameFilter), *args, **kwargs)

    return run


@click.command()
@filters
@click.option("--running/--ended", default=None, help="Only games that are going on, or only those that are over.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, show_default=True, help="At most so many.")
@click.option("--before", type=game_number, metavar="GAME", help="Only games older than this one.")
@json_option
@configured
def games(
    setup: Setup, filters: GameFilter, running: bool | None, limit: int, before: int | None, as_json: bool
) -> None:
    """The latest games, newest first."""
    wanted = msgspec.structs.replace(filters, running=running)
    print_list(
        read(setup, lambda history: history.games.find(wanted, limit, before)),
        {
            "game": lambda row: row.id,
            "venue": lambda row: row.venue,
            "black": lambda row: f"{row.black} ({row.black_label})",
            "white": lambda row: f"{row.white} ({row.white_label})",
            "result": _result,
            "moves": lambda row: row.moves,
            "started (UTC)": lambda row: moment(row.started_at),
        },
        as_json=as_json,
    )


@click.command()
@click.argument("game", type=game_number)
@click.option("--ply", type=click.IntRange(0, 1_000_000), metavar="N", help="The board after N moves, not at the end.")
@json_option
@configured
def show(setup: Setup, game: int, ply: int | None, as_json: bool) -> None:
    """One game with everything about it.

    Board, moves with clocks and with what the bots thought, verdict, why the two met, what it did to their ratings.
    With --json always the whole game.
    """
    detail = read(setup, lambda history: history.games.detail(GameId(game)))
    if not as_json:
        describe(detail, ply)
        return
    # Only this answer needs the API's words.
    from cgos_server.presentation.answers import game_detail

    print_json(msgspec.to_builtins(detail) | msgspec.to_builtins(game_detail(StoredGame(detail))))


@click.command()
@click.argument("game", type=game_number)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write it to FILE.")
@configured
def sgf(setup: Setup, game: int, output: Path | None) -> None:
    """The record of one game as SGF."""
    detail = read(setup, lambda history: history.games.detail(GameId(game)))
    text = write(StoredGame(detail).record(setup.config.server.name))
    if output is None:
        click.echo(text, nl=False)
        return
    with whole(output) as file:
        file.write(text.encode())


def _result(row: Game) -> str:
    if row.result is None:
        return "running"
    return row.result if row.corrected is None else f"{row.result}, now {row.corrected}"
