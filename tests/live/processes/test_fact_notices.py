"""Facts for the web processes of a cluster: together, in order, never waited for; what is lost is said."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import pytest

from cgos_protocol.errors import StoreError
from cgos_protocol.facts import AnyFact, MovePlayed
from cgos_server.live.bus import Bus
from cgos_server.live.processes.fact_notices import FactNotices
from cgos_server.live.processes.fact_pipe import FACTS
from cgos_server.service.fact_notices import facts_of


class Told:
    """Who listens. `away`: so many times nothing can be said."""

    def __init__(self) -> None:
        self.bus = Bus(lambda error: pytest.fail(repr(error)))
        self.messages: list[Sequence[str]] = []
        self.dropped: list[int] = []
        self.away = 0
        self.paused: list[float] = []
        self.notices = FactNotices(self.bus, self.tell, dropped=self.dropped.append, pause=self.pause)

    async def tell(self, texts: Sequence[str]) -> None:
        if self.away:
            self.away -= 1
            raise StoreError("it is away")
        self.messages.append(texts)

    async def pause(self, seconds: float) -> None:
        self.paused.append(seconds)
        await asyncio.sleep(0)

    async def heard(self) -> list[AnyFact | None]:
        """What was told since the last time, when all has been."""
        for _ in range(20):
            await asyncio.sleep(0)
        facts = [fact for texts in self.messages for text in texts for fact in facts_of(text)]
        self.messages.clear()
        return facts


@pytest.fixture
async def told() -> AsyncIterator[Told]:
    told = Told()
    running = asyncio.ensure_future(told.notices.run())
    assert await told.heard() == [None]  # whoever had the venues before may not have told all
    yield told
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


def move(ply: int) -> MovePlayed:
    return MovePlayed(venue="9x9", game=7, ply=ply, move="D4", left_ms=60_000)


async def test_what_happens_within_a_moment_is_told_at_once(told: Told) -> None:
    for ply in (1, 2, 3):
        told.bus.publish(move(ply))
    assert told.messages == []
    assert await told.heard() == [move(1), move(2), move(3)]
    assert told.paused[-1] == 0.025


async def test_what_could_not_be_told_is_missing(told: Told) -> None:
    told.away = 2
    told.bus.publish(move(1))
    assert await told.heard() == [None]
    assert told.dropped == [1, 0]
    told.bus.publish(move(2))
    assert await told.heard() == [move(2)]


async def test_no_more_waits_than_there_is_room(told: Told) -> None:
    for ply in range(FACTS + 3):
        told.bus.publish(move(ply))
    assert await told.heard() == [None, *(move(FACTS + ply) for ply in range(3))]
    assert sum(told.dropped) == FACTS


async def test_nobody_listens_to_the_bus_in_the_end() -> None:
    told = Told()
    running = asyncio.ensure_future(told.notices.run())
    await told.heard()
    assert told.bus.wanted(MovePlayed)
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
    assert not told.bus.wanted(MovePlayed)
