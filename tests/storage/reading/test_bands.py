"""Thinned rating histories and entries at a time, on each database, against all there is."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from support.storage.storage_sample import games, people, put, refits

from cgos_protocol.api.messages import RatingPoint
from cgos_protocol.errors import Refused
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.records import LedgerAdded, RatingMoved, Record
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved


@pytest.fixture
async def history(database: Location) -> AsyncIterator[History]:
    rng = random.Random(3)
    records: list[Record] = [*people(), *games(), *refits()]
    for seq in range(9, 900):
        records.append(LedgerAdded(1, seq, 5_100 + 10 * (seq // 3), "anchor", None, 1, None, None, None, 1.0))
        if rng.random() < 0.7:
            records.append(RatingMoved(1, "bayes", seq, 1, 0.0, 0.0, rng.gauss(1_800, 100), 50.0, seq))
        if seq % 10 == 0:
            number = 2 + seq // 10
            records.append(RefitAdded(1, "bayes", number, seq, number - 1, seq, 0, "{}", "b1", 5_101 + 10 * seq, 1))
            records.append(RefitMoved(1, "bayes", 1, number, seq, rng.gauss(1_800, 100), 40.0))
    put(database, records)
    async with History(database) as opened:
        yield opened


async def whole(history: History, version: str) -> list[RatingPoint]:
    return [
        RatingPoint(
            seq=point.seq,
            at=point.at,
            mean=point.after_mean,
            lower=point.after_lower,
            upper=point.after_upper,
            half_width=point.after_half_width,
            spread=point.after_spread,
            games=point.games,
        )
        for point in await history.changes.latest(version, "9x9", system="bayes")
    ]


async def test_a_short_history_is_told_whole(history: History) -> None:
    points = await whole(history, "Beta")
    assert len(points) == 5
    assert await history.changes.band("9x9", "Beta", "bayes", 5) == points
    assert await history.changes.band("9x9", "Beta", "bayes") == points


@pytest.mark.parametrize("points", [2, 16, 50, 300, 10_000])
async def test_a_long_one_is_thinned(history: History, points: int) -> None:
    everything = await whole(history, "alpha")
    band = await history.changes.band("9x9", "alpha", "bayes", points)
    places = [everything.index(point) for point in band]
    assert len(band) <= max(16, points)
    assert len(band) >= min(points, len(everything)) / 4
    assert all(first < second for first, second in pairwise(places))
    assert (band[0], band[-1]) == (everything[0], everything[-1])
    for best in (min, max):
        assert best(point.mean for point in band) == best(point.mean for point in everything)
    # Nowhere is more left out than elsewhere.
    assert max(second - first for first, second in pairwise(places)) <= 4 * len(everything) / len(band)


async def test_nothing_to_tell(history: History) -> None:
    assert await history.changes.band("9x9", "gamma", "bayes") == []
    assert await history.changes.band("19x19", "alpha", "bayes") == []
    assert await history.changes.band("9x9", "alpha", "no such system") == []
    for venue, version in (("7x7", "alpha"), ("9x9", "nobody")):
        with pytest.raises(Refused, match=r"7x7|nobody"):
            await history.changes.band(venue, version, "bayes")


async def test_the_entry_at_a_time(history: History) -> None:
    entries = await history.ledger.named("9x9")
    times = {entry.at + step for entry in entries[::25] for step in (-1, 0, 1)}
    for at in (0, 899, 900, *times, 2**60):
        assert await history.ledger.entry_at("9x9", at) == max(
            (entry.seq for entry in entries if entry.at <= at), default=0
        )
    assert await history.ledger.entry_at("19x19", 2**60) == 0


async def test_the_first_of_the_standings(history: History) -> None:
    for as_of in (None, 4):
        everybody = await history.ratings.standings("9x9", "bayes", as_of)
        assert len(everybody) == 2
        for limit in (0, 1, 2, 3):
            assert await history.ratings.standings("9x9", "bayes", as_of, limit) == everybody[:limit]
