"""Webhooks of several processes: one sends at a time, the next one goes on where it left off, all see the outcomes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager

import pytest
from web.people.conftest import House
from web.people.test_webhook_restarts import deliveries, played, settled, tell
from web.people.test_webhook_restarts import process as one_process
from web.people.test_webhooks import Post

from cgos_protocol.errors import StoreError
from cgos_protocol.facts import GameEnded
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.people_answers import WebhookNotes
from cgos_server.web.people import shared_deliveries
from cgos_server.web.people import webhooks as module
from cgos_server.web.people.deliveries import Deliveries, Kept
from cgos_server.web.people.shared_deliveries import FRESH_MS, SharedDeliveries
from cgos_server.web.server import OneServer
from cgos_server.web.site import Site


class Table:
    """What lies in the database, who has the turn, and who reads it as `people` does."""

    def __init__(self) -> None:
        self.rows: dict[int, str] = {}
        self.times: tuple[int, int] | None = None
        self.holder: Turn | None = None
        self.reads = 0
        self.away = False

    async def webhook_notes(self) -> WebhookNotes:
        if self.away:
            raise StoreError("it is away")
        self.reads += 1
        since, until = self.times or (None, None)
        return WebhookNotes(outcomes=dict(self.rows), since=since, until=until)


class Turn:
    """One process's."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self.kept: list[set[int]] = []

    @property
    def ours(self) -> bool:
        return self._table.holder is self

    async def take(self) -> bool:
        if self._table.holder is None:
            self._table.holder = self
        return self.ours

    async def keep(self, outcomes: Mapping[int, str], gone: Collection[int], since: int, until: int) -> None:
        if not self.ours:
            raise StoreError("the session was ended")
        self.kept.append(set(outcomes))
        self._table.rows |= outcomes
        for number in gone:
            del self._table.rows[number]
        self._table.times = since, until

    async def leave(self) -> None:
        if self.ours:
            self._table.holder = None


class Sharing(OneServer):
    """Of a process that shares its deliveries."""

    def __init__(self, house: House, table: Table) -> None:
        super().__init__(house.call)
        self.turn = Turn(table)
        self._table = table

    def deliveries(self, _history: History, now_ms: Callable[[], int], /) -> Deliveries:
        return SharedDeliveries(self._table, self.turn, now_ms)  # type: ignore[arg-type]


@pytest.fixture
async def house(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(module, "SAVE_S", 0.01)
    monkeypatch.setattr(shared_deliveries, "TRY_S", 0.01)
    await house.signed_in("alice", owns="Sakura-5k")
    return house


@asynccontextmanager
async def process(house: House, table: Table) -> AsyncIterator[tuple[Post, Site, Turn]]:
    """One process with pages."""
    server = Sharing(house, table)
    async with one_process(house, server=server) as post:
        yield post, post.webhooks._site, server.turn


async def ended(house: House, game: int, *posts: Post) -> None:
    """A game ends, of which all processes hear."""
    house.clock.ms += 1000
    await played(house, game, house.clock.ms)
    for post in posts:
        await tell(
            post, GameEnded(venue="9x9", game=game, result="B+Resign", reason="resignation", at=house.clock.ms / 1000)
        )


async def test_one_of_two_sends(house: House) -> None:
    table = Table()
    async with process(house, table) as (first, _, _), process(house, table) as (second, _, _):
        await first.hook(["game-ended"])
        await ended(house, 500, first, second)
        assert (deliveries(first), deliveries(second)) == ([("game-ended", 500)], [])


async def test_the_next_one_goes_on_where_the_first_one_ended(house: House) -> None:
    table = Table()
    async with process(house, table) as (second, _, _):
        async with process(house, table) as (first, _, turn):
            sender, other = (second, first)
            await sender.hook(["game-ended"])
            await ended(house, 500, first, second)
            assert deliveries(sender) == [("game-ended", 500)]
            table.holder = turn  # the sender's session was ended, and the other one was faster
            await ended(house, 501, other)
            await settled(other)
        await settled(second)
    told = deliveries(sender) + deliveries(other)
    assert set(told) == {("game-ended", 500), ("game-ended", 501)}
    assert told.count(("game-ended", 500)) == 1


async def test_what_was_noted_is_not_told_again_and_what_was_not_is(house: House) -> None:
    table = Table()
    async with process(house, table) as (first, _, _):
        await first.hook(["game-ended"])
        await ended(house, 500, first)
        assert deliveries(first) == [("game-ended", 500)]
    house.clock.ms += 5000
    await ended(house, 501)
    async with process(house, table) as (second, _, _):
        assert deliveries(second) == [("game-ended", 501)]


async def test_only_what_has_changed_is_written(house: House) -> None:
    table = Table()
    async with process(house, table) as (post, _, turn):
        one = await post.hook(["game-ended"])
        other = await post.hook(["game-started"])
        await ended(house, 500, post)
        await settled(post)
        written = [numbers for numbers in turn.kept if numbers]
        assert {one.id} in written
        assert len(turn.kept) > 3  # also where nothing has changed: it says that this process lives
        turn.kept.clear()
        await settled(post)
        assert set().union(*turn.kept) <= {other.id}


async def test_all_see_the_outcomes(house: House) -> None:
    table = Table()
    async with process(house, table) as (first, _, _), process(house, table) as (_, site, _):
        made = await first.hook(["game-ended"])
        await ended(house, 500, first)
        await settled(first)
        house.clock.ms += FRESH_MS
        await site.deliveries.refresh()
        success = site.deliveries.of(made.id).success
        assert success is not None
        assert success.event == "game-ended"
        reads = table.reads
        await site.deliveries.refresh()
        assert table.reads == reads  # for a while it is believed


async def test_what_another_build_wrote_counts_as_none(house: House) -> None:
    table = Table()
    table.rows = {1: '{"in_a_row": -5}', 2: "nonsense", 3: '{"in_a_row": 7}'}
    table.times = 1, 2
    async with process(house, table) as (_, site, _):
        assert [site.deliveries.of(number).in_a_row for number in (1, 2, 3)] == [0, 0, 7]


async def test_a_look_that_comes_late_hides_nothing_that_was_noted_since(house: House) -> None:
    table = Table()
    turn = Turn(table)
    other = Turn(table)
    assert await other.take()
    shared = SharedDeliveries(table, turn, house.clock)  # type: ignore[arg-type]
    looked = table.webhook_notes

    async def and_then_it_is_ours() -> WebhookNotes:
        notes = await looked()
        table.holder = turn
        shared.keep(1, Kept(in_a_row=4))
        return notes

    table.webhook_notes = and_then_it_is_ours  # type: ignore[method-assign]
    await shared.refresh()
    assert shared.of(1).in_a_row == 4


async def test_a_database_that_is_away_ends_nothing(house: House) -> None:
    table = Table()
    table.away = True
    async with process(house, table) as (post, _, _):
        await post.hook(["game-ended"])
        assert table.holder is None
        table.away = False
        await settled(post)
        await ended(house, 500, post)
        assert deliveries(post) == [("game-ended", 500)]
