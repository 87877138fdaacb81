"""Streams hand out all that plain questions answer, in order, in bounded portions; the generated database is sound and
can be read whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.progress import Progress
from support.storage.past_games import Past
from support.storage.storage_sample import games, people, put, query, refits

from benchmarks.storage import big_database, reading_questions
from cgos_server.storage.location import Location
from cgos_server.storage.reading import bulk
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "ROWS_AT_ONCE", 4)
    monkeypatch.setattr(bulk, "DETAILS_AT_ONCE", 3)


async def rows(stream: Any, most: int) -> list[Any]:
    """All rows; no portion is empty, or larger than it may be."""
    collected = []
    async for portion in stream:
        assert 0 < len(portion) <= most
        collected += portion
    return collected


async def test_games(database: Location) -> None:
    past = Past(11, games=40)
    put(database, past.records)
    async with History(database) as history:
        for game_filter in (GameFilter(), GameFilter(bot="ant", result="B"), GameFilter(venue="9x9", min_moves=1)):
            wanted = past.matching(game_filter)[::-1]
            assert await rows(history.bulk.games(game_filter), 4) == wanted
            details = await rows(history.bulk.details(game_filter), 3)
            assert [detail.game for detail in details] == wanted
            assert details == [await history.games.detail(game.id) for game in wanted]
            middle = wanted[len(wanted) // 2].id
            assert await rows(history.bulk.games(game_filter, after=middle), 4) == [g for g in wanted if g.id > middle]


async def test_ledger_and_changes(database: Location) -> None:
    put(database, [*people(), *games(), *refits()])
    async with History(database) as history:
        entries = await history.ledger.named("9x9")
        assert await rows(history.bulk.ledger("9x9"), 4) == entries
        assert await rows(history.bulk.ledger("9x9", after=5), 4) == entries[5:]
        for system in (None, "bayes", "cgos-elo"):
            changes = await rows(history.bulk.changes("9x9", system), 4 * 2 * 2)
            points = {
                (point.system, point.seq, name): point
                for name in ("alpha", "Beta")
                for point in await history.changes.latest(name, "9x9", system=system)
                if point.refit is None
            }
            assert {(row.system, row.seq, row.version) for row in changes} == set(points)
            assert [row.seq for row in changes] == sorted(row.seq for row in changes)
            for row in changes:
                point = points[row.system, row.seq, row.version]
                for name in (
                    "at",
                    "kind",
                    "game",
                    "before_mean",
                    "before_spread",
                    "after_mean",
                    "after_spread",
                    "games",
                ):
                    assert getattr(row, name) == getattr(point, name)
            later = await rows(history.bulk.changes("9x9", system, after=3), 16)
            assert later == [row for row in changes if row.seq > 3]


async def test_the_generated_database(tmp_path: Path) -> None:
    paths = [tmp_path / name / "cgos.sqlite" for name in ("one", "other")]
    sizes = big_database.Sizes(games=1_000, versions=60, bots=40, moves=60, rounds=50, running=5, refit_every=100)
    for path in paths:
        with Progress(disable=True) as progress:
            big_database.make(path, sizes, progress)
    path = paths[0]
    assert query(path, "PRAGMA foreign_key_check") == []
    assert query(path, "PRAGMA integrity_check") == [("ok",)]
    for table in ("games", "ledger", "rating_changes", "refit_points", "moves", "connections", "corrections", "rounds"):
        first, again = (query(database_path, f"SELECT * FROM {table}") for database_path in paths)
        assert first == again
        assert first
    async with History(path) as history:
        drawn = reading_questions.Drawn(path, 1)
        for name, ask in reading_questions.questions(history, drawn).items():
            assert await ask() is not None, name
        counts = await history.server.counts()
        assert (sum(counts.ended.values()), counts.running, counts.versions) == (995, 5, 60)
        for game in range(900, 1_001):
            detail = await history.games.detail(game)
            assert len(detail.moves) == (0 if game <= 940 else detail.game.moves)
        for venue in ("9x9", "19x19"):
            entries = await history.ledger.named(venue)
            assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
            standings = await history.ratings.standings(venue, "bayes")
            played = {game.black for game in await history.games.find(GameFilter(venue=venue, running=False), 1_000)}
            assert played <= {row.version for row in standings}
