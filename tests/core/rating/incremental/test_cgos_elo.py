"""CGOS's K scheme: worked figures, anchors, newcomers among themselves, and what holds for any ledger."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Change, Entry, Kind, Rating
from cgos_server.core.rating.incremental.cgos_elo import CgosElo, State, expected

SYSTEM = CgosElo(1800.0)
COMPAT = CgosElo(1800.0, compat=True)


def ledger(*events: tuple[Any, ...]) -> list[Entry]:
    """Entries from ("enter", version[, value[, other]]), ("game", black, white, score2), ("anchor", version, value),
    ("link", version, other), ("correction", black, white, score2, was2), ..."""
    entries = []
    for seq, (kind, *rest) in enumerate(events, 1):
        if kind == "game":
            entries.append(Entry(seq, Kind.GAME, None, *rest))
        elif kind == "correction":
            entries.append(Entry(seq, Kind.CORRECTION, None, *rest[:3], was2=rest[3]))
        elif kind in ("link", "unlink"):
            entries.append(Entry(seq, Kind(kind), rest[0], other=rest[1]))
        else:
            value, other = (*rest[1:], None, None)[:2]
            entries.append(Entry(seq, Kind(kind), rest[0], value=value, other=other))
    return entries


def fold(system: CgosElo, entries: Iterable[Entry], state: State | None = None) -> tuple[State, list[Change]]:
    state = system.start() if state is None else state
    changes: list[Change] = []
    for entry in entries:
        state, changed = system.fold(state, entry)
        changes += changed
    return state, changes


def test_expected_score_is_elos() -> None:
    assert expected(0.0) == 0.5
    assert expected(400.0) == pytest.approx(10 / 11)
    assert expected(-400.0) == pytest.approx(1 / 11)
    assert expected(1e9) == pytest.approx(1.0)
    assert 0.0 <= expected(-1e9) < 1e-90


def test_a_newcomer_enters_where_the_entry_says_or_at_the_initial_rating() -> None:
    state, changes = fold(SYSTEM, ledger(("enter", 1), ("enter", 2, 1234.5)))
    assert state == {1: Rating(1800.0, 200.0, 0, True), 2: Rating(1234.5, 200.0, 0, True)}
    assert changes[0] == Change(1, state[1], state[1])


def test_a_newcomer_beats_an_anchor() -> None:
    """s(anchor) = 1: the whole K of 200 counts, half of it for an even game; K shrinks by 4 %."""
    state, changes = fold(SYSTEM, ledger(("enter", 1), ("enter", 2), ("anchor", 2, 1800.0), ("game", 1, 2, 2)))
    assert state[1] == Rating(pytest.approx(1900.0), pytest.approx(192.0), 1, True)
    assert state[2] == Rating(1800.0, 3.0, 1, False, True)
    assert [change.version for change in changes[-2:]] == [1, 2]
    assert changes[-2].before == Rating(1800.0, 200.0, 0, True)


def test_two_newcomers_are_never_rated_in_compat_mode_and_slowly_otherwise() -> None:
    entries = ledger(("enter", 1), ("enter", 2), *[("game", 1, 2, 2)] * 19)
    old, _ = fold(COMPAT, entries)
    assert [(r.mean, r.spread, r.games) for r in old.values()] == [(1800.0, 200.0, 19)] * 2
    new, _ = fold(SYSTEM, entries[:3])
    assert new[1] == Rating(pytest.approx(1800.0 + 200 * 0.1 / 2), pytest.approx(200 * (1 - 0.04 * 0.1)), 1, True)
    assert new[2].mean == pytest.approx(1790.0)
    new, _ = fold(SYSTEM, entries)
    assert new[1].mean - new[2].mean > 150


def test_both_sides_are_computed_from_where_they_stood_before() -> None:
    """White's K of 101.5 settles it half: worked by hand from the formula."""
    state = {1: Rating(2000.0, 200.0, 5, True), 2: Rating(1600.0, 101.5, 5, True)}
    state, _ = fold(SYSTEM, [Entry(1, Kind.GAME, None, 1, 2, 0)], state)
    assert state[1].mean == pytest.approx(2000.0 - 200 * 0.5 * 10 / 11)
    assert state[1].spread == pytest.approx(200 * (1 - 0.04 * 0.5))
    assert state[2].mean == pytest.approx(1600.0 + 101.5 * 0.1 * 10 / 11)
    assert state[2].spread == pytest.approx(101.5 * (1 - 0.04 * 0.1))


@pytest.mark.parametrize(("k", "after"), [(32.1, 32.1 * 0.96), (32.0, 32.0 * 0.98), (3.01, 3.0), (3.0, 3.0)])
def test_k_shrinks_slower_below_32_and_stops_at_the_least(k: float, after: float) -> None:
    state = {1: Rating(1500.0, k, 9, k > 16), 2: Rating(1500.0, 3.0, 0, False, True)}
    state, _ = fold(SYSTEM, [Entry(1, Kind.GAME, None, 1, 2, 1)], state)
    assert state[1].spread == pytest.approx(after)
    assert state[1].mean == 1500.0


def test_provisional_while_k_is_above_16() -> None:
    state, _ = fold(SYSTEM, ledger(("enter", 1), ("enter", 2), ("anchor", 2, 1800.0)))
    flags = []
    for seq in range(4, 200):
        state, _ = SYSTEM.fold(state, Entry(seq, Kind.GAME, None, 1, 2, seq % 2 * 2))
        flags.append((state[1].spread > 16.0, state[1].provisional))
    assert set(flags) == {(True, True), (False, False)}


def test_anchors_come_and_go() -> None:
    entries = ledger(("enter", 1), ("anchor", 1, 2500.0), ("anchor", 1, 2600.0), ("unanchor", 1), ("unanchor", 1))
    state, changes = fold(SYSTEM, entries)
    assert [c.after for c in changes] == [
        Rating(1800.0, 200.0, 0, True),
        Rating(2500.0, 3.0, 0, False, True),
        Rating(2600.0, 3.0, 0, False, True),
        Rating(2600.0, 16.0, 0, False, False),
    ]
    assert state[1] == changes[-1].after


def test_an_unanchored_version_moves_again() -> None:
    entries = ledger(("enter", 1), ("enter", 2), ("anchor", 1, 1800.0), ("unanchor", 1), ("game", 1, 2, 2))
    state, _ = fold(SYSTEM, entries)
    assert state[1].mean == pytest.approx(1800.0 + 16 * 0.1 * 0.5)


@pytest.mark.parametrize(
    "events",
    [
        [("enter", 1), ("enter", 1)],
        [("enter", None)],
        [("enter", 1, math.nan)],
        [("enter", 1), ("anchor", 1)],
        [("enter", 1), ("anchor", 1, math.inf)],
        [("enter", 1), ("game", 1, 1, 2)],
        [("enter", 1), ("enter", 2), ("game", 1, 2, 3)],
        [("enter", 1), ("game", 1, None, 1)],
        [("enter", 1, None, 1)],
        [("enter", 1), ("link", 1, None)],
        [("enter", 1), ("link", 1, 1)],
        [("enter", 1), ("enter", 2), ("correction", 1, 2, None, None)],
        [("enter", 1), ("enter", 2), ("correction", 1, 2, 3, 0)],
        [("enter", 1), ("enter", 2), ("correction", 1, 1, 2, 0)],
    ],
)
def test_entries_that_make_no_sense_are_our_fault(events: list[tuple[Any, ...]]) -> None:
    with pytest.raises(OurFault, match=f"entry {len(events)}"):
        fold(SYSTEM, ledger(*events))


@pytest.mark.parametrize(
    "event",
    [
        ("game", 1, 2, 2),
        ("anchor", 2, 1800.0),
        ("unanchor", 2),
        ("link", 1, 2),
        ("link", 2, 1),
        ("correction", 1, 2, 0, 2),
        ("enter", 2, None, 3),
    ],
)
def test_strangers_are_key_errors(event: tuple[Any, ...]) -> None:
    with pytest.raises(KeyError):
        fold(SYSTEM, ledger(("enter", 1), event))


def test_standings_cannot_be_written_and_prediction_follows_them() -> None:
    state, _ = fold(SYSTEM, ledger(("enter", 1, 1900.0), ("enter", 2, 1500.0)))
    standings = SYSTEM.standings(state)
    assert dict(standings) == state
    with pytest.raises(TypeError):
        standings[1] = state[2]  # type: ignore[index]
    assert SYSTEM.predict(state, 1, 2) == pytest.approx((10 / 11, 0.0, 1 / 11))
    assert SYSTEM.predict(state, 2, 1).score == pytest.approx(1 / 11)


def test_a_successor_starts_where_its_predecessor_stands_unless_a_rating_is_given() -> None:
    state, _ = fold(SYSTEM, ledger(("enter", 1, 2100.0), ("enter", 2, None, 1), ("enter", 3, 1500.0, 1)))
    assert state[2] == Rating(2100.0, 200.0, 0, True)
    assert state[3] == Rating(1500.0, 200.0, 0, True)


def test_lineage_moves_nobody() -> None:
    state, changes = fold(SYSTEM, ledger(("enter", 1, 2100.0), ("enter", 2), ("link", 2, 1), ("unlink", 2, 1)))
    assert [change.version for change in changes] == [1, 2]
    assert state == {1: Rating(2100.0, 200.0, 0, True), 2: Rating(1800.0, 200.0, 0, True)}


def settled(**means: float) -> State:
    return {int(name[1:]): Rating(mean, 10.0, 50, False) for name, mean in means.items()}


def test_a_corrected_result_moves_by_the_difference_at_todays_k() -> None:
    """A win of Black becomes a loss: each moves by a whole point times K times how settled the other is."""
    state, changes = fold(SYSTEM, ledger(("correction", 1, 2, 0, 2)), settled(v1=1900.0, v2=1800.0))
    by = 10.0 * (1 - 7.0 / 197.0)
    assert state[1] == Rating(pytest.approx(1900.0 - by), 10.0, 50, False)
    assert state[2] == Rating(pytest.approx(1800.0 + by), 10.0, 50, False)
    assert changes[0].before == Rating(1900.0, 10.0, 50, False)


def test_a_voided_result_moves_by_what_it_gave_above_expectation() -> None:
    state, _ = fold(SYSTEM, ledger(("correction", 1, 2, None, 2)), settled(v1=2200.0, v2=1800.0))
    by = 10.0 * (1 - 7.0 / 197.0) / 11
    assert state[1] == Rating(pytest.approx(2200.0 - by), 10.0, 49, False)
    assert state[2] == Rating(pytest.approx(1800.0 + by), 10.0, 49, False)


def test_corrections_do_not_move_anchors() -> None:
    state = settled(v1=2200.0) | {2: Rating(1800.0, 3.0, 50, False, True)}
    state, _ = fold(SYSTEM, ledger(("correction", 1, 2, 0, None)), state)
    assert state[2] == Rating(1800.0, 3.0, 51, False, True)
    assert state[1].mean < 2200.0


halves = st.sampled_from([None, 0, 1, 2])
levels = st.floats(0.0, 4000.0)


@given(levels, levels, st.integers(0, 2), st.integers(0, 2))
def test_a_changed_verdict_and_back_is_as_before(first: float, second: float, was: int, score2: int) -> None:
    before = settled(v1=first, v2=second)
    events = [("correction", 1, 2, score2, was), ("correction", 1, 2, was, score2)]
    state, _ = fold(SYSTEM, ledger(*events), dict(before))
    assert {v: r.mean for v, r in state.items()} == pytest.approx({v: r.mean for v, r in before.items()})


@given(levels, levels, halves, halves)
def test_a_voided_game_and_back_is_nearly_as_before(first: float, second: float, was: Any, score2: Any) -> None:
    """The expected score of the way there is not quite that of the way back."""
    if was is None and score2 is None:
        return
    before = settled(v1=first, v2=second)
    events = [("correction", 1, 2, score2, was), ("correction", 1, 2, was, score2)]
    state, _ = fold(SYSTEM, ledger(*events), dict(before))
    assert {v: r.mean for v, r in state.items()} == pytest.approx({v: r.mean for v, r in before.items()}, abs=0.3)
    assert {r.games for r in state.values()} == {50}


def test_a_repeated_game_counts_again() -> None:
    state = settled(v1=1900.0, v2=1800.0)
    state, _ = fold(SYSTEM, [Entry(1, Kind.GAME, None, 1, 2, 2, repeat=True)], state)
    assert state[1].mean > 1900.0


versions = st.integers(0, 4)
games = st.tuples(st.just("game"), versions, versions, st.integers(0, 2)).filter(lambda g: g[1] != g[2])
anchoring = st.tuples(st.just("anchor"), versions, st.floats(-1e6, 1e6))
unanchoring = st.tuples(st.just("unanchor"), versions)
entering = [("enter", v, 1000.0 + 300.0 * v) for v in range(5)]
systems = st.sampled_from([SYSTEM, COMPAT])


@given(systems, st.lists(games | anchoring | unanchoring, max_size=40), st.integers(0, 45))
def test_replay_in_two_halves_equals_one_go(system: CgosElo, events: list[tuple[Any, ...]], cut: int) -> None:
    entries = ledger(*entering, *events)
    whole, changes = fold(system, entries)
    half, first = fold(system, entries[:cut])
    rest, second = fold(system, entries[cut:], dict(half))
    assert (rest, first + second) == (whole, changes)
    assert fold(system, entries) == (whole, changes)


@given(systems, st.lists(games | anchoring | unanchoring, max_size=40))
def test_ratings_stay_finite_k_in_its_bounds_and_changes_tell_the_truth(
    system: CgosElo, events: list[tuple[Any, ...]]
) -> None:
    state = system.start()
    for entry in ledger(*entering, *events):
        before = dict(state)
        state, changes = system.fold(state, entry)
        for change in changes:
            assert change.after == state[change.version]
            assert change.before == before.get(change.version, change.after)
        assert {v for v in state if state[v] != before.get(v)} <= {c.version for c in changes}
        for rating in state.values():
            assert math.isfinite(rating.mean)
            assert system.min_k <= rating.spread <= system.max_k
            assert rating.provisional == (rating.spread > system.provisional_k)


@given(st.lists(games, max_size=60))
def test_what_one_loses_the_other_wins_while_their_k_is_equal(events: list[tuple[Any, ...]]) -> None:
    """Equal K at every game: both K are set to the same value before it."""
    state, _ = fold(SYSTEM, ledger(*entering))
    for entry in ledger(*events):
        assert entry.black is not None
        assert entry.white is not None
        k = state[entry.black].spread
        state[entry.white] = state[entry.white]._replace(spread=k)
        total = sum(r.mean for r in state.values())
        state, _ = SYSTEM.fold(state, entry)
        assert sum(r.mean for r in state.values()) == pytest.approx(total, abs=1e-6)
        assert state[entry.black].spread == state[entry.white].spread
