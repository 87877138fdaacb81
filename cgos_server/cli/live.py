"""`cgos-server status`, `drain` and `reload`: the running server, through its control socket.

Must not know: what the database holds.
"""

from __future__ import annotations

import click

from cgos_protocol.errors import OurFault
from cgos_server.cli.asking import ask_server
from cgos_server.cli.common import Setup, configured, json_option
from cgos_server.cli.output import print_json, print_table, say, show_plugins
from cgos_server.cli.perform import perform
from cgos_server.service.control import ServerStatus
from cgos_server.service.requests import Done, Drain, Reload, Reloaded, StatusNow, StatusRequest
from cgos_server.web.words import count


@click.command()
@json_option
@configured
def status(setup: Setup, as_json: bool) -> None:
    """What the running server does now: venues, games, bots."""
    response = ask_server(setup, StatusRequest())
    if not isinstance(response, StatusNow):
        raise OurFault("The server did not answer with its status.")
    if as_json:
        print_json(response.status)
    else:
        _show(response.status)


@click.command()
@configured
def drain(setup: Setup) -> None:
    """End the running server in good order.

    No new game begins; it stops when the running ones have ended or the limit is reached.
    """
    response = ask_server(setup, Drain())
    if isinstance(response, Done):
        say(response.sentence)


@click.command()
@json_option
@configured
def reload(setup: Setup, as_json: bool) -> None:
    """Have the running server read its configuration again.

    What concerns pairing holds from then on; it says what else has changed and needs a restart. With a fault in the
    configuration nothing changes.
    """
    response = perform(setup, Reload())
    if not isinstance(response, Reloaded):
        raise OurFault("The server did not say what has changed.")
    if as_json:
        print_json(response.changes)
        return
    for sentence in response.changes or ["Nothing has changed."]:
        click.echo(sentence)


def _show(now: ServerStatus) -> None:
    state = "draining" if now.draining else "ready" if now.ready else "not ready"
    ended = ", ".join(f"{count} by {word}" for word, count in now.ended.items()) or "none"
    click.echo(f"cgos-server {now.version}, process {now.pid}, up {_span(now.up_s)}: {state}")
    click.echo(f"moves since the start: {now.moves}; games ended: {ended}")
    click.echo(f"log: {count(now.warnings, 'warning')}, {count(now.errors, 'error')}")
    click.echo(f"WebSocket: {now.websocket or 'off'}")
    click.echo(f"pages: {now.web or 'off'}; health and metrics: {now.health}")
    click.echo()
    print_table(
        ("venue", "port", "games", "playing", "idle", "owe ready"),
        [(venue.name, venue.port, venue.games, venue.playing, venue.idle, venue.owing) for venue in now.venues],
    )
    show_plugins(now.plugins, now.plugin_problems)
    paused = ", ".join(venue.name for venue in now.venues if venue.paused)
    if paused:
        click.echo(f"nobody is paired in: {paused}")
    if now.games:
        click.echo()
        print_table(
            ("game", "venue", "black", "white", "moves", "away"),
            [
                (game.game, game.venue, game.black, game.white, game.ply, _away(game.black_here, game.white_here))
                for game in now.games
            ],
        )
    if now.bots:
        click.echo()
        print_table(
            ("bot", "venue", "state", "game", "address", "client"),
            [
                (bot.name, bot.venue, "set aside" if bot.set_aside else bot.state, bot.game, bot.address, bot.client)
                for bot in now.bots
            ],
        )
    for bot in now.bots:
        if bot.set_aside:
            click.echo(f"{bot.name} is set aside in {bot.venue}: {bot.set_aside}")


def _away(black_here: bool, white_here: bool) -> str:
    return " and ".join(side for side, here in (("black", black_here), ("white", white_here)) if not here)


def _span(seconds: float) -> str:
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    if hours >= 48:
        return f"{hours // 24} days"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min" if minutes else f"{int(seconds)} s"
