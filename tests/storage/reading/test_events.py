"""Questions about events, on either database."""

from __future__ import annotations

import pytest
from support.storage.storage_sample import events, games, people

from cgos_protocol.errors import Refused
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import EventLogged


@pytest.fixture
async def held(store: Store) -> Store:
    """A store with the events of the sample, written in one batch."""
    await store.commit([*people(), *games(), *events()])
    return store


async def test_all_events_the_latest_announced_first(held: Store) -> None:
    rows = await held.history.events.all()
    assert [(row.id, row.name, row.venue, row.phase, row.seq) for row in rows] == [
        (2, "Cup", "9x9", "running", 3),
        (1, "Old", "9x9", "cancelled", 1),
    ]
    assert await held.history.events.named("Cup") == rows[0]
    with pytest.raises(Refused) as raised:
        await held.history.events.named("cup")
    assert raised.value.code == "no-event"


async def test_by_bot_and_by_game(held: Store) -> None:
    assert [[row.name for row in await held.history.events.of_bot(bot)] for bot in (1, 2, 3)] == [
        ["Cup"],
        ["Cup", "Old"],
        [],
    ]
    played = await held.history.events.games(2)
    assert [(row.game_id, row.round, row.number, row.reason, row.winner) for row in played] == [
        (1, 1, 1, "score", 0),
        (3, 2, 2, None, None),
    ]
    assert await held.history.events.of_game(1) == played[0]
    assert await held.history.events.of_game(2) is None


async def test_a_log_and_what_is_new_in_it(held: Store) -> None:
    whole = await held.history.events.log(2)
    assert [(row.seq, row.at, row.actor) for row in whole] == [
        (1, 800, "Olive"),
        (2, 810, "server"),
        (3, 1_000, "server"),
    ]
    assert await held.history.events.log(2, since=2) == whole[2:]
    assert whole[1].body == '{"kind":"opened"}'
    body = '{"kind":"paused","reason":"é"}'
    await held.commit([EventLogged(2, 4, 1_100, "Olive", "paused", body)])
    assert [row.body for row in await held.history.events.log(2, since=3)] == [body]


async def test_the_next_number_follows_the_largest(held: Store) -> None:
    assert (await held.history.server.next_ids()).event == 3
