"""What one durable move costs through the whole server, beside a bare relay in the same run; and how long it takes.

The server is the shipped one in a process of its own, without pages; bots sign in with tokens, think not at all and
play a legal game over and over. CPU time is the server process's own, from /proc. Loopback only, bounded, stops by
itself.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from load_bots import token

from cgos_server.core.games.base import Ruleset
from cgos_server.core.games.registry import game_kind
from cgos_server.protocol.names import fold
from cgos_server.storage import schema
from cgos_server.storage.records import BotAdded, TokenAdded, VersionAdded
from cgos_server.storage.sql_store import open_store

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
SIGN_IN_LIMIT_S = 120
NO_WEB = 'mode = "off"'


def scripted_game(seed: int = 7) -> list[str]:
    """One legal 9x9 game to two passes, the same for every bot."""
    rng = random.Random(seed)
    position = game_kind("go").new(Ruleset())
    moves: list[str] = []
    columns = "ABCDEFGHJ"
    while len(moves) < 110:
        vertex = f"{rng.choice(columns)}{rng.randint(1, 9)}"
        move = position.read(vertex)
        if move is not None and position.play(move) is None:
            moves.append(vertex)
    return [*moves, "PASS", "PASS"]


def cpu_seconds(pid: int) -> float:
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _unexpected(error: Exception) -> None:
    raise error


def prepare(directory: Path, bots: int) -> None:
    """A database in which every bot exists already, with its password line as a token: no slow hash at sign-in."""
    schema.prepare(directory / "cgos.sqlite")

    async def fill() -> None:
        store = await open_store(directory / "cgos.sqlite", failed=_unexpected, on_error=_unexpected)
        for number in range(bots):
            name = f"Load-{number:05d}"
            secret = hashlib.sha256(token(name).encode()).hexdigest()
            store.submit(
                [
                    BotAdded(number + 1, name, fold(name), "none", "active", 0),
                    VersionAdded(number + 1, number + 1, name, fold(name), "", "", "", "", 0),
                    TokenAdded(number + 1, number + 1, secret, "benchmark", 0),
                ]
            )
        await store.close()

    asyncio.run(fill())


class Running(NamedTuple):
    """A server process and its ports: bots' lines, WebSocket, health, pages (0: there are none)."""

    pid: int
    lines: int
    websocket: int
    health: int
    web: int = 0


@contextlib.contextmanager
def server(
    directory: Path,
    bots: int,
    interval_s: float = 0.5,
    ports: tuple[int, int] = (0, 0),
    rating: str = "bayes",
    web: str = NO_WEB,
) -> Iterator[Running]:
    """A server with its bots registered; a second call with the same directory goes on with its database.

    :param interval_s: between two acts of pairing
    :param ports: for lines and WebSocket
    :param rating: the headline system
    :param web: the table ``[web]``
    """
    data = directory / "data"
    if not data.exists():
        data.mkdir()
        prepare(data, bots)
    venue = f"""
[[venue]]
name = "9x9"
port = {ports[0]}
size = 9
komi = 7.0
time = {{ system = "absolute", main = "10m" }}
pairing = {{ interval_s = {interval_s}, patience_s = 0.5, settle_s = 0.0 }}
rating = {{ system = "{rating}" }}
"""
    with serving(directory, venue, ports[1], web) as running:
        yield running


@contextlib.contextmanager
def serving(directory: Path, venues: str, websocket_port: int = 0, web: str = NO_WEB) -> Iterator[Running]:
    """A server on loopback with these venues (TOML), its data in ``data`` below the directory."""
    config = directory / "cgos.toml"
    config.write_text(
        f"""
[server]
data = "data"
log_level = "warning"
drain_limit_s = 0
[listen]
bots_host = "127.0.0.1"
[websocket]
host = "127.0.0.1"
port = {websocket_port}
[web]
{web}
[health]
port = 0
[limits]
connections = 15000
connections_per_address = 15000
{venues}"""
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "cgos_server", "serve", "--config", str(config)],
        stderr=subprocess.PIPE, cwd=directory, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        port = websocket = health = pages = 0
        said = ""
        while not health:
            line = process.stderr.readline()
            said += line
            if not line:
                raise RuntimeError(f"the server did not start: {said}")
            if line.startswith("venue"):
                port = int(line.rsplit(" ", 1)[1])
            elif "WebSocket" in line:
                websocket = int(line.rsplit(":", 1)[1].strip().rstrip("/"))
            elif line.startswith("pages"):
                pages = int(line.rsplit(":", 1)[1].strip().rstrip("/"))
            elif line.startswith("health"):
                health = int(line.split(":")[3].split("/")[0])
        yield Running(process.pid, port, websocket, health, pages)
    finally:
        process.terminate()
        process.communicate(timeout=60)


@contextlib.contextmanager
def relay(program: str = "bare_relay.py") -> Iterator[tuple[int, int]]:
    """A bare relay; yields (pid, port)."""
    process = subprocess.Popen([sys.executable, str(HERE / program)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate(timeout=30)


def reports(port: int, bots: int, seconds: float, *options: str) -> Iterator[dict[str, Any]]:
    """Progress of a load process, which ends by itself."""
    command = [sys.executable, str(HERE / "load_bots.py"), "--port", str(port), "--bots", str(bots)]
    process = subprocess.Popen([*command, "--seconds", str(seconds), *options], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            yield json.loads(line)
    finally:
        process.kill()
        process.communicate(timeout=30)


def measure(pid: int, port: int, bots: int, seconds: float, *options: str) -> dict[str, float]:
    """CPU microseconds a move and moves a second, once the load has been at full swing for a second."""
    busy_from = None
    first: tuple[float, float, int] | None = None
    last = (0.0, 0.0, 0)
    latency: list[float] = []
    for report in reports(port, bots, SIGN_IN_LIMIT_S, *options):
        if report["errors"] or report["closed"]:
            raise RuntimeError(f"bots were refused or dropped: {report}")
        now = (time.monotonic(), cpu_seconds(pid), report["moves"])
        if busy_from is None and report["moves"] > 2 * bots:
            busy_from = now[0]
        if busy_from is not None and first is None and now[0] > busy_from + 1:
            first = now
        elif first is not None:
            last = now
            latency += report["latency"]
            if now[0] - first[0] >= seconds:
                break
    if first is None:
        raise RuntimeError(f"the load never got going within {SIGN_IN_LIMIT_S} s")
    moves = last[2] - first[2]
    result = {"us": (last[1] - first[1]) / moves * 1e6, "per_s": moves / (last[0] - first[0])}
    if latency:
        latency.sort()
        result |= {"p50_ms": latency[len(latency) // 2] * 1e3, "p99_ms": latency[int(len(latency) * 0.99)] * 1e3}
    return result


def run(
    sizes: tuple[int, ...] = (20, 200, 1000), runs: int = 5, seconds: float = 5.0, think: bool = True
) -> dict[str, Any]:
    """Interleaved runs of relay and server for each protocol and number of bots; medians and every single figure."""
    result: dict[str, Any] = {"lines": {}, "websocket": {}, "latency": {}}
    with tempfile.TemporaryDirectory(prefix="cgos-bench-") as root:
        script = Path(root) / "script.json"
        script.write_text(json.dumps(scripted_game()))
        for bots in sizes:
            for protocol, program, options in (
                ("lines", "bare_relay.py", ()),
                ("websocket", "ws_relay.py", ("--websocket",)),
            ):
                bare: list[dict[str, float]] = []
                whole: list[dict[str, float]] = []
                for number in range(runs):
                    with relay(program) as (pid, port):
                        bare.append(measure(pid, port, bots, seconds, "--relay", *options))
                    directory = Path(root) / f"{protocol}-{bots}-{number}"
                    directory.mkdir()
                    with server(directory, bots) as running:
                        port = running.websocket if options else running.lines
                        whole.append(measure(running.pid, port, bots, seconds, "--script", str(script), *options))
                ratios = [b["us"] / a["us"] for a, b in zip(bare, whole, strict=True)]
                figures = result[protocol][bots] = {
                    "relay_us": statistics.median(r["us"] for r in bare),
                    "server_us": statistics.median(r["us"] for r in whole),
                    "ratio": statistics.median(ratios),
                    "ratios": ratios,
                    "server_moves_per_s": statistics.median(r["per_s"] for r in whole),
                }
                _show_cost(f"{protocol}, {bots}", figures)
        if think:
            for protocol, options in (("lines", ()), ("websocket", ("--websocket",))):
                directory = Path(root) / f"think-{protocol}"
                directory.mkdir()
                with server(directory, 1000) as running:
                    port = running.websocket if options else running.lines
                    more = ("--script", str(script), "--think", "1.0", "--latency", *options)
                    result["latency"][protocol] = measure(running.pid, port, 1000, 4 * seconds, *more)
                _show_latency(protocol, result["latency"][protocol])
    return result


def _show_cost(what: str, figures: dict[str, Any]) -> None:
    print(
        f"{what:>15} bots, no thought: relay {figures['relay_us']:5.1f} us/message,"
        f" server {figures['server_us']:5.1f} us/move,"
        f" ratio {figures['ratio']:.2f} ({', '.join(f'{ratio:.2f}' for ratio in figures['ratios'])}),"
        f" {figures['server_moves_per_s']:.0f} moves/s",
        flush=True,
    )


def _show_latency(protocol: str, figures: dict[str, float]) -> None:
    print(
        f"{protocol}, 1000 bots that think 1 s: relay p50 {figures['p50_ms']:.2f} ms, p99 {figures['p99_ms']:.2f} ms,"
        f" {figures['us']:.1f} us/move, {figures['per_s']:.0f} moves/s",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bots", type=int, nargs="*", default=[20, 200, 1000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--no-think", action="store_true", help="leave out the bots that think")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    result = run(tuple(options.bots), options.runs, options.seconds, not options.no_think)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
