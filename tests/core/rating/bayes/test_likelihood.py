"""Probabilities and likelihoods: sums, symmetries, finite differences, extremes."""

from __future__ import annotations

from math import exp, log, log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.bayes.likelihood import (
    draw_parameter,
    drawn_between_equals,
    log_likelihood,
    log_normalizer,
    normalizer,
    probabilities,
    step,
)
from cgos_server.core.rating.bayes.pool import Q_ELO

differences = st.floats(-3000.0, 3000.0)
advantages = st.floats(-200.0, 200.0)
draws = st.one_of(st.just(0.0), st.floats(0.001, 50.0))


def test_by_hand() -> None:
    """400 Elo are ten to one; with nu = 2 equal opponents draw every second game."""
    win, drawn, loss = probabilities(400.0)
    assert (win, drawn, loss) == (pytest.approx(10 / 11), 0.0, pytest.approx(1 / 11))
    assert probabilities(0.0, 0.0, 2.0) == pytest.approx((0.25, 0.5, 0.25))
    assert probabilities(-100.0, 100.0).win == pytest.approx(0.5)


def test_points_with_draws_by_hand() -> None:
    """800 log10(2) Elo make 10^(d/800) = 2: with nu = 3/2 the results are as 2 : 3/2 : 1/2, with nu = 0 as 2 : 1/2."""
    lead = 800.0 * log10(2.0)
    assert probabilities(lead, 0.0, 1.5) == pytest.approx((1 / 2, 3 / 8, 1 / 8))
    assert probabilities(lead) == pytest.approx((4 / 5, 0, 1 / 5))
    assert probabilities(lead - 60.0, 60.0, 1.5) == pytest.approx((1 / 2, 3 / 8, 1 / 8))


@given(st.floats(0.0, 0.99))
def test_the_parameter_of_a_share_of_draws(share: float) -> None:
    assert draw_parameter(0.5) == 2.0
    assert probabilities(0.0, 0.0, draw_parameter(share)).draw == pytest.approx(share)
    assert drawn_between_equals(draw_parameter(share)) == pytest.approx(share)


@given(differences, advantages, draws)
def test_probabilities_sum_to_one_and_turn_round(d: float, advantage: float, draw: float) -> None:
    there, back = probabilities(d, advantage, draw), probabilities(-d, -advantage, draw)
    assert sum(there) == pytest.approx(1.0)
    assert (there.win, there.draw, there.loss) == pytest.approx((back.loss, back.draw, back.win), rel=1e-12, abs=1e-300)


@given(differences, advantages, draws, *(st.integers(0, 40) for _ in range(3)))
def test_derivatives_are_those_of_the_value(
    d: float, advantage: float, draw: float, wins: int, drawn: int, losses: int
) -> None:
    def at(x: float) -> tuple[float, float, float]:
        value, slope, bend = log_likelihood(x, wins, drawn, losses, advantage, draw)
        return float(value), float(slope), float(bend)

    games, small = wins + drawn + losses, 0.5
    _, slope, bend = at(d)
    up, down = at(d + small), at(d - small)
    assert slope == pytest.approx((up[0] - down[0]) / (2 * small), abs=1e-8 * (games + 1) + 1e-9)
    assert bend == pytest.approx((up[1] - down[1]) / (2 * small), abs=1e-9 * (games + 1))
    assert bend <= 0


@given(differences, advantages, st.floats(0.001, 50.0), *(st.integers(0, 9) for _ in range(3)))
def test_the_value_is_the_log_of_the_probabilities(
    d: float, advantage: float, draw: float, wins: int, drawn: int, losses: int
) -> None:
    p = probabilities(d, advantage, draw)
    expected = sum(count * log(float(probability)) for count, probability in zip((wins, drawn, losses), p, strict=True))
    assert float(log_likelihood(d, wins, drawn, losses, advantage, draw).value) == pytest.approx(expected, abs=1e-9)


@given(differences, advantages, draws, st.sampled_from([(1, 0, 0), (0, 1, 0), (0, 0, 1)]))
def test_the_step_after_one_result_is_its_likelihood(
    d: float, advantage: float, draw: float, result: tuple[int, int, int]
) -> None:
    slope, weight = step(d, result[0] + result[1] / 2, advantage, draw)
    expected = log_likelihood(d, *result, advantage, draw)
    assert slope == pytest.approx(float(expected.slope), abs=1e-15)
    assert weight == pytest.approx(-float(expected.bend), abs=1e-15)


def test_without_draws_the_step_is_the_logistic_one() -> None:
    slope, weight = step(120.0, 1.0, 30.0)
    p = 1 / (1 + 10 ** (-150.0 / 400))
    assert slope == pytest.approx(Q_ELO * (1 - p))
    assert weight == pytest.approx(Q_ELO**2 * p * (1 - p))


@pytest.mark.parametrize("draw", [0.0, 1e-9, 1.0, 1e9])
def test_extreme_differences_stay_finite(draw: float) -> None:
    d = np.array([-1e7, -1e5, 0.0, 1e5, 1e7])
    for part in (*probabilities(d, 50.0, draw), *log_likelihood(d, 5, 3, 2, 50.0, draw)):
        assert np.isfinite(part).all()
    assert step(1e7, 0.0, 0.0, draw).slope == pytest.approx(-Q_ELO)


def test_draws_count_as_half_points_until_a_parameter_is_learned() -> None:
    half = log_likelihood(70.0, 1.5, 0, 1.5, 20.0, 0.0)
    drawn = log_likelihood(70.0, 0, 3, 0, 20.0, 0.0)
    assert tuple(map(float, half)) == pytest.approx(tuple(map(float, drawn)))


@given(st.floats(-40.0, 40.0), draws)
def test_normalizer_by_its_definition(z: float, draw: float) -> None:
    expected = log(exp(z / 2) + draw + exp(-z / 2))
    assert float(log_normalizer(np.array(z), draw)) == pytest.approx(expected, abs=1e-12)
    assert float(normalizer(np.array(z), draw).value) == pytest.approx(expected, abs=1e-12)
