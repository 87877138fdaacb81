"""``cgos-client run``, ``bot`` and ``init``: reads options and puts the parts together; decides nothing else."""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import msgspec
from rich.console import Console

from cgos_client.addresses import Address, server_address
from cgos_client.bots.gtp_shell import GtpShell
from cgos_client.cli import init, report
from cgos_client.playing import bots_file, launch
from cgos_client.playing.bots_file import ONLY_V2, BotsFile, BotTable, ServerTable
from cgos_client.playing.events import to_all
from cgos_client.playing.live_line import LiveLine
from cgos_client.playing.records import Records
from cgos_client.playing.together import BotRunner, Together
from cgos_client.settings import PASSWORD_VARIABLE, BadSetting, bot_name, secret
from cgos_protocol.v2.messages import Scalar

_FILE = click.Path(dir_okay=False, path_type=Path)
_DIRECTORY = click.Path(file_okay=False, path_type=Path)


class SettingsCommand(click.Command):
    """A command to which a setting that cannot be used is wrong usage."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BadSetting as bad:
            raise click.UsageError(str(bad), ctx) from None


class EngineCommand(SettingsCommand):
    """A command behind whose ``--`` an engine's own command line stands."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if "--" in given:
                raise
            raise click.UsageError(
                f"No such option '{error.option_name}'. An option of the engine stands behind '--': "
                f"{ctx.command_path} ... -- ENGINE {error.option_name}",
                ctx,
            ) from None


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options that hold for all bots of a run: they may stand beside a file of bots."""

    once: bool
    as_json: bool
    verbose: bool
    quiet: bool
    log_file: Path | None
    leave_within: float | None


_VERSION_OPTIONS: Final = (
    click.option("--version", metavar="V", help="WebSocket: what is rated, as a version of its own."),
    click.option("--wire-name", metavar="NAME", help="WebSocket: what the version is called. Default: NAME-V."),
    click.option(
        "--predecessor",
        metavar="NAME",
        help="WebSocket: the version that it comes from, by its wire name. Default: the newest one of the bot.",
    ),
    click.option("--author", metavar="TEXT", help="WebSocket: who made the bot."),
    click.option(
        "--param", "parameters", multiple=True, metavar="K=V", help="WebSocket: a setting, for people. Repeatable."
    ),
)
"""What a bot says of the version that plays."""


def _session_options(command: Callable[..., None]) -> Callable[..., None]:
    options = (
        click.option(
            "--server",
            metavar="ADDRESS",
            help="The server: HOST:PORT for CGOS lines (also tcp:// and cgos://), cgoss://HOST:PORT for them by "
            "TLS, ws://HOST:PORT or wss://HOST:PORT for WebSocket.",
        ),
        click.option("--name", metavar="NAME", help="The bot's name on the server."),
        click.option(
            "--password-file",
            type=_FILE,
            metavar="F",
            help=f"File whose first line is the password. Without it: environment variable {PASSWORD_VARIABLE}.",
        ),
        click.option("--token-file", type=_FILE, metavar="F", help="File whose first line is a token, in its place."),
        click.option("--venue", "venues", multiple=True, metavar="V", help="WebSocket: where to play. Repeatable."),
        click.option(
            "--slots",
            type=click.IntRange(1, 256),
            metavar="N",
            help="WebSocket: games at once, each with an engine of its own. Default: 1.",
        ),
        *_VERSION_OPTIONS,
        click.option(
            "--event", "events", multiple=True, metavar="NAME", help="WebSocket: enter an event, or a series."
        ),
        click.option(
            "--protocol",
            type=click.Choice(["v2", "lines"]),
            help="Over WebSocket: cgos.v2, or CGOS lines in text frames with ws://HOST:PORT/VENUE. Default: v2.",
        ),
        click.option("--encoding", type=click.Choice(["json", "msgpack"]), help="WebSocket: default json."),
        click.option("--ca-file", type=_FILE, metavar="F", help="TLS: certificates (PEM) to trust, not the system's."),
        click.option("--log", "log_file", type=_FILE, metavar="FILE", help="Also write all lines of both dialogues."),
        click.option(
            "--log-dir",
            type=_DIRECTORY,
            metavar="DIR",
            help="Also write the server's dialogue to DIR/wire.log and the engine's to DIR/gtp.log.",
        ),
        click.option("--sgf-dir", type=_DIRECTORY, metavar="DIR", help="Write each finished game to DIR as SGF."),
        click.option("--games", type=click.IntRange(1), metavar="N", help="Leave after N games. Default: play on."),
        click.option(
            "--leave-within",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            help="How long running games may go on after Ctrl-C. Default: as long as they take.",
        ),
        click.option("--once", is_flag=True, help="Do not connect again when the connection ends."),
        click.option("--json", "as_json", is_flag=True, help="Print results as JSON, one object a line."),
        click.option("-v", "--verbose", is_flag=True, help="Show every line of both dialogues."),
        click.option("-q", "--quiet", is_flag=True, help="Show warnings and errors only."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(cls=EngineCommand)
@click.option("--config", type=_FILE, metavar="FILE", help="Bots from a file, all at once; see 'init'.")
@_session_options
@click.option(
    "--engine-timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="How long the engine may take for any answer before it is restarted. Set it a little above the longest "
    "thought of the engine. Default: 600, and for a move the time left if that is longer.",
)
@click.argument("engine", nargs=-1, type=click.UNPROCESSED, metavar="[-- ENGINE...]")
def run(engine: tuple[str, ...], engine_timeout: float | None, config: Path | None, **session: Any) -> None:
    """Play with a GTP engine, or all bots of a file.

    Example: cgos-client run --server localhost:6809 --name MyBot --password-file pw -- gnugo --mode gtp

    Example: cgos-client run --server ws://localhost:6868 --venue 9x9 --slots 2 --name MyBot --password-file pw --
    gnugo --mode gtp
    """
    if config is not None:
        _refuse_others(engine, engine_timeout, session)
        bots, secrets = bots_file.load_with_secrets(config)
        _play(bots, secrets, config, _run_options(session))
    if not engine:
        raise click.UsageError("Missing argument '-- ENGINE...': the engine's command line, or --config.")
    _play_one({"engine": list(engine), "engine_timeout_s": engine_timeout}, session)


@click.command(cls=SettingsCommand)
@click.argument("kind", type=click.Choice(["random", "greedy", "mcts"]))
@click.option("--playouts", type=click.IntRange(1), metavar="N", help="mcts: simulated games a move (default 100).")
@click.option("--seed", type=int, metavar="N", help="Make its choices repeatable.")
@_session_options
def bot(kind: str, playouts: int | None, seed: int | None, **session: Any) -> None:
    """Play with a built-in bot.

    On a server with --server, else as a GTP engine on stdin and stdout.
    """
    if playouts is not None and kind != "mcts":
        raise click.UsageError(f"--playouts is for mcts; {kind} does not search.")
    if session["server"] is None:
        only_there = ("name", "password_file", "token_file", "games", "log_dir", "sgf_dir", "slots", "ca_file")
        given = [option for option in only_there if session[option] is not None]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for playing on a server: give --server as well.")
        make = launch.built_in_bot(kind, playouts, seed)
        GtpShell(make()).serve(sys.stdin, sys.stdout)
        return
    _play_one({"builtin": kind, "playouts": playouts, "seed": seed}, session)


@click.command("init", cls=SettingsCommand)
@click.argument("file", type=_FILE, default=Path("bots.toml"))
@click.option("--server", metavar="ADDRESS", help="The server: ws://HOST:PORT, or HOST:PORT for CGOS lines.")
@click.option("--name", metavar="NAME", help="The bot's name.")
@click.option("--venue", "venues", multiple=True, metavar="V", help="WebSocket: where to play. Repeatable.")
@click.option("--slots", type=click.IntRange(1, 256), default=1, metavar="N", help="WebSocket: games at once (1).")
@click.option("--engine", metavar="COMMAND", help="The engine's command line; empty for the built-in bot.")
def init_file(
    file: Path, server: str | None, name: str | None, venues: tuple[str, ...], slots: int, engine: str | None
) -> None:
    """Write a file of bots for 'run --config'.

    And a password beside it. Asks for what is not given as an option.
    """
    try:
        address = server_address(server or click.prompt("Server", default="ws://localhost:6868"))
        chosen = bot_name(name or click.prompt("Name of the bot"))
        if not address.over_tcp and not venues:
            venues = tuple(click.prompt("Venues, separated by blanks", default="9x9").split())
        if engine is None:
            words = "Command line of the engine (nothing: the built-in bot)"
            engine = click.prompt(words, default="", show_default=False)
        table = BotTable(name=chosen, venues=list(venues), engine=shlex.split(engine), slots=slots)
        password = init.write(file, address, table)
        bots_file.load(file)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    except click.Abort:
        if sys.stdin.isatty():
            raise
        raise click.UsageError("There is nobody to ask: give --server, --name, --engine and perhaps --venue.") from None
    click.echo(f"{file} is written." if password is None else f"{file} and {password} (a new password) are written.")
    click.echo(f"Look at it, then: cgos-client run --config {shlex.quote(str(file))}")


# -- one bot from options


def _refuse_others(engine: Sequence[str], engine_timeout: float | None, session: dict[str, Any]) -> None:
    given = [name for name, value in session.items() if value and name not in RunOptions.__struct_fields__]
    given += ["engine_timeout"] if engine_timeout is not None else []
    if engine or given:
        what = "an engine's command line" if engine else f"--{given[0].rstrip('s').replace('_', '-')}"
        raise click.UsageError(f"--config names all bots and their engines: {what} belongs into the file.")


def _run_options(session: dict[str, Any]) -> RunOptions:
    return RunOptions(**{name: session[name] for name in RunOptions.__struct_fields__})


def _play_one(engine: dict[str, Any], session: dict[str, Any]) -> NoReturn:
    """`engine`: the fields of a bot's table that say what plays. Options are called as the fields of the tables are."""
    for option in ("server", "name"):
        if session[option] is None:
            raise click.UsageError(f"Missing option '--{option}'.")
    given = {name: value for name, value in session.items() if value}
    server = ServerTable(
        url=session["server"],
        lines=_speaks_lines(server_address(session["server"]), session),
        **{name: given[name] for name in ("encoding", "ca_file") if name in given},
    )
    given["name"] = bot_name(session["name"])
    given["venues"], given["events"] = list(session["venues"]), list(session["events"])
    given["parameters"] = _parameters(session["parameters"])
    table = BotTable(**engine, **{name: given[name] for name in BotTable.__struct_fields__ if name in given})
    word = secret(session["password_file"], session["token_file"], os.environ)
    _play(BotsFile(server=server, bot=[table]), [word], None, _run_options(session))


def _speaks_lines(address: Address, session: dict[str, Any]) -> bool:
    """True for CGOS lines. Raises BadSetting where the options do not go together."""
    protocol, venues = session["protocol"], session["venues"]
    over_tcp = address.over_tcp
    if over_tcp and protocol == "v2":
        over_websocket = address._replace(scheme="wss" if address.secure else "ws")
        raise BadSetting(f"--protocol v2 is spoken over WebSocket: write --server {over_websocket}")
    if not over_tcp and protocol != "lines":
        if not venues:
            raise BadSetting("--venue is missing: where to play, such as --venue 9x9")
        return False
    given = [option for option in (*ONLY_V2, "encoding") if session.get(option)]
    if given:
        option = _OPTIONS.get(given[0], given[0].replace("_", "-"))
        raise BadSetting(f"--{option} has no words in CGOS lines: it needs --server ws://HOST:PORT")
    if venues:
        where = "every venue has a port of its own" if over_tcp else "the address names the venue: ws://HOST:PORT/VENUE"
        raise BadSetting(f"--venue is not for CGOS lines: {where}")
    if not over_tcp and not address.venue:
        raise BadSetting("--protocol lines needs the venue in the address: ws://HOST:PORT/VENUE")
    return True


_OPTIONS: Final = {"parameters": "param", "events": "event"}
"""Options of the command line that have another name than their key in a file."""


def _parameters(given: Sequence[str]) -> dict[str, Scalar]:
    parameters: dict[str, Scalar] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise BadSetting(f"--param {text!r} is not KEY=VALUE")
        try:
            parameters[key] = msgspec.json.decode(value, type=Scalar)
        except msgspec.DecodeError:
            parameters[key] = value
    return parameters


# -- playing


def _play(bots: BotsFile, secrets: Sequence[str], path: Path | None, options: RunOptions) -> NoReturn:
    """Play with all bots until they are done. `path`: the file that describes them, None where options do."""
    single = len(bots.bot) == 1
    line = _live_line(options.as_json or options.verbose or options.quiet or not single)
    making_room = nullcontext if line is None else line.hidden
    runners: list[tuple[str, BotRunner]] = []
    problems: list[str] = []
    for table, word in zip(bots.bot, secrets, strict=True):
        who = "" if single else table.name
        try:
            records = _records(table.sgf_dir, bots.server.address(table), _place(table, "sgf_dir", path))
            shown = partial(report.print_result, as_json=options.as_json, making_room=making_room, who=who)
            tell = to_all(*(listener for listener in (records, line, shown) if listener is not None))
            runners.append((who, launch.runner(bots.server, table, word, once=options.once, tell=tell)))
        except BadSetting as bad:
            problems.append(bad.text if path is None else f"{path}: {bad.text}")
    if problems:
        raise click.UsageError("\n".join(problems))
    level = logging.DEBUG if options.verbose else logging.WARNING if options.quiet else logging.INFO
    report.set_up_logs(level, options.log_file, making_room)
    for table in bots.bot:
        try:
            if table.log_dir is not None:
                report.log_dialogues(table.log_dir, None if single else table.name)
        except OSError as error:
            what = ":" if path is not None else f" {table.log_dir}: a file in it"
            place = _place(table, "log_dir", path)
            raise BadSetting(f"{place}{what} cannot be written ({error.strerror}).") from None
    with line or nullcontext():
        status = asyncio.run(Together(runners, options.leave_within or bots.server.leave_within_s).run())
    sys.exit(status)


def _place(table: BotTable, key: str, path: Path | None) -> str:
    """What a setting of a bot is called where it was given."""
    return f"--{key.replace('_', '-')}" if path is None else f"bot {table.name}.{key}"


def _live_line(unwanted: bool) -> LiveLine | None:
    console = Console(stderr=True)
    return LiveLine(console) if console.is_terminal and not unwanted else None


def _records(directory: Path | None, address: Address, place: str) -> Records | None:
    if directory is None:
        return None
    try:
        records = Records(directory, str(address))
    except OSError as error:
        raise BadSetting(f"{place} {directory}: the directory cannot be made ({error.strerror})") from None
    if not os.access(directory, os.W_OK | os.X_OK):
        raise BadSetting(f"{place} {directory}: nothing can be written there by the user who runs this command")
    return records
