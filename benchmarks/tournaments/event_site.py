"""A real server that can be killed, and real bots that come back: what scripts hold events with.

The server is the shipped one in a process of its own, the bots are the client's built-in ones. Loopback only. Must not
know: which events are held.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cgos_protocol.errors import CgosError
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus

VENUE = "board"
STEP_S = 0.05
START_LIMIT_S = 60.0
CONFIGURATION = """\
[server]
data = "data"
log_format = "json"
drain_limit_s = 1
[listen]
bots_host = "127.0.0.1"
[websocket]
host = "127.0.0.1"
port = {websocket}
[web]
port = {web}
[health]
port = {health}
[[venue]]
name = "{venue}"
port = {lines}
size = {size}
komi = 7.0
time = {{ system = "absolute", main = "1m" }}
pairing = {{ interval_s = {interval_s}, patience_s = 1.0, settle_s = 0.1 }}
"""


class Site:
    """A server that can be killed and started again, in `directory`, always on the same ports."""

    def __init__(self, directory: Path, size: int, interval_s: float) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.database = self.data / "cgos.sqlite"
        self.config = directory / "cgos.toml"
        ports = dict(zip(("lines", "websocket", "web", "health"), free_ports(4), strict=True))
        self.websocket, self.web = ports["websocket"], ports["web"]
        self.config.write_text(CONFIGURATION.format(venue=VENUE, size=size, interval_s=interval_s, **ports))
        self.process: subprocess.Popen[bytes] | None = None
        self.kills = 0

    def start(self) -> None:
        """Until it answers."""
        with (self.directory / "server.log").open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "cgos_server", "serve", "--config", str(self.config)],
                cwd=self.directory,
                stdout=output,
                stderr=output,
            )
        until(lambda: self.status() is not None, START_LIMIT_S, "the server does not answer")

    def kill(self) -> None:
        """As a power switch would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)
        self.kills += 1

    def stop(self) -> None:
        """Twice: at once."""
        if self.process is None:
            return
        for number in (signal.SIGTERM, signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                self.process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(5)

    def say(self, command: Command[Any]) -> Any:
        """Have it done through the control socket. Raises Refused."""
        return asyncio.run(ask(partial(control_socket.call, self.data), command))

    def status(self) -> ServerStatus | None:
        """None: it does not answer yet."""
        try:
            status: ServerStatus = self.say(StatusRequest())
        except CgosError:
            return None
        return status if status.web else None

    def get(self, path: str) -> Any:
        """What the API answers."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}/api/v1{path}", timeout=30) as answer:
            return json.loads(answer.read())

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Of the database, read only."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def command(self, *words: str) -> str:
        """What a command of the server prints. Raises CalledProcessError."""
        line = [sys.executable, "-m", "cgos_server", *words, "--config", str(self.config)]
        return subprocess.run(line, check=True, capture_output=True, text=True, cwd=self.directory).stdout


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def until(condition: Callable[[], Any], seconds: float, what: str) -> None:
    """Wait for another process. Raises RuntimeError with `what`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"After {seconds:.0f} s still: {what}")
        time.sleep(STEP_S)


def bot_name(number: int) -> str:
    """Of the bots, from 0."""
    return f"Bot-{number:02d}"


class Wanted(NamedTuple):
    """How events are held.

    :ivar directory: where everything lies
    :ivar size: of the board
    :ivar slots: games at once of each bot
    :ivar seconds: until all of it is given up
    :ivar ladder: so many games of the ladder come first, so that entrants have ratings
    :ivar playouts: of each bot a move, which makes games longer; 0: bots play at random, or greedily, in turn
    """

    directory: Path
    size: int
    slots: int
    seconds: float
    playouts: int = 0
    ladder: int = 0


@contextlib.contextmanager
def bots(site: Site, count: int, wanted: Wanted) -> Iterator[None]:
    """A client with so many built-in bots that come back whenever they are cut."""
    secret = site.directory / "bots.password"
    secret.write_text("secret-of-the-bots\n")
    secret.chmod(0o600)
    file = site.directory / "bots.toml"
    lines = [f'[server]\nurl = "ws://127.0.0.1:{site.websocket}"\n']
    for number in range(count):
        kind = f'"mcts"\nplayouts = {wanted.playouts}' if wanted.playouts else f'"{("random", "greedy")[number % 2]}"'
        lines.append(
            f'[[bot]]\nname = "{bot_name(number)}"\npassword_file = "{secret.name}"\nvenues = ["{VENUE}"]\n'
            f"slots = {wanted.slots}\nseed = {number}\nbuiltin = {kind}\n"
        )
    file.write_text("\n".join(lines))
    with (site.directory / "bots.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cgos_client", "run", "--config", str(file)], stdout=output, stderr=output
        )
    try:
        until(lambda: len(signed_in(site)) == count, START_LIMIT_S, "not all bots are there")
        yield
    finally:
        process.kill()
        process.wait(10)


def signed_in(site: Site) -> set[str]:
    """Names of the bots that are there."""
    status = site.status()
    return set() if status is None else {each.name for each in status.bots}
