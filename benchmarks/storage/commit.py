"""CPU time and latency of one durable move, against a bare sqlite3 executemany and against other ways to write.

Two measurements. *Bulk*: moves come in rounds of 10, 100 or 1 000 and nothing else happens; the baseline is a plain
connection that commits 100 rows at a time. *Busy*: 20, 200 or 1 000 players always have a move in flight, and the event
loop works a little and uses a socket for each one, as a server does; the baseline is the same loop without a database.
What a way of writing adds to it is the price of durability. All ways run in turn within each run, so that a slow
moment of the machine hits all alike; figures are medians over the runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import platform
import shutil
import socket
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, Protocol
from unittest import mock

import aiosqlite

from benchmarks.reporting import medians, program
from cgos_protocol.errors import CommitFailed
from cgos_protocol.ids import BotId, GameId, VenueId, VersionId
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.sqlite import writer
from cgos_server.storage.sqlite.connections import Durability, connect_for_writing
from cgos_server.storage.writing.effects import STATEMENTS
from cgos_server.storage.writing.group_commit import CommitListener, Group
from cgos_server.storage.writing.records import BotAdded, GameAdded, MoveAdded, Record, VenueAdded, VersionAdded

GAMES = 20_000
PLIES = 120
ROUNDS = (10, 100, 1_000)
PLAYERS = (20, 200, 1_000)

Then = Callable[[], None]


class Sink(Protocol):
    """Takes moves, and calls back once they are durable."""

    def submit(self, records: Sequence[Record], then: Then) -> None: ...


class Way(NamedTuple):
    """A way of writing: opens a sink on a database, with whatever it replaces in the writer."""

    open: Callable[[Path], contextlib.AbstractAsyncContextManager[Sink]]
    replaced: Mapping[str, Any] = MappingProxyType({})


class Nothing:
    """No database: what the loop costs by itself."""

    def submit(self, records: Sequence[Record], then: Then) -> None:
        asyncio.get_running_loop().call_soon(then)


class ThroughAiosqlite:
    """Group commit by a task over aiosqlite: one executemany, three hand-overs a batch."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection
        self._gathered: list[tuple[Sequence[Record], Then]] = []
        self._some = asyncio.Event()

    def submit(self, records: Sequence[Record], then: Then) -> None:
        self._gathered.append((records, then))
        self._some.set()

    async def run(self) -> None:
        sql = STATEMENTS[MoveAdded].text
        while True:
            await self._some.wait()
            self._some.clear()
            batch, self._gathered = self._gathered, []
            await self._connection.execute("BEGIN IMMEDIATE")
            await self._connection.executemany(sql, [record for records, _ in batch for record in records])
            await self._connection.execute("COMMIT")
            for _, then in batch:
                then()


def executemany(connection: sqlite3.Connection, batch: Sequence[Group]) -> int:
    """A batch of moves as sqlite3 likes it best where nobody else wants the interpreter's lock."""
    rows = [record for group in batch for record in group.records]
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(STATEMENTS[MoveAdded].text, rows)
    connection.execute("COMMIT")
    return len(rows)


@contextlib.asynccontextmanager
async def _nothing(_path: Path) -> Any:
    yield Nothing()


def _store(durability: Durability = "process") -> Callable[[Path], Any]:
    @contextlib.asynccontextmanager
    async def opened(path: Path) -> Any:
        store = await open_store(path, CommitListener(failed=_stop, on_error=_stop), durability=durability)
        yield store
        await store.close()

    return opened


@contextlib.asynccontextmanager
async def _aiosqlite(path: Path) -> Any:
    async with aiosqlite.connect(path, isolation_level=None) as connection:
        for pragma in ("synchronous = NORMAL", "foreign_keys = ON"):
            await connection.execute(f"PRAGMA {pragma}")
        sink = ThroughAiosqlite(connection)
        task = asyncio.create_task(sink.run())
        yield sink
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


WAYS: dict[str, Way] = {
    "no database": Way(_nothing),
    "the store": Way(_store()),
    "the store, power": Way(_store("power")),
    "8 rows a statement": Way(_store(), {"ROWS_PER_STATEMENT": 8}),
    "128 rows a statement": Way(_store(), {"ROWS_PER_STATEMENT": 128}),
    "executemany": Way(_store(), {"write": executemany}),
    "aiosqlite": Way(_aiosqlite),
}


def _stop(error: Exception | CommitFailed) -> None:
    raise error


def template(directory: Path) -> Path:
    """A database with games to put moves into."""
    path = directory / "template.sqlite"
    schema.prepare(path)
    connection = connect_for_writing(path)
    writer.write(connection, [Group(people_and_games(), None)])
    connection.close()
    return path


def people_and_games() -> list[Record]:
    """Two bots and many games between them."""
    records: list[Record] = [VenueAdded(VenueId(1), "9x9", "{}", 0)]
    for number in (1, 2):
        bot, version = BotId(number), VersionId(number)
        records += [BotAdded(bot, f"b{number}", f"b{number}", "", "active", 0)]
        records += [VersionAdded(version, bot, f"b{number}", f"b{number}", "", "", "", "", 0)]
    sides = VersionId(1), VersionId(2)
    records += [
        GameAdded(GameId(game), VenueId(1), None, *sides, "1800?", "1800?", "{}", "", 0) for game in range(1, GAMES + 1)
    ]
    return records


@contextlib.contextmanager
def fresh(empty: Path) -> Iterator[Path]:
    """A copy of the database `empty`, gone at the end of the block."""
    path = empty.with_name("run.sqlite")
    shutil.copyfile(empty, path)
    try:
        yield path
    finally:
        for leftover in empty.parent.glob("run.sqlite*"):
            leftover.unlink()


def _moves() -> Iterator[MoveAdded]:
    """Moves of running games in turn, as many games at a time as there are."""
    for first in range(1, GAMES, 500):
        for ply in range(1, PLIES + 1):
            for game in map(GameId, range(first, first + 500)):
                yield MoveAdded(game, ply, "Q16", 123_456_789, 0, 0, 0, 1_234_567, 1_700_000_000_000)


def bare(path: Path, rows: int) -> float:
    """CPU microseconds a row of a plain connection that commits 100 rows at a time."""
    connection = connect_for_writing(path)
    connection.execute("PRAGMA wal_autocheckpoint = 1000").fetchall()
    connection.execute("PRAGMA foreign_keys = OFF")
    moves = _moves()
    sql = STATEMENTS[MoveAdded].text
    start = time.process_time()
    for _ in range(rows // 100):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(sql, [next(moves) for _ in range(100)])
        connection.execute("COMMIT")
    spent = time.process_time() - start
    connection.close()
    return spent / rows * 1e6


async def bulk(path: Path, size: int, rows: int) -> float:
    """CPU microseconds a move, where `size` moves come at a time and nothing else happens."""
    async with _store()(path) as store:
        moves = _moves()
        start = time.process_time()
        for _ in range(rows // size):
            done = asyncio.get_running_loop().create_future()
            for _ in range(size - 1):
                store.submit((next(moves),), _nobody)
            store.submit((next(moves),), lambda done=done: done.set_result(None))
            await done
        return (time.process_time() - start) / rows * 1e6


def _nobody() -> None:
    """Somebody is always told; here it is free."""


async def busy(way: Way, path: Path, players: int, seconds: float) -> dict[str, float]:
    """CPU microseconds a move of a loop with `players` moves in flight, and milliseconds from a move to its commit."""
    near, far = socket.socketpair()
    slots: list[list[int]] = [[player + 1, 0] for player in range(players)]
    waits: list[float] = []
    running = True
    with near, far:
        async with way.open(path) as sink:

            def play(slot: list[int]) -> None:
                for _ in range(150):  # what a referee and a line's parsing cost
                    pass
                slot[1] += 1
                if slot[1] > PLIES:
                    slot[:] = [(slot[0] + players - 1) % GAMES + 1, 1]
                move = MoveAdded(GameId(slot[0]), slot[1], "Q16", 123_456_789, 0, 0, 0, 1_234_567, 1_700_000_000_000)
                begun = time.perf_counter()
                sink.submit((move,), lambda: committed(slot, begun))

            def committed(slot: list[int], begun: float) -> None:
                waits.append(time.perf_counter() - begun)
                near.send(b"play b Q16 123456\n")
                far.recv(64)
                if running:
                    asyncio.get_running_loop().call_soon(play, slot)

            for slot in slots:
                play(slot)
            await asyncio.sleep(seconds / 10)
            waits.clear()
            start = time.process_time()
            await asyncio.sleep(seconds)
            while not waits:  # noqa: ASYNC110 - on a machine that is busy otherwise
                await asyncio.sleep(seconds)
            spent, count = time.process_time() - start, len(waits)
            running = False
            await asyncio.sleep(seconds / 10)
    waits.sort()
    return {
        "cpu_us": spent / count * 1e6,
        "p50_ms": waits[count // 2] * 1e3,
        "p99_ms": waits[count * 99 // 100] * 1e3,
    }


Rows = Annotated[int, "in bulk"]
Players = Annotated[Sequence[int], "with a move in flight, one number after the other"]
Seconds = Annotated[float, "of each way of writing in a run"]


def run(
    runs: Annotated[int, "interleaved runs, of which the median counts; at least 5"] = 5,
    rows: Rows = 40_000,
    players: Players = PLAYERS,
    seconds: Seconds = 0.5,
) -> dict[str, Any]:
    """Measure everything and print it.

    :return: ``bulk``: CPU microseconds a move by size of round; ``busy``: by players and way of writing; ``ratios``
    """
    bulks: dict[str, list[float]] = {}
    busys: dict[tuple[int, str], list[dict[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="cgos-commit-") as name:
        empty = template(Path(name))
        for _ in range(runs):
            with fresh(empty) as path:
                bulks.setdefault("bare", []).append(bare(path, rows))
            for size in ROUNDS:
                with fresh(empty) as path:
                    bulks.setdefault(str(size), []).append(
                        asyncio.run(bulk(path, size, rows if size > 10 else rows // 4))
                    )
            for count in players:
                for key, way in WAYS.items():
                    replaced = mock.patch.multiple(writer, **way.replaced) if way.replaced else contextlib.nullcontext()
                    with replaced, fresh(empty) as path:
                        busys.setdefault((count, key), []).append(asyncio.run(busy(way, path, count, seconds)))
    result: dict[str, Any] = {
        "benchmark": "commit",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "runs": runs,
        "bulk": {key: statistics.median(values) for key, values in bulks.items()},
        "busy": {str(count): {} for count in players},
    }
    for (count, key), samples in busys.items():
        result["busy"][str(count)][key] = medians(samples)
    result["ratios"] = {
        f"bare / the store, rounds of {size}": result["bulk"]["bare"] / result["bulk"][str(size)] for size in ROUNDS
    } | {
        f"the store / no database, {count} players": ways["the store"]["cpu_us"] / ways["no database"]["cpu_us"]
        for count, ways in result["busy"].items()
    }
    _report(result)
    return result


def _report(result: dict[str, Any]) -> None:
    print(f"Python {result['python']}, SQLite {result['sqlite']}, median of {result['runs']} interleaved runs")
    print(f"bulk: bare executemany of 100 {result['bulk']['bare']:.2f} us a move (CPU); through the store")
    for size in ROUNDS:
        print(f"  rounds of {size:<5} {result['bulk'][str(size)]:8.2f} us")
    for line in busy_lines(result["busy"]):
        print(line)
    for key, ratio in result["ratios"].items():
        print(f"{key:44} {ratio:6.2f} x")


def busy_lines(busy: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Iterator[str]:
    """Figures of the busy loop, by players and way of writing."""
    for players, ways in busy.items():
        yield f"busy loop, {players} moves in flight: CPU us a move, added, ms from move to commit p50, p99"
        for key, figures in ways.items():
            added = figures["cpu_us"] - ways["no database"]["cpu_us"]
            yield f"  {key:20} {figures['cpu_us']:7.1f} {added:7.1f} {figures['p50_ms']:8.2f} {figures['p99_ms']:8.2f}"


main = program(run, runs=1, rows=1000, players=[20], seconds=0.02)


if __name__ == "__main__":
    main()
