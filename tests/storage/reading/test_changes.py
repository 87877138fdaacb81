"""The read side's answers about ratings on a small known history: now and then, by games and refits."""

from __future__ import annotations

import pytest
from support.storage.even import even
from support.storage.storage_sample import put

from cgos_protocol.api.messages import VersionLink
from cgos_protocol.errors import Refused
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage.location import Location
from cgos_server.storage.reading.answers import (
    ChangeRow,
    PublishedChange,
    PublishedPoint,
    PublishedRefit,
    RefitRow,
    SavedState,
    StandingRow,
)
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.stored import StoredRefit
from cgos_server.storage.writing.records import (
    BuildSeen,
    LedgerAdded,
    RatingMoved,
    RatingNow,
)
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved


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
