"""One bot, its versions and connections, acts of pairing in a list and the audit log, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.storage.storage_sample import games, people, put, version

from cgos_protocol.errors import Refused
from cgos_server.storage.answers import SetAside
from cgos_server.storage.game_answers import AuditRow, BotDetail, PresenceRow, RoundRow, VersionRow
from cgos_server.storage.history import History
from cgos_server.storage.location import Location
from cgos_server.storage.records import (
    AuditAdded,
    BotFamily,
    BotOwner,
    BotWishes,
    ConnectionClosed,
    ConnectionOpened,
    SetbackNow,
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
        SetbackNow(1, 4, 5, 1, "it crashed", 600),
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
    names = {bot.id: bot.name for bot in await history.bots()}
    assert await history.relatives(names[1]) == [names[2]]
    assert await history.relatives(names[2]) == [names[1]]
    assert await history.relatives("nobody") == []


async def test_a_bot(history: History) -> None:
    first = VersionRow(1, "alpha", "", "alpha engine", None, "author of alpha", 201, 450, False, "alpha")
    second = VersionRow(4, "alpha-2", "2", "engine", {"visits": 5}, "author", 250, 560, True, "alpha")
    aside = [SetAside("9x9", "alpha-2", 5, "it crashed", 600)]
    limits = {"games_a_day": 5}
    assert await history.bot("alpha") == BotDetail(
        1, "alpha", "active", "", 201, [first, second], 1, 560, True, "Beta", aside, "Olive", None, True, limits
    )
    assert await history.version("alpha-2") == second
    gamma = await history.bot("gamma")
    assert not gamma.signed_in
    assert (gamma.owner, gamma.paused, gamma.limits, gamma.last_seen_at, gamma.tokens) == (None, False, None, None, 0)
    for row in await history.bots():
        detail = await history.bot(row.name)
        same = set(row.__struct_fields__) - {"versions"}
        assert [getattr(detail, name) for name in same] == [getattr(row, name) for name in same]
        assert [each.name for each in detail.versions] == row.versions


async def test_unknown_ones(history: History) -> None:
    for question in (history.bot, history.version):
        with pytest.raises(Refused, match="nobody"):
            await question("nobody")
    with pytest.raises(Refused, match="nobody"):
        await history.presence("nobody", 0, 1)
    with pytest.raises(Refused, match="nobody"):
        await history.connections_of(bot="nobody")


async def test_presence(history: History) -> None:
    one = PresenceRow("19x19", 500, 550, "192.0.2.1")
    other = PresenceRow("9x9", 560, None, "192.0.2.9")
    for since, until, wanted in (
        (0, 1_000, [one, other]),
        (550, 560, [one, other]),
        (551, 10_000, [other]),
        (0, 559, [one]),
        (0, 499, []),
    ):
        assert await history.presence("alpha-2", since, until) == wanted


async def test_connections(history: History) -> None:
    everything = await history.connections_of()
    assert [row.id for row in everything] == [4, 3, 2, 1]
    row = everything[1]
    assert (row.venue, row.version, row.bot, row.client, row.reason) == (
        "19x19",
        "alpha-2",
        "alpha",
        "client C",
        "quit",
    )
    for asked, wanted in (
        ({"bot": "alpha"}, [4, 3, 1]),
        ({"bot": "alpha-2"}, [4, 3]),
        ({"venue": "9x9"}, [4, 2, 1]),
        ({"address": "192.0.2.1"}, [3, 1]),
        ({"only_open": True}, [4, 2]),
        ({"bot": "alpha", "only_open": True, "before": 4}, []),
        ({"limit": 1, "before": 3}, [2]),
    ):
        assert [row.id for row in await history.connections_of(**asked)] == wanted  # type: ignore[arg-type]


async def test_acts_of_pairing(history: History) -> None:
    newest, oldest = await history.rounds("9x9", 10)
    assert newest == RoundRow(2, 2, 600, "rolling", "birk", 2, 0)
    assert oldest == RoundRow(1, 1, 500, "rolling", "birk", 2, 1)
    assert await history.rounds("9x9", 1) == [newest]
    assert await history.rounds("9x9", 10, before=newest.number) == [oldest]
    assert [row.id for row in await history.rounds("19x19", 10)] == [3]


async def test_the_audit_log(history: History) -> None:
    everything = await history.audit(100)
    assert everything == [AuditRow(n, n, *AUDIT[n - 1], {"n": n}) for n in range(len(AUDIT), 0, -1)]
    assert await history.audit(3, before=5) == [row for row in everything if row.id < 5][:3]
    for actor in (None, "Olive"):
        for action in (None, "kick"):
            for subject in (None, "game 1", "nothing"):
                assert await history.audit(100, None, actor, action, subject) == [
                    row
                    for row in everything
                    if actor in (None, row.actor) and action in (None, row.action) and subject in (None, row.subject)
                ]
