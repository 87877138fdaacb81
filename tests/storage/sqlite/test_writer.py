"""What only the writer on SQLite has: a thread of its own, and a log that is moved beside it."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from types import NoneType
from typing import Any

import pytest
from support.storage.storage_sample import games, move, people, put
from support.storage.writer_bench import Bench, SqliteDisk

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.sqlite import checkpoints
from cgos_server.storage.sqlite.connections import connect_for_reading
from cgos_server.storage.sqlite.writer import Writer
from cgos_server.storage.writing.group_commit import CommitListener


@pytest.fixture
async def bench(sqlite_database: Path) -> AsyncIterator[Bench]:
    put(sqlite_database, [*people(), *games()])
    bench = Bench(SqliteDisk(sqlite_database))
    await bench.writer.start()
    yield bench
    async with asyncio.timeout(10):
        await bench.writer.close()


def log_number(database: Path) -> int:
    """How often the log has begun again."""
    return int.from_bytes(database.with_name("cgos.sqlite-wal").read_bytes()[12:16], "big")


async def test_a_fault_of_the_thread_itself_is_not_a_silent_death(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(checkpoints.Checkpointer, "written", fail)
    bench.submit(move(3, 101), name="committed")
    await bench.given_up()
    bench.submit(move(3, 102), name="never")
    with pytest.raises(CommitFailed, match="ZeroDivisionError: ours"):
        await bench.writer.commit([])
    assert bench.acknowledged == ["committed"]
    assert not bench.writer.healthy


async def test_a_database_that_can_only_be_read_is_refused_at_the_start(sqlite_database: Path) -> None:
    listener = CommitListener(failed=pytest.fail, on_error=pytest.fail)
    writer = Writer(lambda: connect_for_reading(sqlite_database), listener)
    with pytest.raises(StoreError, match="could not be opened for writing: attempt to write a readonly database"):
        await writer.start()


async def test_the_log_is_moved_beside_the_writer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 10)
    for ply in range(101, 200):
        await bench.writer.commit([move(3, ply)])
    await bench.writer.close()
    movers = {number for number, sql in bench.disk.statements if "wal_checkpoint" in sql}
    assert movers == {2}
    assert {number for number, sql in bench.disk.statements if "INSERT" in sql} == {1}
    assert len(bench.disk.moves()) == 99


async def test_few_records_move_nothing(bench: Bench) -> None:
    for ply in range(101, 200):
        await bench.writer.commit([move(3, ply)])
    await bench.writer.close()
    assert not [sql for _, sql in bench.disk.statements if "wal_checkpoint" in sql]
    assert bench.disk.opened == 1


async def test_a_log_that_grew_too_long_is_moved_by_the_writer_and_starts_again(
    bench: Bench, sqlite_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 10)
    monkeypatch.setattr(checkpoints, "LONGEST_LOG", -1)
    wal = sqlite_database.with_name("cgos.sqlite-wal")
    sizes = []
    for ply in range(101, 301):
        await bench.writer.commit([move(3, ply)])
        sizes.append(wal.stat().st_size)
    assert max(sizes) < 30 * 4_200  # without it, 200 commits of a page or two each
    await bench.writer.close()
    assert {number for number, sql in bench.disk.statements if "wal_checkpoint" in sql} == {1}


async def test_a_log_that_grew_too_long_waits_for_its_readers_and_starts_again(
    bench: Bench, sqlite_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 10)
    monkeypatch.setattr(checkpoints, "LONGEST_LOG", 30)
    monkeypatch.setattr(checkpoints, "LONGEST_WAIT_MS", 5000)
    waits: list[threading.Timer] = []
    with contextlib.closing(connect_for_reading(sqlite_database)) as reader:

        def read() -> None:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM moves").fetchall()

        def while_the_writer_waits(sql: str) -> None:
            if "RESTART" in sql:
                waits.append(threading.Timer(0.02, reader.rollback))
                waits[-1].start()

        bench.disk.fault = while_the_writer_waits
        read()
        await bench.writer.commit([move(3, 100)])
        begun = log_number(sqlite_database)
        for ply in range(101, 701):
            if not reader.in_transaction:
                read()
            await bench.writer.commit([move(3, ply)])
        await bench.writer.close()
        for wait in waits:
            wait.join()
    assert waits
    # Without the wait a reader is always there, and it never begins again.
    assert log_number(sqlite_database) > begun
    assert bench.errors == []


async def test_the_writer_does_not_wait_for_a_reader_of_minutes(
    bench: Bench, sqlite_database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 10)
    monkeypatch.setattr(checkpoints, "LONGEST_LOG", 100)
    monkeypatch.setattr(checkpoints, "PATIENCE", 60)

    def restarts() -> int:
        return sum("RESTART" in sql for _, sql in bench.disk.statements)

    with contextlib.closing(connect_for_reading(sqlite_database)) as backup:
        backup.execute("BEGIN")
        backup.execute("SELECT count(*) FROM moves").fetchall()
        for ply in range(101, 501):
            await bench.writer.commit([move(3, ply)])
        assert restarts() == 0
    # Once it has ended, the log begins again: by the writer, or by SQLite where all of it was moved.
    begun, ply = log_number(sqlite_database), 501
    while log_number(sqlite_database) == begun:
        assert ply < 5_000
        await bench.writer.commit([move(3, ply)])
        ply += 1
    await bench.writer.close()
    assert bench.errors == []


async def test_a_checkpoint_that_fails_is_reported_and_nothing_is_lost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 1)
    bench.disk.refuses(2, "PRAGMA wal_checkpoint")
    for ply in (101, 102, 103, 104, 105):
        await bench.writer.commit([move(3, ply)])
        for _ in range(500):
            if len(bench.disk.checkpoints) >= min(3, ply - 100):
                break
            await asyncio.sleep(0.01)
    await bench.writer.close()
    assert [type(report) for report in bench.disk.checkpoints] == [StoreError, StoreError, NoneType]
    assert "could not be moved" in str(bench.disk.checkpoints[0])
    assert bench.errors == []
    assert bench.failures == []
    assert bench.disk.moves() == [(3, ply) for ply in range(101, 106)]


async def test_a_checkpoint_connection_that_cannot_be_opened_is_reported(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 1)
    bench.disk.refusals = [sqlite3.OperationalError("too many open files")]
    bench.submit(move(3, 101), name="a")
    await bench.writer.close()
    assert bench.acknowledged == ["a"]
    assert ["too many open files" in str(failure) for failure in bench.disk.checkpoints] == [True]
