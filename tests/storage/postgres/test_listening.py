"""Messages between processes on one real PostgreSQL: in order, and whatever may be missing is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from support.storage.storage_sample import query

from cgos_protocol.errors import StoreError
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres import listening
from cgos_server.storage.postgres.listening import Teller, messages
from cgos_server.storage.sharing import TOLD_MOST

CHANNEL = "cgos_test"
CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'a test, %'"


class Listener:
    """Hears everything, in a task of its own."""

    def __init__(self, url: PostgresUrl) -> None:
        self.heard: list[str | None] = []
        self._come = asyncio.Event()
        self._task = asyncio.ensure_future(self._run(messages(url, "a test", CHANNEL)))

    async def until(self, count: int) -> None:
        async with asyncio.timeout(20):
            while len(self.heard) < count:
                self._come.clear()
                await self._come.wait()

    async def end(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, told: AsyncIterator[str | None]) -> None:
        async for text in told:
            self.heard.append(text)
            self._come.set()


@pytest.fixture
def database(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    return new_url()


@pytest.fixture
async def listener(database: PostgresUrl) -> AsyncIterator[Listener]:
    listener = Listener(database)
    await listener.until(1)
    yield listener
    await listener.end()


async def test_messages_come_in_their_order_and_to_all(database: PostgresUrl, listener: Listener) -> None:
    other, teller = Listener(database), Teller(database, "a test", CHANNEL)
    await other.until(1)
    largest = "x" * TOLD_MOST
    await teller.tell(["one", "two", "ä\"'\\"])
    await teller.tell([largest])
    for each in (listener, other):
        await each.until(5)
        assert each.heard == [None, "one", "two", "ä\"'\\", largest]
    await other.end()
    teller.close()


async def test_after_a_cut_something_may_be_missing(database: PostgresUrl, listener: Listener) -> None:
    teller = Teller(database, "a test", CHANNEL)
    await teller.tell(["one"])
    await listener.until(2)
    assert len(await asyncio.to_thread(query, database, CUT)) == 2
    await listener.until(3)
    with pytest.raises(StoreError):
        await teller.tell(["lost"])
    await teller.tell(["three"])  # by a new session
    await listener.until(4)
    assert listener.heard == [None, "one", None, "three"]
    teller.close()


async def test_of_too_many_it_is_known_that_there_were_some(
    database: PostgresUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listening, "_UNREAD", 3)
    told = messages(database, "a test", CHANNEL)
    assert await anext(told) is None
    teller = Teller(database, "a test", CHANNEL)
    await teller.tell([str(number) for number in range(8)])
    await asyncio.sleep(0.5)  # until all of them have come to this process, which reads none
    assert [await anext(told), await anext(told)] == [None, "7"]
    await told.aclose()  # type: ignore[attr-defined]
    teller.close()
