"""Thousands of idle bots on either protocol: memory for each, CPU while they do nothing, and all of them again after a
restart of the server.

The server is the shipped one in a process of its own, without pages; every bot has a token. No games are paired.
Memory is the growth of the server process's resident set, kernel buffers not included. Loopback only, bounded, stops
by itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.moves.load_bots import GameBot, Tally, WsGameBot, source
from benchmarks.moves.loads import SIGN_IN_LIMIT_S, cpu_seconds
from benchmarks.moves.server_moves import Running, server
from benchmarks.reporting import CommandLine, write_json

NEVER = 100_000.0
"""Seconds between two pairing passes: there is none."""
AT_ONCE = 200
"""Connections that one client process opens at the same time."""


# -- the clients, in a process of their own


def _settle(lost: asyncio.Future[None]) -> None:
    if not lost.done():
        lost.set_result(None)


async def keep(number: int, options: argparse.Namespace, gate: asyncio.Semaphore, tally: Tally) -> None:
    """One bot that comes again whenever it was cut, with the waiting that bots are told to do."""
    loop = asyncio.get_running_loop()
    name, wait = f"Load-{number:05d}", 0.5
    while True:
        lost = loop.create_future()

        def make(lost: asyncio.Future[None] = lost) -> asyncio.Protocol:
            kind = WsBot if options.websocket else LineBot
            return kind(options.port, name, tally, partial(_settle, lost))

        try:
            async with gate:
                await loop.create_connection(make, "127.0.0.1", options.port, local_addr=source(number))
            wait = 0.5
            await lost
        except OSError:
            wait = min(8.0, 2 * wait)
        await asyncio.sleep(wait * (0.5 + random.random()))


class LineBot(GameBot):
    """A bot of the CGOS lines that says when it is cut."""

    def __init__(self, _port: int, name: str, tally: Tally, lost: Callable[[], object]) -> None:
        super().__init__(name, [], lambda: 0.0, tally)
        self.lost = lost

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost()


class WsBot(WsGameBot):
    """A bot of `cgos.v2` that says when it is cut."""

    def __init__(self, port: int, name: str, tally: Tally, lost: Callable[[], object]) -> None:
        super().__init__(port, name, [], lambda: 0.0, tally)
        self.lost = lost

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.lost()


async def clients(options: argparse.Namespace) -> None:
    """Hold the connections until the time is over."""
    gate, tally = asyncio.Semaphore(AT_ONCE), Tally(False)
    tasks = [asyncio.ensure_future(keep(number, options, gate, tally)) for number in range(options.bots)]
    await asyncio.sleep(options.seconds)
    for task in tasks:
        task.cancel()
    print(json.dumps({"closed": tally.closed, "errors": tally.errors[:3]}), flush=True)


# -- the measurement


@contextlib.contextmanager
def crowd(port: int, bots: int, websocket: bool) -> Iterator[None]:
    """A client process with so many bots."""
    command = [sys.executable, __file__, "--clients", "--port", str(port), "--bots", str(bots)]
    process = subprocess.Popen(
        [*command, "--seconds", str(5 * SIGN_IN_LIMIT_S), *(("--websocket",) if websocket else ())],
        stdout=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait(timeout=30)


def resident(pid: int) -> int:
    """Bytes of memory of a process."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no such process")


def signed_in(health: int) -> int:
    """Bots that are signed in, by the server's own metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{health}/metrics", timeout=60) as answer:
        lines = answer.read().decode().splitlines()
    return int(sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("cgos_bots{")))


def wait_for(running: Running, bots: int) -> float:
    """Seconds until all are signed in."""
    begun = time.monotonic()
    while signed_in(running.health) < bots:
        if time.monotonic() - begun > SIGN_IN_LIMIT_S:
            raise RuntimeError(f"only {signed_in(running.health)} of {bots} bots came within {SIGN_IN_LIMIT_S} s")
        time.sleep(0.25)
    return time.monotonic() - begun


def free_ports() -> tuple[int, int]:
    """Two ports that are free now, and again after a restart."""
    with socket.socket() as first, socket.socket() as other:
        first.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return first.getsockname()[1], other.getsockname()[1]


def measure(root: Path, bots: int, websocket: bool, idle_s: float, calm_s: float) -> dict[str, float]:
    """One protocol."""
    directory = root / ("websocket" if websocket else "lines")
    directory.mkdir()
    ports = free_ports()
    result: dict[str, float] = {}
    with contextlib.ExitStack() as stack:
        with server(directory, bots, NEVER, ports) as running:
            port = running.websocket if websocket else running.lines
            before = resident(running.pid)
            stack.enter_context(crowd(port, bots, websocket))
            result["sign_in_s"] = wait_for(running, bots)
            result["sign_in_cpu_s"] = cpu_seconds(running.pid)
            time.sleep(calm_s)  # arrivals calm down, what is alive is frozen
            result["kb_a_bot"] = (resident(running.pid) - before) / bots / 1000
            cpu = cpu_seconds(running.pid)
            time.sleep(idle_s)
            result["idle_cpu_percent"] = (cpu_seconds(running.pid) - cpu) / idle_s * 100
            stopping = time.monotonic()
        result["stop_s"] = time.monotonic() - stopping
        with server(directory, bots, NEVER, ports) as running:
            result["again_s"] = wait_for(running, bots)
            result["again_cpu_s"] = cpu_seconds(running.pid)
    return result


def run(
    bots: int = 10_000, idle_s: float = 20.0, calm_s: float = 10.0, wires: Sequence[str] = ("lines", "websocket")
) -> dict[str, Any]:
    """The protocols one after the other."""
    result: dict[str, Any] = {"bots": bots}
    with tempfile.TemporaryDirectory(prefix="cgos-bench-") as root:
        for name in wires:
            result[name] = figures = measure(
                Path(root), bots, websocket=name == "websocket", idle_s=idle_s, calm_s=calm_s
            )
            print(
                f"{bots} idle bots, {name}: " + ", ".join(f"{key} {value:.1f}" for key, value in figures.items()),
                flush=True,
            )
    return result


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, bots=5, idle=0.1, calm=0.1, wires=["lines"])
    parser.add_argument("--bots", type=int, default=10_000)
    parser.add_argument("--idle", type=float, default=20.0, help="seconds of idleness that are measured")
    parser.add_argument("--calm", type=float, default=10.0, help="seconds before that")
    parser.add_argument("--wires", nargs="*", default=["lines", "websocket"], choices=("lines", "websocket"))
    parser.add_argument("--clients", action="store_true", help="be the clients")
    parser.add_argument("--port", type=int)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--websocket", action="store_true")
    options = parser.read(words)
    if options.clients:
        asyncio.run(clients(options))
        return
    result = run(options.bots, options.idle, options.calm, options.wires)
    write_json(options.json, result)


if __name__ == "__main__":
    main()
