"""Costs of tests beside simulated ones, and the model of a pair."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_protocol.errors import Invalid
from cgos_server.core.sequential import (
    Hypotheses,
    Scale,
    expected,
    expected_at,
    fixed_length,
    pair_distribution,
    remaining,
)
from cgos_server.core.sequential.hypotheses import score_of, scores

from .simulated import ended


@pytest.mark.parametrize(("difference", "seed"), [(-20.0, 1), (0.0, 2), (60.0, 3), (130.0, 4)])
def test_expected_costs_are_those_of_simulated_tests(difference: float, seed: int) -> None:
    test, pairs = Hypotheses(lower=0, upper=100), pair_distribution(difference, advantage=30, draws=0.2, spread=40)
    counts, ratios = ended(test, pairs, 400, seed)
    lengths, accepted = counts.sum(axis=1), (ratios > 0).mean()
    cost = expected(test, None, pairs)
    assert abs(lengths.mean() - cost.pairs) < 3 * lengths.std() / 20 + 0.05 * cost.pairs
    assert abs(accepted - cost.accepted) < 3 * (cost.accepted * (1 - cost.accepted) / 400) ** 0.5 + 0.015


def test_error_rates_and_the_middle() -> None:
    pairs = pair_distribution(0.0, draws=0.3)
    for scale in Scale:
        test = Hypotheses(lower=0, upper=5, scale=scale, alpha=0.05, beta=0.1)
        assert expected_at(test, 0, pairs).accepted == pytest.approx(0.05, abs=0.003)
        assert expected_at(test, 5, pairs).accepted == pytest.approx(0.9, abs=0.003)
    test = Hypotheses(lower=0, upper=5)
    middle = expected_at(test, 2.5, pairs)
    assert middle.accepted == pytest.approx(0.5, abs=0.005)
    assert 2 * middle.pairs == pytest.approx((np.log(19) / (5 * np.log(10) / 800)) ** 2, rel=0.02)
    assert 2 * fixed_length(test, None, pairs) == pytest.approx((2 * 1.6448536 / (5 * np.log(10) / 800)) ** 2, rel=1e-6)
    singles = (0.35, 0.3, 0.35)
    assert expected_at(test, 2.5, singles).pairs == pytest.approx(2 * middle.pairs, rel=0.01)


def test_a_logistic_difference_tilts_the_distribution() -> None:
    test, equal = Hypotheses(lower=0, upper=20, scale=Scale.LOGISTIC), pair_distribution(0.0, draws=0.3)
    assert expected(test, 12.0, equal) == expected_at(test, 12.0, equal)
    assert expected(test, 0.0, equal).pairs == pytest.approx(expected(test, None, equal).pairs)


def test_two_games_of_equals_without_draws_are_two_coins() -> None:
    assert pair_distribution(0.0) == pytest.approx((0.25, 0, 0.5, 0, 0.25))
    assert pair_distribution(0.0, draws=0.5) == pytest.approx((1 / 16, 1 / 4, 3 / 8, 1 / 4, 1 / 16))


def test_the_model_of_a_pair() -> None:
    assert float(np.dot(pair_distribution(70.0), scores(5))) == pytest.approx(score_of(70))
    for spread in (0.0, 80.0):
        there = pair_distribution(70.0, advantage=40.0, draws=0.3, spread=spread)
        back = pair_distribution(-70.0, advantage=40.0, draws=0.3, spread=spread)
        assert there == pytest.approx(back[::-1])
        assert sum(there) == pytest.approx(1)
    even, uneven = pair_distribution(0.0), pair_distribution(0.0, spread=200.0)
    assert uneven[2] > even[2] + 0.05, "uneven openings halve more pairs"
    likely = 1 / (1 + 10 ** (-100 / 400))
    assert pair_distribution(0.0, advantage=100.0)[4] == pytest.approx(likely * (1 - likely))


@pytest.mark.parametrize(("draws", "spread"), [(1.0, 0.0), (-0.1, 0.0), (0.2, -1.0)])
def test_impossible_pairs_are_refused(draws: float, spread: float) -> None:
    with pytest.raises(Invalid, match="share of draws"):
        pair_distribution(0.0, draws=draws, spread=spread)
    with pytest.raises(Invalid, match="five probabilities"):
        expected(Hypotheses(lower=0, upper=10), None, (0.5, 0.5))


def test_what_is_still_to_come() -> None:
    test = Hypotheses(lower=0, upper=50)
    fresh = remaining((0, 0, 0, 0, 0), test)
    assert fresh.pairs == pytest.approx(expected(test, None, pair_distribution(0.0, draws=0.2)).pairs)
    assert remaining((0, 0, 0), test).pairs == pytest.approx(2 * fresh.pairs, rel=0.03)
    halfway = remaining((10, 20, 40, 32, 18), test)
    assert 0 < halfway.pairs < 150
    assert halfway.accepted > 0.9
    assert remaining((2, 5, 80, 90, 60), test) == remaining((0, 5, 80, 90, 60), test)
    assert (remaining((2, 5, 80, 90, 60), test).pairs, remaining((60, 90, 80, 5, 2), test).accepted) == (0, 0)
