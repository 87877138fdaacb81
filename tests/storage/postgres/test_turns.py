"""Who sends webhooks, on a real PostgreSQL: one at a time, and what is noted is that one's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from support.storage.storage_sample import people, put, query

from cgos_protocol.errors import StoreError
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres import turns
from cgos_server.storage.postgres.turns import WebhookTurn
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.people_answers import WebhookNotes

CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%sending webhooks%'"


@pytest.fixture
def database(new_url: Callable[..., PostgresUrl]) -> PostgresUrl:
    url = new_url()
    put(url, people())
    return url


@pytest.fixture
async def two(database: PostgresUrl) -> AsyncIterator[tuple[WebhookTurn, WebhookTurn]]:
    both = WebhookTurn(database, "one"), WebhookTurn(database, "other")
    yield both
    for turn in both:
        await turn.leave()


async def noted(database: PostgresUrl) -> WebhookNotes:
    async with History(database) as history:
        return await history.people.webhook_notes()


async def test_one_has_it_at_a_time(two: tuple[WebhookTurn, WebhookTurn]) -> None:
    one, other = two
    assert await one.take()
    assert one.ours
    assert not await other.take()
    assert not other.ours
    await one.leave()
    assert await other.take()


async def test_what_is_noted_is_there_for_all(database: PostgresUrl, two: tuple[WebhookTurn, WebhookTurn]) -> None:
    assert await noted(database) == WebhookNotes(outcomes={}, since=None, until=None)
    assert await two[0].take()
    await two[0].keep({1: "one", 2: "two"}, [], 5, 6)
    assert await noted(database) == WebhookNotes(outcomes={1: "one", 2: "two"}, since=5, until=6)
    await two[0].keep({2: "new", 3: "three"}, [1], 5, 9)
    assert await noted(database) == WebhookNotes(outcomes={2: "new", 3: "three"}, since=5, until=9)


async def test_whoever_has_lost_it_notes_nothing(database: PostgresUrl, two: tuple[WebhookTurn, WebhookTurn]) -> None:
    one, other = two
    assert await one.take()
    assert len(await asyncio.to_thread(query, database, CUT)) == 1
    assert await other.take()
    with pytest.raises(StoreError):
        await one.keep({1: "late"}, [], 1, 2)
    assert not one.ours
    assert (await noted(database)).outcomes == {}


async def test_whoever_hangs_loses_it(two: tuple[WebhookTurn, WebhookTurn], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "IDLE_S", 0.2)
    one, other = two
    assert await one.take()
    for _ in range(400):
        if await other.take():
            break
        await asyncio.sleep(0.05)  # only PostgreSQL's own clock ends it
    assert other.ours
