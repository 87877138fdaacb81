"""The log-likelihood ratio: published figures, and the same by solvers that share nothing with the one that runs."""

from __future__ import annotations

import doctest
import sys
from collections.abc import Sequence
from math import inf, log, sqrt

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import cgos_server.core.sequential
from cgos_server.core.sequential import (
    Counts,
    Hypotheses,
    Scale,
    closed_form,
    estimate,
    likelihood,
    log_likelihood_ratio,
    log_likelihood_ratios,
)

FISHTEST = (379, 10170, 21828, 10640, 343)
NORMALIZED, LOGISTIC = Scale.NORMALIZED, Scale.LOGISTIC


def asked(lower: float, upper: float, scale: Scale = NORMALIZED) -> Hypotheses:
    return Hypotheses(lower=lower, upper=upper, scale=scale)


# --- other solvers ------------------------------------------------------------------------------------------------


def filled(counts: Sequence[int]) -> list[float]:
    return [float(each) if each else 1e-3 for each in counts]


def grid(cells: int) -> list[float]:
    return [each / (cells - 1) for each in range(cells)]


def best_with_mean(counts: Sequence[float], mean: float) -> float:
    """The largest log likelihood with this mean score, by halving the interval of the one multiplier."""
    total, y = sum(counts), [x - mean for x in grid(len(counts))]
    low, high = -1 / max(y) * (1 - 1e-15), -1 / min(y) * (1 - 1e-15)
    for _ in range(200):
        middle = (low + high) / 2
        if sum(n * each / (1 + middle * each) for n, each in zip(counts, y, strict=True)) > 0:
            low = middle
        else:
            high = middle
    return sum(n * log(n / total / (1 + low * each)) for n, each in zip(counts, y, strict=True))


def best_with_moments(counts: Sequence[float], mean: float, sd: float) -> float:
    """The largest log likelihood with this mean and standard deviation: Newton's method on two multipliers."""
    n, x = np.array(counts), np.array(grid(len(counts)))
    second = mean * mean + sd * sd
    if not np.interp(mean, x, x * x) < second < mean:
        return -inf
    f, y = n / n.sum(), np.stack([x - mean, x * x - second])
    theta = np.zeros(2)
    for _ in range(60):
        w = 1 + theta @ y
        slope = (f * y / w).sum(axis=1)
        step = np.linalg.solve((f / w**2 * y) @ y.T, slope)
        size = 1.0
        while (1 + (theta + size * step) @ y).min() <= 0 or (
            (f * np.log(1 + (theta + size * step) @ y)).sum() < (f * np.log(w)).sum() - 1e-15
        ):
            size /= 2
            if size < 1e-12:
                break
        theta = theta + size * step
        if abs(slope @ step) < 1e-22:
            break
    return float((n * np.log(f / (1 + theta @ y))).sum())


def best_with_t(counts: Sequence[float], t: float) -> float:
    """The largest log likelihood of (mean - 1/2) = t sd: a search along the mean."""
    if t == 0:
        return best_with_mean(counts, 0.5)
    if t < 0:
        return best_with_t(counts[::-1], -t)

    def at(mean: float) -> float:
        return best_with_moments(counts, mean, (mean - 0.5) / t)

    # The variance of scores within 0..1 of this mean is at most mean (1 - mean).
    places = np.linspace(0.5, 0.5 + 0.5 * t / sqrt(1 + t * t), 30)
    best = 1 + int(np.argmax([at(mean) for mean in places[1:-1]]))
    low, high = places[best - 1], places[best + 1]
    golden = (sqrt(5) - 1) / 2
    for _ in range(45):
        one, other = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, other) if at(one) > at(other) else (one, high)
    return at((low + high) / 2)


def solved_otherwise(counts: Sequence[int], hypotheses: Hypotheses) -> float:
    n = filled(counts)
    if hypotheses.scale is LOGISTIC:
        null, other = (1 / (1 + 10 ** (-elo / 400)) for elo in (hypotheses.lower, hypotheses.upper))
        return best_with_mean(n, other) - best_with_mean(n, null)
    unit = sqrt(2 if len(n) == 5 else 1) * log(10) / 800
    return best_with_t(n, hypotheses.upper * unit) - best_with_t(n, hypotheses.lower * unit)


# --- tests --------------------------------------------------------------------------------------------------------


def test_the_figure_of_fishtest_by_two_solvers() -> None:
    ratio = log_likelihood_ratio(FISHTEST, asked(0, 2))
    assert round(ratio, 6) == 2.945495
    assert solved_otherwise(FISHTEST, asked(0, 2)) == pytest.approx(ratio, abs=1e-9)
    assert closed_form(FISHTEST, asked(0, 2)) == pytest.approx(2.94598, abs=5e-6)


@pytest.mark.parametrize(
    ("counts", "hypotheses", "published"),
    [
        ((13, 37, 50, 25, 3), asked(0, 4), -0.54912),  # a page of statistics of a fishtest for another engine
        ((13, 37, 50, 25, 3), asked(0, 2.716, LOGISTIC), -0.538),
        ((36027, 68692, 36433), asked(0, 2), 0.92),  # the rest from fastchess and its pull requests 426 and 882
        ((10650, 20431, 10871), asked(-1.75, 0.25), 2.30),
        ((21184, 40708, 21404), asked(0.5, 2.5, LOGISTIC), -1.57),
        ((57030, 106593, 57433), asked(0, 2, LOGISTIC), -2.59),
        ((365, 16618, 36229, 16974, 390), asked(0, 2), 2.25),
        ((127, 4883, 10712, 5150, 104), asked(-1.75, 0.25), 3.01),
        ((223, 9863, 21279, 10037, 246), asked(0.5, 2.5, LOGISTIC), -3.07),
        ((871, 26175, 55983, 26678, 821), asked(0, 2, LOGISTIC), -4.98),
        ((77, 1, 0, 0, 0), asked(-1000, -500), -2.95),
        ((72, 10, 0, 0, 0), asked(-1000, -500), -2.97),
    ],
)
def test_figures_of_other_programs(counts: tuple[int, ...], hypotheses: Hypotheses, published: float) -> None:
    digits = len(str(published).partition(".")[2])
    assert log_likelihood_ratio(counts, hypotheses) == pytest.approx(published, abs=1.01 * 0.5 * 10**-digits)


cells = st.integers(0, 300)
many = st.one_of(st.tuples(*[cells] * 3), st.tuples(*[cells] * 5)).filter(any)


@settings(max_examples=15, deadline=None, phases=[Phase.generate])
@given(many, st.integers(-60, 60), st.floats(1, 60), st.sampled_from(Scale))
def test_two_solvers_agree(counts: tuple[int, ...], lower: int, width: float, scale: Scale) -> None:
    hypotheses = asked(lower, lower + width, scale)
    assert log_likelihood_ratio(counts, hypotheses) == pytest.approx(solved_otherwise(counts, hypotheses), abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(many, st.floats(-900, 900), st.floats(1, 90), st.sampled_from(Scale))
def test_seen_from_the_other_side_the_ratio_turns_round(
    counts: tuple[int, ...], lower: float, width: float, scale: Scale
) -> None:
    one = log_likelihood_ratio(counts, asked(lower, lower + width, scale))
    other = log_likelihood_ratio(counts[::-1], asked(-lower - width, -lower, scale))
    assert one == pytest.approx(-other, rel=1e-6, abs=1e-6)


def test_what_is_likeliest_is_on_the_constraint() -> None:
    shares = likelihood.regularized(np.random.default_rng(4).multinomial(30, [0.1, 0.2, 0.4, 0.2, 0.1], 500) * 1.0)
    shares /= shares.sum(axis=1)[:, None]
    for t in (-1.5, -0.2, 0.0, 0.01, 0.5, 3.0):
        found = likelihood.with_t(shares, t)
        mean, sd = likelihood.moments(found)
        assert np.abs(mean - 0.5 - t * sd).max() < 1e-10
        assert np.abs(found.sum(axis=1) - 1).max() < 1e-10
        assert found.min() > 0


def test_many_at_once_are_each_alone() -> None:
    counts = np.random.default_rng(1).integers(0, 40, (4, 6, 5))
    together = log_likelihood_ratios(counts, asked(0, 20))
    assert together.shape == (4, 6)
    for place in np.ndindex(4, 6):
        alone = log_likelihood_ratio(counts[place].tolist(), asked(0, 20))
        assert together[place] == pytest.approx(alone, abs=1e-9)


def test_nothing_says_nothing() -> None:
    assert log_likelihood_ratio((0, 0, 0, 0, 0), asked(0, 10)) == 0
    assert log_likelihood_ratio(Counts((0, 0, 0)), asked(0, 10, LOGISTIC)) == 0


@pytest.mark.parametrize("module", [cgos_server.core.sequential, likelihood, estimate.__module__])
def test_the_examples_in_the_documentation_are_true(module: object) -> None:
    ran = doctest.testmod(sys.modules[module] if isinstance(module, str) else module)  # type: ignore[arg-type]
    assert ran.attempted >= 2
    assert ran.failed == 0
