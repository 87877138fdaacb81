"""When a version that spoils its games is suspended, and what brings it back."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.games.base import Color
from cgos_protocol.verdict import Reason
from cgos_server.core.suspension import (
    AGAIN,
    NONE,
    PAUSE_MOST_MS,
    PAUSE_MS,
    Course,
    Suspension,
    after,
    back,
    course,
    notice,
    wait_ms,
)

BLACK, WHITE = Color.BLACK, Color.WHITE
SPOILT = [was for was in Course if was.spoilt]


def spoil(state: Suspension, games: int, most: int, start: int = 1_000) -> tuple[Suspension, int]:
    """So many spoilt games, one after the other; the state, and when the last one ended."""
    at = max(start, state.at)
    for game in range(games):
        state = after(state, game, Course.LATE, most, at + 1, at + 2)
        at += 2
    return state, at


@pytest.mark.parametrize(
    ("reason", "winner", "expired", "black", "white"),
    [
        (Reason.TIME, WHITE, BLACK, Course.LATE, Course.PLAYED),
        (Reason.TIME, BLACK, WHITE, Course.PLAYED, Course.LATE),
        (Reason.ILLEGAL, BLACK, None, Course.PLAYED, Course.ILLEGAL),
        (Reason.ABORT, None, BLACK, Course.ABSENT, Course.UNCOUNTED),
        (Reason.ABORT, None, None, Course.UNCOUNTED, Course.UNCOUNTED),
        (Reason.VOID, None, None, Course.UNCOUNTED, Course.UNCOUNTED),
        (Reason.FORFEIT, BLACK, None, Course.UNCOUNTED, Course.UNCOUNTED),
        (Reason.SCORE, BLACK, None, Course.PLAYED, Course.PLAYED),
        (Reason.SCORE, None, None, Course.PLAYED, Course.PLAYED),
        (Reason.RESIGNATION, WHITE, None, Course.PLAYED, Course.PLAYED),
    ],
)
def test_what_a_game_was_for_each_side(
    reason: Reason, winner: Color | None, expired: Color | None, black: Course, white: Course
) -> None:
    assert course(reason, winner, expired, BLACK, True) is black
    assert course(reason, winner, expired, WHITE, True) is white


def test_a_loss_on_time_of_who_is_away_is_called_so() -> None:
    assert course(Reason.TIME, WHITE, BLACK, BLACK, False) is Course.AWAY
    assert Course.AWAY.spoilt
    assert course(Reason.TIME, WHITE, BLACK, WHITE, False) is Course.PLAYED


@given(st.integers(1, 9), st.sampled_from(SPOILT))
def test_it_is_suspended_with_exactly_so_many_in_a_row(most: int, was: Course) -> None:
    state, at = spoil(NONE, most - 1, most)
    assert not state.suspended
    state = after(state, 77, was, most, at, at + 5)
    assert state == Suspension(most, True, f"game 77: {was}", at + 5)


@given(st.lists(st.sampled_from(list(Course)), max_size=40), st.integers(1, 6))
def test_suspended_means_so_many_spoilt_since_the_last_game_that_was_played(was: list[Course], most: int) -> None:
    state, at = NONE, 10
    row = 0
    for game, outcome in enumerate(was):
        before = state
        state = after(state, game, outcome, most, at, at + 1)
        at += 1
        if outcome is Course.PLAYED:
            row = 0
        elif outcome.spoilt and not before.suspended:
            row += 1
        assert state.spoilt == row
        assert state.suspended == (row >= most)
        if outcome is Course.UNCOUNTED:
            assert state is before


def test_without_a_limit_nobody_is_suspended() -> None:
    state, _ = spoil(NONE, 50, 0)
    assert (state.spoilt, state.suspended) == (50, False)


def test_games_that_ran_at_the_same_time_are_one_mishap() -> None:
    state = after(NONE, 1, Course.AWAY, 3, 100, 500)
    for game in range(2, 20):
        assert after(state, game, Course.AWAY, 3, 499, 501) is state
    assert after(state, 20, Course.AWAY, 3, 500, 600).spoilt == 2


def test_a_game_that_is_played_takes_back_what_was_suspended() -> None:
    state, at = spoil(NONE, 3, 3)
    assert state.suspended
    assert after(state, 9, Course.PLAYED, 3, 0, at + 1) == NONE


@given(st.integers(1, 9), st.integers(1, 12))
def test_who_came_back_is_suspended_again_after_fewer(most: int, times: int) -> None:
    again = min(AGAIN, most)
    state, at = spoil(NONE, most, most)
    for _ in range(times):
        state = back(state, at + 10)
        assert not state.suspended
        state, at = spoil(state, again - 1, most)
        assert not state.suspended
        state, at = spoil(state, 1, most)
        assert state.suspended
    state = after(back(state, at), 1, Course.PLAYED, most, at, at + 1)
    assert spoil(state, most - 1, most)[0].suspended is False


def test_a_word_is_enough_the_first_time_only() -> None:
    state, at = spoil(NONE, 5, 5)
    assert wait_ms(state, 5, at, by_word=True) == 0
    assert wait_ms(state, 5, at, by_word=False) == PAUSE_MS
    assert wait_ms(state, 5, at + PAUSE_MS - 1, by_word=False) == 1
    assert wait_ms(state, 5, at + PAUSE_MS, by_word=False) == 0
    state, at = spoil(back(state, at), AGAIN, 5)
    assert wait_ms(state, 5, at, by_word=True) == 2 * PAUSE_MS


@given(st.integers(1, 1_000), st.integers(0, 100_000), st.booleans())
def test_pauses_grow_and_stay_within_a_day(most: int, more: int, requested: bool) -> None:
    first, later = (Suspension(most + extra, True, "", 1_000) for extra in (0, more))
    waits = [wait_ms(state, most, 1_000, requested) for state in (first, later)]
    assert waits[0] <= waits[1] <= PAUSE_MOST_MS
    assert waits[0] == (0 if requested else PAUSE_MS)


def test_the_notice_says_why_and_how_to_come_back() -> None:
    state, at = spoil(NONE, 5, 5, 1_700_000_000_000)
    lines = notice(state, 5, at + 60_000, has_word=False)
    back_at = datetime.fromtimestamp((at + PAUSE_MS) / 1000, UTC)
    assert "5 games in a row" in lines
    assert state.reason in lines
    assert f"{back_at:%H:%M:%S} UTC (in 9 minutes)" in lines
    assert "ready" not in lines
    assert "say ready, or sign in again after" in notice(state, 5, at, has_word=True)
    assert notice(state, 5, at + PAUSE_MS, has_word=False).endswith("sign in again.")
    assert "(in 1 minute)" in notice(state, 5, at + PAUSE_MS - 1, has_word=False)
    again, at = spoil(back(state, at), AGAIN, 5)
    assert "say ready or sign in again after" in notice(again, 5, at, has_word=True)
