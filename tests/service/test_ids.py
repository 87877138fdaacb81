"""Numbers in blocks: none twice, and more before there is none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cgos_protocol.errors import StoreError
from cgos_server.service import ids as ids_module
from cgos_server.service.ids import Ids, open_ids
from cgos_server.storage.reading.stored import Incarnation, NextIds
from cgos_server.storage.sharing import Alone


class Blocks(Alone):
    """Gives each kind one block after the other; nothing while it is away."""

    block = 10  # type: ignore[assignment]

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.away = False

    async def numbers(self, kind: str, /, above: int = 0) -> range:
        if self.away:
            raise StoreError("PostgreSQL is away")
        first = max(self.last.get(kind, 0), above) + 1
        self.last[kind] = first + self.block - 1
        return range(first, first + self.block)


class Store:
    """A database that leaves out numbers up to `above`."""

    def __init__(self, sharing: Any, above: int = 0) -> None:
        self.sharing = sharing
        self.history = self.server = self
        self.above = above

    async def incarnation(self) -> Incarnation:
        return Incarnation("3fa9", self.above)


@pytest.fixture
def blocks() -> Blocks:
    return Blocks()


async def stocked(ids: Ids, blocks: Blocks) -> None:
    """One look."""
    task = asyncio.create_task(ids.stock(blocks))
    await asyncio.sleep(0.01)
    task.cancel()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ids_module, "STOCK_EVERY_S", 0.0)


async def test_more_come_before_a_block_is_used_up(blocks: Blocks) -> None:
    ids = await open_ids(Store(blocks), kept=0)  # type: ignore[arg-type]
    assert [ids.game() for _ in range(5)] == [1, 2, 3, 4, 5]
    assert not ids.game.low
    await stocked(ids, blocks)
    assert blocks.last["game"] == 10
    assert ids.game() == 6
    assert ids.game.low
    await stocked(ids, blocks)
    assert blocks.last == {kind: 20 if kind == "game" else 10 for kind in NextIds._fields}
    assert [ids.game() for _ in range(6)] == [7, 8, 9, 10, 11, 12]


async def test_where_no_more_come_the_last_one_is_not_given_twice(blocks: Blocks) -> None:
    ids = await open_ids(Store(blocks), kept=0)  # type: ignore[arg-type]
    blocks.away = True
    for _ in range(10):
        ids.connection()
    await stocked(ids, blocks)
    with pytest.raises(StoreError, match="no numbers are left"):
        ids.connection()
    blocks.away = False
    await stocked(ids, blocks)
    assert ids.connection() == 11


async def test_bots_of_whom_files_are_kept_keep_their_numbers(blocks: Blocks) -> None:
    ids = await open_ids(Store(blocks), kept=41)  # type: ignore[arg-type]
    assert (ids.bot(), ids.version()) == (42, 1)
    assert Ids(NextIds(1, 7, 1, 1, 1, 1, 1, 1, 1, 1, 1), kept=41).bot() == 42
    assert Ids(NextIds(1, 77, 1, 1, 1, 1, 1, 1, 1, 1, 1), kept=41).bot() == 77


async def test_blocks_begin_above_what_a_restore_left_out(blocks: Blocks) -> None:
    ids = await open_ids(Store(blocks, above=1_000_500), kept=41)  # type: ignore[arg-type]
    assert (ids.bot(), ids.version(), ids.game(), ids.owner()) == (1_000_501,) * 4
