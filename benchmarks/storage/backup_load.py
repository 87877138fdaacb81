"""A backup of a large database while a real server on it makes a thousand moves a second: what moves notice of it.

    python benchmarks/storage/backup_load.py --gigabytes 1
    python benchmarks/storage/backup_load.py --gigabytes 1 --postgres

The past is games of one kind, filled in by the database itself; the server is the shipped one without pages, its bots
think a little and play a legal game over and over. `db backup` runs beside it as the operator would start it. Then the
backup is verified, restored by `db restore`, and looked through for every move that was committed before its begin.
Loopback only, in a temporary folder, bounded, stops by itself; with `--postgres` on a private PostgreSQL that waits for
its disk (``fsync = on``).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from sqlalchemy import Connection

from benchmarks.moves.loads import Report, reports
from benchmarks.moves.server_moves import register, scripted_game, server
from benchmarks.reporting import ROOT, program, table

sys.path.insert(0, str(ROOT / "tests"))

from support.storage.postgres import PostgresServer, postgres_server

from cgos_server.storage import DATABASE, copying, schema
from cgos_server.storage.location import Location, PostgresUrl

PLIES = 112
BYTES_A_GAME = {"sqlite": 4_230, "postgres": 14_500}
"""With its moves and indexes."""
WARM_S = 5.0
LONGEST_S = 600.0
"""A backup that takes longer ends the measurement."""
_DATABASE = "CGOS_SERVER__DATABASE"


class Way(msgspec.Struct, kw_only=True):
    """How long moves took from one bot to the other, within some seconds."""

    seconds: float
    moves: int
    p50_ms: float
    p99_ms: float

    @classmethod
    def of(cls, some: Sequence[Report], seconds: float) -> Way:
        latency = sorted(one for report in some for one in report.latency) or [0.0]
        return cls(
            seconds=round(seconds, 1),
            moves=len(latency),
            p50_ms=round(1e3 * latency[len(latency) // 2], 2),
            p99_ms=round(1e3 * latency[int(len(latency) * 0.99)], 2),
        )


class Figures(msgspec.Struct, kw_only=True):
    """What was measured. Sizes in bytes; the write-ahead log's at its largest before the backup and until its end."""

    database: str
    database_bytes: int
    backup_bytes: int
    backup_s: float
    verify_s: float
    restore_s: float
    before: Way
    meanwhile: Way
    after: Way
    log_before: int
    log_after: int
    moves_before: int
    """Moves of this run that were committed before the backup began."""
    lost: int
    """Those of them that the restored database does not have."""
    late_ms: int
    """From the begin of the backup to the latest move in it."""


def fill(database: Location, games: int) -> None:
    """So many games of the past with all their moves, in a venue of their own."""
    numbers = (
        "(WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {}) "
        "SELECT n FROM numbers) AS {}"
    )

    def work(connection: Connection) -> None:
        with connection.begin():
            connection.exec_driver_sql("INSERT INTO venues VALUES (1000, 'past', '{}', 0)")
            connection.exec_driver_sql(
                "INSERT INTO games (id, venue_id, black_id, white_id, black_label, white_label, terms, start, "
                "started_at, ended_at, winner, reason, result, plies) SELECT n, 1000, 1, 2, '', '', '{}', '', "
                "1600000000000 + n * CAST(1000 AS BIGINT), 1600000000900 + n * CAST(1000 AS BIGINT), 0, "
                f"'resignation', 'B+Resign', {PLIES} FROM {numbers.format(games, 'games')}"
            )
            connection.exec_driver_sql(
                "INSERT INTO moves SELECT id, n, 'E5', 300000000 - n * 1000, 0, 0, 0, 1000 + n * 7, started_at + n "
                f"FROM games CROSS JOIN {numbers.format(PLIES, 'plies')}"
            )

    schema.on_connection(database, work)


@contextlib.contextmanager
def databases(folder: Path, postgres: bool) -> Iterator[tuple[Location, Location]]:
    """Where the server's database is to be, and where it is to be restored; both empty."""
    if not postgres:
        yield folder / "data" / DATABASE, folder / "restored" / DATABASE
        return
    with postgres_server("fsync = on\nfull_page_writes = on\nmax_wal_size = 4GB\nshared_buffers = 512MB") as running:
        yield _created(running, "cgos"), _created(running, "restored")


def _created(running: PostgresServer, name: str) -> PostgresUrl:
    import asyncpg

    async def create() -> None:
        connection = await asyncpg.connect(running.url())
        await connection.execute(f"CREATE DATABASE {name}")
        await connection.close()

    asyncio.run(create())
    return PostgresUrl.parse(running.url(name))


def command(*words: str, database: Location, data: Path) -> subprocess.Popen[str]:
    """`cgos-server db ...` on this database, in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "cgos_server", "db", *words, "--json", "--data", str(data)],
        stdout=subprocess.PIPE,
        env=_environment(database),
        text=True,
    )


def done(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it printed."""
    output, _ = process.communicate(timeout=LONGEST_S)
    if process.returncode:
        raise RuntimeError(f"a command ended with {process.returncode}: {process.args!r}")
    printed: dict[str, Any] = json.loads(output)
    return printed


def _environment(database: Location) -> dict[str, str]:
    named = {} if isinstance(database, Path) else {_DATABASE: database.dsn}
    return {name: value for name, value in os.environ.items() if name != _DATABASE} | named


def moves_of_run(database: Location) -> set[tuple[int, int]]:
    """Game and ply of every committed move that is not of the past."""
    question = "SELECT game_id, ply FROM moves WHERE game_id > (SELECT max(id) FROM games WHERE venue_id = 1000)"
    (rows,) = copying.ask(database, question)
    return {(game, ply) for game, ply in rows}


def size_of(database: Location) -> int:
    if isinstance(database, Path):
        return database.stat().st_size
    ((row,),) = copying.ask(database, "SELECT pg_database_size(current_database())")
    return int(row[0])


def log_of(database: Location) -> int:
    """Bytes of SQLite's write-ahead log; 0 on PostgreSQL, which has one for other reasons as well."""
    if not isinstance(database, Path):
        return 0
    log = database.with_name(database.name + "-wal")
    return log.stat().st_size if log.exists() else 0


def run(
    gigabytes: Annotated[float, "size of the database"] = 1.0,
    postgres: Annotated[bool, "on PostgreSQL instead of SQLite"] = False,
    bots: Annotated[int, "that play"] = 200,
    think: Annotated[float, "seconds for which they think, on average"] = 0.1,
    seconds: Annotated[float, "measured before the backup, and after it"] = 20.0,
    warm: Annotated[float, "seconds before that"] = WARM_S,
) -> Figures:
    """One backup under load."""
    kind = "postgres" if postgres else "sqlite"
    with tempfile.TemporaryDirectory(prefix="cgos-backup-load-") as name:
        folder = Path(name)
        (folder / "data").mkdir()
        with databases(folder, postgres) as (database, target):
            began = time.monotonic()
            register(database, bots)
            fill(database, max(1, round(gigabytes * 1e9 / BYTES_A_GAME[kind])))
            print(f"{kind}: {size_of(database) / 1e9:.3f} GB in {time.monotonic() - began:.0f} s", flush=True)
            os.environ.update(_environment(database))
            try:
                figures = _measured(folder, database, target, load=(bots, think, seconds, warm))
            finally:
                os.environ.pop(_DATABASE, None)
    print(_shown(figures))
    return figures


def _measured(folder: Path, database: Location, target: Location, *, load: tuple[int, float, float, float]) -> Figures:
    bots, think, seconds, warm = load
    backup, data = folder / "backup.sqlite", folder / "data"
    script = folder / "script.json"
    script.write_text(json.dumps(scripted_game()))
    options = ("--progress", "0.25", "--latency", "--think", str(think), "--script", str(script))
    database_bytes = size_of(database)
    with server(folder, bots) as running:
        stream = reports(running.lines, bots, LONGEST_S, *options)
        with contextlib.closing(stream):
            _take(stream, warm)
            before = _take(stream, seconds)
            log_before = log_of(database)
            committed = moves_of_run(database)
            process = command("backup", str(backup), database=database, data=data)
            meanwhile, log_after = _while_running(stream, process, database)
            taken = done(process)
            after = _take(stream, seconds)
    began = time.monotonic()
    done(command("verify", str(backup), database=database, data=data))
    verify_s = time.monotonic() - began
    began = time.monotonic()
    done(command("restore", str(backup), database=target, data=folder / "restored"))
    restore_s = time.monotonic() - began
    ((latest,),) = copying.ask(target, "SELECT max(at) FROM moves")
    return Figures(
        database="SQLite" if isinstance(database, Path) else "PostgreSQL",
        database_bytes=database_bytes,
        backup_bytes=taken["size_bytes"],
        backup_s=taken["seconds"],
        verify_s=round(verify_s, 1),
        restore_s=round(restore_s, 1),
        before=Way.of(*before),
        meanwhile=Way.of(*meanwhile),
        after=Way.of(*after),
        log_before=log_before,
        log_after=log_after,
        moves_before=len(committed),
        lost=len(committed - moves_of_run(target)),
        late_ms=latest[0] - taken["at"],
    )


def _take(stream: Iterator[Report], seconds: float) -> tuple[list[Report], float]:
    """The reports of so many seconds, one at least."""
    began = time.monotonic()
    some = [next(stream)]
    while time.monotonic() < began + seconds:
        some.append(_sound(next(stream)))
    return some, time.monotonic() - began


def _while_running(
    stream: Iterator[Report], process: subprocess.Popen[str], database: Location
) -> tuple[tuple[list[Report], float], int]:
    """The reports while a process runs, and the longest write-ahead log."""
    began = time.monotonic()
    some, longest = [], 0
    while process.poll() is None and time.monotonic() < began + LONGEST_S:
        some.append(_sound(next(stream)))
        longest = max(longest, log_of(database))
    return (some, time.monotonic() - began), longest


def _sound(report: Report) -> Report:
    if report.errors or report.closed:
        raise RuntimeError(f"bots were refused or dropped: {report.first_error}")
    return report


def _shown(figures: Figures) -> str:
    def way(one: Way) -> str:
        return f"{one.p50_ms:.2f} / {one.p99_ms:.2f} ({one.moves / max(one.seconds, 0.1):.0f}/s)"

    rows = [
        ("database, GB", f"{figures.database_bytes / 1e9:.3f}"),
        ("backup, GB", f"{figures.backup_bytes / 1e9:.3f}"),
        ("backup, s", f"{figures.backup_s:.1f}"),
        ("verify, s", figures.verify_s),
        ("restore, s", figures.restore_s),
        ("a move's way before, p50 / p99 ms", way(figures.before)),
        ("meanwhile", way(figures.meanwhile)),
        ("after", way(figures.after)),
        ("log before, MB", f"{figures.log_before / 1e6:.1f}"),
        ("log at its longest, MB", f"{figures.log_after / 1e6:.1f}"),
        ("moves committed before", figures.moves_before),
        ("of these lost", figures.lost),
        ("latest move after the begin, ms", figures.late_ms),
    ]
    return table(figures.database, ("figure", "value"), rows)


main = program(run, gigabytes=0.001, bots=2, think=0.0, seconds=0.1, warm=0.1)


if __name__ == "__main__":
    main()
