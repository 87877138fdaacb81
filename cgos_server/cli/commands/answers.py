"""How answers of commands look on the command line: a sentence, a secret that is seen once, tables, JSON.

Must not know: how commands are performed, what the database holds.
"""

from __future__ import annotations

from typing import Any

import click

from cgos_protocol.api.people import Done, EndedGame, NewToken, Previewed, Reloaded, Upgraded
from cgos_protocol.api.questions import AskedQuestion
from cgos_server.cli.output import in_words, print_json, print_table, say, show_plugins, shown
from cgos_server.presentation.text_table import text_table
from cgos_server.presentation.words import count, moment
from cgos_server.service.commands.declaration import Command
from cgos_server.service.control import ArrangedGame, ServerStatus, VersionNow


def has_json(kind: type[Command[Any]]) -> bool:
    """Whether the answer is more than a sentence, so that programs may want it as JSON."""
    return kind.answer() not in (Done, NewToken)


def show(command: Command[Any], answer: Any, *, as_json: bool = False, aside: bool = False) -> None:
    """Print the answer of a command.

    :param aside: of something that was asked: also its number is for the person alone, since the answer comes later
    """
    match answer:
        case Done(sentence=sentence):
            say(sentence)
        case NewToken():
            say(f"Token {answer.id} of {command.concerned()}. It is not stored and not shown again:")
            click.echo(answer.token)
        case Reloaded() if as_json:
            print_json(answer.changes)
        case _ if as_json:
            print_json(answer)
        case Reloaded():
            for sentence in answer.changes or ["Nothing has changed."]:
                click.echo(sentence)
        case Upgraded():
            for note in answer.notes:
                say(note)
            pause = "" if answer.pause_s is None else f"; nobody was served for {answer.pause_s:.1f} s"
            click.echo(f"cgos-server {answer.after} took over from {answer.before}{pause}.")
        case ArrangedGame():
            rated = "rated" if answer.rated else "not rated"
            say(
                f"{answer.black} ({answer.black_label}, Black) and {answer.white} ({answer.white_label}, White) begin "
                f"in {answer.venue}, {rated}. The number of the game:"
            )
            click.echo(answer.game)
        case EndedGame():
            say(f"Game {answer.game} of {answer.black} (Black) and {answer.white} (White) is ended: {answer.result}.")
        case AskedQuestion():
            _asked(answer, aside)
        case Previewed():
            _previewed(answer)
        case ServerStatus():
            _status(answer)
        case list():
            _versions(str(command.concerned()), answer)


def _asked(asked: AskedQuestion, aside: bool) -> None:
    """The number is data, all else is talk; where only the costs were asked for, these are the data."""
    say(asked.sentence)
    columns = ("case", "Elo", "games", "hours", "accepted %")
    cells = [
        [
            shown(cell)
            for cell in (
                cost.case,
                None if cost.difference is None else f"{cost.difference:.1f}",
                f"{cost.games:.0f}",
                None if cost.hours is None else f"{cost.hours:.1f}",
                None if cost.accepted is None else f"{100 * cost.accepted:.1f}",
            )
        ]
        for cost in asked.costs
    ]
    if asked.question is None:
        print_table(columns, cells)
        return
    say("It is expected to take, on average:")
    for line in text_table(columns, cells):
        say(line)
    if not aside:
        click.echo(asked.question)


def _previewed(preview: Previewed) -> None:
    click.echo(f"{preview.venue}, {preview.policy}, {preview.method}: {in_words(preview.options)}")
    click.echo(f"ready: {', '.join(preview.ready) or 'nobody'}")
    for title, sentences in (
        ("would meet", [pair.reason for pair in preview.pairs]),
        ("unpaired", list(preview.sits_out.values())),
        ("noted", preview.notes),
    ):
        if sentences:
            click.echo(f"{title}:")
            for sentence in sentences:
                click.echo(f"  {sentence}")
    if not preview.pairs:
        click.echo("Nobody would meet.")


def _versions(name: str, versions: list[VersionNow]) -> None:
    if not versions:
        say(f"{name} is not signed in, and no game of it runs.")
        return
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
            for row in versions
        ],
    )


def _status(now: ServerStatus) -> None:
    state = "draining" if now.draining else "ready" if now.ready else "not ready"
    if now.node:
        click.echo(f"node {now.node} of a cluster {'stands by' if now.standing_by else 'holds the venues'}")
    if now.standing_by:
        click.echo(f"cgos-server {now.version}, process {now.pid}, up {_span(now.up_s)}: {now.standing_by}")
        return
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
    for owner in now.groups:
        where = f"node {owner.node} at {owner.address}" if owner.lives else "nobody"
        click.echo(f"group {owner.group}: {where}")
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
                (bot.name, bot.venue, "suspended" if bot.suspended else bot.state, bot.game, bot.address, bot.client)
                for bot in now.bots
            ],
        )
    for bot in now.bots:
        if bot.suspended:
            click.echo(f"{bot.name} is suspended in {bot.venue}: {bot.suspended}")


def _away(black_here: bool, white_here: bool) -> str:
    return " and ".join(side for side, here in (("black", black_here), ("white", white_here)) if not here)


def _span(seconds: float) -> str:
    minutes, hours = int(seconds) // 60, int(seconds) // 3600
    if hours >= 48:
        return f"{hours // 24} days"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min" if minutes else f"{int(seconds)} s"
