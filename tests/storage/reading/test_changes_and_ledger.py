"""The read side's answers about ratings on a small known history: now and then, by games, refits and corrections."""

from __future__ import annotations

import operator
from collections.abc import AsyncIterator

import msgspec
import pytest
from support.storage.even import even
from support.storage.storage_sample import games, people, put, refits

from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.messages import VersionLink
from cgos_protocol.errors import Refused
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage import schema
from cgos_server.storage.location import Location
from cgos_server.storage.reading.answers import (
    ChangeRow,
    CorrectionRow,
    PublishedChange,
    PublishedPoint,
    PublishedRefit,
    RefitRow,
    SavedState,
    StandingRow,
    VersionGame,
)
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.stored import StoredRefit
from cgos_server.storage.writing.records import (
    BotFamily,
    BuildSeen,
    CorrectionAdded,
    GameAdded,
    GameEnded,
    LedgerAdded,
    RatingMoved,
    RatingNow,
)
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved


@pytest.fixture
def rated(database: Location) -> Location:
    """A closed database with the sample and its refits."""
    put(database, [*people(), *games(), *refits()])
    return database


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def to_read(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Location:
    """The same for all tests that only read."""
    location: Location = tmp_path_factory.mktemp("rated") / "cgos.sqlite"
    if request.param == "postgres":
        location = request.getfixturevalue("lasting_url")(empty=True)
    schema.prepare(location)
    put(location, [*people(), *games(), *refits()])
    return location


@pytest.fixture
async def history(to_read: Location) -> AsyncIterator[History]:
    async with History(to_read) as opened:
        yield opened


def brief(standings: list[StandingRow]) -> list[tuple[str, float, float, int, int]]:
    return [(row.version, row.mean, row.spread, row.games, row.seq) for row in standings]


async def test_standings_now_say_as_of_which_entry(history: History) -> None:
    assert await history.ratings.standings("9x9", "bayes") == [
        StandingRow(
            rank=1,
            system="bayes",
            version="alpha",
            mean=1_790.0,
            spread=210.0,
            **even(1_790.0, 210.0),
            games=3,
            provisional=True,
            anchor=False,
            last_game=6,
            last_game_at=4_500,
            seq=5,
            rank_lower=1,
            rank_upper=2,
            best=0.625,
            first_three=1.0,
        ),
        StandingRow(
            rank=2,
            system="bayes",
            version="Beta",
            mean=1_760.0,
            spread=210.0,
            **even(1_760.0, 210.0),
            games=3,
            provisional=True,
            anchor=False,
            last_game=6,
            last_game_at=4_500,
            seq=5,
            rank_lower=1,
            rank_upper=2,
            best=0.25,
            first_three=1.0,
        ),
    ]
    assert len(await history.ratings.standings("9x9")) == 4


async def test_standings_as_they_were_published(history: History) -> None:
    assert await history.ratings.standings("9x9", as_of=0) == []
    assert brief(await history.ratings.standings("9x9", "bayes", as_of=1)) == [("alpha", 1_800.0, 300.0, 0, 1)]
    assert brief(await history.ratings.standings("9x9", "bayes", as_of=2)) == [
        ("alpha", 1_800.0, 300.0, 0, 1),
        ("Beta", 1_750.0, 300.0, 0, 2),
    ]
    assert await history.ratings.standings("9x9", "bayes", as_of=3) == [
        StandingRow(
            rank=1,
            system="bayes",
            version="alpha",
            mean=1_850.0,
            spread=250.0,
            **even(1_850.0, 250.0),
            games=1,
            provisional=None,
            anchor=False,
            last_game=1,
            last_game_at=1_500,
            seq=3,
        ),
        StandingRow(
            rank=2,
            system="bayes",
            version="Beta",
            mean=1_700.0,
            spread=250.0,
            **even(1_700.0, 250.0),
            games=1,
            provisional=None,
            anchor=False,
            last_game=1,
            last_game_at=1_500,
            seq=3,
        ),
    ]
    # A refit after entry 4 comes after the change at 4.
    assert brief(await history.ratings.standings("9x9", "bayes", as_of=4)) == [
        ("alpha", 1_790.0, 210.0, 2, 4),
        ("Beta", 1_760.0, 210.0, 2, 4),
    ]
    for nothing_since in (5, 8):
        assert brief(await history.ratings.standings("9x9", "bayes", nothing_since)) == brief(
            await history.ratings.standings("9x9", "bayes")
        )
    both = await history.ratings.standings("9x9", as_of=4)
    assert [(row.system, row.mean) for row in both] == [
        ("bayes", 1_790.0),
        ("cgos-elo", 1_780.0),
        ("cgos-elo", 1_770.0),
        ("bayes", 1_760.0),
    ]
    # What has not changed since is known as it is now.
    assert [row.provisional for row in both] == [None, False, True, None]


async def test_refits_between_entries_count_only_from_then_on(rated: Location) -> None:
    """A later refit that moved one of them, and a refit so old that a later change counts."""
    put(
        rated,
        [
            RefitAdded(1, "bayes", 3, 5, 2, 6, 0, "{}", "b1", 2_800, 1),
            RefitMoved(1, "bayes", 1, 3, 6, 1_700.0, 200.0),
            RatingNow(1, "bayes", 1, 1_700.0, 200.0, 3, 0, 0, 6),
        ],
    )
    async with History(rated) as history:
        assert brief(await history.ratings.standings("9x9", "bayes", as_of=5)) == [
            ("alpha", 1_790.0, 210.0, 3, 5),
            ("Beta", 1_760.0, 210.0, 3, 5),
        ]
        assert brief(await history.ratings.standings("9x9", "bayes", as_of=7)) == [
            ("Beta", 1_760.0, 210.0, 3, 5),
            ("alpha", 1_700.0, 200.0, 3, 6),
        ]
        [last] = await history.changes.latest("alpha", "9x9", limit=1)
        assert (last.kind, last.seq, last.refit, last.games) == ("refit", 6, 3, 3)
        assert (last.before_mean, last.after_mean) == (1_790.0, 1_700.0)


async def test_who_was_an_anchor_then(rated: Location) -> None:
    put(
        rated,
        [
            LedgerAdded(1, 9, 6_000, "anchor", None, 1, None, None, None, 2_000.0, 20.0),
            LedgerAdded(1, 10, 6_100, "unanchor", None, 1, None, None, None, None),
            RatingMoved(1, "bayes", 9, 1, 1_790.0, 210.0, 1_999.0, 20.0, 3),
            RatingMoved(1, "bayes", 10, 1, 1_999.0, 20.0, 1_999.0, 25.0, 3),
            RatingNow(1, "bayes", 1, 1_999.0, 25.0, 3, 0, 0, 10),
        ],
    )
    async with History(rated) as history:
        anchors = {
            seq: [row.version for row in await history.ratings.standings("9x9", "bayes", seq) if row.anchor]
            for seq in (8, 9, 10)
        }
        assert anchors == {8: [], 9: ["alpha"], 10: []}
        [then] = [row for row in await history.ratings.standings("9x9", "bayes", 9) if row.anchor]
        assert (then.mean, then.spread, then.last_game, then.last_game_at) == (1_999.0, 20.0, None, None)
        [entry] = await history.ledger.named("9x9", after=8, limit=1)
        assert (entry.kind, entry.version, entry.value, entry.sd) == ("anchor", "alpha", 2_000.0, 20.0)


@pytest.mark.parametrize("entry", [-1, 9, 2**40])
async def test_an_entry_that_is_not_there_is_refused(history: History, entry: int) -> None:
    with pytest.raises(Refused, match=f"The ledger of 9x9 has no entry {entry}: its entries are 1 to 8"):
        await history.ratings.standings("9x9", as_of=entry)


async def test_a_ledger_without_entries(history: History) -> None:
    assert await history.ledger.last_entry("19x19") == 0
    assert await history.ratings.standings("19x19", as_of=0) == []
    with pytest.raises(Refused, match="it is still empty"):
        await history.ratings.standings("19x19", as_of=1)


async def test_changes_and_refits_in_one_order(history: History) -> None:
    points = await history.changes.latest("alpha", "9x9", system="bayes")
    assert [(point.seq, point.kind, point.refit, point.after_mean, point.games) for point in points] == [
        (1, "enter", None, 1_800.0, 0),
        (3, "game", None, 1_850.0, 1),
        (4, "game", None, 1_780.0, 2),
        (4, "refit", 1, 1_785.0, 2),
        (4, "refit", 2, 1_790.0, 2),
        (5, "game", None, 1_790.0, 3),
    ]
    refit = ChangeRow(
        system="bayes",
        seq=4,
        at=2_700,
        kind="refit",
        game=None,
        opponent=None,
        score=None,
        before_mean=1_785.0,
        before_spread=215.0,
        **even(1_785.0, 215.0, "before_"),
        after_mean=1_790.0,
        after_spread=210.0,
        **even(1_790.0, 210.0, "after_"),
        games=2,
        refit=2,
    )
    assert points[4] == refit
    assert [point.before_mean for point in points[1:]] == [point.after_mean for point in points[:-1]]
    for limit in range(1, 8):
        assert await history.changes.latest("alpha", "9x9", limit, "bayes") == points[-limit:]
    assert await history.changes.latest("alpha", "9x9", limit=0) == []


async def test_changes_under_all_systems(history: History) -> None:
    points = await history.changes.latest("alpha", "9x9")
    assert [(point.seq, point.system, point.kind) for point in points] == [
        (1, "bayes", "enter"),
        (1, "cgos-elo", "enter"),
        (3, "bayes", "game"),
        (3, "cgos-elo", "game"),
        (4, "bayes", "game"),
        (4, "cgos-elo", "game"),
        (4, "bayes", "refit"),
        (4, "bayes", "refit"),
        (5, "bayes", "game"),
    ]
    for limit in range(1, 10):
        assert await history.changes.latest("alpha", "9x9", limit) == points[-limit:]
    assert await history.changes.latest("alpha", "9x9", system="cgos-elo") == [
        point for point in points if point.system == "cgos-elo"
    ]
    assert await history.changes.latest("alpha", "9x9", system="another") == []


async def test_two_systems_with_refits(rated: Location) -> None:
    put(
        rated,
        [
            BuildSeen("b2", "another processor"),
            RefitAdded(1, "binned", 1, 4, 0, 4, 1, "{}", "b2", 2_650, 1),
            RefitMoved(1, "binned", 1, 1, 4, 1_700.0, 99.0),
        ],
    )
    async with History(rated) as history:
        refitted = [point for point in await history.changes.latest("alpha", "9x9") if point.kind == "refit"]
        assert [(point.system, point.refit) for point in refitted] == [("bayes", 1), ("binned", 1), ("bayes", 2)]
        # Before its first refit it had no rating under this system: nothing moved.
        assert (refitted[1].before_mean, refitted[1].after_mean, refitted[1].games) == (1_700.0, 1_700.0, 0)
        [row] = await history.refits.recorded("9x9", "binned")
        assert row.build == "another processor"


async def test_recorded_refits(history: History) -> None:
    first = RefitRow(
        system="bayes",
        number=1,
        included=3,
        base=0,
        applied=4,
        cold=False,
        notes={"draw": 0.1},
        build="Python, a processor",
        at=2_600,
        took_us=1_500,
    )
    second = RefitRow(
        system="bayes",
        number=2,
        included=4,
        base=1,
        applied=4,
        cold=True,
        notes={"draw": 0.2},
        build="Python, a processor",
        at=2_700,
        took_us=90_000,
    )
    assert await history.refits.recorded("9x9", "bayes") == [first, second]
    assert await history.refits.recorded("9x9", "bayes", limit=1) == [second]
    assert await history.refits.recorded("9x9", "cgos-elo") == await history.refits.recorded("19x19", "bayes") == []


async def test_who_succeeds_whom(history: History) -> None:
    (entry,) = await history.ledger.links("9x9")
    assert entry == Entry(8, Kind.LINK, version=2, sd=40.0, other=1, at=5_100, surely=True)
    assert await history.ledger.links("19x19") == []
    (link,) = await history.ledger.predecessors([1, 2])
    names = await history.bots.version_names()
    assert link == VersionLink(
        version=names[VersionId(2)], venue="9x9", predecessor=names[VersionId(1)], sd=40.0, surely=True, at=5_100
    )
    assert await history.ledger.predecessors([1, 10**6]) == await history.ledger.predecessors([]) == []


def point(version: int, mean: float, spread: float) -> PublishedPoint:
    """Of before both ends were stored."""
    lower, upper, _ = even(mean, spread).values()
    return PublishedPoint(version=VersionId(version), mean=mean, spread=spread, lower=lower, upper=upper)


async def test_all_that_a_replay_needs(history: History) -> None:
    entries = await history.ledger.entries("9x9")
    assert entries == [
        Entry(1, Kind.ENTER, version=1, value=1_800.0, at=900),
        Entry(2, Kind.ENTER, version=2, value=1_750.0, at=900),
        Entry(3, Kind.GAME, black=1, white=2, score2=2, at=1_500),
        Entry(4, Kind.GAME, black=2, white=1, score2=2, at=2_500),
        Entry(5, Kind.GAME, black=1, white=2, score2=2, repeat=True, at=4_500),
        Entry(6, Kind.CORRECTION, black=1, white=2, was2=2, at=5_000),
        Entry(7, Kind.CORRECTION, black=1, white=2, score2=2, repeat=True, at=5_000),
        Entry(8, Kind.LINK, version=2, sd=40.0, other=1, at=5_100, surely=True),
    ]
    assert [type(entry.repeat) for entry in entries] == [bool] * 8
    assert await history.ledger.entries("9x9", after=2, limit=3) == entries[2:5]
    assert await history.ledger.last_entry("9x9") == 8
    assert await history.refits.state("9x9", "bayes") == SavedState(seq=5, refit=2, at=4_600, state=bytes(range(256)))
    assert await history.refits.state("9x9", "cgos-elo") is None
    changes = await history.ledger.published("9x9", "bayes")
    assert [(change.seq, change.version, change.after_mean) for change in changes] == [
        (1, 1, 1_800.0),
        (2, 2, 1_750.0),
        (3, 1, 1_850.0),
        (3, 2, 1_700.0),
        (4, 1, 1_780.0),
        (4, 2, 1_770.0),
        (5, 1, 1_790.0),
        (5, 2, 1_760.0),
    ]
    lower, upper, _ = even(1_700.0, 250.0).values()
    assert changes[3] == PublishedChange(
        seq=3,
        version=2,
        before_mean=1_750.0,
        before_spread=300.0,
        after_mean=1_700.0,
        after_spread=250.0,
        games=1,
        after_lower=lower,
        after_upper=upper,
    )
    assert await history.ledger.published("9x9", "bayes", after=2, limit=1) == changes[2:4]
    assert await history.ledger.published("9x9", "bayes", after=5) == []
    refitted = await history.refits.published("9x9", "bayes")
    assert refitted == [
        PublishedRefit(
            refit=StoredRefit(1, 3, 0, 4, False, '{"draw":0.1}', "b1"),
            build="Python, a processor",
            points=[point(1, 1_785.0, 215.0)],
            at=2_600,
        ),
        PublishedRefit(
            refit=StoredRefit(2, 4, 1, 4, True, '{"draw":0.2}', "b1"),
            build="Python, a processor",
            points=[
                point(1, 1_790.0, 210.0),
                point(2, 1_760.0, 210.0),
            ],
            at=2_700,
        ),
    ]
    assert await history.refits.published("9x9", "bayes", after=1) == refitted[1:]
    assert await history.refits.published("9x9", "bayes", limit=1) == refitted[:1]
    assert await history.refits.published("9x9", "bayes", cold=True) == refitted[1:]
    assert await history.refits.published("9x9", "bayes", cold=False) == refitted[:1]
    assert await history.refits.published("9x9", "bayes", after=1, cold=False) == []
    assert await history.refits.published("9x9", "cgos-elo") == []
    assert await history.bots.version_names() == {1: "alpha", 2: "Beta", 3: "gamma"}


async def test_only_the_points_of_the_refits_that_were_asked_for(rated: Location) -> None:
    more = [RefitAdded(1, "bayes", number, 5, 2, 5, number % 2, "{}", "b1", 0, 0) for number in (3, 4, 5)]
    put(rated, [*more, *(RefitMoved(1, "bayes", 1, number, 5, float(number), 0.0) for number in (3, 4, 5))])
    async with History(rated) as history:
        for cold, numbers in ((None, [1, 2, 3, 4, 5]), (True, [2, 3, 5]), (False, [1, 4])):
            published = await history.refits.published("9x9", "bayes", cold=cold)
            assert [refit.refit.number for refit in published] == numbers
            assert [refit.points[0].mean for refit in published if refit.refit.number > 2] == [
                float(number) for number in numbers if number > 2
            ]


async def test_what_corrected_games_count_as_now(rated: Location) -> None:
    async with History(rated) as history:
        assert await history.ledger.amended("9x9") == {3: None, 5: 2}
        assert await history.ledger.amended("19x19") == {}
    put(
        rated,
        [
            LedgerAdded(1, 9, 0, "correction", 1, None, 1, 2, 1, None),
            LedgerAdded(1, 10, 0, "correction", 5, None, 1, 2, 0, None),
            LedgerAdded(1, 11, 0, "correction", 5, None, 1, 2, 2, None, was2=0),
        ],
    )
    async with History(rated) as history:
        assert await history.ledger.amended("9x9") == {3: 1, 5: 2, 10: 2}


async def test_the_ledger_with_links_and_corrections(history: History) -> None:
    assert await history.ledger.named("9x9", after=4) == [
        LedgerEntry(
            seq=5,
            at=4_500,
            kind="game",
            game=6,
            version=None,
            black="alpha",
            white="Beta",
            score2=2,
            value=None,
            repeat=True,
            digest=f"{-77:#018x}",
        ),
        LedgerEntry(
            seq=6,
            at=5_000,
            kind="correction",
            game=1,
            version=None,
            black="alpha",
            white="Beta",
            score2=None,
            value=None,
            was2=2,
        ),
        LedgerEntry(
            seq=7,
            at=5_000,
            kind="correction",
            game=6,
            version=None,
            black="alpha",
            white="Beta",
            score2=2,
            value=None,
            repeat=True,
        ),
        LedgerEntry(
            seq=8,
            at=5_100,
            kind="link",
            game=None,
            version="Beta",
            black=None,
            white=None,
            score2=None,
            value=None,
            sd=40.0,
            other="alpha",
            surely=True,
        ),
    ]


async def test_corrections_of_a_game(rated: Location) -> None:
    first = CorrectionRow(
        game=1,
        venue="9x9",
        at=5_000,
        seq=6,
        actor="Olive",
        reason="a broken engine",
        was="B+3.5",
        winner=None,
        result="Void",
    )
    async with History(rated) as history:
        assert (await history.games.detail(2)).corrections == []
        corrected = await history.games.detail(1)
        assert (corrected.game.result, corrected.game.corrected, corrected.corrections) == ("B+3.5", "Void", [first])
        assert [(game.id, game.corrected) for game in await history.games.find(GameFilter(venue="9x9"), 50)] == [
            (6, None),
            (5, None),
            (3, None),
            (2, None),
            (1, "Void"),
        ]
    put(
        rated,
        [
            CorrectionAdded(1, 6_000, 9, "Olive", "", 1, "W+Forfeit"),
            CorrectionAdded(5, 6_500, None, "Olive", "", 0, "B+Time"),
            CorrectionAdded(1, 7_000, 10, "Olive", "as it was", 0, "B+3.5"),
        ],
    )
    async with History(rated) as history:
        assert [(row.was, row.winner, row.result) for row in (await history.games.detail(1)).corrections] == [
            ("B+3.5", None, "Void"),
            ("Void", "white", "W+Forfeit"),
            ("W+Forfeit", "black", "B+3.5"),
        ]
        # It counts again as what it was: there is nothing to say.
        assert (await history.games.detail(1)).game.corrected is None
        assert (await history.games.detail(5)).game.corrected == "B+Time"
        assert (
            msgspec.json.decode(msgspec.json.encode(await history.games.detail(1)))["corrections"][2]["was"]
            == "W+Forfeit"
        )


async def test_a_game_that_was_played_before(rated: Location) -> None:
    put(
        rated,
        [
            GameAdded(7, 1, None, 1, 2, "", "", "{}", "", 0),
            GameEnded(9, 0, "score", 7, "", "B+3.5", 2, 2, 7),
            LedgerAdded(1, 9, 0, "game", 7, None, 1, 2, 2, None, repeat=1, digest=-77),
        ],
    )
    async with History(rated) as history:
        assert [(await history.games.detail(game)).repeats for game in (1, 2, 3, 6, 7)] == [None, None, None, 1, 1]


async def test_digests_are_published_with_all_their_digits(rated: Location) -> None:
    """Beyond 2**53 numbers of JSON lose some, in JavaScript for one."""
    put(
        rated,
        [
            GameAdded(7, 1, None, 1, 2, "", "", "{}", "", 0),
            GameEnded(9, 0, "score", 7, "", "B+3.5", 2, 2, 7),
            LedgerAdded(1, 9, 0, "game", 7, None, 1, 2, 2, None, digest=2**62 + 1),
        ],
    )
    async with History(rated) as history:
        *_, entered, game = await history.ledger.named("9x9")
    assert (entered.digest, game.digest) == (None, "0x4000000000000001")


async def test_a_version_s_games_as_they_count_now(history: History) -> None:
    mine = [
        VersionGame(seq=3, game=1, at=1_500, opponent=2, color="black", score2=None, repeat=False),
        VersionGame(seq=4, game=2, at=2_500, opponent=2, color="white", score2=0, repeat=False),
        VersionGame(seq=5, game=6, at=4_500, opponent=2, color="black", score2=2, repeat=False),
    ]
    assert await history.changes.games("alpha", "9x9") == mine
    assert [(game.game, game.color, game.score2) for game in await history.changes.games("Beta", "9x9")] == [
        (1, "white", None),
        (2, "black", 2),
        (6, "white", 0),
    ]
    for limit in (1, 2, 3):
        assert await history.changes.games("alpha", "9x9", limit) == mine[-limit:]
    assert await history.changes.games("alpha", "9x9", limit=0) == []
    assert await history.changes.games("gamma", "9x9") == await history.changes.games("alpha", "19x19") == []


async def test_a_repeat_counts_as_one_until_it_is_corrected(database: Location) -> None:
    put(database, [*people(), *games(), *refits()[:17]])
    async with History(database) as history:
        assert [(game.game, game.repeat) for game in await history.changes.games("alpha", "9x9")] == [
            (1, False),
            (2, False),
            (6, True),
        ]


async def test_many_games_of_a_version_come_in_portions(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.storage.reading.changes._SEQS_AT_ONCE", 1)
    assert [game.game for game in await history.changes.games("alpha", "9x9")] == [1, 2, 6]
    # Entries that are no games of its own do not make fewer of them.
    assert [game.game for game in await history.changes.games("alpha", "9x9", limit=3)] == [1, 2, 6]


async def test_bots_with_their_families(rated: Location) -> None:
    put(rated, [BotFamily(1, 2)])
    async with History(rated) as history:
        assert [(bot.name, bot.family) for bot in await history.bots.page()] == [
            ("alpha", None),
            ("Beta", "alpha"),
            ("gamma", None),
        ]


@pytest.mark.parametrize("question", ["refits.recorded", "refits.state", "ledger.published", "refits.published"])
async def test_an_unknown_venue_is_refused(history: History, question: str) -> None:
    with pytest.raises(Refused, match="There is no venue '7x7'"):
        await operator.attrgetter(question)(history)("7x7", "bayes")


async def test_unknown_names_are_refused(history: History) -> None:
    with pytest.raises(Refused, match="There is no version 'nobody'"):
        await history.changes.games("nobody", "9x9")
    for question in (history.ledger.entries, history.ledger.last_entry):
        with pytest.raises(Refused, match="There is no venue '7x7'"):
            await question("7x7")


async def test_ends_of_intervals_are_read_as_they_are_stored(rated: Location) -> None:
    put(
        rated,
        [
            LedgerAdded(1, 9, 6_000, "game", None, None, 1, 2, 2, None),
            RatingMoved(1, "bayes", 9, 1, 1_790.0, 210.0, 2_750.0, 300.0, 4, 1_380.0, 2_200.0, 2_320.0, 4_600.0),
            RatingNow(1, "bayes", 1, 2_750.0, 300.0, 4, 1, 0, 9, 2_320.0, 4_600.0),
        ],
    )
    before, after = (1_380.0, 2_200.0, 410.0), (2_320.0, 4_600.0, 1_140.0)
    async with History(rated) as history:
        row = next(row for row in await history.ratings.standings("9x9", "bayes") if row.version == "alpha")
        assert (row.lower, row.upper, row.half_width) == after
        (then,) = (row for row in await history.ratings.standings("9x9", "bayes", as_of=9) if row.version == "alpha")
        assert (then.lower, then.upper, then.half_width) == after
        *_, change = await history.changes.latest("alpha", "9x9", system="bayes")
        assert (change.before_lower, change.before_upper, change.before_half_width) == before
        assert (change.after_lower, change.after_upper, change.after_half_width) == after
        *_, drawn = await history.changes.band("9x9", "alpha", "bayes")
        assert (drawn.lower, drawn.upper, drawn.half_width) == after
        *_, published = await history.ledger.published("9x9", "bayes")
        assert (published.after_lower, published.after_upper) == after[:2]
        (*_, exported) = [row async for rows in history.bulk.changes("9x9", "bayes") for row in rows]
        assert (exported.before_lower, exported.before_upper) == before[:2]
        assert (exported.after_lower, exported.after_upper) == after[:2]
        assert (await history.ratings.shown("9x9", "bayes"))[VersionId(1)][4:] == after[:2]
    put(
        rated,
        [
            RefitAdded(1, "bayes", 3, 9, 2, 9, 1, "{}", "b1", 6_100, 1),
            RefitMoved(1, "bayes", 1, 3, 9, 2_760.0, 300.0, 2_330.0, 4_610.0),
        ],
    )
    async with History(rated) as history:
        *_, change = await history.changes.latest("alpha", "9x9", system="bayes")
        assert (change.refit, change.before_upper, change.after_lower, change.after_upper) == (3, 4_600, 2_330, 4_610)
        *_, refit = await history.refits.published("9x9", "bayes")
        assert [(moved.lower, moved.upper) for moved in refit.points] == [(2_330.0, 4_610.0)]
        *_, exported_refit = [row async for rows in history.bulk.refits("9x9", "bayes") for row in rows]
        assert [(moved.lower, moved.upper) for moved in exported_refit.moved] == [(2_330.0, 4_610.0)]
