"""The benchmark of the goals: pools are as they say, all sides rate the same games, and the bound is the posterior."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.ratings import goal_pools, goal_runs, goal_tables, rating_goals
from benchmarks.ratings.goal_pools import GOAL_POOLS
from cgos_server.lab.ratings import told
from cgos_server.lab.ratings.pools import generator
from cgos_server.lab.ratings.runs import Driven

TOP = Path(__file__).parents[2]


def goals(tmp_path: Path, *words: str) -> dict[str, Any]:
    """What the benchmark finds with these arguments."""
    figures = tmp_path / "figures.json"
    fixed = ["--versions", "8", "--rounds", "5", "--replicates", "2", "--workers", "1"]
    rating_goals.main([*fixed, "--cache", str(tmp_path), "--json", str(figures), *words])
    content: dict[str, Any] = json.loads(figures.read_text())
    return content


def test_a_pool_is_rated_by_both_trees_and_kept(tmp_path: Path) -> None:
    words = ["--pools", "families", "ladder", "--against", str(TOP)]
    figures = goals(tmp_path, *words)
    families, ladder = figures["pools"]["families"], figures["pools"]["ladder"]
    assert families["replicates"] == 2
    assert set(families["sides"]) == {"this", "against", "told"}
    assert set(ladder["sides"]) == {"this", "against"}
    for side in families["sides"].values():
        assert set(side) == {"2", "5"}
        assert 0 < side["5"]["rmse"][0] < 1000
        assert 0 <= side["5"]["inside"][0] <= 1
    assert families["ratios"]["this / against"]["5"] == [1.0, 0.0], "the same tree twice"
    assert ladder["ratios"]["linked / not, this"]["5"][0] != 1.0
    assert families["sides"]["told"]["5"]["rmse"][0] < ladder["sides"]["this"]["5"]["rmse"][0]
    assert len(list(tmp_path.glob("games-*/families-*.json"))) == 2
    assert not list(tmp_path.glob("games-*/ladder-*.json")), "the games of the linked pool"
    kept = (tmp_path / "rating_goals.jsonl").read_text()
    assert goals(tmp_path, *words) == figures
    assert (tmp_path / "rating_goals.jsonl").read_text() == kept


def test_whoever_rates_may_pair_and_newcomers_are_measured(tmp_path: Path) -> None:
    pools = goals(tmp_path, "--pools", "one-family", "newcomer", "--pairings", "own")["pools"]
    this, bound = (pools["one-family"]["sides"][side]["5"] for side in ("this", "told"))
    assert this["rmse"] != bound["rmse"]
    assert len(pools["newcomer"]["sides"]["this"]["rmse"]) == 5


def test_wrong_links_are_as_many_as_stated_and_whoever_comes_later_follows() -> None:
    strengths = goal_pools.WRONG(generator(1, "wrong"), 64)
    wrong = strengths.misplaced()
    assert len(wrong) == 8
    assert len({number % 8 for number in wrong}) > 1
    for number, below in enumerate(strengths.predecessors):
        assert (below is None) == (number % 8 == 0)
        if below is not None:
            step = abs(float(strengths.truth[number] - strengths.truth[below]))
            assert (step > 250) == (number in wrong)


def test_versions_join_by_generations() -> None:
    pool = GOAL_POOLS["growing"]
    strengths = pool.strengths(seed=1, replicate=0, versions=32)
    assert strengths.predecessors[:6] == (None, None, None, None, 0, 1)
    record = goal_pools.made(pool, seed=1, replicate=0, versions=32, rounds=12)
    players = [sorted(number for game in games for number in game[:2]) for games in record.rounds]
    assert players[9] == list(range(4))
    assert players[10] == list(range(8))
    rated = goal_runs.rated_run(pool, goal_runs.BySystem(pool, record), record, None)
    assert len(rated["entry"]) == 1
    assert rated["entry"][0]["halfwidth"] > 0


def test_games_are_read_as_they_were_made(tmp_path: Path) -> None:
    pool = GOAL_POOLS["draws"]
    record = goal_pools.made(pool, seed=3, replicate=0, versions=8, rounds=30)
    path = goal_pools.recorded(tmp_path, pool, seed=3, replicate=0, versions=8, rounds=30)
    again = goal_pools.read(path)
    assert again.strengths.truth.tolist() == record.strengths.truth.tolist()
    assert again.rounds == record.rounds
    assert again.fixed == record.fixed
    assert {score for games in record.rounds for _, _, score in games} == {0, 1, 2}


def test_who_is_told_the_prior_has_its_posterior() -> None:
    nu, stated = 1.0, told.fixed_prior(2)
    estimator = told.Told(stated, {1: 2000.0}, nu)
    estimator.count([(0, 1, 2)] * 3 + [(1, 0, 1)] * 2 + [(1, 0, 0)])
    mean, covariance = estimator.posterior()
    x = np.linspace(-1000.0, 5000.0, 60_001)
    z = math.log(10.0) / 800.0 * (x - 2000.0)
    log_density = -0.5 * ((x - 2000.0) / 500.0) ** 2 + 4 * z - 6 * np.log(np.exp(z) + nu + np.exp(-z))
    density = np.exp(log_density - log_density.max())
    density /= density.sum()
    center = float(density @ x)
    assert estimator.mode[0] == pytest.approx(x[log_density.argmax()], abs=0.2)
    assert mean[0] == pytest.approx(center, abs=0.2)
    assert math.sqrt(covariance[0, 0]) == pytest.approx(math.sqrt(density @ (x - center) ** 2), abs=0.2)


def test_steps_are_known_as_stated() -> None:
    prior = goal_pools.FAMILIES.prior(16)
    mean, covariance = np.linalg.solve(prior.precision, prior.shift), np.linalg.inv(prior.precision)
    assert mean[7] == pytest.approx(2000 + 7 * 40)
    assert mean[8] == pytest.approx(2000)
    assert covariance[7, 7] == pytest.approx(350**2 + 7 * 25**2)
    assert covariance[7, 6] == pytest.approx(350**2 + 6 * 25**2)
    assert covariance[7, 8] == pytest.approx(0, abs=1e-3)


def test_shares_and_ratios_over_replicates() -> None:
    pairs, truly, error = goal_tables.calibration([(10, 9), (30, 21)])
    assert (pairs, truly) == (40, 0.75)
    assert error == pytest.approx(math.sqrt(2 * (1.5**2 + 1.5**2)) / 40)
    assert goal_tables.calibration([(0, 0)])[0] == 0
    assert goal_tables.ratio([4.0, 16.0], [1.0, 4.0]) == (2.0, 0.0)


def test_a_rating_without_ends_has_an_even_interval() -> None:
    driven = Driven("cgos-elo")
    driven.enter()
    (mean,), (spread,) = driven.ratings()
    (lower,), (upper,) = driven.intervals()
    assert lower + upper == pytest.approx(2 * mean)
    assert upper - lower == pytest.approx(2 * 1.96 * spread, rel=1e-3)
