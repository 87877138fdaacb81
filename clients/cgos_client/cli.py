"""The commands that people type: ``cgos-client run``, ``bot`` and ``check``.

Reads options and puts the parts together; decides nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import shutil
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
from rich.console import Console

from cgos_client import check, report
from cgos_client.addresses import server_address
from cgos_client.bots.engines import Bot, GreedyBot, RandomBot
from cgos_client.bots.gtp_shell import GtpShell
from cgos_client.bots.in_process import InProcessEngine
from cgos_client.bots.mcts import MctsBot
from cgos_client.bridge import Agenda, Identity
from cgos_client.check_cases import CASES
from cgos_client.engine import Engine
from cgos_client.events import to_all
from cgos_client.gtp import GtpEngine
from cgos_client.live_line import LiveLine
from cgos_client.records import Records
from cgos_client.runner import Runner
from cgos_client.settings import PASSWORD_VARIABLE, BadSetting, bot_name, secret
from cgos_client.supervisor import SupervisedEngine
from cgos_client.transport import connect
from cgos_server import __version__

_FILE = click.Path(dir_okay=False, path_type=Path)
_DIRECTORY = click.Path(file_okay=False, path_type=Path)


@click.group()
@click.version_option(__version__, prog_name="cgos-client")
def main() -> None:
    """Connects game engines to a rating server that speaks the CGOS line protocol."""


def _session_options(required: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    options = (
        click.option("--server", metavar="HOST:PORT", required=required, help="The server's CGOS port."),
        click.option("--name", metavar="NAME", required=required, help="The bot's name on the server."),
        click.option(
            "--password-file",
            type=_FILE,
            metavar="F",
            help=f"File whose first line is the password. Without it: environment variable {PASSWORD_VARIABLE}.",
        ),
        click.option("--token-file", type=_FILE, metavar="F", help="File whose first line is a token, in its place."),
        click.option("--log", "log_file", type=_FILE, metavar="FILE", help="Also write all lines of both dialogues."),
        click.option(
            "--log-dir",
            type=_DIRECTORY,
            metavar="DIR",
            help="Also write the server's dialogue to DIR/wire.log and the engine's to DIR/gtp.log.",
        ),
        click.option("--sgf-dir", type=_DIRECTORY, metavar="DIR", help="Write each finished game to DIR as SGF."),
        click.option("--games", type=click.IntRange(1), metavar="N", help="Leave after N games. Default: play on."),
        click.option("--once", is_flag=True, help="Do not connect again when the connection ends."),
        click.option("--json", "as_json", is_flag=True, help="Print results as JSON, one object a line."),
        click.option("-v", "--verbose", is_flag=True, help="Show every line of both dialogues."),
        click.option("-q", "--quiet", is_flag=True, help="Show warnings and errors only."),
    )

    def add(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@main.command()
@_session_options(required=True)
@click.option(
    "--engine-timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="How long the engine may take for any answer before it is restarted. Set it a little above the longest "
    "thought of the engine. Default: 600, and for a move the time left if that is longer.",
)
@click.argument("engine", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- ENGINE...")
def run(engine: tuple[str, ...], engine_timeout: float | None, **session: Any) -> None:
    """Let a GTP engine play on a server.

    Example: cgos-client run --server localhost:6809 --name MyBot --password-file pw -- gnugo --mode gtp
    """
    broken: set[str] = set()
    _play(lambda: GtpEngine(engine, engine_timeout, broken), **session)


@main.command()
@click.argument("kind", type=click.Choice(["random", "greedy", "mcts"]))
@click.option("--playouts", type=click.IntRange(1), metavar="N", help="mcts: simulated games a move (default 100).")
@click.option("--seed", type=int, metavar="N", help="Make its choices repeatable.")
@_session_options(required=False)
def bot(kind: str, playouts: int | None, seed: int | None, **session: Any) -> None:
    """Play with a built-in bot: on a server with --server, else as a GTP engine on stdin and stdout."""
    if playouts is not None and kind != "mcts":
        raise click.UsageError(f"--playouts is for mcts; {kind} does not search.")
    rng = random.Random(seed)
    make = partial(_make_bot, kind, playouts or 100, rng)
    if session["server"] is None:
        only_there = ("name", "password_file", "token_file", "games", "log_dir", "sgf_dir")
        given = [option for option in only_there if session[option] is not None]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for playing on a server: give --server as well.")
        GtpShell(make()).serve(sys.stdin, sys.stdout)
        return
    if session["name"] is None:
        raise click.UsageError("--server needs --name: the bot's name on the server.")
    _play(lambda: InProcessEngine(make), **session)


@main.command("check")
@click.option("--size", type=click.Choice(["9", "13", "19"]), default="9", show_default=True, help="The board.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON array.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="How long the engine may take for any answer.",
)
@click.option(
    "--load-seconds",
    type=click.FloatRange(0, min_open=True),
    default=120.0,
    show_default=True,
    help="How long it may take to start.",
)
@click.option("--log", "log_file", type=_FILE, metavar="FILE", help="Write all that is said to and by the engine.")
@click.argument("engine", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- ENGINE...")
def check_engine(
    engine: tuple[str, ...], size: str, as_json: bool, seconds: float, load_seconds: float, log_file: Path | None
) -> None:
    """Put a GTP engine through what happens on a server, and say what would have gone wrong.

    Takes seconds with a fast engine, some minutes with a slow one. Exit status 1 where something failed.

    Example: cgos-client check --size 9 -- gnugo --mode gtp --chinese-rules
    """
    try:
        report.set_up_logs(logging.CRITICAL, log_file)
    except OSError as error:
        raise click.UsageError(f"--log {log_file}: the file cannot be written ({error.strerror}).") from None
    broken: set[str] = set()
    with Console(stderr=True).status("start") as status:
        findings = asyncio.run(
            check.run_cases(CASES, lambda: GtpEngine(engine, seconds, broken, load_seconds), int(size), status.update)
        )
    columns = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    for line in [check.as_json(findings)] if as_json else check.lines(findings, columns):
        click.echo(line)
    sys.exit(check.exit_status(findings))


def _make_bot(kind: str, playouts: int, rng: random.Random) -> Bot:
    match kind:
        case "random":
            return RandomBot(rng)
        case "greedy":
            return GreedyBot(rng)
        case _:
            return MctsBot(rng, playouts)


def _play(
    make_engine: Callable[[], Engine],
    *,
    server: str,
    name: str,
    password_file: Path | None,
    token_file: Path | None,
    log_file: Path | None,
    log_dir: Path | None,
    sgf_dir: Path | None,
    games: int | None,
    once: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> NoReturn:
    try:
        host, port = server_address(server)[1:3]
        identity = Identity(bot_name(name), secret(password_file, token_file, os.environ), f"cgos-client {__version__}")
    except BadSetting as bad:
        raise click.UsageError(str(bad)) from None
    console = Console(stderr=True)
    line = LiveLine(console) if console.is_terminal and not (as_json or verbose or quiet) else None
    making_room = nullcontext if line is None else line.hidden
    level = logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO
    try:
        report.set_up_logs(level, log_file, log_dir, making_room)
    except OSError as error:
        option = f"--log-dir {log_dir}: a file in it" if log_file is None else f"--log {log_file}: the file"
        raise click.UsageError(f"{option} cannot be written ({error.strerror}).") from None
    try:
        records = None if sgf_dir is None else Records(sgf_dir, server)
    except OSError as error:
        raise click.UsageError(f"--sgf-dir {sgf_dir}: the directory cannot be made ({error.strerror}).") from None
    runner = Runner(
        partial(connect, host, port),
        SupervisedEngine(make_engine),
        identity,
        Agenda(games_left=games),
        partial(report.print_result, as_json=as_json, making_room=making_room),
        once=once,
        tell=to_all(*(listener for listener in (records, line) if listener is not None)),
    )
    with line or nullcontext():
        status = asyncio.run(runner.run())
    sys.exit(status)
