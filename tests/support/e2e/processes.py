"""Real processes for end to end tests: a server that can be killed and started again, and bots that keep coming back.

Everything listens on loopback, is bounded in time, and only processes that were started here are ended.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

STEP_S = 0.05
START_S = 90.0
"""Within which a server is ready, also on a machine that has much else to do."""


def gnugo() -> str | None:
    """GNU Go's path, where it is installed."""
    return shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")


# Below the ports that the system lends to outgoing connections: none of these takes one while its server is down. Each
# of pytest's processes has its own share of them.
_SHARE = range(
    12_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]),
    32_000,
    int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")),
)
_PORTS = itertools.cycle(random.Random(os.getpid()).sample(_SHARE, len(_SHARE)))


def free_port() -> int:
    """A port nobody listens on. It is not given again soon, so that two servers never get the same."""
    for port in _PORTS:
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port
    raise AssertionError("never")


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait for a real process: the first true value of `condition`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(STEP_S)  # another process's progress cannot be simulated
    raise AssertionError(f"after {seconds} s: {what}")


class ServerProcess:
    """`cgos-server serve` on one 9x9 venue, in `directory`. Every start uses the same ports."""

    def __init__(self, directory: Path, settings: str = "", venue: str = "", python: str = sys.executable) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.log = directory / "server.log"
        self.port, self.ws_port, self.health_port, self.web_port = (free_port() for _ in range(4))
        self.config = directory / "cgos.toml"
        self.python = python
        self.process: subprocess.Popen[bytes] | None = None
        self.environment: dict[str, str] = {}
        self.config.write_text(
            f"""
[server]
data = "data"
log_format = "json"
{settings}
[listen]
bots_host = "127.0.0.1"
[websocket]
host = "127.0.0.1"
port = {self.ws_port}
[web]
port = {self.web_port}
[health]
port = {self.health_port}
[[venue]]
name = "9x9"
port = {self.port}
size = 9
komi = 7.0
{venue or 'time = { system = "absolute", main = "2m" }'}
pairing = {{ interval_s = 0.2, patience_s = 0.5, settle_s = 0.05 }}
"""
        )

    def configure(self, **tables: str) -> None:
        """Add lines to tables of the configuration."""
        text = self.config.read_text()
        for table, keys in tables.items():
            assert f"[{table}]" in text, table
            head = "[[venue]]" if table == "venue" else f"[{table}]"
            text = text.replace(f"{head}\n", f"{head}\n{keys}\n")
        self.config.write_text(text)

    @property
    def url(self) -> str:
        """The WebSocket port."""
        return f"ws://127.0.0.1:{self.ws_port}"

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [self.python, "-m", "cgos_server", "serve", "--config", str(self.config)],
                stdout=output,
                stderr=output,
                cwd=self.directory,
                env=os.environ | self.environment,
            )
        until(self.is_ready, START_S, f"the server is not ready:\n{self.tail()}")

    def tail(self) -> str:
        return self.log.read_text()[-3000:] if self.log.exists() else ""

    def get(self, path: str, port: int | None = None) -> tuple[int, str]:
        """(status, body) of a page of the health listener, or of another port; (0, "") where nothing answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port or self.health_port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except (OSError, urllib.error.URLError):
            return 0, ""

    def page(self, path: str) -> tuple[int, str]:
        """(status, body) of a page, asked again until the web process answers, which starts beside the games."""
        answer: tuple[int, str] = until(
            lambda: (answer := self.get(path, self.web_port))[0] and answer, START_S, f"no answer to {path}"
        )
        return answer

    def is_ready(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.tail()}")
        return self.get("/readyz")[0] == 200

    def kill(self) -> None:
        """As a power switch would: nothing is told, nothing is closed."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(10)

    def stop(self, seconds: float = 30) -> int:
        """SIGTERM; the exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Look into the database, read only."""
        database = self.data / "cgos.sqlite"
        if not database.exists():
            return []
        with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=10)) as connection:
            return connection.execute(sql, parameters).fetchall()

    def command(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """A `cgos-server` command on this server's configuration."""
        return subprocess.run(
            [self.python, "-m", "cgos_server", *arguments, "--config", str(self.config)],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=self.directory,
            input=stdin,
            check=False,
        )

    def log_events(self) -> list[dict[str, Any]]:
        """What the server logged, one dictionary a line; lines of other programs are left out."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{")]


@contextlib.contextmanager
def server(directory: Path, **options: Any) -> Iterator[ServerProcess]:
    """A running server, ended at the end of the block however the block ends."""
    serving = ServerProcess(directory, **options)
    try:
        serving.start()
        yield serving
    finally:
        if serving.process is not None:
            end(serving.process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ask, ask again (which means at once), then make it."""
    for ask, patience in ((process.terminate, 1), (process.terminate, 5), (process.kill, 5)):
        if process.poll() is not None:
            return
        ask()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)


@contextlib.contextmanager
def client(
    serving: ServerProcess,
    name: str,
    arguments: Sequence[str],
    engine: Sequence[str] = (),
    *,
    address: str = "",
    python: str = sys.executable,
) -> Iterator[subprocess.Popen[bytes]]:
    """`cgos-client` playing on `serving`, ended at the end of the block; over TCP unless `address` says otherwise."""
    command = [python, "-m", "cgos_client", *arguments]
    command += ["--server", address or f"127.0.0.1:{serving.port}", "--name", name]
    if engine:
        command += ["--", *engine]
    with (serving.directory / f"{name}.log").open("ab") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env=os.environ | {"CGOS_PASSWORD": f"secret-{name}"}
        )
    try:
        yield process
    finally:
        end(process)


def bots(serving: ServerProcess, players: dict[str, tuple[Sequence[str], Sequence[str]]]) -> contextlib.ExitStack:
    """Several clients at once: name -> (arguments, engine)."""
    stack = contextlib.ExitStack()
    for name, (arguments, engine) in players.items():
        stack.enter_context(client(serving, name, arguments, engine))
    return stack
