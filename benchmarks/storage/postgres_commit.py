"""What a durable move costs on PostgreSQL, by the way in which a batch is written, and through the whole store.

Two measurements on a private PostgreSQL that waits for its disk (``fsync = on``). *Batches*: one batch of 1, 20 or 200
moves after the other, by each way of writing that keeps them exactly once (all of them move the batch's number on in
the same transaction); wall time, and CPU time of this process and of PostgreSQL's. *Busy*: as in `commit`, players who
always have a move in flight, through the store; the baseline is the same loop without a database, beside SQLite. All
ways run in turn within each run; figures are medians over the runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import asyncpg

from benchmarks.moves.loads import cpu_seconds
from benchmarks.reporting import ROOT, medians, program
from benchmarks.storage import commit

sys.path.insert(0, str(ROOT / "tests"))

from support.storage.postgres import PostgresServer, postgres_server

from cgos_protocol.ids import GameId
from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.opening import open_store
from cgos_server.storage.postgres.connections import connect_for_writing
from cgos_server.storage.postgres.statements import FENCE, plan
from cgos_server.storage.sqlite.connections import Durability
from cgos_server.storage.writing.group_commit import CommitListener, Group
from cgos_server.storage.writing.records import MoveAdded

SIZES = (1, 20, 200)
BATCHES = {1: 300, 20: 150, 200: 40}
HOLDER = 1
COLUMNS = MoveAdded._fields
VALUES = f"INSERT INTO moves ({', '.join(COLUMNS)}) VALUES ({', '.join(f'${at}' for at in range(1, 10))})"

Write = Callable[[asyncpg.Connection, int, Sequence[MoveAdded]], Awaitable[None]]


async def ours(connection: asyncpg.Connection, number: int, moves: Sequence[MoveAdded]) -> None:
    (step,) = plan([Group(moves, None)]).steps
    assert await connection.fetchval(step.sql, number, HOLDER, *step.arguments) == 1


async def _in_transaction(connection: asyncpg.Connection, number: int, work: Callable[[], Awaitable[object]]) -> None:
    await connection.execute("BEGIN")
    await connection.fetchval(FENCE, number, HOLDER)
    await work()
    await connection.execute("COMMIT")


async def unnest(connection: asyncpg.Connection, number: int, moves: Sequence[MoveAdded]) -> None:
    (step,) = plan([Group(moves, None)]).steps
    sql = step.sql.replace(f"fence AS ({FENCE}), ", "").replace("fence, ", "").replace("count(*)::int FROM fence", "1")
    for place in range(3, 12):
        sql = sql.replace(f"${place}::", f"${place - 2}::")
    await _in_transaction(connection, number, lambda: connection.fetchval(sql, *step.arguments))


async def executemany(connection: asyncpg.Connection, number: int, moves: Sequence[MoveAdded]) -> None:
    await _in_transaction(connection, number, lambda: connection.executemany(VALUES, moves))


async def copying(connection: asyncpg.Connection, number: int, moves: Sequence[MoveAdded]) -> None:
    await _in_transaction(
        connection, number, lambda: connection.copy_records_to_table("moves", records=moves, columns=COLUMNS)
    )


WAYS: dict[str, Write] = {
    "unnest in one statement (ours)": ours,
    "unnest in a transaction": unnest,
    "executemany": executemany,
    "COPY": copying,
}


def filled(server: PostgresServer, name: str) -> PostgresUrl:
    """A database with games to put moves into."""
    asyncio.run(_ask(server.url(), f"CREATE DATABASE {name}"))
    url = PostgresUrl.parse(server.url(name))
    schema.prepare(url)

    async def fill() -> None:
        store = await open_store(url, CommitListener(failed=_stop, on_error=_stop))
        await store.commit(commit.people_and_games())
        await store.close()

    asyncio.run(fill())
    asyncio.run(_ask(url.dsn, "ANALYZE"))
    return url


async def _ask(dsn: str, sql: str) -> Any:
    connection = await asyncpg.connect(dsn)
    rows = await connection.fetch(sql)
    await connection.close()
    return rows


async def batches(
    url: PostgresUrl, durability: Durability, runs: int, share: float
) -> dict[str, dict[str, list[float]]]:
    """Microseconds a batch by "size way": wall, our CPU, PostgreSQL's CPU; one of each a run."""
    connection = await connect_for_writing(url, "benchmark", durability == "power")
    await connection.execute(f"UPDATE writer SET holder = {HOLDER}, batch = 0")
    numbers = itertools.count(1)
    plies = itertools.count(1)
    timings: dict[str, dict[str, list[float]]] = {}
    pid = connection.get_server_pid()
    for run in range(-1, runs):  # the first one warms up
        for size, (name, way) in itertools.product(SIZES, WAYS.items()):
            start = time.perf_counter(), time.process_time(), cpu_seconds(pid)
            count = max(1, int(BATCHES[size] * share))
            for _ in range(count):
                ply = next(plies)
                moves = [
                    MoveAdded(game, ply, "Q16", 123_456_789, 0, 0, 0, 1_234_567, 1_700_000_000_000)
                    for game in map(GameId, range(1, size + 1))
                ]
                await way(connection, next(numbers), moves)
            end = time.perf_counter(), time.process_time(), cpu_seconds(pid)
            if run >= 0:
                figures = timings.setdefault(f"{size} {name}", {"wall_us": [], "cpu_us": [], "postgres_cpu_us": []})
                for key, before, after in zip(figures, start, end, strict=True):
                    figures[key].append((after - before) / count * 1e6)
    await connection.execute("TRUNCATE moves CASCADE")
    await connection.close()
    return timings


def _through_postgres(url: PostgresUrl, durability: Durability) -> commit.Way:
    @contextlib.asynccontextmanager
    async def opened(_path: Path) -> Any:
        store = await open_store(url, CommitListener(failed=_stop, on_error=_stop), durability=durability)
        yield store
        await store.close()

    return commit.Way(opened)


def _stop(error: Exception) -> None:
    raise error


def run(
    runs: Annotated[int, "interleaved runs, of which the median counts; at least 5"] = 5,
    rows: commit.Rows = 40_000,
    players: commit.Players = commit.PLAYERS,
    seconds: commit.Seconds = 0.5,
) -> dict[str, Any]:
    """Measure everything and print it."""
    share = rows / 40_000
    with postgres_server("fsync = on\nfull_page_writes = on\nmax_wal_size = 4GB") as server:
        url = filled(server, "moves")
        sizes = {durability: asyncio.run(batches(url, durability, runs, share)) for durability in ("process", "power")}
        busys: dict[tuple[int, str], list[dict[str, float]]] = {}
        ways = {
            "no database": commit.WAYS["no database"],
            "SQLite": commit.WAYS["the store"],
            "SQLite, power": commit.WAYS["the store, power"],
            "PostgreSQL": _through_postgres(url, "process"),
            "PostgreSQL, power": _through_postgres(url, "power"),
        }
        with tempfile.TemporaryDirectory(prefix="cgos-commit-") as directory:
            empty = commit.template(Path(directory))
            for _ in range(runs):
                for count, (name, way) in itertools.product(players, ways.items()):
                    asyncio.run(_ask(url.dsn, "TRUNCATE moves CASCADE"))
                    with commit.fresh(empty) as path:
                        busys.setdefault((count, name), []).append(asyncio.run(commit.busy(way, path, count, seconds)))
        [(version,)] = asyncio.run(_ask(url.dsn, "SHOW server_version"))
    result: dict[str, Any] = {
        "benchmark": "postgres_commit",
        "python": platform.python_version(),
        "postgresql": version,
        "runs": runs,
        "batches": {
            durability: {
                name: {key: statistics.median(v) for key, v in figures.items()} for name, figures in by.items()
            }
            for durability, by in sizes.items()
        },
        "busy": {str(count): {} for count in players},
    }
    for (count, name), samples in busys.items():
        result["busy"][str(count)][name] = medians(samples)
    for line in _lines(result):
        print(line)
    return result


def _lines(result: dict[str, Any]) -> Iterator[str]:
    yield f"Python {result['python']}, PostgreSQL {result['postgresql']}, median of {result['runs']} interleaved runs"
    for durability, by in result["batches"].items():
        yield f"durability {durability}: us a batch, our CPU, PostgreSQL's CPU"
        for name, figures in by.items():
            size, _, way = name.partition(" ")
            yield (
                f"  {size:>4} moves  {way:32} {figures['wall_us']:8.0f} {figures['cpu_us']:8.0f} "
                f"{figures['postgres_cpu_us']:8.0f}"
            )
    yield from commit.busy_lines(result["busy"])


main = program(run, runs=1, rows=1000, players=[20], seconds=0.02)


if __name__ == "__main__":
    main()
