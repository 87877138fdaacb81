"""What other nodes changed of bots, applied to the venues of this one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.service.real_pool import RealPool, pool_of_four
from support.storage.storage_sample import execute

from cgos_protocol.errors import StoreError
from cgos_protocol.ids import BotId
from cgos_protocol.session import Limits
from cgos_server.core.rating.base import Kind
from cgos_server.live.processes.bot_changes import BotChanges
from cgos_server.service.ratings.families import Families
from cgos_server.storage.sharing import Alone
from cgos_server.storage.writing.records import BotState, BotWishes


class Told(Alone):
    """Tells what it is given, once; `families` as :meth:`families_to_apply`."""

    def __init__(self, *told: Collection[BotId] | None) -> None:
        self.told = told
        self.families: dict[BotId, BotId | None] = {}
        self.held: list[str] = []

    def hold(self, key: str, /) -> AbstractAsyncContextManager[None]:
        self.held.append(key)
        return nullcontext()

    async def changes(self) -> AsyncIterator[Collection[BotId] | None]:
        for bots in self.told:
            yield bots

    async def families_to_apply(self) -> dict[BotId, BotId | None]:
        return dict(self.families)

    async def families_applied(self, bots: Collection[BotId], /) -> None:
        for bot in bots:
            del self.families[bot]


class Server:
    """What is done to the bots that are here."""

    def __init__(self) -> None:
        self.done: list[tuple[Any, ...]] = []

    def dismiss(self, bot: BotId, sentence: str) -> int:
        self.done.append((bot, sentence))
        return 1

    def wishes(self, bot: BotId, paused: bool, limits: Limits) -> None:
        self.done.append((bot, paused, limits))


class Node:
    """A node with the bots of a pool, all but Dd here."""

    def __init__(self, pool: RealPool, *told: Collection[BotId] | None) -> None:
        self.pool = pool
        self.server = Server()
        self.sharing = Told(*told)
        pool.store.sharing = self.sharing
        control: Any = self.server
        self.changes = BotChanges(
            pool.store,
            control,
            families=pool.families,
            ledgers=pool.admin.ledgers,
            here=lambda: {BotId(1), BotId(2), BotId(3)},
            now_ms=pool.tick,
        )


@pytest.fixture
async def pool(tmp_path: Path) -> AsyncIterator[RealPool]:
    async with pool_of_four(tmp_path) as opened:
        yield opened


async def links(pool: RealPool, venue: int = 1) -> list[tuple[str, int | None, int | None]]:
    entries = await pool.store.history.ledger.entries(venue)
    return [
        (entry.kind.value, entry.version, entry.other) for entry in entries if entry.kind in (Kind.LINK, Kind.UNLINK)
    ]


def lead(pool: RealPool, bot: int, leader: int | None) -> None:
    """As another node has written it."""
    execute(pool.path, f"UPDATE bots SET family_id = {leader or 'NULL'} WHERE id = {bot}")


async def test_bots_that_are_here_are_as_the_database_says(pool: RealPool) -> None:
    node = Node(pool, [BotId(1), BotId(2), BotId(4), BotId(77)], None)
    await pool.store.commit([BotState("disabled", "it hangs", None, BotId(1))])
    await pool.store.commit([BotWishes(1, '{"games_a_day":3}', BotId(2)), BotState("disabled", "", None, BotId(4))])
    await node.changes.run()
    first = [(1, "Aa was disabled: it hangs"), (2, True, Limits(games_a_day=3))]
    assert node.server.done == [*first, *first, (3, False, Limits())]


async def test_a_family_is_applied_once_to_the_venues_of_this_node(pool: RealPool) -> None:
    node = Node(pool)
    lead(pool, 3, 1)
    node.sharing.families = {BotId(3): None}
    await node.changes.apply([])
    assert await links(pool, 1) == await links(pool, 2) == [("link", 3, 1)]
    assert pool.changed == ["9x9", "19x19"]
    assert pool.families.leader(BotId(3)) == 1
    await node.changes.apply([])
    assert (node.sharing.families, await links(pool, 1)) == ({}, [("link", 3, 1)])
    assert node.sharing.held == ["families"]
    lead(pool, 3, None)
    node.sharing.families = {BotId(3): BotId(1)}
    await node.changes.apply([])
    assert await links(pool, 1) == [("link", 3, 1), ("unlink", 3, 1)]
    assert pool.families.leader(BotId(3)) == 3


@pytest.mark.parametrize("known", [False, True], ids=["by a message", "after a takeover"])
async def test_a_family_may_have_changed_more_than_once(pool: RealPool, known: bool) -> None:
    node = Node(pool)
    lead(pool, 3, 1)
    node.sharing.families = {BotId(3): None}
    await node.changes.apply([])
    lead(pool, 3, 2)
    if known:  # whoever takes the group over has read the families as they are
        pool.families = await Families.load(pool.store)
        pool.admin = pool.administrator(None)
        node = Node(pool)
    node.sharing.families = {BotId(3): BotId(1)}
    await node.changes.apply([])
    assert await links(pool, 1) == [("link", 3, 1), ("unlink", 3, 1), ("link", 3, 2)]
    assert await links(pool, 2) == [("link", 3, 1), ("unlink", 3, 1)]
    assert pool.families.leader(BotId(3)) == 2


async def test_what_cannot_be_applied_now_is_applied_with_the_next_message(pool: RealPool) -> None:
    node = Node(pool, None, [BotId(1)])
    names, tries = pool.store.history.bots.names, 0

    async def fails_once() -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise StoreError("PostgreSQL is away")
        return await names()

    pool.store.history.bots.names = fails_once  # type: ignore[method-assign]
    with capture_logs() as logged:
        async with asyncio.timeout(5):
            await node.changes.run()
    assert [entry["why"] for entry in logged] == ["PostgreSQL is away"]
    assert node.server.done == [(1, False, Limits())]
