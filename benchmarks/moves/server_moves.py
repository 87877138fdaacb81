"""What one durable move costs through the whole server, beside a bare relay in the same run; and how long it takes.

The server is the shipped one in a process of its own, without pages; bots sign in with tokens, think not at all and
play a legal game over and over; a window is a whole number of games of all bots. Then bots that think a second a move,
beside a relay at the same rate. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec

from benchmarks.moves.load_bots import token
from benchmarks.moves.loads import WIRES, Cost, Window, measure, relay
from benchmarks.reporting import program
from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.registry import game_kind
from cgos_protocol.ids import BotId, VersionId
from cgos_protocol.names import fold
from cgos_server.storage import schema
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import BotAdded, TokenAdded, VersionAdded

SIZES = (20, 200, 1000)
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


def _unexpected(error: Exception) -> None:
    raise error


def prepare(directory: Path, bots: int) -> None:
    """As :func:`register`, in a data directory's own database."""
    register(directory / "cgos.sqlite", bots)


def register(database: Location, bots: int) -> None:
    """A database in which every bot exists already, with its password line as a token: no slow hash at sign-in."""
    schema.prepare(database)

    async def fill() -> None:
        store = await open_store(database, CommitListener(failed=_unexpected, on_error=_unexpected))
        for number in range(bots):
            name = f"Load-{number:05d}"
            secret = hashlib.sha256(token(name).encode()).hexdigest()
            bot, version = BotId(number + 1), VersionId(number + 1)
            store.submit(
                [
                    BotAdded(bot, name, fold(name), "none", "active", 0),
                    VersionAdded(version, bot, name, fold(name), "", "", "", "", 0),
                    TokenAdded(number + 1, bot, secret, "benchmark", 0),
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

    :param interval_s: between two pairing passes
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
        stderr=subprocess.PIPE,
        cwd=directory,
        text=True,
    )
    assert process.stderr is not None
    try:
        port = websocket = health = pages = 0
        output = ""
        while not health:
            line = process.stderr.readline()
            output += line
            if not line:
                raise RuntimeError(f"the server did not start: {output}")
            if line.startswith("venue"):
                port = int(line.rsplit(" ", 1)[1])
            elif "WebSocket" in line:
                websocket = int(line.rsplit(":", 1)[1].strip().rstrip("/"))
            elif line.startswith("pages"):
                pages = int(line.rsplit(":", 1)[1].strip().rstrip("/"))
            elif line.startswith("health"):
                health = int(line.split(":")[3].split("/")[0])
        yield Running(pid=process.pid, lines=port, websocket=websocket, health=health, web=pages)
    finally:
        process.terminate()
        process.communicate(timeout=60)


class Pair(msgspec.Struct, kw_only=True):
    """The server and the bare relay, right after one another."""

    server: Cost
    relay: Cost

    @property
    def ratio(self) -> float:
        return self.server.us / self.relay.us


class Row(msgspec.Struct, kw_only=True):
    """All runs of one protocol, number of bots and thinking time; medians, and the range of the ratio."""

    wire: str
    bots: int
    think_s: float
    server_us: float
    relay_us: float
    ratio: float
    least: float
    most: float
    server_per_s: float
    relay_per_s: float
    pairs: list[Pair]


def row(wire: str, bots: int, think_s: float, pairs: list[Pair]) -> Row:
    """The medians of some runs."""
    ratios = [pair.ratio for pair in pairs]
    return Row(
        wire=wire,
        bots=bots,
        think_s=think_s,
        pairs=pairs,
        server_us=statistics.median(pair.server.us for pair in pairs),
        relay_us=statistics.median(pair.relay.us for pair in pairs),
        ratio=statistics.median(ratios),
        least=min(ratios),
        most=max(ratios),
        server_per_s=statistics.median(pair.server.per_s for pair in pairs),
        relay_per_s=statistics.median(pair.relay.per_s for pair in pairs),
    )


def run(
    bots: Sequence[int] = SIZES,
    runs: Annotated[int, "interleaved"] = 5,
    seconds: Annotated[float, "least length of a window"] = 5.0,
    settle: Annotated[float, "seconds at full swing before a window"] = 1.0,
    wires: Annotated[Sequence[str], WIRES] = tuple(WIRES),
    thinkers: Annotated[int, "bots that think, beside a relay at the same rate; 0: none"] = 1000,
    think: Annotated[float, "seconds for which they do, on average"] = 1.0,
) -> list[Row]:
    """Interleaved runs of relay and server for each protocol and number of bots."""
    rows = []
    game = scripted_game()
    with tempfile.TemporaryDirectory(prefix="cgos-bench-") as root:
        script = Path(root) / "script.json"
        script.write_text(json.dumps(game))

        def pair(name: str, count: int, window: Window, *more: str) -> Pair:
            wire = WIRES[name]
            with relay(wire.relay) as (pid, port):
                floor = measure(pid, port, count, window, "--relay", *wire.options, *more)
            with tempfile.TemporaryDirectory(dir=root) as directory, server(Path(directory), count) as running:
                port = running.websocket if wire.options else running.lines
                whole = measure(running.pid, port, count, window, "--script", str(script), *wire.options, *more)
            return Pair(server=whole, relay=floor)

        for count, name in itertools.product(bots, wires):
            games = count // 2 * len(game)
            window = Window(seconds=seconds, warm=games, whole=games, settle=settle)
            rows.append(row(name, count, 0.0, [pair(name, count, window) for _ in range(runs)]))
            _show(rows[-1])
        if thinkers:
            window = Window(seconds=2 * seconds, warm=2 * thinkers, settle=settle)
            for name in wires:
                more = ("--think", str(think), "--latency")
                pairs = [pair(name, thinkers, window, *more) for _ in range(max(1, runs // 2))]
                rows.append(row(name, thinkers, think, pairs))
                _show(rows[-1])
    return rows


def _show(row: Row) -> None:
    thought = f"think {row.think_s:g} s" if row.think_s else "no thought"
    print(
        f"{row.wire:>9}, {row.bots:4} bots, {thought}: relay {row.relay_us:5.1f} us/message ({row.relay_per_s:.0f}/s),"
        f" server {row.server_us:5.1f} us/move ({row.server_per_s:.0f}/s),"
        f" ratio {row.ratio:.2f} ({', '.join(f'{pair.ratio:.2f}' for pair in row.pairs)})",
        flush=True,
    )
    for pair in row.pairs if row.think_s else ():
        ways = [
            f"{who} p50 {cost.p50_ms:.2f} ms, p99 {cost.p99_ms:.2f} ms"
            for who, cost in (("relay", pair.relay), ("server", pair.server))
            if cost.p50_ms is not None
        ]
        print(f"           a move's way to the opponent: {'; '.join(ways)}", flush=True)


main = program(run, bots=[], wires=["lines"], runs=1, seconds=0.1, settle=0.0, thinkers=2, think=0.05)


if __name__ == "__main__":
    main()
