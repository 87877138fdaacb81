"""One bot, its versions and connections, pairing passes in a list and the audit log, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.storage.storage_sample import games, people, put, version

from cgos_protocol.api.games import Round
from cgos_protocol.api.messages import Suspended, Version
from cgos_protocol.api.people import AuditEntry
from cgos_protocol.errors import Refused
from cgos_server.storage.location import Location
from cgos_server.storage.reading.answers import BotDetail, PresenceRow
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import (
    AuditAdded,
    BotFamily,
    BotOwner,
    BotWishes,
    ConnectionClosed,
    ConnectionOpened,
    SuspensionNow,
    VersionDescribed,
)


@pytest.fixture
async def history(database: Location) -> AsyncIterator[History]:
    more = [
        version(4, 1, "alpha-2", 250, "2"),
        VersionDescribed("engine", '{"visits":5}', "author", 4),
        BotOwner(1, 1),
        BotWishes(1, '{"games_a_day":5}', 1),
        BotFamily(2, 1),
        SuspensionNow(1, 4, 5, 1, "it crashed", 600),
        ConnectionOpened(3, 2, 4, "192.0.2.1", "client C", 500),
        ConnectionClosed(550, "quit", 3),
        ConnectionOpened(4, 1, 4, "192.0.2.9", "client C", 560),
    ]
    audit = [AuditAdded(at, who, did, whom, f'{{"n":{at}}}') for at, (who, did, whom) in enumerate(AUDIT, 1)]
    put(database, [*people(), *games(), *more, *audit])
    async with History(database) as opened:
        yield opened


AUDIT = [(who, did, whom) for who in ("Olive", "cli") for did in ("kick", "void") for whom in ("alpha", "game 1")] * 2


async def test_relatives_are_those_of_one_leader(history: History) -> None:
    names = {bot.id: bot.name for bot in await history.bots.page()}
    assert await history.bots.relatives(names[1]) == [names[2]]
    assert await history.bots.relatives(names[2]) == [names[1]]
    assert await history.bots.relatives("nobody") == []


async def test_a_bot(history: History) -> None:
    first = Version(
        id=1,
        name="alpha",
        label="",
        engine="alpha engine",
        parameters=None,
        author="author of alpha",
        created_at=201,
        last_seen_at=450,
        signed_in=False,
        bot="alpha",
    )
    second = Version(
        id=4,
        name="alpha-2",
        label="2",
        engine="engine",
        parameters={"visits": 5},
        author="author",
        created_at=250,
        last_seen_at=560,
        signed_in=True,
        bot="alpha",
    )
    suspended = [Suspended(venue="9x9", version="alpha-2", spoilt=5, reason="it crashed", at=600)]
    limits = {"games_a_day": 5}
    assert await history.bots.detail("alpha") == BotDetail(
        id=1,
        name="alpha",
        state="active",
        reason="",
        created_at=201,
        versions=[first, second],
        tokens=1,
        last_seen_at=560,
        signed_in=True,
        family="Beta",
        suspended=suspended,
        owner="Olive",
        until=None,
        paused=True,
        limits=limits,
    )
    assert await history.bots.version("alpha-2") == second
    gamma = await history.bots.detail("gamma")
    assert not gamma.signed_in
    assert (gamma.owner, gamma.paused, gamma.limits, gamma.last_seen_at, gamma.tokens) == (None, False, None, None, 0)
    for row in await history.bots.page():
        detail = await history.bots.detail(row.name)
        same = set(row.__struct_fields__) - {"versions"}
        assert [getattr(detail, name) for name in same] == [getattr(row, name) for name in same]
        assert [listed.name for listed in detail.versions] == row.versions


async def test_unknown_ones(history: History) -> None:
    for question in (history.bots.detail, history.bots.version):
        with pytest.raises(Refused, match="nobody"):
            await question("nobody")
    with pytest.raises(Refused, match="nobody"):
        await history.bots.presence("nobody", 0, 1)
    with pytest.raises(Refused, match="nobody"):
        await history.bots.connections(bot="nobody")


async def test_presence(history: History) -> None:
    first = PresenceRow(venue="19x19", opened_at=500, closed_at=550, address="192.0.2.1")
    other = PresenceRow(venue="9x9", opened_at=560, closed_at=None, address="192.0.2.9")
    for since, until, wanted in (
        (0, 1_000, [first, other]),
        (550, 560, [first, other]),
        (551, 10_000, [other]),
        (0, 559, [first]),
        (0, 499, []),
    ):
        assert await history.bots.presence("alpha-2", since, until) == wanted


async def test_connections(history: History) -> None:
    everything = await history.bots.connections()
    assert [row.id for row in everything] == [4, 3, 2, 1]
    row = everything[1]
    assert (row.venue, row.version, row.bot, row.client, row.reason) == (
        "19x19",
        "alpha-2",
        "alpha",
        "client C",
        "quit",
    )
    for filters, wanted in (
        ({"bot": "alpha"}, [4, 3, 1]),
        ({"bot": "alpha-2"}, [4, 3]),
        ({"venue": "9x9"}, [4, 2, 1]),
        ({"address": "192.0.2.1"}, [3, 1]),
        ({"only_open": True}, [4, 2]),
        ({"bot": "alpha", "only_open": True, "before": 4}, []),
        ({"limit": 1, "before": 3}, [2]),
    ):
        assert [row.id for row in await history.bots.connections(**filters)] == wanted  # type: ignore[arg-type]


async def test_pairing_passes(history: History) -> None:
    newest, oldest = await history.pairings.rounds("9x9", 10)
    assert newest == Round(id=2, number=2, at=600, policy="rolling", method="birk", games=2, sits_out=0)
    assert oldest == Round(id=1, number=1, at=500, policy="rolling", method="birk", games=2, sits_out=1)
    assert await history.pairings.rounds("9x9", 1) == [newest]
    assert await history.pairings.rounds("9x9", 10, before=newest.number) == [oldest]
    assert [row.id for row in await history.pairings.rounds("19x19", 10)] == [3]


async def test_the_audit_log(history: History) -> None:
    everything = await history.server.audit(100)
    assert everything == [
        AuditEntry(id=n, at=n, actor=actor, action=action, subject=subject, detail={"n": n})
        for n, (actor, action, subject) in reversed(list(enumerate(AUDIT, 1)))
    ]
    assert await history.server.audit(3, before=5) == [row for row in everything if row.id < 5][:3]
    for actor in (None, "Olive"):
        for action in (None, "kick"):
            for subject in (None, "game 1", "nothing"):
                assert await history.server.audit(100, None, actor, action, subject) == [
                    row
                    for row in everything
                    if actor in (None, row.actor) and action in (None, row.action) and subject in (None, row.subject)
                ]
