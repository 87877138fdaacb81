"""GoR of before 2021: the vectors, the edges of the formulas, and what the thesis's expected change really is."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.gor_updates import total_change, update
from support.core.vectors import Vectors

from cgos_server.core.rating.base import Entry, Kind, Rating
from cgos_server.core.rating.incremental.gor import (
    EPS,
    FLOOR,
    VARIANTS,
    Gor,
    con,
    expectancy,
    handicap_points,
    slope,
)


def close(expected: Any, tolerance: float) -> Any:
    """Absolute or relative, whichever is looser."""
    return pytest.approx(expected, rel=tolerance, abs=tolerance)


def test_con_of_the_table_and_between_its_rows(vectors: Vectors) -> None:
    file = vectors("gor_con")
    for row in file["table"] + file["interpolated"]:
        assert con(row["rating"]) == close(row["con"], file["tolerance"]), row


def test_slope(vectors: Vectors) -> None:
    file = vectors("gor_expectancy")
    for row in file["a_factor"]:
        assert slope(row["rating"]) == close(row["a"], file["tolerance"]), row


def test_expectancies(vectors: Vectors) -> None:
    file = vectors("gor_expectancy")
    for case in file["cases"]:
        eps = case.get("eps", EPS)
        scores = expectancy(case["r1"], case["r2"], case["handicap"], variant=case["variant"], eps=eps)
        assert scores == close((case["s1"], case["s2"]), file["tolerance"]), case


def test_the_curves_of_expectancy(vectors: Vectors) -> None:
    file = vectors("gor_expectancy")
    for curve in file["curve_figure_2_1"]:
        own = curve["own_rating"]
        for point in curve["points"]:
            score, _ = expectancy(own, own + point["opponent_minus_own"], variant="thesis")
            assert score == close(point["own_expectancy"], file["tolerance"]), (own, point)


def test_updates(vectors: Vectors) -> None:
    file = vectors("gor_update")
    assert file["floor"] == FLOOR
    for case in file["cases"]:
        r1, r2, variant = case["r1"], case["r2"], case["variant"]
        updated = update(r1, r2, case["result1"], case["handicap"], variant=variant, weight=case["weight"])
        tolerance = file["tolerance"]
        assert expectancy(r1, r2, case["handicap"], variant=variant) == close((case["s1"], case["s2"]), tolerance), case
        assert (con(r1), con(r2)) == close((case["con1"], case["con2"]), tolerance), case
        assert updated == close((case["new1"], case["new2"]), tolerance), case


def test_a_tournament_game_by_game(vectors: Vectors) -> None:
    file = vectors("gor_update")
    block, ratings = file["batch"], dict(file["batch"]["ratings"])
    for game in block["games"]:
        first, second = game["p1"], game["p2"]
        after = update(ratings[first], ratings[second], game["result1"], game["handicap"], variant="thesis")
        ratings[first], ratings[second] = after
    assert ratings == close(block["sequential_new"], file["tolerance"])


def test_expected_changes(vectors: Vectors) -> None:
    file = vectors("gor_total_change")
    for curve in file["curves"]:
        for point in curve["points"]:
            own, x = curve["own"], point["x"]
            assert total_change(own, x) == close(point["E_thesis"], file["tolerance"]), (own, point)


def test_where_expected_changes_are_largest(vectors: Vectors) -> None:
    file = vectors("gor_total_change")
    for row in file["maximisers"]:
        own, tolerance = row["own"], file["tolerance"]
        gaps = range(100 - own, 1001)
        total = {x: total_change(own, x) for x in gaps}
        assert max(gaps, key=total.__getitem__) == row["x_max_integer"], row
        assert max(total.values()) == close(row["E_max"], tolerance)
        assert total[0] == close(row["E_at_0"], tolerance)
        assert total[250] == close(row["E_at_plus_250"], tolerance)


def test_the_expected_total_change_is_inflation(vectors: Vectors) -> None:
    """Nothing without epsilon; with probabilities that sum to 1 it is epsilon times con of whom it is taken from."""
    file = vectors("gor_total_change")
    for curve in file["curves"]:
        own = curve["own"]
        for point in curve["points"]:
            low, high = sorted((own, own + point["x"]))
            assert total_change(own, point["x"], eps=0.0) == 0.0
            win = expectancy(low, high, variant="thesis")
            gained = con(low) * ((1 - win[0]) * -win[0] + win[0] * (1 - win[0]))
            gained += con(high) * ((1 - win[0]) * (1 - win[1]) - win[0] * win[1])
            assert gained == pytest.approx(point["E_consistent"], rel=1e-9)


ratings = st.floats(-1e4, 1e4)
stones = st.integers(-30, 30)
variants = st.sampled_from(VARIANTS)


@given(ratings, ratings, stones, variants, st.floats(0, 0.1))
def test_expectancies_sum_to_one_less_epsilon(r1: float, r2: float, handicap: int, variant: Any, eps: float) -> None:
    first, second = expectancy(r1, r2, handicap, variant=variant, eps=eps)
    assert first + second == pytest.approx(1 - eps)
    assert -eps <= min(first, second)
    assert max(first, second) <= 1.0


@given(ratings, ratings, stones, variants)
def test_the_order_of_arguments_means_nothing_but_at_equal_ratings(
    r1: float, r2: float, handicap: int, variant: Any
) -> None:
    if r1 != r2 or (variant == "egf_half_eps" and not handicap):
        turned = expectancy(r2, r1, -handicap, variant=variant)[::-1]
        assert expectancy(r1, r2, handicap, variant=variant) == pytest.approx(turned)


@given(ratings, ratings, st.sampled_from([0, 0.5, 1]), stones, variants)
def test_updates_are_finite_and_above_the_floor(
    r1: float, r2: float, result: float, handicap: int, variant: Any
) -> None:
    for before, after in zip((r1, r2), update(r1, r2, result, handicap, variant=variant), strict=True):
        assert after >= FLOOR
        assert abs(after - max(before, FLOOR)) <= 116 * (1 + EPS) or before < FLOOR
        assert math.isfinite(after)


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf])
def test_ratings_that_are_no_numbers_are_rejected(strange: float) -> None:
    for call in (
        lambda: expectancy(strange, 1500.0),
        lambda: expectancy(1500.0, strange),
        lambda: con(strange),
        lambda: slope(strange),
    ):
        with pytest.raises(ValueError, match="finite"):
            call()


def test_any_number_of_stones_is_taken() -> None:
    assert handicap_points(12, "thesis") == 1200
    assert [handicap_points(stones, "egf") for stones in (-12, -1, 0, 1, 12)] == [-1150, -50, 0, 50, 1150]
    assert expectancy(1500.0, 2700.0, 12, variant="thesis", eps=0.0) == (0.5, 0.5)


# -- the fold


def entered(*values: float, eps: float = EPS) -> tuple[Gor, dict[int, Rating]]:
    system = Gor(1400.0, eps=eps)
    state = system.start()
    for version, value in enumerate(values, 1):
        state, _ = system.fold(state, Entry(version, Kind.ENTER, version, value=value))
    return system, state


@pytest.mark.parametrize(("score2", "result"), [(0, 0), (1, 0.5), (2, 1)])
def test_a_game_of_the_fold_is_an_update(score2: int, result: float) -> None:
    system, state = entered(1700.0, 1900.0)
    state, changes = system.fold(state, Entry(3, Kind.GAME, None, 1, 2, score2))
    new = update(1700.0, 1900.0, result)
    assert (state[1].mean, state[2].mean) == pytest.approx(new)
    assert (state[1].spread, state[2].spread) == pytest.approx((con(new[0]), con(new[1])))
    assert [change.before.mean for change in changes] == [1700.0, 1900.0]


def test_an_anchor_moves_its_opponent_alone() -> None:
    system, state = entered(1700.0, 1900.0)
    state, _ = system.fold(state, Entry(3, Kind.ANCHOR, 2, value=1900.0, sd=50.0))
    state, _ = system.fold(state, Entry(4, Kind.GAME, None, 1, 2, 2))
    assert state[2] == Rating(1900.0, 0.0, 1, False, True)
    assert state[1].mean == pytest.approx(update(1700.0, 1900.0, 1)[0])


def test_nobody_enters_below_the_floor_and_twenty_games_establish() -> None:
    system, state = entered(-50.0, 1900.0, eps=0.0)
    assert state[1] == Rating(100.0, 116.0, 0, True)
    for seq in range(3, 23):
        assert state[2].provisional
        state, _ = system.fold(state, Entry(seq, Kind.GAME, None, 2, 1, 2))
    assert not state[2].provisional
    assert state[1].mean == 100.0


def test_the_fold_leaves_epsilon_away_unless_told() -> None:
    system = Gor(1400.0)
    state = {1: Rating(1500.0, 47.0, 30, False), 2: Rating(1500.0, 47.0, 30, False)}
    state, _ = system.fold(state, Entry(1, Kind.GAME, None, 1, 2, 2))
    assert state[1].mean + state[2].mean == pytest.approx(3000.0)
    system, state = entered(1500.0, 1500.0)
    state, _ = system.fold(state, Entry(3, Kind.GAME, None, 1, 2, 2))
    assert state[1].mean + state[2].mean == pytest.approx(3000.0 + 47 * EPS)
