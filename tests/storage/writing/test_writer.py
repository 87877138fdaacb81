"""The writer on each database: one commit for what came together, told in order, tried again while the disk refuses,
never half."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from support.storage.storage_sample import games, move, people, put, query
from support.storage.writer_bench import Bench, Disk, PostgresDisk, SqliteDisk, works

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.postgres import writer as postgres_writer
from cgos_server.storage.sqlite.writer import ROWS_PER_STATEMENT
from cgos_server.storage.writing import group_commit
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import AuditAdded, GameEnded, LedgerAdded


@pytest.fixture
def disk(database: Location) -> Disk:
    put(database, [*people(), *games()])
    return SqliteDisk(database) if isinstance(database, Path) else PostgresDisk(database)


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
    assert bench.acknowledged == []
    assert bench.writer.pending == 30
    await bench.settle()
    assert bench.acknowledged == list(range(101, 131))
    assert bench.commits == [30]
    assert bench.disk.moves() == [(3, ply) for ply in range(101, 131)]
    assert bench.writer.pending == 0


async def test_while_a_commit_runs_the_next_batch_gathers(bench: Bench) -> None:
    gate = bench.disk.gate()
    bench.submit(move(3, 101), name="first")
    await gate.reached()
    for ply in (102, 103, 104):
        bench.submit(move(3, ply), name=ply)
        await asyncio.sleep(0)
    assert bench.acknowledged == []
    assert bench.writer.pending == 4
    gate.open()
    await bench.settle()
    assert bench.acknowledged == ["first", 102, 103, 104]
    assert bench.commits[:2] == [1, 3]


async def test_more_rows_than_a_statement_takes(bench: Bench) -> None:
    count = 5 * ROWS_PER_STATEMENT + 3
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
    assert bench.acknowledged == ["before", "after"]
    assert bench.errors == [mistake]
    assert bench.disk.moves() == [(3, 101), (3, 102), (3, 103)]


async def test_a_refusing_disk_is_tried_again_and_everybody_hears_once(bench: Bench) -> None:
    healthy: list[bool] = []
    bench.disk.refuses(7, "INSERT INTO moves")
    bench.time.at_each_pause = lambda: healthy.append(bench.writer.healthy)
    bench.submit(move(3, 101), name="a")
    bench.submit(move(3, 102), name="b")
    await bench.settle()
    assert bench.acknowledged == ["a", "b"]
    # PostgreSQL may need a try more: the session of before still holds the lock.
    tries = len(bench.retried)
    assert [str(error) for error in bench.retried].count("disk I/O error") == 7
    assert 7 <= tries <= (9 if isinstance(bench.disk.location, PostgresUrl) else 7)
    assert bench.time.pauses == [0.05, 0.1, 0.2, 0.4, 0.8, *[1.0] * (tries - 5)]
    assert healthy == [False] * tries
    assert bench.writer.healthy
    assert bench.failures == []
    assert bench.disk.moves() == [(3, 101), (3, 102)]
    assert bench.disk.opened >= 8


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
    assert bench.acknowledged == ["told"]
    assert bench.disk.moves() == [(3, 101)]
    assert query(bench.disk.location, "SELECT count(*) FROM ledger WHERE game_id = 3") == [(1,)]


async def test_a_disk_that_refuses_for_ever_fails_once_and_nobody_is_told(bench: Bench) -> None:
    bench.disk.refuses(-1, "INSERT")
    bench.submit(move(3, 101), name="never")
    waiting = asyncio.create_task(bench.writer.commit([move(3, 102)]))
    await asyncio.sleep(0)
    await bench.given_up()
    assert sum(bench.time.pauses) == pytest.approx(10.0)
    with pytest.raises(CommitFailed, match="disk I/O error"):
        await waiting
    bench.disk.fault = works
    bench.submit(move(3, 103), name="never")
    with pytest.raises(CommitFailed):
        await bench.writer.commit([move(3, 104)])
    await bench.writer.close()
    assert bench.acknowledged == []
    assert len(bench.failures) == 1
    assert not bench.writer.healthy
    assert bench.disk.moves() == []
    assert bench.errors == []


async def test_a_disk_that_hangs_is_given_up_and_nobody_is_told(disk: Disk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_commit, "_HUNG", 0.0)
    failed: asyncio.Future[CommitFailed] = asyncio.get_running_loop().create_future()
    acknowledged: list[str] = []
    writer = disk.writer(None, CommitListener(failed=failed.set_result, on_error=lambda _: None))
    await writer.start()
    # On PostgreSQL every attempt has a deadline of its own; this is what happens if that fails, too.
    monkeypatch.setattr(postgres_writer, "_ATTEMPT", 1_000.0)
    gate = disk.gate()
    monkeypatch.setattr(writer, "_commit_timeout", 0.05)
    writer.submit([move(3, 101)], functools.partial(acknowledged.append, "told"))
    await gate.reached()
    async with asyncio.timeout(5):
        assert "has not returned within 0.05 seconds" in str(await failed)
        await writer.close()
    assert not writer.healthy
    gate.open()  # even if it comes back now, nobody is told
    await asyncio.sleep(0.05)  # a thread cannot be waited for whose end nobody announces
    assert acknowledged == []


async def test_a_process_that_stood_still_does_not_blame_its_database(
    disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after SIGSTOP: all deadlines have passed at once, and the database has had no time to answer."""
    loop = asyncio.get_running_loop()
    failures: list[CommitFailed] = []
    acknowledged: list[str] = []
    listener = CommitListener(failed=failures.append, on_error=lambda _: None)
    writer = disk.writer(None, listener, clock=lambda: loop.time())
    await writer.start()
    gate = disk.gate()
    writer.submit([move(3, 101)], functools.partial(acknowledged.append, "told"))
    await gate.reached()
    before = loop.time
    monkeypatch.setattr(loop, "time", lambda: before() + 30.0)
    for _ in range(5):
        await asyncio.sleep(0)
    gate.open()
    await writer.drain()
    await writer.close()
    assert (failures, acknowledged) == ([], ["told"])


async def test_what_gathered_behind_a_failing_batch_is_not_told_either(bench: Bench) -> None:
    bench.disk.refuses(-1, "INSERT")
    bench.submit(move(3, 101), name="first")
    await asyncio.sleep(0)
    bench.submit(move(3, 102), name="second")
    await bench.given_up()
    await bench.writer.close()
    assert bench.acknowledged == []
    assert bench.disk.moves() == []


async def test_a_batch_that_can_never_be_written_is_not_tried_again(bench: Bench) -> None:
    bench.submit(move(3, 101), name="committed")
    await bench.settle()
    bench.submit(move(3, 102), name="never")
    bench.submit(move(3, 101), name="never")
    await bench.given_up()
    assert bench.time.pauses == []
    assert bench.acknowledged == ["committed"]
    assert "Integrity" in str(bench.failures[0]) or "UniqueViolation" in str(bench.failures[0])
    assert bench.disk.moves() == [(3, 101)]


async def test_a_record_that_no_table_takes_fails_at_once(bench: Bench) -> None:
    bench.writer.submit([("no", "record")])  # type: ignore[list-item]
    await bench.given_up()
    assert "no table takes tuple" in str(bench.failures[0])


async def test_a_connection_that_cannot_be_opened_again_counts_as_a_failure(bench: Bench) -> None:
    bench.disk.refusals = [StoreError("unable to open the database"), OSError("no space left")]
    bench.disk.refuses(1, "INSERT")
    bench.submit(move(3, 101), name="told")
    await bench.settle()
    assert bench.acknowledged == ["told"]
    assert bench.time.pauses == [0.05, 0.1, 0.2]


async def test_a_commit_that_does_not_return_is_not_healthy(bench: Bench) -> None:
    gate = bench.disk.gate()
    bench.submit(move(3, 101))
    await gate.reached()
    bench.time.now = 0.9
    assert bench.writer.healthy
    bench.time.now = 1.1
    assert not bench.writer.healthy
    gate.open()
    await bench.settle()
    assert bench.writer.healthy


async def test_a_waiter_that_gave_up_hurts_nobody(bench: Bench) -> None:
    waiting = asyncio.create_task(bench.writer.commit([move(3, 101)]))
    bench.submit(move(3, 102), name="other")
    await asyncio.sleep(0)
    waiting.cancel()
    await bench.settle()
    assert bench.acknowledged == ["other"]
    assert bench.errors == []
    assert bench.disk.moves() == [(3, 101), (3, 102)]


async def test_close_commits_what_continuations_still_send(bench: Bench) -> None:
    bench.writer.submit([move(3, 101)], functools.partial(bench.submit, move(3, 102), name="second"))
    await bench.writer.close()
    assert bench.acknowledged == ["second"]
    assert bench.disk.moves() == [(3, 101), (3, 102)]


async def test_after_close_nothing_is_taken_in_silence(bench: Bench) -> None:
    await bench.writer.close()
    bench.submit(move(3, 101), name="lost")
    assert [type(error) for error in bench.errors] == [StoreError]
    with pytest.raises(StoreError, match="closed"):
        await bench.writer.commit([move(3, 102)])
    assert bench.acknowledged == []
    assert bench.disk.moves() == []


async def test_a_database_that_cannot_be_opened_is_an_error_at_start(disk: Disk) -> None:
    disk.opened = 1
    disk.refusals = [OSError("no such device")]
    with pytest.raises(StoreError, match="could not be opened for writing: no such device"):
        await Bench(disk).writer.start()


async def test_an_empty_group_is_told_in_its_turn(bench: Bench) -> None:
    bench.submit(move(3, 101), name=1)
    bench.submit(name=2)
    bench.submit(AuditAdded(1, "Olive", "bot disable", "alpha", "{}"), name=3)
    await bench.settle()
    assert bench.acknowledged == [1, 2, 3]
