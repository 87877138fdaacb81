"""An event of five hundred: how long the moves of other games wait while a round of it is paired and begun.

The entrants play scripted games of a few moves, round after round; beside them other bots play in another venue of the
same server, and each of their moves is timed from its writing to its arrival at the opponent. Compared are the moves of
the seconds in which a round was paired and its games begun with all the others. The server is the shipped one in a
process of its own, without pages; the entrants are a process too. Loopback only, bounded, stops by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from benchmarks.moves.load_bots import GameBot, Tally
from benchmarks.moves.server_moves import prepare, scripted_game, serving
from benchmarks.reporting import CommandLine, table, write_json
from cgos_server.net import control_socket
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.events.announcing import EventCreate, EventOpen
from cgos_server.service.events.entering import EventEnter
from cgos_server.service.events.holding import EventStart

VENUES = """
[[venue]]
name = "event"
port = 0
size = 9
komi = 7.0
time = { system = "absolute", main = "10m" }
pairing = { interval_s = 3600, settle_s = 0.0 }
[[venue]]
name = "beside"
port = 0
size = 9
komi = 7.0
time = { system = "absolute", main = "10m" }
pairing = { interval_s = 0.2, patience_s = 0.2, settle_s = 0.0 }
"""
"""In the first one nobody plays but in the event."""

AROUND_MS = 100
"""Before a round's last result and after the beginning of its last game, what belongs to its pairing."""


Answer = TypeVar("Answer")


class Paired(NamedTuple):
    """A round, in Unix ms: when the last result before it came, when it was paired, when its last game began."""

    since: int
    paired: int
    begun: int


class TimedTally(Tally):
    """Notes when each move arrived, and how long it took: (Unix ms, ms)."""

    def __init__(self) -> None:
        super().__init__(keep_latency=True)
        self.moves_timed: list[tuple[float, float]] = []

    def arrived(self, game: object, ply: int) -> None:
        super().arrived(game, ply)
        if self.latency:
            self.moves_timed.append((1000 * time.time(), 1000 * self.latency.pop()))


def name(number: int) -> str:
    """Of a bot, from 0, as the database was prepared with it."""
    return f"Load-{number:05d}"


@contextlib.asynccontextmanager
async def present(port: int, numbers: range, script: list[str], think_s: float, tally: Tally) -> AsyncIterator[None]:
    """These bots are connected and sign in, fifty at a time."""
    loop, rng = asyncio.get_running_loop(), random.Random(numbers.start)
    transports: list[asyncio.Transport] = []

    def think() -> float:
        return think_s * rng.uniform(0.5, 1.5)

    try:
        for at in range(numbers.start, numbers.stop, 50):
            for number in range(at, min(at + 50, numbers.stop)):
                bot = partial(GameBot, name(number), script, think, tally)
                transport, _ = await loop.create_connection(bot, "127.0.0.1", port)
                transports.append(transport)
            await asyncio.sleep(0.2)
        yield
    finally:
        for transport in transports:
            transport.abort()
        await asyncio.sleep(0)  # they close in the next turn of the loop


def entrants(port: int, bots: int, think_s: float) -> None:
    """The entrants' process, until it is ended."""

    async def stay() -> None:
        script = [*scripted_game()[:8], "PASS", "PASS"]
        async with present(port, range(bots), script, think_s, Tally(keep_latency=False)):
            await asyncio.Event().wait()

    asyncio.run(stay())


async def hold(data: Path, bots: int, rounds: int, others: tuple[int, int], seconds: float) -> TimedTally:
    """The event from its announcement to its end, and the games beside it."""
    tally = TimedTally()
    port, count = others
    async with present(port, range(bots, bots + count), scripted_game(), 0.05, tally):
        await announce(data, bots, rounds, present_of_all=bots + count)
        tally.moves_timed.clear()
        await say(data, EventStart(event="Large"))
        for _ in range(int(seconds)):
            await asyncio.sleep(1.0)
            if query(data, "SELECT 1 FROM events WHERE phase IN ('over', 'cancelled')"):
                break
    return tally


async def announce(data: Path, bots: int, rounds: int, present_of_all: int) -> None:
    """Enter the first `bots`, and wait for so many to be signed in."""
    await say(data, EventCreate(event="Large", system="swiss", venue="event", rounds=rounds))
    await say(data, EventOpen(event="Large"))
    for number in range(bots):
        await say(data, EventEnter(event="Large", version=name(number)))
    for _ in range(60):
        if len((await say(data, StatusRequest())).bots) >= present_of_all:
            break
        await asyncio.sleep(1.0)


async def say(data: Path, command: Command[Answer]) -> Answer:
    """As an operator."""
    return await ask(partial(control_socket.call, data), command)


def query(data: Path, sql: str) -> list[tuple[Any, ...]]:
    """Of the database, read only."""
    with contextlib.closing(
        sqlite3.connect(f"file:{data / 'cgos.sqlite'}?mode=ro", uri=True, timeout=10)
    ) as connection:
        return connection.execute(sql).fetchall()


def rounds_of(data: Path) -> list[Paired]:
    """By the event's log."""
    rounds: list[Paired] = []
    last = 0
    for kind, at in query(data, "SELECT kind, at FROM event_log ORDER BY seq"):
        if kind == "paired":
            rounds.append(Paired(last or at, at, at))
        elif kind == "began" and rounds:
            rounds[-1] = rounds[-1]._replace(begun=at)
        last = at
    return rounds


def lag(port: int) -> str:
    """How often the server's loop was late, by the bounds of its histogram, in ms; of those above 5 ms."""
    text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read().decode()
    counts = {}
    for line in text.splitlines():
        if line.startswith("cgos_loop_lag_seconds_bucket"):
            bound, count = line.split('le="')[1].split('"} ')
            counts[float(bound)] = float(count)
    bounds = sorted(counts)
    late = {high: counts[high] - counts[low] for low, high in pairwise(bounds) if low >= 0.005}
    return ", ".join(f"<= {1000 * bound:g} ms: {count:.0f}" for bound, count in late.items() if count) or "never"


def figures(latencies: Sequence[float]) -> dict[str, float]:
    ordered = sorted(latencies) or [0.0]
    return {
        "moves": len(latencies),
        "p50_ms": ordered[len(ordered) // 2],
        "p99_ms": ordered[int(len(ordered) * 0.99)],
        "max_ms": ordered[-1],
    }


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__, bots=14, rounds=2, others=2, think=0.02, seconds=20.0)
    parser.add_argument("--bots", type=int, default=500, help="entrants")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--others", type=int, default=20, help="bots that play beside the event")
    parser.add_argument("--think", type=float, default=1.0, help="mean seconds a move of the entrants")
    parser.add_argument("--seconds", type=float, default=300.0, help="give up after so long")
    parser.add_argument("--entrants-at", type=int, help="be the entrants' process, on this port")
    options = parser.read(words)
    if options.entrants_at is not None:
        entrants(options.entrants_at, options.bots, options.think)
        return
    with tempfile.TemporaryDirectory(prefix="cgos-events-") as folder:
        data = Path(folder) / "data"
        data.mkdir()
        prepare(data, options.bots + options.others)
        with serving(Path(folder), VENUES) as running:
            ports = ports_of(data)
            program = [sys.executable, "-m", "benchmarks.tournaments.event_large", "--entrants-at", str(ports["event"])]
            field = subprocess.Popen([*program, "--bots", str(options.bots), "--think", str(options.think)])
            try:
                others = ports["beside"], options.others
                tally = asyncio.run(hold(data, options.bots, options.rounds, others, options.seconds))
            finally:
                field.kill()
                field.wait(10)
            late = lag(running.health)
        rounds = rounds_of(data)
    report(options, rounds, tally=tally, late=late)


def ports_of(data: Path) -> dict[str, int]:
    """Where the venues listen."""
    status = asyncio.run(ask(partial(control_socket.call, data), StatusRequest()))
    return {venue.name: venue.port for venue in status.venues}


def report(options: Any, rounds: Sequence[Paired], tally: TimedTally, late: str) -> None:
    """Print what was measured, and write it where somebody wants it."""

    def is_within(at: float) -> bool:
        return any(one.since - AROUND_MS <= at <= one.begun + AROUND_MS for one in rounds)

    parts = {
        "while a round is paired and begins": figures([ms for at, ms in tally.moves_timed if is_within(at)]),
        "otherwise": figures([ms for at, ms in tally.moves_timed if not is_within(at)]),
    }
    columns = ("moves of other games", "moves", "median ms", "99th percentile", "longest ms")
    rows = [(part, *(f"{value:.4g}" for value in each.values())) for part, each in parts.items()]
    print(table(f"{options.bots} entrants, {len(rounds)} rounds", columns, rows))
    spans = [(one.paired - one.since, one.begun - one.paired) for one in rounds]
    print("ms from the last result to the pairing, and to the last beginning:", spans)
    print("late turns of the server's loop:", late)
    write_json(options.json, {"parts": parts, "rounds": [one._asdict() for one in rounds], "lag": late})


if __name__ == "__main__":
    main()
