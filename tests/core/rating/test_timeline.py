"""Results by pair and span of time: none is lost however time is cut, and spans stay few."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating import timeline as module
from cgos_server.core.rating.timeline import DAY_MS, MOST_SPANS, Timeline

N = 4
pairs = st.permutations(range(N)).map(lambda order: tuple(order[:2]))
results = st.lists(st.tuples(pairs, st.integers(0, 2), st.integers(0, 4000)), max_size=120)
Results = list[tuple[tuple[int, int], int, int]]


def timeline_of(played: Results, drifting: bool = True) -> Timeline:
    timeline = Timeline(drifting)
    for version in range(N):
        timeline.join(version * DAY_MS)
    for (first, second), score2, day in played:
        timeline.add(first, second, score2, day * DAY_MS)
    return timeline


def totals(timeline: Timeline) -> Counter[tuple[int, int, int]]:
    """(first, second, result in half points) -> games."""
    counted: Counter[tuple[int, int, int]] = Counter()
    snapshot = timeline.snapshot()
    for (first, _, second, _), counts in zip(snapshot.cells.tolist(), snapshot.counts.tolist(), strict=True):
        for column, count in enumerate(counts):
            counted[(first, second, 2 - column)] += int(count)
    return +counted


def cells(timeline: Timeline) -> dict[tuple[int, ...], tuple[int, ...]]:
    """(first, span, second, span) -> wins, draws, losses, where there are any."""
    snapshot = timeline.snapshot()
    rows = zip(snapshot.cells.tolist(), snapshot.counts.tolist(), strict=True)
    return {tuple(cell): tuple(map(int, counts)) for cell, counts in rows if any(counts)}


def plain(timeline: Timeline) -> list[object]:
    """What it is made of, to be compared."""
    return [part.tolist() if isinstance(part, np.ndarray) else part for part in timeline.dumped()]


@given(results, st.booleans())
def test_every_result_is_counted_once(played: Results, drifting: bool) -> None:
    timeline = timeline_of(played, drifting)
    assert totals(timeline) == Counter((*pair, score2) for pair, score2, _ in played)


@given(results, st.booleans())
def test_spans_are_few_and_every_cell_lies_in_them(played: Results, drifting: bool) -> None:
    timeline = timeline_of(played, drifting)
    snapshot = timeline.snapshot()
    for version, spans in enumerate(snapshot.spans):
        days = {day for pair, _, day in played if version in pair}
        width = int(snapshot.widths[version])
        assert 1 <= len(spans) <= (MOST_SPANS if drifting else 1)
        assert list(spans) == sorted(set(spans))
        if drifting and days:
            assert set(spans) == {day // width for day in days}
            assert width == 1 or len({2 * day // width for day in days}) > MOST_SPANS
    for cell, counts in zip(snapshot.cells.tolist(), snapshot.counts.tolist(), strict=True):
        if any(counts):
            assert cell[1] in snapshot.spans[cell[0]]
            assert cell[3] in snapshot.spans[cell[2]]


@given(results, results)
def test_saved_and_read_back_it_counts_on_alike(played: Results, more: Results) -> None:
    built = timeline_of(played)
    other = Timeline.restored(True, timeline_of(played).dumped())
    assert plain(other) == plain(built)
    assert other.versions == built.versions == N
    assert cells(other) == cells(built)
    for timeline in (built, other):
        for (first, second), score2, day in more:
            timeline.add(first, second, score2, day * DAY_MS)
            timeline.correct(first, second, score2, None, day * DAY_MS)
            timeline.correct(second, first, None, score2, day * DAY_MS)
    assert plain(other) == plain(built)
    assert totals(other) == totals(built)


@given(results, st.randoms())
def test_the_order_of_results_means_nothing(played: Results, random: object) -> None:
    shuffled = list(played)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plain(timeline_of(shuffled)) == plain(timeline_of(played))


def test_a_correction_takes_the_latest_result_of_its_kind() -> None:
    timeline = timeline_of([((0, 1), 2, 3), ((0, 1), 2, 9), ((0, 1), 0, 12), ((1, 0), 2, 20)])
    assert timeline.correct(0, 1, 2, 0, 99 * DAY_MS)
    assert cells(timeline) == {
        (0, 3, 1, 3): (1, 0, 0),
        (0, 9, 1, 9): (0, 0, 1),
        (0, 12, 1, 12): (0, 0, 1),
        (1, 20, 0, 20): (1, 0, 0),
    }
    assert not timeline.correct(0, 1, 1, 2, 99 * DAY_MS)
    assert totals(timeline) == {(0, 1, 2): 1, (0, 1, 0): 2, (1, 0, 2): 1}


def test_all_versions_together_have_a_limited_number_of_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_IN_ALL", 12)
    played: Results = [((day % 4, (day + 1) % 4), 2, 5 * day) for day in range(60)]
    timeline = timeline_of(played)
    assert sum(map(len, timeline.snapshot().spans)) <= 12
    assert totals(timeline).total() == 60


def test_without_drift_there_is_no_time() -> None:
    timeline = timeline_of([((0, 1), 2, 3), ((0, 1), 2, 900)], drifting=False)
    assert cells(timeline) == {(0, 0, 1, 0): (2, 0, 0)}


def test_what_does_not_fit_together_is_no_timeline() -> None:
    whole = timeline_of([((0, 1), 2, 3), ((2, 3), 0, 3)]).dumped()
    for dumped in (
        whole._replace(joined=whole.joined[:3]),
        whole._replace(widths=[*whole.widths, 1]),
        whole._replace(counts=np.ones((3, 3), dtype=np.int64)),
        whole._replace(cells=np.zeros((2, 3), dtype=np.int64)),
        whole._replace(cells=np.full((2, 4), N)),
    ):
        with pytest.raises(ValueError, match=r"fit together|not joined"):
            Timeline.restored(True, dumped)
