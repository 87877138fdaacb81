"""Whatever entries and refits did, the read side tells what was published after any of them: compared with a list that
is kept while it happens."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.storage.storage_sample import people, put

from cgos_server.storage import schema
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import BuildSeen, LedgerAdded, RatingMoved, RatingNow, Record, VenueAdded
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved

NAMES = {1: "alpha", 2: "Beta", 3: "gamma"}
SYSTEMS = ("bayes", "binned")

versions = st.sets(st.sampled_from(sorted(NAMES)), max_size=3)
events = st.lists(st.tuples(st.sampled_from(["entry", "entry", *SYSTEMS]), versions), max_size=14)


class Told(NamedTuple):
    """One point of one version's graph; `refit` 0 for an entry."""

    seq: int
    refit: int
    system: str
    mean: float


class Past:
    """Events as records, and what they published."""

    def __init__(self, venue: int, what: list[tuple[str, set[int]]]) -> None:
        self.venue = venue
        self.name = f"venue {venue}"
        self.records: list[Record] = [VenueAdded(venue, self.name, "{}", 0), BuildSeen("b", "text")]
        self.seq = 0
        self.after: dict[int, dict[tuple[str, str], float]] = {0: {}}
        self.points: dict[str, list[Told]] = {name: [] for name in NAMES.values()}
        self._now: dict[tuple[str, str], float] = {}
        self._refits = dict.fromkeys(SYSTEMS, 0)
        self._means = itertools.count(1)
        for kind, moved in what:
            if kind == "entry":
                self._entry(moved)
            else:
                self._refit(kind, moved)
            self.after[self.seq] = dict(self._now)

    def _entry(self, moved: set[int]) -> None:
        self.seq += 1
        self.records.append(LedgerAdded(self.venue, self.seq, 0, "game", None, None, 1, 2, 2, None))
        for system in SYSTEMS:
            for version in sorted(moved):
                mean = float(next(self._means))
                self.records.append(RatingMoved(self.venue, system, self.seq, version, 0.0, 0.0, mean, 1.0, self.seq))
                self._moved(system, version, mean, 0)

    def _refit(self, system: str, moved: set[int]) -> None:
        self._refits[system] += 1
        number = self._refits[system]
        self.records.append(RefitAdded(self.venue, system, number, 0, 0, self.seq, 0, "{}", "b", 0, 0))
        for version in sorted(moved):
            if (system, NAMES[version]) in self._now:
                mean = float(next(self._means))
                self.records.append(RefitMoved(self.venue, system, version, number, self.seq, mean, 1.0))
                self._moved(system, version, mean, number)

    def _moved(self, system: str, version: int, mean: float, refit: int) -> None:
        self.records.append(RatingNow(self.venue, system, version, mean, 1.0, 0, 0, 0, self.seq))
        self._now[system, NAMES[version]] = mean
        self.points[NAMES[version]].append(Told(self.seq, refit, system, mean))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One database for all examples, each in a venue of its own."""
    path = tmp_path_factory.mktemp("past") / "cgos.sqlite"
    schema.prepare(path)
    put(path, people())
    return path


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return itertools.count(10)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events)
def test_any_moment_is_told_as_it_was(path: Path, numbers: Iterator[int], what: list[tuple[str, set[int]]]) -> None:
    past = Past(next(numbers), what)
    put(path, past.records)
    asyncio.run(_compared(path, past))


async def _compared(path: Path, past: Past) -> None:
    async with History(path) as history:
        await _moments(history, past)
        await _graphs(history, past)


async def _moments(history: History, past: Past) -> None:
    for seq, expected in past.after.items():
        standings = await history.ratings.standings(past.name, as_of=seq)
        assert {(row.system, row.version): row.mean for row in standings} == expected
        assert [row.mean for row in standings] == sorted(expected.values(), reverse=True)
        assert all(row.seq <= seq for row in standings)


async def _graphs(history: History, past: Past) -> None:
    for version, points in past.points.items():
        for system in (None, *SYSTEMS):
            # At one place: entries before refits, refits by number, systems by name.
            mine = sorted(point for point in points if system in (None, point.system))
            whole = await history.changes.latest(version, past.name, system=system)
            whole_points = [Told(point.seq, point.refit or 0, point.system, point.after_mean) for point in whole]
            assert whole_points == mine
            for limit in (1, 2, 5):
                assert await history.changes.latest(version, past.name, limit, system) == whole[-limit:]
            last: dict[str, float] = {}
            for point in whole:
                if point.refit is not None:
                    assert point.before_mean == last[point.system]
                last[point.system] = point.after_mean
