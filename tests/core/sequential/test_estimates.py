"""Estimates: right in the middle after tests that ended by themselves, and of sense at every edge."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_server.core.sequential import Hypotheses, Scale, estimate, fixed_estimate, pair_distribution
from cgos_server.core.sequential.hypotheses import elo_of, scores

from .simulated import ended

TEST = Hypotheses(lower=0, upper=100)


@pytest.mark.parametrize(("difference", "seed"), [(0.0, 1), (140.0, 3)])
def test_half_of_the_estimates_after_a_test_are_too_high(difference: float, seed: int) -> None:
    pairs = pair_distribution(difference, draws=0.2)
    truth = elo_of(float(np.dot(pairs, scores(5))))
    assert truth is not None
    tests = 120
    counts, _ = ended(TEST, pairs, tests, seed)
    after = [estimate([int(each) for each in row], TEST) for row in counts]
    high = sum(each.elo is not None and each.elo > truth for each in after)
    assert abs(high - tests / 2) < 3 * (tests / 4) ** 0.5
    missed = sum(
        (each.lower is not None and each.lower > truth) or (each.upper is not None and each.upper < truth)
        for each in after
    )
    assert missed <= 0.05 * tests + 3 * (0.05 * 0.95 * tests) ** 0.5
    naive = [fixed_estimate([int(each) for each in row]).elo for row in counts]
    assert np.abs(np.median([each.elo for each in after]) - truth) < np.abs(np.median(naive) - truth) + 6


def test_while_it_runs_early_the_estimate_is_the_score() -> None:
    """No barrier was near: nothing has to be made good."""
    counts = (2, 5, 7, 6, 3)
    one, other = estimate(counts, Hypotheses(lower=0, upper=3)), fixed_estimate(counts)
    assert one.elo == pytest.approx(other.elo, abs=0.2)
    assert one.lower == pytest.approx(other.lower, rel=0.1)
    assert one.superiority == pytest.approx(other.superiority, abs=0.02)


def test_both_scales_say_nearly_the_same() -> None:
    counts = (379, 10170, 21828, 10640, 343)
    one = estimate(counts, Hypotheses(lower=0, upper=2))
    other = estimate(counts, Hypotheses(lower=0, upper=1.045, scale=Scale.LOGISTIC))
    assert one.elo == pytest.approx(other.elo, abs=0.01)
    assert one.normalized == pytest.approx(other.normalized, abs=0.02)


def test_a_fixed_number_of_games_gives_the_score_and_its_spread() -> None:
    about = fixed_estimate((13, 37, 50, 25, 3))
    assert about.elo == pytest.approx(-43.6578, abs=1e-4)
    assert about.normalized == pytest.approx(-63.97, abs=0.01)
    assert about.lower is not None
    assert about.lower == pytest.approx(-73.7, abs=0.5)
    assert about.superiority < 0.002
    mirrored = fixed_estimate((3, 25, 50, 37, 13))
    assert mirrored.elo == pytest.approx(43.6578, abs=1e-4)
    assert mirrored.superiority == pytest.approx(1 - about.superiority)


def test_accepted_sooner_is_more_favorable() -> None:
    soon, late = estimate((2, 3, 10, 22, 13), TEST), estimate((12, 20, 60, 62, 33), TEST)
    assert soon.elo is not None
    assert late.elo is not None
    assert soon.elo > late.elo
    assert soon.superiority > late.superiority > 0.9


@pytest.mark.parametrize("number", [2, 5, 400])
@pytest.mark.parametrize("cells", [3, 5])
def test_all_won_or_all_lost_has_an_open_end(number: int, cells: int) -> None:
    counts = [0] * cells
    for place in (0, cells - 1):
        counts[place] = number
        for about in (estimate(counts, TEST), fixed_estimate(counts)):
            ends = (about.lower, about.upper) if place else (about.upper, about.lower)
            assert ends[0] is not None
            assert ends[1] is None
            assert about.elo is not None
            assert (about.elo > ends[0]) == bool(place)
            assert (about.superiority > 0.5) == bool(place)
        counts[place] = 0


def test_every_pair_halved_and_nothing_at_all() -> None:
    halved = estimate((0, 0, 30, 0, 0), TEST)
    assert halved.elo == pytest.approx(0, abs=1e-9)
    assert halved.lower is not None
    assert halved.upper == pytest.approx(-halved.lower)
    assert halved.superiority == 0.5
    nothing = estimate((0, 0, 0), TEST)
    assert (nothing.elo, nothing.lower, nothing.upper, nothing.superiority) == (None, None, None, 0.5)


@pytest.mark.parametrize(
    "counts", [(1, 0, 0, 0, 1), (0, 0, 0, 1, 5), (9000, 1, 0, 0, 0), (0, 1, 9000), (0, 0, 1, 1, 0)]
)
@pytest.mark.parametrize("scale", list(Scale))
def test_lopsided_counts_have_ends_in_order(counts: tuple[int, ...], scale: Scale) -> None:
    about = estimate(counts, Hypotheses(lower=-5, upper=60, scale=scale))
    ends = [each for each in (about.lower, about.elo, about.upper) if each is not None]
    assert ends == sorted(ends)
    assert 0 <= about.superiority <= 1
