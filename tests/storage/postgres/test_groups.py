"""Nodes of a cluster on one real PostgreSQL: who owns the group, and that nobody else writes."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from support.storage.storage_sample import execute, games, move, people, put, query
from support.storage.writer_bench import Bench, PostgresDisk, Time

from cgos_protocol.errors import Conflict, DatabaseLocked, Overtaken
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.node import Node
from cgos_server.storage.opening import open_store
from cgos_server.storage.postgres import groups
from cgos_server.storage.postgres.connections import connect_for_writing
from cgos_server.storage.postgres.statements import FENCE, plan
from cgos_server.storage.postgres.writer import PostgresWriter
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import AuditAdded, GameEnded

TTL_S = 0.4


def node(name: str, **more: Any) -> Node:
    return Node(**{"name": name, "address": f"{name}.example", "build": "one", "ttl_s": TTL_S} | more)


class OfNode(PostgresDisk):
    """Opens the connections of a node, as the store does."""

    def __init__(self, url: PostgresUrl, own: Node) -> None:
        super().__init__(url)
        self.node = own

    def writer(self, time: Time | None, listener: CommitListener, **options: Any) -> PostgresWriter:
        return super().writer(time, listener, kept=0.0, node=self.node, **options)

    async def connection(self) -> Any:
        assert isinstance(self.location, PostgresUrl)
        return await connect_for_writing(self.location, f"{self.node.purpose} (here)", True, self.node.ttl_s / 2)


def owner(url: PostgresUrl, name: str = "a", **more: Any) -> Bench:
    return Bench(OfNode(url, node(name, **more)))


def audit(number: int) -> AuditAdded:
    return AuditAdded(number, "", "test", "", "{}")


def audited(url: PostgresUrl) -> list[int]:
    return [at for (at,) in query(url, "SELECT at FROM audit ORDER BY id")]


def row(url: PostgresUrl) -> Any:
    """(node, address, build, whether it was seen and not freed, batch)"""
    return tuple(query(url, "SELECT node, address, build, seen IS NOT NULL, batch FROM writer")[0])


async def dies(url: PostgresUrl) -> None:
    """The owner counts as dead, by PostgreSQL's clock."""
    await asyncio.to_thread(execute, url, "UPDATE writer SET seen = seen - interval '1 hour'")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - it depends on another process
            await asyncio.sleep(0.01)


@pytest.fixture
def database(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    url = new_url()
    put(url, [*people(), *games()])
    return url


@pytest.fixture
async def sessions(database: PostgresUrl) -> AsyncIterator[list[Any]]:
    """Two."""
    both = [await connect_for_writing(database, name, True) for name in "ab"]
    yield both
    for session in both:
        await session.close()


async def test_of_two_that_race_for_a_dead_owner_s_group_one_wins(database: PostgresUrl, sessions: list[Any]) -> None:
    lots, won = random.Random(1), []
    await groups.claim(sessions[0], node("c"), 1)

    async def race(which: int, holder: int) -> int | None:
        await asyncio.sleep(lots.random() * 0.002)
        with contextlib.suppress(Conflict):
            await groups.claim(sessions[which], node("ab"[which]), holder)
            return holder
        return None

    for number in range(200):
        await sessions[0].execute("UPDATE writer SET seen = seen - interval '1 hour'")
        holders = [won for won in await asyncio.gather(race(0, 10 + number), race(1, 1000 + number)) if won]
        assert len(holders) == 1
        assert await sessions[0].fetchval("SELECT holder FROM writer") == holders[0]
        won.append(holders[0] < 1000)
    assert {True, False} == set(won)


async def test_a_group_is_taken_at_once_where_nobody_holds_it(database: PostgresUrl) -> None:
    for name in "ab":
        bench = owner(database, name)
        await bench.writer.start()
        bench.submit(audit(1))
        await bench.settle()
        assert row(database)[:4] == (name, f"{name}.example", "one", True)
        await bench.writer.close()
        assert row(database)[:4] == (name, f"{name}.example", "one", False)
        assert bench.failures == []
    assert audited(database) == [1, 1]


async def test_an_owner_that_lives_keeps_it_though_it_has_nothing_to_write(database: PostgresUrl) -> None:
    bench = owner(database)
    await bench.writer.start()
    batch = row(database)[-1]
    await until(lambda: row(database)[-1] >= batch + 6)  # six beats: longer than its time to live
    with pytest.raises(Conflict, match=r"is held by node a at a\.example, seen 0\.\d s ago.*--standby") as refused:
        await owner(database, "b").writer.start()
    assert refused.value.code == "group-held"
    await bench.writer.close()
    assert (bench.failures, bench.errors) == ([], [])


async def test_a_dead_owner_is_followed_and_writes_nothing_more(database: PostgresUrl) -> None:
    stale, heir = owner(database, ttl_s=60.0), owner(database, "b")
    await stale.writer.start()
    stale.submit(audit(1), name="told")
    await stale.settle()
    await dies(database)
    await heir.writer.start()
    stale.submit(audit(2), name="never")
    heir.submit(audit(3), name="told")
    await stale.given_up()
    await heir.settle()
    await stale.writer.close()
    assert row(database)[:4] == ("b", "b.example", "one", True)  # the stale one frees nothing
    await heir.writer.close()
    assert (stale.acknowledged, heir.acknowledged) == (["told"], ["told"])
    assert isinstance(stale.failures[0], Overtaken)
    assert "node b has taken the venues over. This node stops" in str(stale.failures[0])
    assert audited(database) == [1, 3]


async def test_a_batch_on_its_way_at_a_takeover_is_not_let_in(database: PostgresUrl) -> None:
    stale, heir = owner(database, ttl_s=60.0), owner(database, "b")
    await stale.writer.start()
    gate = stale.disk.gate()
    stale.submit(audit(1), name="never")
    await gate.reached()  # it has been decided and not been sent
    await dies(database)
    await heir.writer.start()
    gate.open()
    await stale.given_up()
    await stale.writer.close()
    await heir.writer.close()
    assert isinstance(stale.failures[0], Overtaken)
    assert (stale.acknowledged, audited(database)) == ([], [])


async def test_an_owner_that_stops_in_the_middle_of_a_batch_does_not_keep_the_group(database: PostgresUrl) -> None:
    stale, heir = owner(database), owner(database, "b")
    await stale.writer.start()
    disk = stale.disk
    assert isinstance(disk, PostgresDisk)
    gates: list[Any] = []

    def then_stop(sql: str) -> None:
        if sql.startswith("WITH fence") and not gates:
            gates.append(disk.gate())

    disk.after = then_stop
    stale.submit(move(3, 101), GameEnded(4_000, 1, "time", None, "", "W+Time", 0, 2, 3), name="never")
    await until(lambda: bool(gates))
    await gates[0].reached()  # the row is written in a transaction that does not go on
    await until(lambda: query(database, "SELECT seen < clock_timestamp() - interval '0.4 s' FROM writer") == [(True,)])
    await heir.writer.start()
    gates[0].open()
    await stale.given_up()
    await stale.writer.close()
    await heir.writer.close()
    assert isinstance(stale.failures[0], Overtaken)
    assert (stale.acknowledged, disk.moves()) == ([], [])


async def test_an_owner_whose_connection_broke_goes_on(database: PostgresUrl) -> None:
    bench = owner(database, ttl_s=60.0)
    await bench.writer.start()
    disk = bench.disk
    assert isinstance(disk, PostgresDisk)
    disk.connections[0].terminate()  # while nothing is to be written
    await until(lambda: disk.opened == 2 and bench.writer.healthy)
    bench.submit(audit(1), name="told")
    await bench.settle()
    await bench.writer.close()
    assert (bench.acknowledged, bench.failures, audited(database)) == (["told"], [], [1])


async def test_an_owner_that_cannot_write_gives_up_though_it_has_nothing_to_write(database: PostgresUrl) -> None:
    bench = owner(database, ttl_s=60.0)
    await bench.writer.start()
    disk = bench.disk
    assert isinstance(disk, PostgresDisk)
    disk.shut = True
    disk.connections[0].terminate()
    await bench.given_up()  # the bench's pauses take no time
    await bench.writer.close()
    assert "nobody was told of them" in str(bench.failures[0])
    assert not isinstance(bench.failures[0], Overtaken)


async def test_what_is_handed_on_waits_for_the_next_program_of_the_node(database: PostgresUrl) -> None:
    bench = owner(database, ttl_s=60.0)
    await bench.writer.start()
    bench.writer.hand_on()
    await bench.writer.close()
    assert row(database)[3] is True
    for other in (owner(database, "b", ttl_s=60.0, inherits=True), owner(database, ttl_s=60.0)):
        with pytest.raises(Conflict, match="is held by node a"):
            await other.writer.start()
    heir = owner(database, ttl_s=60.0, build="another", inherits=True)
    await heir.writer.start()
    await heir.writer.close()
    assert row(database)[:4] == ("a", "a.example", "another", False)


async def test_another_build_takes_over_where_it_may(database: PostgresUrl) -> None:
    first = owner(database)
    await first.writer.start()
    await first.writer.close()
    with pytest.raises(Conflict, match=r"another build \(one; this is two\).*cluster\.any_build = true") as refused:
        await owner(database, "b", build="two").writer.start()
    assert refused.value.code == "other-build"
    second = owner(database, "b", build="two", any_build=True)
    await second.writer.start()
    await second.writer.close()
    assert row(database)[:4] == ("b", "b.example", "two", False)


def alone(url: PostgresUrl) -> Bench:
    return Bench(PostgresDisk(url))


async def test_a_process_alone_and_nodes_keep_each_other_out(database: PostgresUrl) -> None:
    bench = owner(database)
    await bench.writer.start()
    with pytest.raises(
        DatabaseLocked, match=r"in use by cgos-server serve, node a \(here, since .*stop all nodes first"
    ):
        await alone(database).writer.start()
    with pytest.raises(DatabaseLocked, match="node a"):
        await asyncio.to_thread(DatabaseLock, database, "cgos-server db upgrade")
    with await asyncio.to_thread(DatabaseLock, database, "never shown", node=node("b")):
        pass  # another node may stand by
    await bench.writer.close()
    with (
        await asyncio.to_thread(DatabaseLock, database, "cgos-server db upgrade"),
        pytest.raises(DatabaseLocked, match=r"in use by cgos-server db upgrade .*\. Stop it first"),
    ):
        await owner(database, "b").writer.start()


async def test_a_process_alone_leaves_no_node_in_the_row_and_writes_as_ever(database: PostgresUrl) -> None:
    first = owner(database)
    await first.writer.start()
    await first.writer.close()
    bench = alone(database)
    await bench.writer.start()
    bench.submit(audit(1))
    await bench.settle()
    await asyncio.sleep(TTL_S / 2)
    await bench.writer.close()
    assert row(database)[:4] == (None, None, None, False)
    assert FENCE == "UPDATE writer SET batch = $1 WHERE id = 1 AND holder = $2 AND batch = $1 - 1 RETURNING id"
    written = [sql for _, sql in bench.disk.statements if FENCE in sql]
    assert len(written) == 1  # no sign of life besides
    assert plan([]).steps == []
    last = owner(database, "b", build="two")
    await last.writer.start()
    await last.writer.close()


async def test_a_store_is_opened_by_the_node_that_its_lock_names(database: PostgresUrl) -> None:
    listener = CommitListener(failed=_unexpected, on_error=_unexpected)
    lock = await asyncio.to_thread(DatabaseLock, database, "never shown", node=node("a", ttl_s=60.0))
    store = await open_store(database, listener, durability="power", lock=lock)
    names = query(database, "SELECT application_name FROM pg_stat_activity WHERE application_name LIKE '%node%'")
    assert [name.partition(" (process")[0] for (name,) in names] == ["cgos-server serve, node a"]
    connection: Any = store._writer._connection  # type: ignore[attr-defined]
    assert await connection.fetchval("SHOW idle_in_transaction_session_timeout") == "30s"
    store.hand_on()
    await store.close()
    assert row(database)[:4] == ("a", "a.example", "one", True)


def _unexpected(error: Exception) -> None:
    raise error
