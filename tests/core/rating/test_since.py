"""The strength that some games alone show: as exact as they are, and no more exact than the opponents' ratings."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cgos_server.core.rating.breaks import ELO, Result
from cgos_server.core.rating.since import LEAST_WIDTH, strength_of

POOL = [1700.0, 1800.0, 1900.0]


def games(rng: np.random.Generator, n: int, above: float) -> list[Result]:
    """Even games by the rating, of a version that is in truth stronger by `above`."""
    won = 1 / (1 + math.exp(-above / ELO))
    return [Result(float(rng.random() < won), 0.5, 0.25) for _ in range(n)]


def test_many_games_show_the_strength_whatever_the_rating_was() -> None:
    results = games(np.random.default_rng(1), 20_000, 250.0)
    strength = strength_of(results, [1] * 20_000, rating=1800.0, spreads={1: 0.0}, pool=POOL)
    assert strength.mean == pytest.approx(2050, abs=10)
    assert strength.upper - strength.lower == pytest.approx(2 * 1.96 * ELO / math.sqrt(20_000 * 0.1536), rel=0.05)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        above = rng.normal(0.0, LEAST_WIDTH)
        offset = rng.normal(0.0, 60.0)  # the opponent's error, the same in all games
        shown = strength_of(games(rng, 40, above - offset), [1] * 40, rating=1800.0, spreads={1: 60.0}, pool=POOL)
        held += shown.lower < 1800 + above < shown.upper
    assert held / 400 == pytest.approx(0.95, abs=0.035)


def test_errors_of_many_opponents_are_averaged() -> None:
    results = [Result(score, 0.5, 0.25) for score in (0.0, 1.0)] * 200
    one = strength_of(results, [1] * 400, rating=1800.0, spreads={1: 60.0}, pool=POOL)
    many = strength_of(
        results, [at % 16 for at in range(400)], rating=1800.0, spreads=dict.fromkeys(range(16), 60.0), pool=POOL
    )
    known = strength_of(results, [1] * 400, rating=1800.0, spreads={1: 0.0}, pool=POOL)
    assert one.mean == many.mean == known.mean == pytest.approx(1800, abs=1)
    assert one.upper - one.mean == pytest.approx(math.hypot(known.upper - known.mean, 1.96 * 60), rel=0.01)
    assert known.upper < many.upper < known.upper + 0.3 * (one.upper - known.upper)


def test_who_wins_everything_has_an_end_that_the_pool_sets() -> None:
    results = [Result(1.0, 0.5, 0.25)] * 20
    narrow = strength_of(results, [1] * 20, rating=1800.0, spreads={1: 0.0}, pool=POOL)
    wide = strength_of(results, [1] * 20, rating=1800.0, spreads={1: 0.0}, pool=[600.0, 1800.0, 3000.0])
    assert 2100 < narrow.lower < narrow.mean < narrow.upper < wide.upper
    assert narrow.upper - narrow.mean > narrow.mean - narrow.lower
    assert math.isfinite(wide.upper)
