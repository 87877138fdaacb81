"""`cgos-server watch` and `wall`: a game's board in the terminal while it is played, and all boards as they stand.

Read from the database again and again, whether a server of this machine or another one writes it. Must not know: the
live server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any, Final

import click
import msgspec
from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from cgos_protocol.api.live import LiveGame
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_server.cli.common import Setup, configured, game_number, json_option, venue_option
from cgos_server.cli.games.game_text import board
from cgos_server.cli.output import print_json, say, shown
from cgos_server.cli.reading import now_ms, read
from cgos_server.presentation.settings import WebSettings
from cgos_server.presentation.stored_game import Seen, StoredGame, as_it_stands, clock_of
from cgos_server.presentation.words import time_left
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.history import History
from cgos_server.web.live.hub import BOARDS, Hub

INTERRUPTED: Final = 130


@click.command()
@click.argument("game", type=game_number)
@click.option("--every", type=click.FloatRange(0.1, 60), default=0.5, show_default=True, help="Look so often; seconds.")
@json_option
@configured
def watch(setup: Setup, game: int, every: float, as_json: bool) -> None:
    """A game as it is played, to its end.

    A board in a terminal, else a line a move; with --json a line of JSON a move, the last one is the end. Ctrl-C stops
    watching.
    """
    console = Console()

    async def follow(history: History) -> None:
        with (
            Live(console=console, auto_refresh=False) if console.is_terminal and not as_json else nullcontext() as live
        ):
            told = 0
            async for detail in looks(history, game, every):
                stored = StoredGame(detail)
                if live is not None:
                    live.update(_picture(stored), refresh=True)
                elif as_json:
                    _print_events(stored, told)
                else:
                    _print_lines(stored, told)
                told = len(detail.moves)

    try:
        read(setup, follow)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


@click.command()
@venue_option
@click.option("--limit", type=click.IntRange(1, BOARDS), default=8, show_default=True, help="The newest so many.")
@json_option
@configured
def wall(setup: Setup, venue: str | None, limit: int, as_json: bool) -> None:
    """The boards of the running games, as they stand now.

    The newest ones; `watch` follows one of them.
    """

    async def ask(history: History) -> list[LiveGame]:
        # Whoever may read the database sees every move at once, whatever the venue's delay.
        hub = Hub(history, WebSettings(), now_ms)
        return (await hub.running(venue, moves=True))[:limit]

    games = read(setup, ask)
    if as_json:
        print_json(games)
        return
    if not games:
        say("Nothing is played just now.")
    for game in games:
        click.echo(shown(f"game {game.game}, {game.venue}, move {game.ply}"))
        click.echo(shown(f"X {game.black} ({game.black_label}), O {game.white} ({game.white_label})"))
        position, last = as_it_stands(game)
        for line in board(Seen(position.stones(), last, position.captures), game.size):
            click.echo(line)
        click.echo()


async def looks(history: History, game: int, every: float) -> AsyncIterator[GameDetail]:
    """The game at first, after each change, and at its end."""
    known = -1
    while True:
        detail = await history.games.detail(GameId(game))
        over = detail.game.result is not None
        if over or len(detail.moves) != known:
            known = len(detail.moves)
            yield detail
        if over:
            return
        await asyncio.sleep(every)


def _print_events(stored: StoredGame, told: int) -> None:
    """Lines of JSON: the moves behind the first `told` ones, and the end."""
    game, moves = stored.detail.game, stored.detail.moves
    for move in moves[told:]:
        color = stored.color(move.ply).name.lower()
        _line({"event": "move", "color": color} | msgspec.structs.asdict(move))
    if game.result is not None:
        _line({"event": "end", "result": game.result, "reason": game.reason, "moves": len(moves)})


def _print_lines(stored: StoredGame, told: int) -> None:
    """The same for people."""
    for move in stored.detail.moves[told:]:
        left = time_left(stored.terms.time, clock_of(move))
        click.echo(f"{move.ply:3} {stored.color(move.ply).letter} {move.move:5} {left}")
    if stored.detail.game.result is not None:
        click.echo(shown(f"{stored.detail.game.result}: {stored.ending()}"))


def _picture(stored: StoredGame) -> Group:
    """The board as it stands, with both clocks."""
    detail = stored.detail
    game, ply = detail.game, len(detail.moves)
    lines = [Text(f"game {game.id}, {game.venue}, move {ply}")]
    for color, name, label in (
        (Color.BLACK, game.black, game.black_label),
        (Color.WHITE, game.white, game.white_label),
    ):
        left = time_left(stored.terms.time, stored.clock_after(color, ply))
        lines.append(Text(shown(f"{'XO'[color]} {name} ({label})  {left}")))
    lines += [Text(line) for line in board(stored.position(ply), stored.terms.rules.size)]
    if game.result is not None:
        lines.append(Text(shown(f"{game.result}: {stored.ending()}")))
    return Group(*lines)


def _line(value: dict[str, Any]) -> None:
    click.echo(msgspec.json.encode(value).decode())
