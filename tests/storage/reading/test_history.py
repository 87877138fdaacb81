"""The read side: every answer on a small known history, in one moment, by indexes."""

from __future__ import annotations

import operator
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from sqlalchemy import delete, event
from support.storage.storage_sample import games, move, people, put, query, unexpected, version

from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.games import Game, GameChange, Pairing
from cgos_protocol.api.people import Account
from cgos_protocol.errors import Refused, StoreError
from cgos_server.storage import tables
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.answers import (
    BotRow,
    ChangeRow,
    MoveRow,
    StandingRow,
    TokenRow,
    VenueRow,
)
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    GameAdded,
    GameEnded,
    LedgerAdded,
    RatingMoved,
    RatingNow,
)


@pytest.fixture
async def history(history_database: Location) -> AsyncIterator[History]:
    async with History(history_database) as opened:
        yield opened


def ids(rows: list[Game]) -> list[int]:
    return [row.id for row in rows]


async def test_venues(history: History) -> None:
    assert await history.server.venues() == [
        VenueRow(id=1, name="9x9", fixed={"size": 9}, created_at=100),
        VenueRow(id=2, name="19x19", fixed={"size": 19}, created_at=101),
    ]


async def test_standings(history: History) -> None:
    assert await history.ratings.standings("9x9") == [
        StandingRow(
            rank=1,
            system="cgos-elo",
            version="Beta",
            mean=1_780.0,
            spread=96.0,
            half_width=None,
            games=2,
            provisional=False,
            anchor=True,
            last_game=5,
            last_game_at=3_700,
            seq=4,
        ),
        StandingRow(
            rank=2,
            system="cgos-elo",
            version="alpha",
            mean=1_770.0,
            spread=96.0,
            half_width=None,
            games=2,
            provisional=True,
            anchor=False,
            last_game=5,
            last_game_at=3_700,
            seq=4,
        ),
    ]
    assert await history.ratings.standings("9x9", "another") == []
    assert await history.ratings.standings("19x19") == []


async def test_a_standing_without_a_game_and_a_running_last_game(history_database: Location, history: History) -> None:
    store = await open_store(history_database, CommitListener(failed=unexpected, on_error=unexpected))
    await store.commit(
        [
            LedgerAdded(2, 1, 0, "enter", None, 1, None, None, None, 1_800.0),
            RatingNow(2, "cgos-elo", 1, 1_800.0, 150.0, 0, 1, 0, 1),
            RatingNow(2, "cgos-elo", 3, 1_500.0, 150.0, 0, 1, 0, 1),
        ]
    )
    await store.close()
    assert [(row.version, row.last_game, row.last_game_at) for row in await history.ratings.standings("19x19")] == [
        ("alpha", 4, 3_500),
        ("gamma", None, None),
    ]


async def test_games_newest_first_page_by_page(history: History) -> None:
    assert ids(await history.games.find(GameFilter(), 50)) == [5, 4, 3, 2, 1]
    assert ids(await history.games.find(GameFilter(), 2)) == [5, 4]
    assert ids(await history.games.find(GameFilter(), 2, before=4)) == [3, 2]
    assert ids(await history.games.find(GameFilter(), 2, before=2)) == [1]
    assert ids(await history.games.find(GameFilter(venue="9x9"), 50)) == [5, 3, 2, 1]
    assert ids(await history.games.find(GameFilter(venue="19x19", bot="alpha"), 50)) == [4]
    assert ids(await history.games.find(GameFilter(bot="Beta"), 3)) == [5, 4, 3]
    assert ids(await history.games.find(GameFilter(bot="Beta"), 50, before=3)) == [2, 1]
    assert await history.games.find(GameFilter(bot="gamma"), 50) == []
    assert (await history.games.find(GameFilter(), 50))[-1] == Game(
        id=1,
        venue="9x9",
        black="alpha",
        white="Beta",
        black_label="1800?",
        white_label="1750",
        started_at=1_000,
        ended_at=1_500,
        result="B+3.5",
        reason="score",
        moves=3,
        corrected=None,
        opening="",
    )


async def test_games_of_a_bot_are_those_of_all_its_versions(history_database: Location, history: History) -> None:
    store = await open_store(history_database, CommitListener(failed=unexpected, on_error=unexpected))
    await store.commit([version(9, 1, "alpha-2", 0, "2"), GameAdded(6, 1, None, 9, 2, "", "", "{}", "", 5_000)])
    await store.close()
    assert ids(await history.games.find(GameFilter(bot="alpha"), 2)) == [6, 5]
    assert ids(await history.games.find(GameFilter(bot="alpha-2"), 50)) == [6]


async def test_running_games(history: History) -> None:
    running = await history.games.running()
    assert [(row.id, row.moves, row.result, row.reason, row.ended_at) for row in running] == [
        (4, 0, None, None, None),
        (3, 2, None, None, None),
    ]
    assert ids(await history.games.running("9x9")) == [3]


async def test_a_game_with_everything_about_it(history: History) -> None:
    detail = await history.games.detail(1)
    assert detail.game == Game(
        id=1,
        venue="9x9",
        black="alpha",
        white="Beta",
        black_label="1800?",
        white_label="1750",
        started_at=1_000,
        ended_at=1_500,
        result="B+3.5",
        reason="score",
        moves=3,
        corrected=None,
        opening="",
    )
    assert (detail.terms, detail.start, detail.winner, detail.margin2) == ({"venue": 1}, None, "black", 7)
    assert detail.detail == "counted"
    assert detail.pairing == Pairing(
        game=1,
        round=1,
        black="alpha",
        white="Beta",
        high="alpha",
        low="Beta",
        reason="reason 1",
        colors="colors 1",
        detail={"game": 1},
    )
    assert [(row.ply, row.move) for row in detail.moves] == [(1, "E5"), (2, "D4"), (3, "PASS")]
    assert detail.moves[1] == MoveRow(
        ply=2,
        move="D4",
        main_us=59_999_998,
        period_us=2,
        quota=5,
        bank_us=7,
        used_us=1_002,
        at=1_700_000_000_002,
        analysis='{"winrate":1e999}',
    )
    assert detail.moves[0].analysis is None
    assert detail.ratings == [
        GameChange(
            system="cgos-elo",
            seq=3,
            version="alpha",
            before_mean=1_800.0,
            before_spread=150.0,
            before_half_width=None,
            after_mean=1_860.0,
            after_spread=120.0,
            after_half_width=None,
            games=1,
        ),
        GameChange(
            system="cgos-elo",
            seq=3,
            version="Beta",
            before_mean=1_750.0,
            before_spread=150.0,
            before_half_width=None,
            after_mean=1_690.0,
            after_spread=120.0,
            after_half_width=None,
            games=1,
        ),
    ]


async def test_games_without_an_end_or_a_result(history: History) -> None:
    running, aborted = await history.games.detail(3), await history.games.detail(5)
    assert (running.winner, running.game.result, running.ratings, len(running.moves)) == (None, None, [], 2)
    assert (aborted.winner, aborted.game.result, aborted.game.reason, aborted.ratings) == (None, "Abort", "abort", [])


async def test_rating_history_says_which_game_changed_what(history: History) -> None:
    assert await history.changes.latest("alpha", "9x9") == [
        ChangeRow(
            system="cgos-elo",
            seq=1,
            at=900,
            kind="enter",
            game=None,
            opponent=None,
            score=None,
            before_mean=1_800.0,
            before_spread=150.0,
            before_half_width=None,
            after_mean=1_800.0,
            after_spread=150.0,
            after_half_width=None,
            games=0,
            refit=None,
        ),
        ChangeRow(
            system="cgos-elo",
            seq=3,
            at=1_500,
            kind="game",
            game=1,
            opponent="Beta",
            score=1.0,
            before_mean=1_800.0,
            before_spread=150.0,
            before_half_width=None,
            after_mean=1_860.0,
            after_spread=120.0,
            after_half_width=None,
            games=1,
            refit=None,
        ),
        ChangeRow(
            system="cgos-elo",
            seq=4,
            at=2_500,
            kind="game",
            game=2,
            opponent="Beta",
            score=0.0,
            before_mean=1_860.0,
            before_spread=120.0,
            before_half_width=None,
            after_mean=1_770.0,
            after_spread=96.0,
            after_half_width=None,
            games=2,
            refit=None,
        ),
    ]
    assert [point.seq for point in await history.changes.latest("alpha", "9x9", limit=2)] == [3, 4]
    assert [point.score for point in await history.changes.latest("Beta", "9x9")] == [0.0, 1.0]
    assert await history.changes.latest("gamma", "9x9") == []
    assert await history.changes.latest("alpha", "19x19") == []


async def test_a_change_by_a_game_of_others_names_no_opponent(history_database: Location, history: History) -> None:
    store = await open_store(history_database, CommitListener(failed=unexpected, on_error=unexpected))
    await store.commit([RatingMoved(1, "whole", 3, 3, 1.0, 1.0, 2.0, 1.0, 0)])
    await store.close()
    [point] = await history.changes.latest("gamma", "9x9")
    assert (point.kind, point.game, point.opponent, point.score) == ("game", 1, None, None)


async def test_bots_page_by_page(history: History) -> None:
    whole = await history.bots.page()
    assert [bot.name for bot in whole] == ["alpha", "Beta", "gamma"], "capitals do not matter"
    for limit in (1, 2, 3):
        bots, after = [], ""
        while page := await history.bots.page(limit, after):
            assert len(page) <= limit
            bots += page
            after = page[-1].name
        assert bots == whole
    assert await history.bots.page(9, "GAMMA") == []


async def test_bots_accounts_and_tokens(history: History) -> None:
    rest = {"reason": "", "family": None, "suspended": [], "until": None, "paused": False, "owner": None}
    assert await history.bots.page() == [
        BotRow(
            id=number,
            name=name,
            state=state,
            created_at=200 + number,
            versions=[name],
            tokens=tokens,
            last_seen_at=last_seen,
            signed_in=name == "Beta",
            **rest,
        )
        for number, name, state, tokens, last_seen in (
            (1, "alpha", "active", 1, 450),
            (2, "Beta", "active", 0, 410),
            (3, "gamma", "pending", 0, None),
        )
    ]
    assert await history.people.accounts() == [Account(id=1, name="Olive", admin=True, state="active", created_at=102)]
    assert await history.bots.tokens("alpha") == [
        TokenRow(id=1, label="home", created_at=300, revoked_at=None),
        TokenRow(id=2, label="away", created_at=301, revoked_at=310),
    ]


async def test_a_pairing_pass(history: History) -> None:
    recorded = await history.pairings.round(1)
    assert (recorded.venue, recorded.number, recorded.at) == ("9x9", 1, 500)
    assert (recorded.policy, recorded.method, recorded.seed) == (
        "rolling",
        "birk",
        "42",
    )
    assert (recorded.options, recorded.inputs, recorded.sits_out, recorded.notes) == (
        {"formula": "a"},
        [1, 2],
        {"gamma": "odd"},
        [],
    )
    assert [(pair.game, pair.black, pair.white, pair.high, pair.low) for pair in recorded.pairings] == [
        (1, "alpha", "Beta", "alpha", "Beta"),
        (2, "Beta", "alpha", "alpha", "Beta"),
    ]


async def test_the_ledger_by_names(history: History) -> None:
    rows = await history.ledger.named("9x9", after=1)
    assert rows == [
        LedgerEntry(
            seq=2, at=900, kind="enter", game=None, version="Beta", black=None, white=None, score2=None, value=1_750.0
        ),
        LedgerEntry(
            seq=3,
            at=1_500,
            kind="game",
            game=1,
            version=None,
            black="alpha",
            white="Beta",
            score2=2,
            value=None,
            digest=f"{-77:#018x}",
        ),
        LedgerEntry(
            seq=4, at=2_500, kind="game", game=2, version=None, black="Beta", white="alpha", score2=2, value=None
        ),
    ]
    assert await history.ledger.named("9x9", after=1, limit=1) == rows[:1]


async def test_counts(history: History) -> None:
    counts = await history.server.counts()
    assert (counts.bots, counts.versions, counts.running) == (3, 3, 2)
    assert counts.ended == {"score": 1, "resignation": 1, "abort": 1}
    assert counts.moves == 6
    assert counts.created_at > 1_600_000_000_000


async def test_counts_of_an_empty_database(database: Location) -> None:
    async with History(database) as history:
        counts = await history.server.counts()
    assert (counts.bots, counts.running, counts.ended, counts.moves) == (0, 0, {}, 0)


async def test_answers_are_one_call_away_from_json(history: History) -> None:
    text = msgspec.json.encode(
        [await history.games.detail(1), await history.ratings.standings("9x9"), await history.server.counts()]
    )
    game, standings, counts = msgspec.json.decode(text)
    assert game["game"]["black"] == "alpha"
    assert game["moves"][1]["move"] == "D4"
    assert standings[0]["anchor"] is True
    assert counts["ended"]["score"] == 1


@pytest.mark.parametrize(
    ("method", "arguments", "sentence"),
    [
        ("ratings.standings", ("7x7",), "There is no venue '7x7'. The venues are 19x19, 9x9."),
        ("games.find", (GameFilter(venue="7x7"), 50), "no venue"),
        ("games.find", (GameFilter(bot="nobody"), 50), "There is no bot 'nobody'"),
        ("games.running", ("7x7",), "no venue"),
        ("games.detail", (99,), "There is no game 99"),
        ("changes.latest", ("nobody", "9x9"), "There is no version 'nobody'"),
        ("changes.latest", ("alpha", "7x7"), "no venue"),
        ("bots.tokens", ("nobody",), "There is no bot 'nobody'"),
        ("pairings.round", (99,), "There is no round 99"),
        ("ledger.named", ("7x7",), "no venue"),
    ],
)
async def test_what_is_unknown_is_refused_in_a_sentence(
    history: History, method: str, arguments: tuple[Any, ...], sentence: str
) -> None:
    with pytest.raises(Refused) as refusal:
        await operator.attrgetter(method)(history)(*arguments)
    assert sentence in refusal.value.sentence


async def test_no_venues_yet(database: Location) -> None:
    async with History(database) as history:
        assert await history.server.venues() == []
        with pytest.raises(Refused, match="There are no venues yet"):
            await history.ratings.standings("9x9")


async def test_no_database_is_a_store_error(tmp_path: Path) -> None:
    async with History(tmp_path / "cgos.sqlite") as history:
        with pytest.raises(StoreError, match="there is no database at"):
            await history.server.venues()
    assert list(tmp_path.iterdir()) == []


async def test_another_file_is_a_store_error(tmp_path: Path) -> None:
    path = tmp_path / "cgos.sqlite"
    path.write_text("These are not the tables you are looking for. " * 50)
    async with History(path) as history:
        with pytest.raises(StoreError, match="could not be read"):
            await history.server.venues()


async def test_one_answer_shows_one_moment(history_database: Location, history: History) -> None:
    """A game that ends between two of an answer's questions is unfinished in both."""
    await history.server.venues()  # a new connection's own questions are not an answer's
    questions: list[str] = []

    def end_the_game(*arguments: Any) -> None:
        if not arguments[2].startswith("SELECT games"):
            return
        questions.append(arguments[2])
        if len(questions) == 2:
            put(history_database, [move(3, 3), GameEnded(9_000, 1, "time", None, "", "W+Time", 2, 2, 3)])

    event.listen(history.source.engine.sync_engine, "before_cursor_execute", end_the_game)
    detail = await history.games.detail(3)
    assert (detail.game.moves, detail.winner, len(detail.moves)) == (2, None, 2)
    assert len(questions) == 2
    later = await history.games.detail(3)
    assert (later.game.moves, later.winner, len(later.moves)) == (3, "white", 3)


async def test_reading_while_a_server_writes(history_database: Location, history: History) -> None:
    store = await open_store(history_database, CommitListener(failed=unexpected, on_error=unexpected))
    for ply in range(1, 20):
        await store.commit([move(4, ply)])
        [game] = await history.games.running("19x19")
        assert game.moves == ply
    await store.close()


async def test_reading_cannot_write(history: History) -> None:
    with pytest.raises(StoreError, match=r"read-?only"):
        async with history.source.snapshot() as read:
            await read(cast(Any, delete(tables.bots)))


async def test_numbers_beyond_what_any_game_has(history: History) -> None:
    assert ids(await history.games.find(GameFilter(), 50, before=2**63 - 1)) == [5, 4, 3, 2, 1]
    assert await history.ledger.named("9x9", after=2**40) == []
    for question in (history.games.detail, history.pairings.round):
        with pytest.raises(Refused, match=f"{2**63 - 1}"):
            await question(2**63 - 1)


async def test_names_sort_by_their_bytes_wherever_the_database_was_made(history: History) -> None:
    assert [bot.name for bot in await history.bots.page()] == ["alpha", "Beta", "gamma"]
    assert [row.version for row in await history.ratings.standings("9x9")] == ["Beta", "alpha"]


def test_the_sample_is_whole(sqlite_database: Path) -> None:
    put(sqlite_database, [*people(), *games()])
    assert query(sqlite_database, "PRAGMA foreign_key_check") == []
    assert query(sqlite_database, "PRAGMA integrity_check") == [("ok",)]
