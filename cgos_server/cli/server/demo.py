"""`cgos-server demo`: a whole server with bots in a temporary directory, and its standings in the terminal; beside the
ladder's an event's, where one is wanted.

The server and the bots are ordinary child processes, started by the commands that anybody would type. Must not know:
the server's insides; it asks the control socket and reads the database like every other command.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import click

from cgos_protocol.errors import Code, Invalid, OurFault, Refused
from cgos_server.cli.common import WordOf
from cgos_server.cli.server.demo_event import DemoEvent
from cgos_server.cli.server.demo_screen import Screen, Snapshot
from cgos_server.net import control_socket
from cgos_server.presentation import words
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus
from cgos_server.storage import DATABASE
from cgos_server.storage.location import make_directory
from cgos_server.storage.reading.history import History
from cgos_server.tournaments import registry

VENUE = "9x9"
START_LIMIT_S = 30
STOP_LIMIT_S = 30
DRAIN_S = 15

CONFIGURATION = f"""\
# A small server for looking at: one venue, short pauses, every port the next free one.
[server]
name = "cgos-server demo"
drain_limit_s = {DRAIN_S}
log_format = "json"

[listen]
bots_host = "127.0.0.1"
next_free_port = true

[websocket]
host = "127.0.0.1"

[[venue]]
name = "{VENUE}"
port = 6809
size = 9
komi = 7.0
time = {{ system = "absolute", main = "1m" }}
pairing = {{ interval_s = 0.5, patience_s = 3.0, settle_s = 0.2 }}
"""


class Player(NamedTuple):
    """A bot of the demo: its name and the arguments of `cgos-client` that make it play.

    :ivar websocket: True where it comes by WebSocket instead of the CGOS port
    """

    name: str
    arguments: tuple[str, ...]
    engine: tuple[str, ...] = ()
    websocket: bool = False


BUILT_IN = (
    Player("Random", ("bot", "random")),
    Player("Greedy", ("bot", "greedy")),
    Player("Mcts-5", ("bot", "mcts", "--playouts", "5")),
    Player("Mcts-20", ("bot", "mcts", "--playouts", "20"), websocket=True),
    Player("Mcts-60", ("bot", "mcts", "--playouts", "60"), websocket=True),
    Player("Mcts-150", ("bot", "mcts", "--playouts", "150")),
)


GNUGO_RULES = ("--chinese-rules", "--positional-superko", "--capture-all-dead")
"""So that GNU Go plays by our rules: all stones are alive at the end, so it must take what is dead."""


def players() -> Iterator[Player]:
    """Six built-in bots, and GNU Go where it is installed."""
    yield from BUILT_IN
    gnugo = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")
    if gnugo:
        engine = (gnugo, "--mode", "gtp", "--level", "0", "--max-level", "0", *GNUGO_RULES)
        # Without --max-level GNU Go raises its level to use up the clock.
        yield Player("GNUGo-L0", ("run",), engine)


@click.command()
@click.option("--seconds", type=click.FloatRange(min=1), help="Stop after so long; without it Ctrl-C stops.")
@click.option("--keep", type=click.Path(path_type=Path, file_okay=False), help="Keep everything in this directory.")
@click.option(
    "--event",
    "system",
    type=WordOf(registry.words),
    is_flag=False,
    flag_value="swiss",
    metavar="[SYSTEM]",
    help="Hold an event of the bots, by this tournament system; a Swiss where none is named.",
)
def demo(seconds: float | None, keep: Path | None, system: str | None) -> None:
    """Run a server with six built-in bots and GNU Go, and watch."""
    if find_spec("cgos_client") is None:
        raise click.ClickException(
            "The bots of the demo are cgos-client's, which is not installed. "
            "Install it beside the server: python -m pip install 'cgos-server[demo]'"
        )
    with contextlib.ExitStack() as stack:
        directory = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cgos-demo-")))
        make_directory(directory)
        event = None if system is None else DemoEvent(directory, VENUE, system, {player.name for player in players()})
        sys.exit(asyncio.run(_demo(directory, seconds, event)))


async def _demo(directory: Path, seconds: float | None, event: DemoEvent | None) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    configuration = directory / "demo.toml"
    if not configuration.exists():  # somebody may have changed the one of an earlier demo
        configuration.write_text(CONFIGURATION)
    server = [sys.executable, "-m", "cgos_server", "serve", "--config", str(configuration), "--data", str(directory)]
    crashed = 0
    async with _child(server, directory / "server.log") as serving:
        status = await _first_status(directory, serving)
        with Screen(sys.stdout, str(directory), status) as screen:
            async with contextlib.AsyncExitStack() as bots:
                running = [
                    await bots.enter_async_context(
                        _child(_command(player, status, directory), directory / f"{player.name}.log")
                    )
                    for player in players()
                ]
                await _watch(directory, screen, stop=stop, seconds=seconds, event=event)
                # The server goes first, so that the running games end between bots that are still there.
                screen.say(f"Letting the running games end (at most {DRAIN_S} s) ...")
                serving.terminate()
                last = await _last_status(directory, serving)
                crashed = sum(bot.returncode not in (None, 0) for bot in running)
    return await _summary(directory, event, last or status, crashed + (serving.returncode not in (None, 0)))


def _command(player: Player, status: ServerStatus, directory: Path) -> list[str]:
    secret = directory / f"{player.name}.password"
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(os.urandom(9).hex() + "\n")
    command = [sys.executable, "-m", "cgos_client", *player.arguments]
    if player.websocket:
        command += ["--server", status.websocket, "--venue", VENUE]
    else:
        command += ["--server", f"127.0.0.1:{status.venues[0].port}"]
    command += ["--name", player.name, "--password-file", str(secret)]
    return [*command, "--", *player.engine] if player.engine else command


@contextlib.asynccontextmanager
async def _child(command: Sequence[str], log: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """A child process that does not hear the terminal's Ctrl-C; told to end, then made to, at the end of the block."""
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield process
    finally:
        for end in (process.terminate, process.terminate, process.kill):
            if process.returncode is not None:
                break
            end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 3)
        await process.wait()


async def _status(directory: Path) -> ServerStatus | None:
    """What the server says of itself, None where it does not answer."""
    try:
        return await ask(lambda line: control_socket.call(directory, line), StatusRequest())
    except (Refused, OurFault):
        return None


async def _first_status(directory: Path, serving: asyncio.subprocess.Process) -> ServerStatus:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline and serving.returncode is None:
        status = await _status(directory)
        if status is not None and status.web:
            return status
        await asyncio.sleep(0.1)
    tail = (directory / "server.log").read_text()[-2000:]
    raise Invalid(Code.DEMO, f"The server did not start within {START_LIMIT_S} s. Its log ends with:\n{tail}")


async def _watch(
    directory: Path, screen: Screen, stop: asyncio.Event, seconds: float | None, event: DemoEvent | None
) -> None:
    """Show the standings until the time is over, somebody stops us, or the server is gone. The event starts when all
    bots are there."""
    end = None if seconds is None else time.monotonic() + seconds
    async with History(directory / DATABASE) as history:
        events = ReadEvents(history)
        while not stop.is_set() and (end is None or time.monotonic() < end):
            status = await _status(directory)
            if status is None:
                screen.say("The server does not answer any more; see server.log.")
                return
            left = None if end is None else max(0.0, end - time.monotonic())
            if event is not None:
                await event.start_when_all_are_there(status)
            standings = await history.ratings.standings(VENUE)
            now = None if event is None else await event.look(events)
            screen.show(Snapshot(status=status, standings=standings, left=left, at=time.monotonic(), event=now))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 1.0)


async def _last_status(directory: Path, serving: asyncio.subprocess.Process) -> ServerStatus | None:
    """Follow the server to its end; the last that it said."""
    last = None
    deadline = time.monotonic() + STOP_LIMIT_S
    while serving.returncode is None and time.monotonic() < deadline:
        last = await _status(directory) or last
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(serving.wait(), 0.2)
    return last


async def _summary(directory: Path, event: DemoEvent | None, last: ServerStatus, crashed: int) -> int:
    """What happened. `lost`: games that the server cost somebody, `errors`: faults logged and processes that died."""
    async with History(directory / DATABASE) as history:
        standings = await history.ratings.standings(VENUE)
        counts = await history.server.counts()
        held = None if event is None else await event.look(ReadEvents(history))
    for row in standings:
        click.echo(f"{row.version:<12} {words.standing(row):>12} {row.games:5} game{'' if row.games == 1 else 's'}")
    if held is not None:
        click.echo(held.line)
    errors = last.warnings + last.errors + crashed
    endings = ", ".join(f"{games} by {reason}" for reason, games in counts.ended.items())
    click.echo(f"endings: {endings or 'none'}; {words.count(counts.running, 'game')} suspended")
    games, lost = sum(counts.ended.values()), counts.ended.get("void", 0)
    click.echo(f"games={games} moves={counts.moves} lost={lost} errors={errors}")
    return 0 if lost == errors == 0 else 1
