"""Several groups of venues on one real PostgreSQL: whose the numbers and venues are, and what is common to all."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest
from support.storage.postgres_proxy import Cut, proxy
from support.storage.storage_sample import execute, games, people, put, query

from cgos_protocol.errors import CommitFailed, Conflict, Overtaken, StoreError, Unavailable
from cgos_protocol.ids import BotId, VenueId, VersionId
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.node import Node
from cgos_server.storage.opening import open_store
from cgos_server.storage.postgres import sharing as shared
from cgos_server.storage.postgres.groups import Owner, known_nodes
from cgos_server.storage.postgres.listening import messages
from cgos_server.storage.postgres.sharing import GroupSharing
from cgos_server.storage.sharing import FACTS
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    AuditAdded,
    BotAdded,
    BotFamily,
    BotState,
    BotWishes,
    LedgerAdded,
    VenueAdded,
)

TTL_S = 60.0

Open = Callable[..., Any]


@pytest.fixture
def database(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    url = new_url()
    put(url, [*people(), *games()])
    return url


class Failures(list[CommitFailed]):
    """Why nodes gave up."""


@pytest.fixture
def failures() -> Failures:
    return Failures()


@pytest.fixture
async def opened(database: PostgresUrl, failures: Failures) -> AsyncIterator[Open]:
    """Opens the store of a node that has a group of its own name."""
    async with AsyncExitStack() as stack:

        async def open_node(name: str, **more: Any) -> Store:
            options = {"name": name, "address": f"{name}.example", "build": "one", "ttl_s": TTL_S, "group": name} | more
            lock = await asyncio.to_thread(DatabaseLock, database, "never shown", node=Node(**options))
            listener = CommitListener(failed=failures.append, on_error=_unexpected)
            store = await open_store(database, listener, durability="power", lock=lock)
            stack.push_async_callback(store.close)
            return store

        yield open_node


def _unexpected(error: Exception) -> None:
    raise error


def bot(number: int, name: str) -> BotAdded:
    return BotAdded(id=BotId(number), name=name, name_key=name.lower(), password="x", state="active", created_at=number)


def audit(number: int) -> AuditAdded:
    return AuditAdded(number, "", "test", "", "{}")


def entry(seq: int) -> LedgerAdded:
    return LedgerAdded(VenueId(1), seq, 1, "enter", None, VersionId(1), None, None, None, None)


async def heard(store: Store, until: Callable[[], bool], into: list[Collection[BotId] | None]) -> None:
    async for bots in store.sharing.changes():
        into.append(bots)
        if until():
            return


async def test_each_group_has_an_owner_of_its_own(database: PostgresUrl, opened: Open) -> None:
    main, big = await opened("main"), await opened("big")
    await asyncio.gather(*(store.commit([audit(number)]) for number, store in enumerate((main, big))))
    rows = query(database, "SELECT id, name, node, seen IS NOT NULL FROM writer ORDER BY id")
    assert rows == [(1, "main", "main", True), (2, "big", "big", True)]
    owners = {(owner.group, owner.node) for owner in await big.sharing.owners() if owner.lives}
    assert owners == {
        ("main", "main"),
        ("big", "big"),
    }
    with pytest.raises(Conflict, match="The group big is held by node big"):
        await opened("other", group="big")


async def test_a_connection_that_is_cut_while_its_task_ends_leaves_no_unheard_error(database: PostgresUrl) -> None:
    loop, unheard = asyncio.get_running_loop(), list[dict[str, Any]]()
    loop.set_exception_handler(lambda _loop, context: unheard.append(context))
    port = urlsplit(database.dsn).port
    assert port is not None
    async with asyncio.timeout(10), proxy(port) as between:
        node = Node(name="main", address="main.example", build="one", ttl_s=TTL_S, group="main")
        url = PostgresUrl.parse(database.dsn.replace(f":{port}/", f":{between.port}/"))
        sharing = GroupSharing(url, node, lambda: Owner(1, 1))
        await sharing.start()
        silent = asyncio.Event()

        async def change() -> None:
            async with sharing.hold("name a"):
                between.cut(Cut.DUMB, 1)
                silent.set()

        task = asyncio.create_task(change())
        await silent.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await sharing.close()
        del task
        for _ in range(5):
            await asyncio.sleep(0)
    gc.collect()
    assert unheard == []


async def test_a_name_is_held_by_one_at_a_time(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    main, big = await opened("main"), await opened("big")
    order: list[str] = []

    async def wait_for_it() -> None:
        async with big.sharing.hold("name a"):
            order.append("big")

    async with main.sharing.hold("name a"):
        async with asyncio.timeout(5), big.sharing.hold("name b"):
            pass  # another name
        async with main.sharing.hold("name a"), main.sharing.hold("name c"):
            assert main.sharing.holding
        assert main.sharing.holding
        waiting = asyncio.create_task(wait_for_it())
        await asyncio.sleep(0.1)
        order.append("main")
    assert not main.sharing.holding
    await waiting
    assert order == ["main", "big"]
    monkeypatch.setattr(shared, "_PATIENCE_S", 0.2)
    async with main.sharing.hold("name a"):
        with pytest.raises(Unavailable, match="Somebody else changes this"):
            await wait_for_it()
    await wait_for_it()


async def test_two_who_hold_what_the_other_one_wants_are_parted(opened: Open) -> None:
    main, big = await opened("main"), await opened("big")
    both = asyncio.Barrier(2)

    async def take(store: Store, first: str, second: str) -> bool:
        async with store.sharing.hold(first):
            await both.wait()
            try:
                async with store.sharing.hold(second):
                    return True
            except Unavailable:
                return False

    assert sorted(await asyncio.gather(take(main, "a", "b"), take(big, "b", "a"))) == [False, True]


async def test_what_is_common_is_written_at_once_and_told_to_all(database: PostgresUrl, opened: Open) -> None:
    main, big = await opened("main"), await opened("big")
    told: list[Collection[BotId] | None] = []
    listening = asyncio.create_task(heard(big, lambda: len(told) == 3, told))
    async with asyncio.timeout(10):
        while not told:  # noqa: ASYNC110 - it depends on PostgreSQL
            await asyncio.sleep(0.01)
    async with main.sharing.hold("bot 1"):
        await main.commit([BotState("disabled", "why", None, BotId(1)), audit(1)])
        assert query(database, "SELECT state FROM bots WHERE id = 1") == [("disabled",)]
        await main.commit([BotWishes(1, "", BotId(2)), BotWishes(1, "", BotId(1))])
    async with asyncio.timeout(10):
        await listening
    assert told == [None, [1], [1, 2]]
    batch = query(database, "SELECT batch FROM writer WHERE name = 'main'")
    async with main.sharing.hold("bot 1"):
        await main.commit([])  # what was submitted before is committed now
    assert query(database, "SELECT batch FROM writer WHERE name = 'main'") != batch


async def test_what_belongs_to_a_group_keeps_its_order(database: PostgresUrl, opened: Open) -> None:
    main = await opened("main")
    before = query(database, "SELECT batch FROM writer WHERE name = 'main'")[0][0]
    main.submit([entry(901)])
    async with main.sharing.hold("families"):
        await main.commit([BotFamily(BotId(1), BotId(2)), entry(902)])
    assert query(database, "SELECT seq FROM ledger WHERE seq > 900 ORDER BY seq") == [(901,), (902,)]
    assert query(database, "SELECT batch FROM writer WHERE name = 'main'")[0][0] > before


async def test_a_name_that_is_taken_is_a_refusal(database: PostgresUrl, opened: Open, failures: Failures) -> None:
    main, big = await opened("main"), await opened("big")
    async with main.sharing.hold("name x"):
        await main.commit([bot(101, "Xavier")])
    async with big.sharing.hold("name y"):
        with pytest.raises(Unavailable, match="Somebody else has changed this"):
            await big.commit([bot(102, "Xavier"), audit(1)])
        await big.commit([bot(103, "Yves")])
    assert query(database, "SELECT id FROM bots WHERE id > 100 ORDER BY id") == [(101,), (103,)]
    assert query(database, "SELECT count(*) FROM audit WHERE at = 1") == [(0,)]
    await big.commit([audit(2)])
    assert failures == []


async def test_whoever_was_overtaken_changes_nothing_more(
    database: PostgresUrl, opened: Open, failures: Failures
) -> None:
    stale = await opened("main")
    async with stale.sharing.hold("name x"):
        await asyncio.to_thread(execute, database, "UPDATE writer SET seen = seen - interval '1 hour'")
        await opened("heir", group="main", ttl_s=1.0)
        with pytest.raises(StoreError, match="node main does not own the group main any more"):
            await stale.commit([bot(101, "Xavier")])
    with pytest.raises(StoreError, match="any more"):
        await stale.sharing.numbers("game")
    assert query(database, "SELECT count(*) FROM bots WHERE id = 101") == [(0,)]
    with pytest.raises(Overtaken):
        await stale.commit([audit(1)])
    assert len(failures) == 1


async def test_numbers_are_nobody_else_s(database: PostgresUrl, opened: Open) -> None:
    main, big = await opened("main"), await opened("big")
    highest = query(database, "SELECT max(id) FROM games")[0][0]
    blocks = await asyncio.gather(*(store.sharing.numbers("game") for store in (main, big) * 5))
    given = [number for block in blocks for number in block]
    assert (min(given), len(given)) == (highest + 1, len(set(given)))
    assert {len(block) for block in blocks} == {main.sharing.block}
    assert (await main.sharing.numbers("bot", above=10**6)).start == 10**6 + 1
    assert (await big.sharing.numbers("bot")).start == 10**6 + 1 + main.sharing.block
    mine, others = blocks[0].start, blocks[1].start
    assert await main.sharing.ours("game", [1, mine, others]) == {1, mine}
    assert await big.sharing.ours("game", [1, mine, others]) == {1, others}
    assert await main.sharing.ours("connection", []) == set()


async def test_a_venue_is_in_one_group(database: PostgresUrl, opened: Open, failures: Failures) -> None:
    main, big = await opened("main"), await opened("big", ttl_s=1.0)
    await main.sharing.take_venues([1, 2])
    await main.sharing.take_venues([1, 2])
    with pytest.raises(Conflict, match=r"is in the group main for node main at main\.example, which plays it"):
        await big.sharing.take_venues([2])
    await asyncio.to_thread(execute, database, "UPDATE writer SET seen = seen - interval '1 hour' WHERE id = 1")
    await big.sharing.take_venues([2])
    assert query(database, "SELECT venue_id, group_id FROM group_venues ORDER BY 1") == [(1, 1), (2, 2)]
    with pytest.raises(Overtaken):  # it had the venue, and did not know
        await main.commit([audit(1)])
    await big.commit([VenueAdded(3, "new", "{}", 1)])
    assert len(failures) == 1


async def test_a_process_alone_has_all_groups(database: PostgresUrl, opened: Open, failures: Failures) -> None:
    big = await opened("big")
    await asyncio.to_thread(
        execute, database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%node%'"
    )
    listener = CommitListener(failed=failures.append, on_error=_unexpected)
    lock = await asyncio.to_thread(DatabaseLock, database, "cgos-server serve", 3.0)
    alone = await open_store(database, listener, durability="power", lock=lock)
    assert alone.sharing.block == 0
    await alone.close()
    with pytest.raises(Overtaken):
        await big.commit([audit(1)])
    assert query(database, "SELECT count(*) FROM audit WHERE at = 1") == [(0,)]


async def test_every_group_hears_of_a_changed_family_until_it_has_applied_it(
    database: PostgresUrl, opened: Open
) -> None:
    main, big = await opened("main"), await opened("big")
    async with main.sharing.hold("families"):
        await main.commit([bot(101, "New"), BotFamily(BotId(1), BotId(101))])
        await main.commit([BotFamily(BotId(1), BotId(2))])
        await main.commit([BotFamily(None, BotId(2))])
    for store in (main, big):
        assert await store.sharing.families_to_apply() == {2: None, 101: None}
    async with big.sharing.hold("families"):
        await big.sharing.families_applied([BotId(2), BotId(101)])
        await big.commit([BotFamily(None, BotId(101))])
    assert await big.sharing.families_to_apply() == {101: 1}
    assert await main.sharing.families_to_apply() == {2: None, 101: None}


async def test_every_node_that_had_a_group_is_known(database: PostgresUrl, opened: Open) -> None:
    main = await opened("main", control="main.example:1")
    await opened("big", control="big.example:1")
    await main.close()
    await opened("third", group="main")
    assert await known_nodes(database, 7) == [("big", "big.example:1"), ("main", "main.example:1"), ("third", "")]
    execute(database, "UPDATE nodes SET overtaken_at = overtaken_at - interval '8 days'")
    assert await known_nodes(database, 7) == [("big", "big.example:1"), ("third", "")]
    assert len(await known_nodes(database, 9)) == 3


async def test_what_is_told_reaches_all_who_listen(database: PostgresUrl, opened: Open) -> None:
    told = messages(database, "a test", FACTS)
    assert await anext(told) is None
    main, big = await opened("main"), await opened("big")
    await main.sharing.tell(["one", "two"])
    await big.sharing.tell(["three"])
    assert {await anext(told) for _ in range(3)} == {"one", "two", "three"}
    await told.aclose()  # type: ignore[attr-defined]
