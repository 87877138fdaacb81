"""The store's questions and promises, the same on each database."""

from __future__ import annotations

import asyncio
from typing import get_args

import pytest
from support.storage.even import even
from support.storage.storage_sample import games, move, people, query, refits, unexpected, version

from cgos_protocol.clock import ClockState
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage.location import Location
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.answers import SavedState, TokenRow, VenueRow
from cgos_server.storage.reading.stored import (
    BotLogin,
    Counted,
    FirstRepeat,
    Half,
    Meeting,
    NextIds,
    Owner,
    Shown,
    StoredMove,
    StoredRefit,
    StoredSuspension,
    StoredVersion,
)
from cgos_server.storage.sqlite.connections import Durability
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener
from cgos_server.storage.writing.records import (
    BlackTold,
    BotAdded,
    BotFamily,
    BotState,
    BuildSeen,
    ConnectionClosed,
    ConnectionOpened,
    EventAdded,
    EventGame,
    GameAdded,
    GameEnded,
    LedgerAdded,
    MoveAdded,
    RatingNow,
    StateSaved,
    SuspensionNow,
    VersionDescribed,
    WhiteTold,
)


@pytest.fixture
async def full(store: Store) -> Store:
    """The store with the sample in it."""
    await store.commit([*people(), *games()])
    return store


async def test_a_new_database_is_empty(store: Store) -> None:
    assert await store.history.server.venues() == []
    assert await store.history.server.next_ids() == NextIds._make(1 for _ in NextIds._fields)
    assert await store.history.bots.login("alpha") is None
    assert await store.history.bots.name_taken("alpha") is None
    assert await store.history.games.unfinished() == []
    assert await store.history.bots.labeled(1, "") is None
    assert await store.history.server.left_open() == {}
    assert await store.history.games.untold(1, 1, 0) == []
    assert await store.history.games.stored(1) is None
    assert await store.history.games.recent(1, 10) == []
    assert await store.history.games.begun(1, 1, 0) == 0
    assert await store.history.ledger.entries(1) == []
    assert await store.history.pairings.meetings(1) == []
    assert await store.history.pairings.last_round(1) == 0
    assert await store.history.bots.version_names() == {}
    assert await store.history.ratings.last_published(1) == {}
    assert await store.history.ratings.shown(1, "bayes") == {}
    assert await store.history.refits.state(1, "bayes") is None
    assert await store.history.refits.after(1, "bayes") == []
    assert await store.history.ledger.digests(1) == []
    assert await store.history.ledger.counted(1) is None
    assert await store.history.ledger.first_repeat(1, 1, 2, 3) is None
    assert await store.history.bots.names() == []
    assert await store.history.bots.of_versions() == {}
    assert store.healthy
    assert store.pending == 0


async def test_what_a_sign_in_needs(full: Store) -> None:
    assert await full.history.bots.login("alpha") == BotLogin(
        1, 1, "alpha", "hash-alpha", "active", "", frozenset({"d1"})
    )
    assert await full.history.bots.login("Beta") == BotLogin(2, 2, "Beta", "hash-Beta", "active", "", frozenset())
    assert await full.history.bots.login("beta") is None
    assert await full.history.bots.name_taken("beta") == "Beta"
    assert await full.history.bots.name_taken("olive") == "Olive"
    assert await full.history.bots.name_taken("nobody") is None
    assert await full.history.bots.name_taken("beta-2") is None
    await full.commit([BotState("disabled", "asked for it", None, 2), version(9, 2, "Beta-2", 900, "2")])
    login = await full.history.bots.login("Beta")
    assert login is not None
    assert (login.state, login.reason, login.version_id) == ("disabled", "asked for it", 2)
    assert await full.history.bots.name_taken("beta-2") == "Beta-2"
    assert await full.history.bots.of_versions() == {1: 1, 2: 2, 3: 3, 9: 2}


async def test_versions_and_what_they_say_of_themselves(full: Store) -> None:
    assert await full.history.bots.labeled(2, "") == StoredVersion(2, "Beta", "", "Beta engine", "", "author of Beta")
    assert await full.history.bots.labeled(2, "2") is None
    await full.commit(
        [version(9, 2, "Beta-2", 900, "2"), VersionDescribed("Beta 2.0", '{"visits":100}', "somebody else", 9)]
    )
    assert await full.history.bots.labeled(2, "2") == StoredVersion(
        9, "Beta-2", "2", "Beta 2.0", '{"visits":100}', "somebody else"
    )
    assert await full.history.bots.labeled(1, "2") is None


async def test_accounts_and_tokens(full: Store) -> None:
    assert await full.history.people.owner("Olive") == Owner(1, "Olive", "hash-o", True, "active")
    assert await full.history.people.owner("olive") is None
    assert await full.history.bots.tokens("alpha") == [
        TokenRow(id=1, label="home", created_at=300, revoked_at=None),
        TokenRow(id=2, label="away", created_at=301, revoked_at=310),
    ]
    assert await full.history.bots.tokens("Beta") == []


async def test_numbers_names_and_venues(full: Store) -> None:
    assert await full.history.server.next_ids() == NextIds(
        owner=2, bot=4, version=4, token=3, connection=3, round=4, game=6, access=1, webhook=1, event=1, question=1
    )
    assert await full.history.bots.version_names() == {1: "alpha", 2: "Beta", 3: "gamma"}
    assert await full.history.server.venues() == [
        VenueRow(id=1, name="9x9", fixed={"size": 9}, created_at=100),
        VenueRow(id=2, name="19x19", fixed={"size": 19}, created_at=101),
    ]
    assert [await full.history.pairings.last_round(venue) for venue in (1, 2, 3)] == [2, 1, 0]


async def test_unfinished_games_come_with_their_moves_and_clocks(full: Store) -> None:
    third, fourth = await full.history.games.unfinished()
    assert (third.id, third.venue_id, third.black, third.white) == (3, 1, "alpha", "Beta")
    assert (third.black_id, third.white_id, third.black_label, third.white_label) == (1, 2, "1800?", "1750")
    assert (third.terms, third.start, third.started_at) == ('{"venue":1}', "", 3_000)
    assert third.moves == (
        StoredMove("C3", ClockState(59_999_999, 1, 5, 7)),
        StoredMove("G7", ClockState(59_999_998, 2, 5, 7)),
    )
    assert (third.result, third.ended_at, third.black_told, third.white_told) == (None, None, 2, 2)
    assert (third.winner, third.reason, third.plies, third.why) == (None, None, None, "reason 3")
    assert (fourth.id, fourth.black, fourth.white, fourth.moves) == (4, "Beta", "alpha", ())


async def test_moves_come_in_the_order_of_play(full: Store) -> None:
    for ply in (12, 10, 11, 3, 9):
        await full.commit([move(4, ply, f"P{ply}")])
    [game] = [game for game in await full.history.games.unfinished() if game.id == 4]
    assert [stored.move for stored in game.moves] == ["P3", "P9", "P10", "P11", "P12"]


async def test_who_has_not_heard_the_end_of_a_game(full: Store) -> None:
    [game] = await full.history.games.untold(1, 1, 2_500)
    assert (game.id, game.result, game.detail, game.ended_at) == (2, "B+Resign", "", 2_500)
    assert (game.black_told, game.white_told) == (2, 0)
    assert [stored.move for stored in game.moves] == ["E5"]
    assert (game.winner, game.reason, game.plies, game.why) == (0, "resignation", 1, "reason 2")
    assert await full.history.games.untold(1, 1, 2_501) == []
    assert await full.history.games.untold(1, 2, 0) == []
    assert await full.history.games.untold(2, 1, 0) == []
    await full.commit([WhiteTold(1, 2)])
    [still] = await full.history.games.untold(1, 1, 0)
    assert still.white_told == 1
    await full.commit([WhiteTold(2, 2)])
    assert await full.history.games.untold(1, 1, 0) == []


async def test_untold_games_come_in_the_order_of_their_ends_on_either_side(full: Store) -> None:
    await full.commit([GameEnded(1_900, 1, "time", None, "", "W+Time", 1, 2, 3)])
    assert [game.id for game in await full.history.games.untold(1, 1, 0)] == [3, 2]
    assert [game.id for game in await full.history.games.untold(1, 1, 1_901)] == [2]
    await full.commit([BlackTold(2, 3)])
    assert [game.id for game in await full.history.games.untold(1, 1, 0)] == [2]


async def test_of_many_untold_games_the_latest_are_told(full: Store) -> None:
    for game in range(10, 50):
        pair = (1, 2) if game % 2 else (2, 1)
        await full.commit([GameAdded(game, 1, None, *pair, "", "", "{}", "", game), move(game, 1, f"P{game}")])
        await full.commit([GameEnded(9_000 - game, 1, "time", None, "", "W+Time", 0, 0, game)])
    untold_games = await full.history.games.untold(1, 1, 0)
    assert [game.id for game in untold_games] == list(range(41, 9, -1))
    assert all([stored.move for stored in game.moves] == [f"P{game.id}"] for game in untold_games)
    assert untold_games[0].why == ""


async def test_a_game_of_an_event_says_so(full: Store) -> None:
    await full.commit([EventAdded(7, "spring", 1, 5_000, "running"), EventGame(3, 7, 2, 1)])
    third = await full.history.games.stored(3)
    assert third is not None
    assert (third.event, third.event_round) == ("spring", 2)
    unfinished = {game.id: (game.event, game.event_round) for game in await full.history.games.unfinished()}
    assert unfinished.pop(3) == ("spring", 2)
    assert set(unfinished.values()) == {("", 0)}
    first = await full.history.games.stored(1)
    assert first is not None
    assert (first.event, first.event_round) == ("", 0)


async def test_one_game_running_or_ended(full: Store) -> None:
    first, third = await full.history.games.stored(1), await full.history.games.stored(3)
    assert first is not None
    assert third is not None
    assert (first.result, first.winner, first.reason, first.plies) == ("B+3.5", 0, "score", 3)
    assert [stored.move for stored in first.moves] == ["E5", "D4", "PASS"]
    assert (third.result, len(third.moves)) == (None, 2)
    assert await full.history.games.stored(99) is None


async def test_recent_games_of_a_venue(full: Store) -> None:
    assert [(game.id, game.result, game.moves) for game in await full.history.games.recent(1, 10)] == [
        (1, "B+3.5", ()),
        (2, "B+Resign", ()),
        (5, "Abort", ()),
    ]
    assert [game.id for game in await full.history.games.recent(1, 2)] == [2, 5]
    assert await full.history.games.recent(2, 10) == []


async def test_connections_whose_end_nobody_wrote_down(full: Store) -> None:
    """The server lived at least until the last thing that it wrote."""
    before = await full.history.server.left_open()
    opened = [ConnectionOpened(number, 1, 1, "::1", "", 2 * 10**12) for number in (91, 92, 93)]
    await full.commit([*opened, ConnectionClosed(10**13, "lost", 92)])
    assert await full.history.server.left_open() == dict.fromkeys([*before, 91, 93], 2 * 10**12)
    (running, *_) = await full.history.games.unfinished()
    await full.commit([MoveAdded(running.id, len(running.moves) + 1, "pass", 1, 0, 0, 0, 1, 4 * 10**12)])
    assert await full.history.server.left_open() == dict.fromkeys([*before, 91, 93], 4 * 10**12)


async def test_games_begun_since_then(full: Store) -> None:
    assert await full.history.games.begun(1, 1, 0) == 4
    assert await full.history.games.begun(1, 2, 2_000) == 3
    assert await full.history.games.begun(1, 1, 3_601) == 0
    assert await full.history.games.begun(2, 1, 0) == 1
    assert await full.history.games.begun(1, 3, 0) == 0


async def test_the_ledger(full: Store) -> None:
    entries = await full.history.ledger.entries(1)
    assert entries == [
        Entry(1, Kind.ENTER, version=1, value=1_800.0, at=900),
        Entry(2, Kind.ENTER, version=2, value=1_750.0, at=900),
        Entry(3, Kind.GAME, black=1, white=2, score2=2, at=1_500),
        Entry(4, Kind.GAME, black=2, white=1, score2=2, at=2_500),
    ]
    assert all(type(entry.kind) is Kind for entry in entries)
    assert await full.history.ledger.entries(1, after=3) == entries[3:]
    assert await full.history.ledger.entries(1, after=1, limit=2) == entries[1:3]
    assert await full.history.ledger.entries(2) == []
    await full.commit(refits())
    assert (await full.history.ledger.entries(1, after=4)) == [
        Entry(5, Kind.GAME, black=1, white=2, score2=2, repeat=True, at=4_500),
        Entry(6, Kind.CORRECTION, black=1, white=2, was2=2, at=5_000),
        Entry(7, Kind.CORRECTION, black=1, white=2, score2=2, repeat=True, at=5_000),
        Entry(8, Kind.LINK, version=2, sd=40.0, other=1, at=5_100, surely=True),
    ]
    assert [type(entry.repeat) for entry in await full.history.ledger.entries(1, after=3, limit=2)] == [bool, bool]


async def test_what_a_rating_system_starts_from(full: Store) -> None:
    await full.commit(refits())
    assert await full.history.ratings.last_published(1) == {"cgos-elo": 4, "bayes": 5}
    assert await full.history.ratings.shown(1, "cgos-elo") == {
        1: Shown(1_770.0, 96.0, True, False, None, None),
        2: Shown(1_780.0, 96.0, False, True, None, None),
    }
    lower, upper, _ = even(1_760.0, 210.0).values()
    assert (await full.history.ratings.shown(1, "bayes"))[2] == Shown(1_760.0, 210.0, True, False, lower, upper)
    assert await full.history.ratings.shown(1, "glicko2") == {}
    assert await full.history.refits.state(1, "bayes") == SavedState(seq=5, refit=2, at=4_600, state=bytes(range(256)))
    assert await full.history.refits.state(1, "cgos-elo") is None
    assert await full.history.refits.state(2, "bayes") is None
    recorded = [
        StoredRefit(1, 3, 0, 4, False, '{"draw":0.1}', "b1"),
        StoredRefit(2, 4, 1, 4, True, '{"draw":0.2}', "b1"),
    ]
    assert await full.history.refits.after(1, "bayes") == recorded
    assert [type(refit.cold) for refit in await full.history.refits.after(1, "bayes")] == [bool, bool]
    assert await full.history.refits.after(1, "bayes", after=1) == recorded[1:]
    assert await full.history.refits.after(1, "cgos-elo") == await full.history.refits.after(2, "bayes") == []


async def test_what_a_game_counts_as_now(full: Store) -> None:
    assert await full.history.ledger.counted(1) == Counted(3, 2, -77, repeat=False, ruled=False)
    assert await full.history.ledger.counted(2) == Counted(4, 2, None, repeat=False, ruled=False)
    assert await full.history.ledger.counted(3) is None
    assert await full.history.ledger.counted(2**40) is None
    before_corrections = refits()[:17]
    await full.commit(before_corrections)
    assert await full.history.ledger.counted(6) == Counted(5, 2, -77, repeat=True, ruled=False)
    assert await full.history.ledger.first_repeat(1, 1, 2, -77) == FirstRepeat(6, 2)
    await full.commit(refits()[17:])
    assert await full.history.ledger.counted(1) == Counted(3, None, -77, repeat=False, ruled=True)
    assert await full.history.ledger.counted(6) == Counted(5, 2, -77, repeat=False, ruled=False)
    assert await full.history.ledger.first_repeat(1, 1, 2, -77) is None
    # The latest correction counts, also for a game that had no entry of its own.
    await full.commit(
        [
            LedgerAdded(1, 9, 0, "correction", 1, None, 1, 2, 0, None),
            LedgerAdded(1, 10, 0, "correction", 5, None, 1, 2, 1, None),
        ]
    )
    assert await full.history.ledger.counted(1) == Counted(3, 0, -77, repeat=False, ruled=True)
    assert await full.history.ledger.counted(5) == Counted(None, 1, None, repeat=False, ruled=True)


async def test_games_played_before(full: Store) -> None:
    assert [row[1:] for row in await full.history.ledger.digests(1)] == [(1, 2, -77)]
    assert await full.history.ledger.first_repeat(1, 1, 2, -77) is None
    await full.commit(refits()[:17])
    again = LedgerAdded(1, 6, 0, "game", 3, None, 1, 2, 2, None, repeat=1, digest=-77)
    colors_changed = LedgerAdded(1, 7, 0, "game", 5, None, 2, 1, 2, None, digest=2**63 - 1)
    await full.commit([again, colors_changed])
    assert [row[1:] for row in await full.history.ledger.digests(1)] == [
        (1, 2, -77),
        (1, 2, -77),
        (1, 2, -77),
        (2, 1, 2**63 - 1),
    ]
    assert await full.history.ledger.first_repeat(1, 1, 2, -77) == FirstRepeat(6, 2)
    assert await full.history.ledger.first_repeat(1, 2, 1, -77) is None
    assert await full.history.ledger.first_repeat(2, 1, 2, -77) is None
    assert await full.history.ledger.first_repeat(1, 2, 1, 2**63 - 1) is None
    assert [row[1:] for row in await full.history.ledger.digests(2)] == []
    every = await full.history.ledger.digests(1)
    assert await full.history.ledger.digests(1, every[0][0], 2) == every[1:3]
    # What corrections have made of it is another game; who only took its place is still the same.
    await full.commit(
        [
            LedgerAdded(1, 8, 0, "correction", 1, None, 1, 2, None, None, was2=2),
            LedgerAdded(1, 9, 0, "correction", 6, None, 1, 2, 2, None, repeat=1),
            LedgerAdded(1, 10, 0, "correction", 5, None, 2, 1, 0, None, was2=2),
        ]
    )
    assert [row[1:] for row in await full.history.ledger.digests(1)] == [(1, 2, -77), (1, 2, -77)]


async def test_families(full: Store) -> None:
    await full.commit([version(9, 2, "Beta-2", 900, "2"), BotFamily(1, 2), BotFamily(1, 3), BotFamily(None, 3)])
    assert await full.history.bots.names() == [(1, "alpha", None), (2, "Beta", 1), (3, "gamma", None)]
    assert await full.history.bots.of_versions() == {1: 1, 2: 2, 3: 3, 9: 2}


async def test_meetings_leave_out_games_without_a_result(full: Store) -> None:
    assert sorted(await full.history.pairings.meetings(1)) == [Meeting(1, 2, 1), Meeting(2, 1, 1)]
    await full.commit([GameEnded(9_000, 1, "forfeit", None, "", "W+Forfeit", 2, 2, 3)])
    assert sorted(await full.history.pairings.meetings(1)) == [Meeting(1, 2, 2), Meeting(2, 1, 1)]
    await full.commit([GameEnded(9_000, None, "void", None, "", "Void", 2, 2, 4)])
    assert await full.history.pairings.meetings(2) == []


def opened(game: int, black: int, white: int, opening: str, venue: int = 1) -> GameAdded:
    return GameAdded(game, venue, None, black, white, "", "", "{}", "", 7_000 + game, opening)


async def test_latest_opponents_come_oldest_first(full: Store) -> None:
    await full.commit([opened(6, 3, 1, ""), opened(7, 2, 3, "", venue=2)])
    assert await full.history.pairings.recent_opponents(1, 100) == {1: [2, 2, 2, 2, 3], 2: [1, 1, 1, 1], 3: [1]}
    assert await full.history.pairings.recent_opponents(1, 2) == {1: [2, 3], 2: [1, 1], 3: [1]}
    assert await full.history.pairings.recent_opponents(2, 2) == {1: [2], 2: [1, 3], 3: [2]}
    assert await full.history.pairings.recent_opponents(3, 2) == {}


async def test_openings_that_were_not_played_with_either_color(full: Store) -> None:
    assert await full.history.pairings.halves(1) == []
    await full.commit(
        [
            opened(6, 2, 1, "Star"),
            opened(7, 2, 1, "Star"),
            opened(8, 1, 2, "Star"),
            opened(9, 1, 3, "Star"),
            opened(10, 3, 1, "Star"),
            opened(11, 3, 2, "Cross"),
            opened(12, 1, 2, "Cross", venue=2),
            opened(13, 1, 2, ""),
            GameEnded(9_000, 0, "resignation", None, "", "B+Resign", 2, 2, 6),
        ]
    )
    assert await full.history.pairings.halves(1) == [Half(2, 1, "Star", 1, 7_008), Half(3, 2, "Cross", 1, 7_011)]
    assert await full.history.pairings.halves(2) == [Half(1, 2, "Cross", 1, 7_012)]
    await full.commit(
        [
            GameEnded(9_000, None, "void", None, "", "Void", 2, 2, 9),
            GameEnded(9_000, None, "abort", None, "", "Abort", 2, 2, 11),
            GameEnded(9_000, 1, "time", None, "", "W+Time", 2, 2, 8),
        ]
    )
    assert await full.history.pairings.halves(1) == [Half(2, 1, "Star", 1, 7_008), Half(3, 1, "Star", 1, 7_010)]
    game = await full.history.games.stored(6)
    assert game is not None
    assert game.opening == "Star"


async def test_who_thinks_how_long(full: Store) -> None:
    # Of the sample: game 1 has plies 1 to 3 (alpha, Beta, alpha), game 2 ply 1 (Beta); game 3 has not ended.
    assert await full.history.pairings.thinking(1, 100) == {1: 1_001.0 + 1_003.0, 2: (1_002.0 + 1_001.0) / 2}
    assert await full.history.pairings.thinking(1, 1) == {2: 1_001.0}
    assert await full.history.pairings.thinking(2, 100) == {}
    white_first = GameAdded(6, 1, None, 1, 2, "", "", "{}", '{"black":["E5"],"white":[],"to_play":1}', 7_000)
    ended = GameEnded(9_000, 0, "resignation", None, "", "B+Resign", 2, 2, 6)
    await full.commit([white_first, move(6, 1), move(6, 2), move(6, 3), ended])
    assert await full.history.pairings.thinking(1, 1) == {2: 1_001.0 + 1_003.0, 1: 1_002.0}


async def test_suspensions(full: Store) -> None:
    assert await full.history.pairings.suspensions(1) == []
    await full.commit([SuspensionNow(1, 2, 1, 0, "", 10), SuspensionNow(1, 1, 5, 1, "Lost on time.", 11)])
    await full.commit([SuspensionNow(1, 3, 0, 0, "", 12), SuspensionNow(2, 1, 0, 1, "By an operator.", 13)])
    assert await full.history.pairings.suspensions(1) == [
        StoredSuspension(1, 5, True, "Lost on time.", 11),
        StoredSuspension(2, 1, False, "", 10),
    ]
    assert [type(suspension.suspended) for suspension in await full.history.pairings.suspensions(1)] == [bool, bool]
    assert await full.history.pairings.suspensions(2) == [StoredSuspension(1, 0, True, "By an operator.", 13)]
    full.submit([SuspensionNow(1, 1, 6, 1, "Again.", 14)])
    await full.commit([SuspensionNow(1, 1, 0, 0, "", 15), SuspensionNow(1, 2, 2, 0, "", 16)])
    assert await full.history.pairings.suspensions(1) == [StoredSuspension(2, 2, False, "", 16)]


async def test_a_group_is_written_wholly_or_not_at_all(database: Location) -> None:
    failures: list[Exception] = []
    store = await open_store(database, CommitListener(failed=failures.append, on_error=unexpected))
    await store.commit(people())
    store.submit([BotAdded(7, "delta", "delta", "", "active", 0), version(7, 99, "delta", 0)])
    await store.close()
    assert len(failures) == 1  # bot 99 does not exist
    assert query(database, "SELECT name FROM bots WHERE id = 7") == []


async def test_the_newer_of_two_ratings_and_states_in_one_batch_stands(full: Store, database: Location) -> None:
    for seq in range(5, 100):
        full.submit(
            [RatingNow(1, "cgos-elo", 1, float(seq), 10.0, seq, 0, 0, seq), BotState(f"state {seq}", "", None, 1)]
        )
        full.submit([StateSaved(1, "bayes", seq, 0, seq, bytes([seq])), BuildSeen("b", f"text {seq}")])
    await full.commit([])
    assert await full.history.refits.state(1, "bayes") == SavedState(seq=99, refit=0, at=99, state=b"c")
    assert query(database, "SELECT id, text FROM builds") == [("b", "text 99")]
    await full.commit([StateSaved(1, "bayes", 100, 1, 0, b""), BuildSeen("b", "the same")])
    assert await full.history.refits.state(1, "bayes") == SavedState(seq=100, refit=1, at=0, state=b"")
    assert query(database, "SELECT id, text FROM builds") == [("b", "the same")]
    assert query(database, "SELECT mean, seq FROM ratings WHERE version_id = 1") == [(99.0, 99)]
    assert query(database, "SELECT state FROM bots WHERE id = 1") == [("state 99",)]


async def test_a_commit_is_seen_by_readers_when_it_is_told(full: Store) -> None:
    move_counts: list[int] = []

    async def look(ply: int) -> None:
        [game] = [game for game in await full.history.games.unfinished() if game.id == 4]
        move_counts.append(len(game.moves) - ply)

    async with asyncio.TaskGroup() as group:
        for ply in range(1, 30):
            full.submit([move(4, ply)], lambda ply=ply: group.create_task(look(ply)))  # type: ignore[misc]
            await asyncio.sleep(0)
        await full.commit([])
    assert len(move_counts) == 29
    assert min(move_counts) >= 0


@pytest.mark.parametrize("durability", get_args(Durability))
async def test_either_durability_commits(database: Location, durability: Durability) -> None:
    store = await open_store(database, CommitListener(failed=unexpected, on_error=unexpected), durability=durability)
    await store.commit(people())
    await store.close()
    assert query(database, "SELECT count(*) FROM bots") == [(3,)]


async def test_numbers_beyond_what_any_game_has(full: Store) -> None:
    assert await full.history.games.stored(2**31) is None
    assert await full.history.games.stored(2**63 - 1) is None


async def test_an_empty_group_is_committed_after_what_came_before(full: Store) -> None:
    """So whoever waits for it finds in the database what was submitted until then."""
    await full.commit([])
    full.submit([LedgerAdded(1, 8, 0, "unanchor", None, 1, None, None, None, None)])
    await full.commit([])
    assert [entry.seq for entry in await full.history.ledger.entries(1)][-1] == 8
    assert full.pending == 0
