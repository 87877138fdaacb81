"""What refits said of ranks is read as of now, as of an entry, and over time."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from support.storage.storage_sample import games, people, put, refits

from cgos_protocol.api.bulk import ExportedRank
from cgos_protocol.api.messages import RankGroup, RankPoint, RankSummary
from cgos_protocol.errors import NotFound
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.stored import RankRow, RanksRow
from cgos_server.storage.writing.refitting import RankMoved

GONE = RankMoved(1, "bayes", 2, 2, None, None, None, None)  # type: ignore[arg-type]


@pytest.fixture
async def history(database: Location) -> AsyncIterator[History]:
    put(database, [*people(), *games(), *refits(), GONE])
    async with History(database) as opened:
        yield opened


async def test_the_last_that_was_said_holds(history: History) -> None:
    assert await history.ranks.last("9x9", "bayes") == {
        1: RankRow(1, 2, 0.625, 1.0),
        2: RankRow(None, None, None, None),
    }
    assert await history.ranks.last("9x9", "cgos-elo") == {}


async def test_standings_have_what_was_said_last_by_then(history: History) -> None:
    now = await history.ratings.standings("9x9", "bayes")
    assert [(row.version, row.rank_lower, row.rank_upper, row.best) for row in now] == [
        ("alpha", 1, 2, 0.625),
        ("Beta", None, None, None),
    ]
    before = await history.ratings.standings("9x9", "bayes", as_of=3)
    assert {row.rank_lower for row in before} == {None}, "no refit was in place"
    then = await history.ratings.standings("9x9", "bayes", as_of=4)
    assert [row.best for row in then] == [0.625, None]
    assert {row.best for row in await history.ratings.standings("9x9", "cgos-elo")} == {None}


@pytest.mark.parametrize("names", [["alpha"], ["alpha", "Beta", "gamma", "a", "b", "c"]])
async def test_versions_have_it_wherever_they_are_ranked(history: History, names: list[str]) -> None:
    ranked = await history.ratings.ranked(names)
    assert {(row.system, row.best) for row in ranked if row.version == "alpha"} == {
        ("bayes", 0.625),
        ("cgos-elo", None),
    }


async def test_all_together_in_names(history: History) -> None:
    assert await history.ranks.summary("9x9", "bayes") == RankSummary(
        refit=2,
        leader="alpha",
        versions=2,
        neighbors=1,
        apart=0,
        turned=1,
        groups=[RankGroup(first="alpha", last="Beta", versions=2)],
    )
    assert await history.ranks.last_summary("9x9", "bayes") == RanksRow(1, 2, 0, 1, "[[1,2,2]]")  # type: ignore[arg-type]
    assert await history.ranks.summary("9x9", "bayes", as_of=3) is None
    assert await history.ranks.summary("9x9", "cgos-elo") is None
    with pytest.raises(NotFound):
        await history.ranks.summary("nowhere", "bayes")


async def test_a_version_s_ranks_over_time(history: History) -> None:
    points = [
        RankPoint(refit=1, seq=4, at=2_600, rank_lower=1, rank_upper=1, best=0.75, first_three=1.0),
        RankPoint(refit=2, seq=4, at=2_700, rank_lower=1, rank_upper=2, best=0.625, first_three=1.0),
    ]
    assert await history.ranks.page("alpha", "9x9", "bayes") == points
    assert await history.ranks.page("alpha", "9x9", "bayes", after=1) == points[1:]
    assert await history.ranks.page("alpha", "9x9", "bayes", limit=1) == points[:1]
    with pytest.raises(NotFound):
        await history.ranks.page("nobody", "9x9", "bayes")


async def test_everything_is_handed_out_by_refits(history: History) -> None:
    rows = [row async for rows in history.bulk.ranks("9x9", "bayes") for row in rows]
    assert [(row.number, row.version, row.best) for row in rows] == [
        (1, "Beta", 0.25),
        (1, "alpha", 0.75),
        (2, "Beta", None),
        (2, "alpha", 0.625),
    ]
    assert rows[0] == ExportedRank(
        number=1, at=2_600, system="bayes", version="Beta", rank_lower=1, rank_upper=2, best=0.25, first_three=1.0
    )
    assert [row.number async for rows in history.bulk.ranks("9x9", "bayes", after=1) for row in rows] == [2, 2]


async def test_when_everybody_played_last(history: History) -> None:
    assert await history.ratings.last_games("9x9", "bayes") == {1: 4_500, 2: 4_500}
