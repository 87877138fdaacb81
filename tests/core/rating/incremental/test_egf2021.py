"""The EGF's rating of 2021: the vectors and the edges of the formulas."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.vectors import Vectors

from cgos_server.core.rating.base import Entry, Kind, Rating
from cgos_server.core.rating.incremental.egf2021 import FLOOR, Egf2021, beta, bonus, con, expectancy


def update(
    r1: float, r2: float, result: float, handicap: int = 0, *, weight: float = 1.0, with_bonus: bool = True
) -> tuple[float, float]:
    """Both ratings after a game, from the formulas; `weight` of the event, also for the bonus."""
    s1, s2 = expectancy(r1, r2, handicap)
    extra1, extra2 = (bonus(r1), bonus(r2)) if with_bonus else (0.0, 0.0)
    return (
        r1 + weight * (con(r1) * (result - s1) + extra1),
        r2 + weight * (con(r2) * (1.0 - result - s2) + extra2),
    )


def test_all_cases(vectors: Vectors) -> None:
    file = vectors("egf2021")
    for case in file["cases"]:
        r1, r2, handicap = case["r1"], case["r2"], case["handicap"]
        tolerance = file["tolerance"]

        def close(expected: Any, tolerance: float = tolerance) -> Any:
            return pytest.approx(expected, rel=tolerance, abs=tolerance)

        assert (con(r1), bonus(r1), beta(r1)) == close((case["con1"], case["bonus1"], case["beta1"])), case
        assert expectancy(r1, r2, handicap)[0] == close(case["se1"]), case
        updated = update(r1, r2, case["result1"], handicap, weight=case["weight"])
        assert updated == close((case["new1"], case["new2"])), case


ratings = st.floats(-1e5, 1e5)


@given(ratings, ratings, st.integers(-30, 30))
def test_expectancies_sum_to_one_whichever_comes_first(r1: float, r2: float, handicap: int) -> None:
    first, second = expectancy(r1, r2, handicap)
    assert 0.0 <= min(first, second) <= max(first, second) <= 1.0
    assert first + second == 1.0
    assert expectancy(r2, r1, -handicap) == pytest.approx((second, first), abs=1e-12)


@given(st.floats(-900, 5000), st.floats(-900, 5000), st.sampled_from([0, 0.5, 1]))
def test_updates_are_finite_and_move_the_winner_up(r1: float, r2: float, result: float) -> None:
    new1, new2 = update(r1, r2, result, with_bonus=False)
    assert math.isfinite(new1)
    assert math.isfinite(new2)
    assert (new1 - r1) * (result - expectancy(r1, r2)[0]) >= 0
    more = update(r1, r2, result)
    assert more >= (new1, new2)


def test_above_the_domain_ratings_are_evaluated_at_its_end() -> None:
    assert con(3299.0) == con(4000.0) > 0
    assert beta(3299.0) == beta(4000.0) == 0.0
    assert bonus(1e9) == bonus(3299.0) == pytest.approx(0.0, abs=1e-5)
    assert expectancy(3500.0, 4000.0) == (0.5, 0.5)


def test_the_bonus_is_straight_for_the_weak() -> None:
    assert bonus(-1e6) == pytest.approx((2300 + 1e6) / 400)


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf])
def test_ratings_that_are_no_numbers_are_rejected(strange: float) -> None:
    for call in (con, bonus, beta, lambda rating: expectancy(1500.0, rating)):
        with pytest.raises(ValueError, match="finite"):
            call(strange)


@pytest.mark.parametrize("with_bonus", [False, True])
@pytest.mark.parametrize(("score2", "result"), [(0, 0), (1, 0.5), (2, 1)])
def test_a_game_of_the_fold_is_an_update(score2: int, result: float, with_bonus: bool) -> None:
    system = Egf2021(1400.0, bonus=with_bonus)
    state = {1: Rating(1700.0, 1.0, 30, False), 2: Rating(1900.0, 1.0, 19, True)}
    state, _ = system.fold(state, Entry(1, Kind.GAME, None, 1, 2, score2))
    new = update(1700.0, 1900.0, result, with_bonus=with_bonus)
    assert state[1] == Rating(pytest.approx(new[0]), pytest.approx(con(new[0])), 31, False)
    assert state[2] == Rating(pytest.approx(new[1]), pytest.approx(con(new[1])), 20, False)


def test_the_floor_holds_in_a_venue() -> None:
    system = Egf2021(1400.0)
    state = system.start()
    for version in (1, 2):
        state, _ = system.fold(state, Entry(version, Kind.ENTER, version, value=-2000.0))
    state, _ = system.fold(state, Entry(3, Kind.GAME, None, 1, 2, 2))
    assert state[2].mean == FLOOR < state[1].mean


def test_a_voided_game_takes_its_bonus_along() -> None:
    system = Egf2021(1400.0, bonus=True)
    state = {1: Rating(1500.0, 1.0, 30, False), 2: Rating(1500.0, 1.0, 30, False)}
    state, _ = system.fold(state, Entry(1, Kind.GAME, None, 1, 2, 1))
    assert state[1].mean == pytest.approx(1500.0 + bonus(1500.0))
    state, _ = system.fold(state, Entry(2, Kind.CORRECTION, None, 1, 2, None, was2=1))
    assert state[1].mean == pytest.approx(1500.0, abs=0.01)
    assert state[1].games == 30
