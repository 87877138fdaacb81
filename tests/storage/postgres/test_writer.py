"""What only the writer on PostgreSQL has: commits in doubt, a server that restarts, a lock that may change hands."""

from __future__ import annotations

import asyncio
import functools
import re
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import delete
from support.storage.postgres import PostgresServer, postgres_server
from support.storage.postgres_proxy import Cut, proxy
from support.storage.storage_sample import execute, games, move, people, put, query
from support.storage.writer_bench import Bench, PostgresDisk, works

from cgos_protocol.errors import CommitFailed, DatabaseLocked, StoreError
from cgos_server.storage import schema, tables
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.opening import open_store
from cgos_server.storage.postgres.connections import connect_for_writing
from cgos_server.storage.postgres.writer import KEPT_S, PostgresWriter
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import AuditAdded, GameEnded, LedgerAdded, Record


class Stream:
    """A writer at work on a real connection, and everything it said."""

    def __init__(
        self, url: PostgresUrl, *, power: bool = True, commit_timeout: float = 20.0, kept: float = 0.0
    ) -> None:
        self.url = url
        self.acknowledged: list[int] = []
        self.failures: list[CommitFailed] = []
        self.failed = asyncio.Event()
        self.retried: list[Exception] = []
        self.writer = PostgresWriter(
            url,
            functools.partial(connect_for_writing, url, "the writer under test (process 1 on here)", power),
            CommitListener(failed=self._failed, on_error=_unexpected, retrying=self.retried.append),
            kept=kept,
            commit_timeout=commit_timeout,
        )

    def _failed(self, failure: CommitFailed) -> None:
        self.failures.append(failure)
        self.failed.set()

    def submit(self, number: int, *more: Record) -> None:
        self.writer.submit([audit(number), *more], functools.partial(self.acknowledged.append, number))

    async def hears(self, more: int) -> None:
        enough = len(self.acknowledged) + more
        await until(lambda: len(self.acknowledged) >= enough)

    async def __aenter__(self) -> Stream:
        await self.writer.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        async with asyncio.timeout(30):
            await self.writer.close()


def _unexpected(error: Exception) -> None:
    raise error


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - it depends on another process
            await asyncio.sleep(0.01)


def audit(number: int) -> AuditAdded:
    """A record without a key of its own: written twice, it would stand there twice."""
    return AuditAdded(number, "", "test", "", "{}")


def audited(url: PostgresUrl) -> list[int]:
    return [at for (at,) in query(url, "SELECT at FROM audit ORDER BY id")]


def at_port(url: PostgresUrl, port: int) -> PostgresUrl:
    head, _, name = url.dsn.rpartition("/")
    return PostgresUrl.parse(f"{head.rpartition(':')[0]}:{port}/{name}")


@pytest.fixture
def database(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    url = new_url()
    put(url, [*people(), *games()])
    return url


ONE_STATEMENT: tuple[Record, ...] = ()
SEVERAL_STATEMENTS = (
    move(3, 101),
    GameEnded(4_000, 1, "time", None, "", "W+Time", 0, 2, 3),
    LedgerAdded(1, 5, 4_000, "game", 3, None, 1, 2, 0, None),
)


@pytest.mark.parametrize("how", [Cut.BEFORE, Cut.AFTER])
@pytest.mark.parametrize("more", [ONE_STATEMENT, SEVERAL_STATEMENTS], ids=["one statement", "several"])
async def test_a_connection_cut_at_any_message_of_a_commit_writes_it_once(
    database: PostgresUrl, postgres: PostgresServer, more: tuple[Record, ...], how: Cut
) -> None:
    """The last message of a batch is its COMMIT, or the one statement that is its own: cut before it, the batch is not
    there; cut after it and before the answer, it is. The writer cannot see the difference and must not need to."""
    written: list[int] = []
    messages = 0
    async with proxy(postgres.port) as between:
        while True:
            messages += 1
            url = at_port(database, between.port)
            async with Stream(url) as stream:
                stream.submit(2 * messages)
                await stream.writer.drain()
                between.cut(how, messages)
                stream.submit(2 * messages + 1, *more)
                await stream.writer.drain()
                done = between.happened < messages
                between.cut(Cut.BEFORE, 1_000_000)
            written += [2 * messages, 2 * messages + 1]
            assert stream.acknowledged == written[-2:]
            assert stream.failures == []
            # Coming back too early, the writer finds the lock with the session that was cut, and tries once more.
            cuts = [error for error in stream.retried if not isinstance(error, DatabaseLocked)]
            assert len(cuts) == (0 if done else 1)
            assert audited(database) == written
            if more:
                assert query(database, "SELECT count(*) FROM moves WHERE ply = 101") == [(1,)]
                execute(database, "DELETE FROM moves WHERE ply = 101")
                execute(database, "DELETE FROM ledger WHERE seq = 5")
            if done:
                break
    assert messages - 1 >= 6 if more else messages - 1 == 1


async def test_a_connection_that_goes_dumb_is_replaced_and_its_session_ended(
    database: PostgresUrl, postgres: PostgresServer
) -> None:
    """The server does not know that the client is gone, so the old session would keep the lock for hours."""
    async with proxy(postgres.port) as between, Stream(at_port(database, between.port), commit_timeout=4.0) as stream:
        stream.submit(1)
        await stream.writer.drain()
        between.cut(Cut.DUMB, 1)
        stream.submit(2)
        await stream.writer.drain()
        assert between.happened == 1
        assert "did not answer in time" in str(stream.retried[0])
        assert stream.acknowledged == [1, 2]
    assert stream.failures == []
    assert audited(database) == [1, 2]


@pytest.fixture(scope="module")
def restarting() -> Iterator[PostgresServer]:
    """A server that may be restarted. It leaves what it need not write at once unwritten for as long as it can."""
    with postgres_server("wal_writer_delay = 10s\nwal_writer_flush_after = 1GB\ncheckpoint_timeout = 1h") as server:
        yield server


@pytest.fixture
def restarted(restarting: PostgresServer, request: pytest.FixtureRequest) -> PostgresUrl:
    name = re.sub(r"\W", "_", request.node.name)[-60:]
    execute(PostgresUrl.parse(restarting.url()), f"CREATE DATABASE {name}")
    url = PostgresUrl.parse(restarting.url(name))
    schema.prepare(url)
    put(url, [*people(), *games()])
    return url


@pytest.mark.parametrize("how", ["fast", "immediate"])
@pytest.mark.parametrize("power", [True, False], ids=["power", "process"])
async def test_a_restart_during_a_stream_of_commits_loses_nothing_that_was_told(
    restarted: PostgresUrl, restarting: PostgresServer, power: bool, how: str
) -> None:
    numbers = iter(range(1, 1_000_000))
    async with Stream(restarted, power=power, kept=0.0 if power else KEPT_S) as stream:

        async def talk() -> None:
            while True:
                stream.submit(next(numbers))
                await asyncio.sleep(0.001)

        talking = asyncio.create_task(talk())
        for _ in range(2):
            await stream.hears(100)
            await asyncio.to_thread(restarting.restart, how)
            await stream.hears(50)
        talking.cancel()
        await stream.writer.drain()
        assert stream.writer.healthy
    last = next(numbers)
    assert stream.acknowledged == list(range(1, last))
    assert stream.failures == []
    assert audited(restarted) == stream.acknowledged


async def test_what_postgresql_lost_is_written_again(restarted: PostgresUrl, restarting: PostgresServer) -> None:
    async with Stream(restarted, power=False, kept=60.0) as stream:
        stream.submit(1)
        await stream.writer.drain()
        [before] = query(restarted, "SELECT batch FROM writer")
        await asyncio.to_thread(restarting.restart, "immediate")
        # The commit was told and is gone; the writer comes back by itself, so look at once or not at all.
        await until(lambda: len(audited(restarted)) >= 1)
        stream.submit(2)
        await stream.writer.drain()
        assert query(restarted, "SELECT batch FROM writer") == [(before[0] + 1,)]
    assert audited(restarted) == [1, 2]


async def test_what_was_lost_and_is_not_known_any_more_stops_the_server(
    restarted: PostgresUrl, restarting: PostgresServer
) -> None:
    async with Stream(restarted, power=False, kept=0.0) as stream:
        stream.submit(1)
        stream.submit(2)
        await stream.writer.drain()
        await asyncio.to_thread(restarting.restart, "immediate")
        stream.submit(3)
        async with asyncio.timeout(20):
            await stream.failed.wait()
    assert stream.acknowledged == [1, 2]
    assert "PostgreSQL has lost the last 1 of the commits that were told" in str(stream.failures[0])
    assert "The server stops" in str(stream.failures[0])


async def test_an_idle_writer_takes_its_lock_again_after_a_restart(
    restarted: PostgresUrl, restarting: PostgresServer
) -> None:
    async with Stream(restarted) as stream:
        await asyncio.to_thread(restarting.restart, "fast")
        await until(lambda: stream.writer.healthy)
        with pytest.raises(DatabaseLocked, match="in use by the writer under test"):
            await asyncio.to_thread(DatabaseLock, restarted, "another")
        stream.submit(1)
        await stream.writer.drain()
        assert stream.retried == []
    assert stream.acknowledged == [1]


async def test_a_server_that_does_not_come_back_fails_in_time(
    restarted: PostgresUrl, restarting: PostgresServer
) -> None:
    async with Stream(restarted, commit_timeout=1.0) as stream:
        stream.submit(1)
        await stream.writer.drain()
        await asyncio.to_thread(restarting.stop, "immediate")
        try:
            stream.submit(2)
            assert not stream.acknowledged[1:]
            async with asyncio.timeout(20):
                await stream.failed.wait()
            assert not stream.writer.healthy
            assert stream.retried
        finally:
            await asyncio.to_thread(restarting.start)
    assert stream.acknowledged == [1]
    assert "does not let us into" in str(stream.failures[0])
    assert "nobody was told of them" in str(stream.failures[0])


async def test_a_second_writer_is_refused_with_the_name_of_the_first(database: PostgresUrl) -> None:
    async with Stream(database):
        with pytest.raises(DatabaseLocked, match=r"in use by the writer under test \(process 1 on here, since 20"):
            await Stream(database).writer.start()
        with pytest.raises(DatabaseLocked, match="in use by the writer under test"):
            await asyncio.to_thread(DatabaseLock, database, "cgos-server db upgrade")
    await asyncio.to_thread(lambda: DatabaseLock(database, "cgos-server db upgrade").release())


async def cut_all(url: PostgresUrl) -> None:
    """As if PostgreSQL had restarted: every session of the writer is ended. For writers that cannot come back yet."""
    await asyncio.to_thread(
        execute,
        url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
        "AND application_name LIKE '%under test%'",
    )
    await until(lambda: query(url, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == [(0,)])


async def test_a_lock_that_changed_hands_stops_the_writer_with_the_name_of_the_new_holder(
    database: PostgresUrl,
) -> None:
    disk = PostgresDisk(database)
    bench = Bench(disk)
    await bench.writer.start()
    # So that the other one comes first.
    disk.shut = True
    await cut_all(database)
    await until(lambda: not bench.writer.healthy)
    with await asyncio.to_thread(DatabaseLock, database, "cgos-server db upgrade"):
        disk.shut = False
        bench.submit(move(3, 101), name="never")
        await bench.given_up()
    await bench.writer.close()
    assert bench.acknowledged == []
    assert "in use by cgos-server db upgrade (process" in str(bench.failures[0])
    assert disk.moves() == []


async def test_a_writer_that_was_overtaken_writes_nothing_more(database: PostgresUrl) -> None:
    disk = PostgresDisk(database)
    bench = Bench(disk)
    await bench.writer.start()
    bench.submit(move(3, 101), name="told")
    await bench.settle()
    disk.shut = True
    await cut_all(database)
    await until(lambda: not bench.writer.healthy)
    await asyncio.to_thread(put, database, [move(3, 102)])
    disk.shut = False
    bench.submit(move(3, 103), name="never")
    await bench.given_up()
    await bench.writer.close()
    assert bench.acknowledged == ["told"]
    assert "another program has written to the database meanwhile" in str(bench.failures[0])
    assert disk.moves() == [(3, 101), (3, 102)]


async def test_a_writer_that_was_overtaken_while_it_stood_still_says_so(database: PostgresUrl) -> None:
    """It was stopped for longer than its commits may take, so it must look before it blames PostgreSQL."""
    disk = PostgresDisk(database)
    bench = Bench(disk)
    await bench.writer.start()

    def stand_still(_sql: str) -> Exception:
        disk.fault = works
        bench.time.now += 11.0
        execute(database, "UPDATE writer SET holder = 7")
        return TimeoutError()

    disk.fault = stand_still
    bench.submit(move(3, 101), name="never")
    await bench.given_up()
    await bench.writer.close()
    assert bench.acknowledged == []
    assert "another program has written to the database meanwhile" in str(bench.failures[0])


async def test_a_session_of_before_can_write_nothing_more(database: PostgresUrl) -> None:
    """Even without the lock: the row that every batch goes through has another holder by then."""
    async with Stream(database) as stream:
        stream.submit(1)
        await stream.writer.drain()
        await asyncio.to_thread(execute, database, "UPDATE writer SET holder = 7")
        stream.submit(2)
        async with asyncio.timeout(10):
            await stream.failed.wait()
    assert stream.acknowledged == [1]
    assert audited(database) == [1]


async def test_an_answer_that_got_lost_again_and_again(database: PostgresUrl) -> None:
    disk = PostgresDisk(database)
    bench = Bench(disk)
    await bench.writer.start()
    lost = iter(range(40))

    def lose(_sql: str) -> Exception | None:
        return OSError("reset") if next(lost, None) is not None and next(lost, 0) % 3 else None

    disk.after = lose
    for ply in range(101, 120):
        bench.submit(move(3, ply), audit(ply), name=ply)
        await asyncio.sleep(0)
    await bench.settle()
    await bench.writer.close()
    assert bench.failures == []
    assert bench.acknowledged == list(range(101, 120))
    assert audited(database) == list(range(101, 120))
    assert disk.opened > 2


async def test_a_character_that_postgresql_cannot_hold(database: PostgresUrl) -> None:
    store = await open_store(database, CommitListener(failed=_unexpected, on_error=_unexpected))
    await store.commit([AuditAdded(1, "a\0b", "x", "", "{}"), AuditAdded(2, "é漢", "x", "", "{}")])
    await store.close()
    assert query(database, "SELECT actor FROM audit ORDER BY at") == [("a\ufffdb",), ("é漢",)]


@pytest.mark.parametrize(("durability", "synchronous"), [("process", "off"), ("power", "on")])
async def test_durability_reaches_the_connection(database: PostgresUrl, durability: Any, synchronous: str) -> None:
    store = await open_store(database, CommitListener(failed=_unexpected, on_error=_unexpected), durability=durability)
    connection: Any = store._writer._connection  # type: ignore[attr-defined]
    assert await connection.fetchval("SHOW synchronous_commit") == synchronous
    assert await connection.fetchval("SHOW statement_timeout") == "0"
    await store.close()


@pytest.fixture
async def reading(database: PostgresUrl) -> AsyncIterator[Any]:
    store = await open_store(database, CommitListener(failed=_unexpected, on_error=_unexpected))
    yield store
    await store.close()


async def test_reading_cannot_write(reading: Any) -> None:
    with pytest.raises(Exception, match="read-only"):
        async with reading.history.source.snapshot() as read:
            await read(delete(tables.bots))


async def test_a_question_waits_for_a_server_that_restarts(restarted: PostgresUrl, restarting: PostgresServer) -> None:
    store = await open_store(restarted, CommitListener(failed=_unexpected, on_error=_unexpected))
    await asyncio.to_thread(restarting.stop, "fast")
    login_read = asyncio.create_task(store.history.bots.login("alpha"))
    await asyncio.sleep(0.2)
    assert not login_read.done()
    await asyncio.to_thread(restarting.start)
    async with asyncio.timeout(20):
        login = await login_read
    assert login is not None
    assert login.version_id == 1
    await store.close()


async def test_a_question_is_given_up_in_time(restarted: PostgresUrl, restarting: PostgresServer) -> None:
    store = await open_store(restarted, CommitListener(failed=lambda _: None, on_error=_unexpected), commit_timeout=0.5)
    await asyncio.to_thread(restarting.stop, "fast")
    try:
        with pytest.raises(StoreError, match="does not let us into"):
            await store.history.bots.login("alpha")
    finally:
        await asyncio.to_thread(restarting.start)
        await store.close()
