"""The writer: one commit for what came together, told in order, tried again while the disk refuses, never half."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from storage_sample import games, move, people

from cgos_server.errors import CommitFailed, StoreError
from cgos_server.storage import checkpoints, group_commit
from cgos_server.storage import writer as writer_module
from cgos_server.storage.connections import connect_for_writing
from cgos_server.storage.group_commit import Group
from cgos_server.storage.records import AuditAdded, GameEnded, LedgerAdded, Record
from cgos_server.storage.writer import Writer


class Time:
    """Seconds that pass only while the writer's thread pauses."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.at_each_pause: Callable[[], object] = lambda: None

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.at_each_pause()
        self.now += seconds


def works(_sql: str) -> None:
    """No fault."""


class Disk:
    """Opens connections whose `execute` asks `fault` first; what it returns is raised."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fault: Callable[[str], Exception | None] = works
        self.opened = 0
        self.refusals: list[Exception] = []
        self.seen: list[tuple[int, str]] = []

    def connect(self) -> Any:
        self.opened += 1
        if self.opened > 1 and self.refusals:
            raise self.refusals.pop(0)
        return DiskConnection(self, connect_for_writing(self.path))

    def refuses(self, times: int, what: str = "COMMIT") -> None:
        """The next so many statements that begin with `what` fail."""
        left = [times]

        def fault(sql: str) -> Exception | None:
            if not sql.startswith(what) or left[0] == 0:
                return None
            left[0] -= 1
            return sqlite3.OperationalError("disk I/O error")

        self.fault = fault

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(sql).fetchall()

    def moves(self) -> list[tuple[int, int]]:
        return self.rows("SELECT game_id, ply FROM moves WHERE ply > 100 ORDER BY game_id, ply")


class DiskConnection:
    def __init__(self, disk: Disk, connection: sqlite3.Connection) -> None:
        self._disk = disk
        self._number = disk.opened
        self._connection = connection

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self._disk.seen.append((self._number, sql))
        error = self._disk.fault(sql)
        if error is not None:
            raise error
        return self._connection.execute(sql, parameters)

    def close(self) -> None:
        self._connection.close()


class Bench:
    """A writer on a disk that can be made to fail, and everything it said."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.time = Time()
        self.told: list[Any] = []
        self.failures: list[CommitFailed] = []
        self.failed = asyncio.Event()
        self.errors: list[Exception] = []
        self.commits: list[int] = []
        self.retried: list[Exception] = []
        self.writer = Writer(
            disk.connect,
            failed=self._failed,
            on_error=self.errors.append,
            commit_timeout=10.0,
            observe=lambda records, _seconds: self.commits.append(records),
            retrying=self.retried.append,
            clock=self.time.clock,
            sleep=self.time.sleep,
        )

    def _failed(self, failure: CommitFailed) -> None:
        self.failures.append(failure)
        self.failed.set()

    def submit(self, *records: Record, name: Any = None) -> None:
        self.writer.submit(records, functools.partial(self.told.append, name))

    async def settle(self) -> None:
        await self.writer.commit([])


@pytest.fixture
def disk(database: Path) -> Iterator[Disk]:
    connection = connect_for_writing(database)
    writer_module.write(connection, [Group([*people(), *games()], None)])
    connection.close()
    return Disk(database)


@pytest.fixture
async def bench(disk: Disk) -> AsyncIterator[Bench]:
    bench = Bench(disk)
    await bench.writer.start()
    yield bench
    async with asyncio.timeout(10):
        await bench.writer.close()


async def test_what_comes_in_one_turn_of_the_loop_shares_a_commit_and_is_told_in_order(bench: Bench) -> None:
    for ply in range(101, 131):
        bench.submit(move(3, ply), name=ply)
    assert bench.told == []
    assert bench.writer.pending == 30
    await bench.settle()
    assert bench.told == list(range(101, 131))
    assert bench.commits == [30]
    assert bench.disk.moves() == [(3, ply) for ply in range(101, 131)]
    assert bench.writer.pending == 0


async def test_while_a_commit_runs_the_next_batch_gathers(bench: Bench) -> None:
    at_the_disk, go_on = threading.Event(), threading.Event()

    def hold(sql: str) -> None:
        at_the_disk.set()
        assert go_on.wait(10)

    bench.disk.fault = hold
    bench.submit(move(3, 101), name="first")
    await asyncio.to_thread(at_the_disk.wait, 10)
    for ply in (102, 103, 104):
        bench.submit(move(3, ply), name=ply)
        await asyncio.sleep(0)
    assert bench.told == []
    assert bench.writer.pending == 4
    go_on.set()
    await bench.settle()
    assert bench.told == ["first", 102, 103, 104]
    assert bench.commits[:2] == [1, 3]


async def test_more_rows_than_a_statement_takes(bench: Bench) -> None:
    count = 5 * writer_module.ROWS_PER_STATEMENT + 3
    bench.submit(*(move(3, ply) for ply in range(101, 101 + count)))
    await bench.settle()
    assert bench.disk.moves() == [(3, ply) for ply in range(101, 101 + count)]
    assert bench.commits == [count]


async def test_a_continuation_that_fails_does_not_keep_the_others_from_hearing(bench: Bench) -> None:
    mistake = ZeroDivisionError("ours")

    def fail() -> None:
        raise mistake

    bench.submit(move(3, 101), name="before")
    bench.writer.submit([move(3, 102)], fail)
    bench.submit(move(3, 103), name="after")
    await bench.settle()
    assert bench.told == ["before", "after"]
    assert bench.errors == [mistake]
    assert bench.disk.moves() == [(3, 101), (3, 102), (3, 103)]


async def test_a_refusing_disk_is_tried_again_and_everybody_hears_once(bench: Bench) -> None:
    healthy: list[bool] = []
    bench.disk.refuses(7, "INSERT INTO moves")
    bench.time.at_each_pause = lambda: healthy.append(bench.writer.healthy)
    bench.submit(move(3, 101), name="a")
    bench.submit(move(3, 102), name="b")
    await bench.settle()
    assert bench.told == ["a", "b"]
    assert bench.time.pauses == [0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    assert healthy == [False] * 7
    assert [str(error) for error in bench.retried] == ["disk I/O error"] * 7
    assert bench.writer.healthy
    assert bench.failures == []
    assert bench.disk.moves() == [(3, 101), (3, 102)]
    assert bench.disk.opened == 8


@pytest.mark.parametrize("what", ["BEGIN", "INSERT INTO moves", "UPDATE games", "INSERT INTO ledger", "COMMIT"])
async def test_wherever_it_fails_the_batch_is_written_once_or_not_at_all(bench: Bench, what: str) -> None:
    states = []
    bench.time.at_each_pause = lambda: states.append(bench.disk.moves())
    bench.disk.refuses(2, what)
    bench.submit(
        move(3, 101),
        GameEnded(4_000, 1, "time", None, "", "W+Time", 0, 2, 3),
        LedgerAdded(1, 5, 4_000, "game", 3, None, 1, 2, 0, None),
        name="told",
    )
    await bench.settle()
    assert states == [[], []]
    assert bench.told == ["told"]
    assert bench.disk.moves() == [(3, 101)]
    assert bench.disk.rows("SELECT count(*) FROM ledger WHERE game_id = 3") == [(1,)]


async def test_a_disk_that_refuses_for_ever_fails_once_and_nobody_is_told(bench: Bench) -> None:
    bench.disk.refuses(-1, "INSERT")
    bench.submit(move(3, 101), name="never")
    waiting = asyncio.create_task(bench.writer.commit([move(3, 102)]))
    await asyncio.sleep(0)
    async with asyncio.timeout(10):
        await bench.failed.wait()
    assert sum(bench.time.pauses) == pytest.approx(10.0)
    with pytest.raises(CommitFailed, match="disk I/O error"):
        await waiting
    bench.disk.fault = works
    bench.submit(move(3, 103), name="never")
    with pytest.raises(CommitFailed):
        await bench.writer.commit([move(3, 104)])
    await bench.writer.close()
    assert bench.told == []
    assert len(bench.failures) == 1
    assert not bench.writer.healthy
    assert bench.disk.moves() == []
    assert bench.errors == []


async def test_a_disk_that_hangs_is_given_up_and_nobody_is_told(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "_HUNG", 0.0)
    at_the_disk, go_on = threading.Event(), threading.Event()

    def hang(_sql: str) -> None:
        at_the_disk.set()
        assert go_on.wait(10)

    failed: asyncio.Future[CommitFailed] = asyncio.get_running_loop().create_future()
    told: list[str] = []
    writer = Writer(disk.connect, failed=failed.set_result, on_error=lambda _: None, commit_timeout=0.05)
    await writer.start()
    disk.fault = hang
    writer.submit([move(3, 101)], functools.partial(told.append, "told"))
    async with asyncio.timeout(5):
        assert "has not returned within 0.05 seconds" in str(await failed)
        await writer.close()
    assert at_the_disk.is_set()
    assert not writer.healthy
    go_on.set()  # even if it comes back now, nobody is told
    await asyncio.to_thread(writer._thread.join, 5)
    assert disk.moves() == [(3, 101)]
    await asyncio.sleep(0)
    assert told == []


async def test_what_gathered_behind_a_failing_batch_is_not_told_either(bench: Bench) -> None:
    bench.disk.refuses(-1, "INSERT")
    bench.submit(move(3, 101), name="first")
    await asyncio.sleep(0)
    bench.submit(move(3, 102), name="second")
    async with asyncio.timeout(10):
        await bench.failed.wait()
    await bench.writer.close()
    assert bench.told == []
    assert bench.disk.moves() == []


async def test_a_batch_that_can_never_be_written_is_not_tried_again(bench: Bench) -> None:
    bench.submit(move(3, 101), name="committed")
    await bench.settle()
    bench.submit(move(3, 102), name="never")
    bench.submit(move(3, 101), name="never")
    async with asyncio.timeout(10):
        await bench.failed.wait()
    assert bench.time.pauses == []
    assert bench.told == ["committed"]
    assert "IntegrityError" in str(bench.failures[0])
    assert bench.disk.moves() == [(3, 101)]


async def test_a_fault_of_the_thread_itself_is_not_a_silent_death(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(checkpoints.Checkpointer, "written", fail)
    bench.submit(move(3, 101), name="committed")
    async with asyncio.timeout(10):
        await bench.failed.wait()
    bench.submit(move(3, 102), name="never")
    with pytest.raises(CommitFailed, match="ZeroDivisionError: ours"):
        await bench.writer.commit([])
    assert bench.told == ["committed"]
    assert not bench.writer.healthy


async def test_a_record_that_no_table_takes_fails_at_once(bench: Bench) -> None:
    bench.writer.submit([("no", "record")])  # type: ignore[list-item]
    async with asyncio.timeout(10):
        await bench.failed.wait()
    assert "no table takes tuple" in str(bench.failures[0])


async def test_a_connection_that_cannot_be_opened_again_counts_as_a_failure(bench: Bench) -> None:
    bench.disk.refusals = [sqlite3.OperationalError("unable to open database file"), OSError("no space left")]
    bench.disk.refuses(1, "INSERT")
    bench.submit(move(3, 101), name="told")
    await bench.settle()
    assert bench.told == ["told"]
    assert bench.time.pauses == [0.05, 0.1, 0.2]


async def test_a_commit_that_does_not_return_is_not_healthy(bench: Bench) -> None:
    at_the_disk, go_on = threading.Event(), threading.Event()

    def hold(sql: str) -> None:
        at_the_disk.set()
        assert go_on.wait(10)

    bench.disk.fault = hold
    bench.submit(move(3, 101))
    await asyncio.to_thread(at_the_disk.wait, 10)
    bench.time.now = 0.9
    assert bench.writer.healthy
    bench.time.now = 1.1
    assert not bench.writer.healthy
    go_on.set()
    await bench.settle()
    assert bench.writer.healthy


async def test_a_waiter_that_gave_up_hurts_nobody(bench: Bench) -> None:
    waiting = asyncio.create_task(bench.writer.commit([move(3, 101)]))
    bench.submit(move(3, 102), name="other")
    await asyncio.sleep(0)
    waiting.cancel()
    await bench.settle()
    assert bench.told == ["other"]
    assert bench.errors == []
    assert bench.disk.moves() == [(3, 101), (3, 102)]


async def test_close_commits_what_continuations_still_send(bench: Bench) -> None:
    bench.writer.submit([move(3, 101)], functools.partial(bench.submit, move(3, 102), name="second"))
    await bench.writer.close()
    assert bench.told == ["second"]
    assert bench.disk.moves() == [(3, 101), (3, 102)]


async def test_after_close_nothing_is_taken_in_silence(bench: Bench) -> None:
    await bench.writer.close()
    bench.submit(move(3, 101), name="lost")
    assert [type(error) for error in bench.errors] == [StoreError]
    with pytest.raises(StoreError, match="closed"):
        await bench.writer.commit([move(3, 102)])
    assert bench.told == []
    assert bench.disk.moves() == []


async def test_a_database_that_cannot_be_opened_is_an_error_at_start(tmp_path: Path) -> None:
    bench = Bench(Disk(tmp_path / "missing" / "cgos.sqlite"))
    with pytest.raises(StoreError, match="could not be opened for writing"):
        await bench.writer.start()


async def test_the_log_is_moved_beside_the_writer(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 10)
    for ply in range(101, 200):
        await bench.writer.commit([move(3, ply)])
    await bench.writer.close()
    movers = {number for number, sql in bench.disk.seen if "wal_checkpoint" in sql}
    assert movers == {2}
    assert {number for number, sql in bench.disk.seen if "INSERT" in sql} == {1}
    assert len(bench.disk.moves()) == 99


async def test_few_records_move_nothing(bench: Bench) -> None:
    for ply in range(101, 200):
        await bench.writer.commit([move(3, ply)])
    await bench.writer.close()
    assert not [sql for _, sql in bench.disk.seen if "wal_checkpoint" in sql]
    assert bench.disk.opened == 1


async def test_a_log_that_grew_too_long_is_moved_by_the_writer_and_starts_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 10)
    monkeypatch.setattr(checkpoints, "LONGEST_LOG", -1)
    wal = bench.disk.path.with_name("cgos.sqlite-wal")
    sizes = []
    for ply in range(101, 301):
        await bench.writer.commit([move(3, ply)])
        sizes.append(wal.stat().st_size)
    assert max(sizes) < 30 * 4_200  # without it, 200 commits of a page or two each
    await bench.writer.close()
    assert {number for number, sql in bench.disk.seen if "wal_checkpoint" in sql} == {1}


async def test_a_checkpoint_that_fails_is_reported_and_nothing_is_lost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 1)
    bench.disk.refuses(-1, "PRAGMA wal_checkpoint")
    bench.submit(move(3, 101), name="a")
    await bench.settle()
    bench.submit(move(3, 102), name="b")
    await bench.writer.close()
    assert bench.told == ["a", "b"]
    assert {type(error) for error in bench.errors} == {StoreError}
    assert "could not be moved" in str(bench.errors[0])
    assert bench.failures == []
    assert bench.disk.moves() == [(3, 101), (3, 102)]


async def test_a_checkpoint_connection_that_cannot_be_opened_is_reported(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "ROWS_PER_CHECKPOINT", 1)
    bench.disk.refusals = [sqlite3.OperationalError("too many open files")]
    bench.submit(move(3, 101), name="a")
    await bench.writer.close()
    assert bench.told == ["a"]
    assert ["too many open files" in str(error) for error in bench.errors] == [True]


async def test_an_empty_group_is_told_in_its_turn(bench: Bench) -> None:
    bench.submit(move(3, 101), name=1)
    bench.submit(name=2)
    bench.submit(AuditAdded(1, "Olive", "bot disable", "alpha", "{}"), name=3)
    await bench.settle()
    assert bench.told == [1, 2, 3]
