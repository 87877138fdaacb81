"""Simulated pools: the limit, results, the window, colors."""

from __future__ import annotations

import math

import pytest

from cgos_server.lab.ratings import pools


def test_the_limit_is_read_between_its_columns() -> None:
    for games, rmse in zip(pools.LIMIT_GAMES, pools.LIMITS["normal"], strict=True):
        assert pools.limit_games("normal", rmse) == pytest.approx(games)
    between = math.sqrt(87 * 64)
    assert pools.limit_games("normal", between) == pytest.approx(math.sqrt(20 * 40))
    assert pools.limit_games("normal", 300) < 5
    assert pools.limit_games("normal", 20) > 320


def test_results_have_the_shares_they_should() -> None:
    rng = pools.generator(1, "shares")
    plain = [pools.score2(rng, pools.POOLS["normal"], 200.0) for _ in range(4000)]
    assert sum(plain) / 8000 == pytest.approx(1 / (1 + 10**-0.5), abs=0.03)
    assert 1 not in plain
    drawn = [pools.score2(rng, pools.POOLS["normal-draws"], 0.0) for _ in range(4000)]
    assert drawn.count(1) / 4000 == pytest.approx(1.7 / 3.7, abs=0.03)
    first = [pools.score2(rng, pools.POOLS["normal-first"], 0.0) for _ in range(4000)]
    assert sum(first) / 8000 == pytest.approx(1 / (1 + 10**-0.15), abs=0.03)


def test_the_window_pairs_neighbors() -> None:
    rng = pools.generator(1, "window")
    ratings = rng.normal(2000.0, 350.0, 64)
    width = pools.window(ratings)
    assert width >= 500
    pairs = pools.permuted_window(rng, ratings)
    assert sorted(number for pair in pairs for number in pair) == list(range(64))
    assert pools.window(ratings[:4]) == 3000
    far = [
        abs(ratings[first] - ratings[second])
        for _ in range(50)
        for first, second in pools.permuted_window(rng, ratings)
    ]
    assert max(far) < width + 200
    assert sum(far) / len(far) < width / 2


def test_the_side_that_had_the_first_move_less_often_has_it() -> None:
    colors = pools.Colors(pools.generator(1, "colors"))
    firsts = [colors.first(3, 7)[0] for _ in range(20)]
    assert firsts.count(3) == 10
