"""What was paired, in portions, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.storage.storage_sample import put

from cgos_protocol.api.messages import Suspended
from cgos_protocol.errors import Refused
from cgos_server.storage.location import Location
from cgos_server.storage.reading.answers import ConnectionSpan, PairedGame, PairedRound
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import ConnectionClosed, ConnectionOpened, GameAdded, RoundAdded, SuspensionNow


@pytest.fixture
async def history(history_database: Location) -> AsyncIterator[History]:
    async with History(history_database) as opened:
        yield opened


async def test_games_newest_first_in_portions(history: History, history_database: Location) -> None:
    put(history_database, [GameAdded(6, 1, None, 1, 2, "1800?", "1750", "{}", "", 5_000, "Star")])
    newest, before = await history.pairings.games("9x9", 2)
    assert newest == PairedGame(
        id=6,
        round=None,
        black_id=1,
        white_id=2,
        black_label="1800?",
        white_label="1750",
        started_at=5_000,
        ended_at=None,
        reason=None,
        opening="Star",
        detail=None,
    )
    assert before == PairedGame(
        id=5,
        round=2,
        black_id=1,
        white_id=2,
        black_label="1800?",
        white_label="1750",
        started_at=3_600,
        ended_at=3_700,
        reason="abort",
        opening="",
        detail={"game": 5},
    )
    assert [game.id for game in await history.pairings.games("9x9", 2, before=5)] == [3, 2]
    assert [game.id for game in await history.pairings.games("9x9", 9, before=3)] == [2, 1]
    assert [game.id for game in await history.pairings.games("19x19", 9)] == [4]
    with pytest.raises(Refused, match="There is no venue"):
        await history.pairings.games("8x8", 2)


async def test_rounds_newest_first_in_portions(history: History) -> None:
    assert await history.pairings.decided("9x9", 9) == [
        PairedRound(id=2, number=2, at=600, policy="rolling", method="birk", inputs="[]", sits_out={}, notes=["late"]),
        PairedRound(
            id=1, number=1, at=500, policy="rolling", method="birk", inputs="[1,2]", sits_out={"gamma": "odd"}, notes=[]
        ),
    ]
    assert [row.id for row in await history.pairings.decided("9x9", 1)] == [2]
    assert [row.id for row in await history.pairings.decided("9x9", 9, before=2)] == [1]
    with pytest.raises(Refused, match="There is no venue"):
        await history.pairings.decided("8x8", 2)


async def test_a_round_says_what_its_pairs_were_worth(history: History, history_database: Location) -> None:
    assert (await history.pairings.round(1)).total is None
    worth = RoundAdded(4, 1, 3, 700, "rolling", "information", "{}", "1", "[]", "{}", "[]", 2**40)
    put(history_database, [worth])
    assert (await history.pairings.round(4)).total == 2**40


async def test_who_was_signed_in_when(history: History, history_database: Location) -> None:
    put(history_database, [
        ConnectionOpened(3, 1, 1, "", "", 600), ConnectionOpened(4, 2, 1, "", "", 610),
        ConnectionOpened(5, 1, 1, "", "", 700), ConnectionClosed(800, "", 5), ConnectionOpened(6, 1, 3, "", "", 900),
    ])  # fmt: skip
    assert await history.bots.connection_spans("9x9", [2, 1, 1, 3, 7], 450, 899) == [
        ConnectionSpan(version_id=1, opened_at=400, closed_at=450),
        ConnectionSpan(version_id=1, opened_at=600, closed_at=None),
        ConnectionSpan(version_id=1, opened_at=700, closed_at=800),
        ConnectionSpan(version_id=2, opened_at=410, closed_at=None),
    ]
    assert await history.bots.connection_spans("9x9", [1], 451, 650) == [
        ConnectionSpan(version_id=1, opened_at=600, closed_at=None)
    ]
    assert await history.bots.connection_spans("9x9", [], 0, 1_000) == []
    many = await history.bots.connection_spans("9x9", range(1, 2_000), 0, 1_000)
    assert [span.version_id for span in many] == [1, 1, 1, 2, 3]


async def test_bots_that_are_suspended(history: History, history_database: Location) -> None:
    assert [bot.suspended for bot in await history.bots.page()] == [[], [], []]
    put(history_database, [
        SuspensionNow(2, 1, 5, 1, "game 9: lost on time", 77), SuspensionNow(1, 1, 6, 1, "game 3: away", 78),
        SuspensionNow(1, 2, 2, 0, "game 2: away", 79),
    ])  # fmt: skip
    assert {bot.name: bot.suspended for bot in await history.bots.page()} == {
        "alpha": [
            Suspended(venue="9x9", version="alpha", spoilt=6, reason="game 3: away", at=78),
            Suspended(venue="19x19", version="alpha", spoilt=5, reason="game 9: lost on time", at=77),
        ],
        "Beta": [],
        "gamma": [],
    }
