"""Rounds of expectation propagation: fewer by leaps, smaller where little moves, and the same result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.core.rating_pools import apart, pool, sds, simulated

from cgos_server.core.rating.bayes import fit, propagation, sites
from cgos_server.core.rating.bayes.pool import Floats, Pool


def pool_of(n: int, games: int, seed: int) -> tuple[Pool, Floats]:
    truth = np.random.default_rng(seed).normal(2000.0, 350.0, n)
    return simulated(truth, games, seed, anchors=(0, 1)), truth


def with_result(given_pool: Pool, pair: int) -> Pool:
    wins = given_pool.wins.copy()
    wins[pair] += 1
    return replace(given_pool, wins=wins)


def test_few_results_take_small_rounds_and_lead_where_whole_ones_do() -> None:
    given_pool, _ = pool_of(60, 1500, 1)
    posterior = fit.cold(given_pool, follow=(0, (9, 4, 20, 0, 0, 0, 40)))
    for pair in (3, 40, 200):
        more = given_pool
        for _ in range(8):
            more = with_result(more, pair)
        small = fit.warm(more, posterior.hyper, posterior.sites, posterior.x)
        whole = fit.warm(more, posterior.hyper, posterior.sites, posterior.x, follow=(None, (0,) * 40))
        assert small.iterations[0] > 0
        assert apart(small, whole, 60) < 0.01
        assert np.abs(sds(small, 60) / sds(whole, 60) - 1).max() < 0.005
        assert apart(posterior, whole, 60) > 0.01


def test_where_nothing_moves_one_search_is_enough() -> None:
    given_pool, _ = pool_of(20, 400, 2)
    settled = fit.warm(given_pool, *going_on(fit.cold(given_pool)), follow=(None, (0,) * 60))
    again = fit.warm(given_pool, *going_on(settled))
    assert sum(again.iterations) <= 2
    assert apart(again, settled, 20) < 1e-3


def going_on(posterior: fit.Posterior) -> tuple[fit.Hyper, fit.Sites, Floats]:
    return posterior.hyper, posterior.sites, posterior.x


def test_a_warm_refit_ends_after_its_thirty_rounds() -> None:
    given_pool, _ = pool_of(20, 400, 3)
    posterior = fit.cold(given_pool)
    nothing = replace(posterior.sites, one=posterior.sites.one[:0], two=posterior.sites.two[:0])
    far = replace(posterior.hyper, s=60.0, w=(0.98, 0.01, 0.01))
    rounds = fit.warm(given_pool, far, nothing, posterior.x).iterations
    assert sum(max(count, 1) for count in rounds) <= fit.WARM.limit


def test_leaps_save_rounds_and_end_at_the_same_point() -> None:
    """A unimodal pool: three centers drift together slowly, which is what leaps are for. (With a tail they drift for
    a hundred rounds more, by a tenth of an sd, and nobody waits for that.)"""
    given_pool, _ = pool_of(100, 3000, 4)
    given_pool = replace(given_pool, prior=replace(given_pool.prior, tail=0.0, equals=False, early_log_sd=0.4))
    with_leaps = fit.cold(given_pool)
    start, rounds = with_leaps.start, with_leaps.iterations
    converged = fit.cold(given_pool, follow=(start, (*rounds[:-1], 200)))
    assert rounds[-1] < 60
    assert apart(with_leaps, converged, 100) < 0.05
    assert abs(np.log(with_leaps.hyper.s / converged.hyper.s)) < 0.05


@pytest.mark.parametrize("seed", range(6))
def test_small_pools_that_grow_and_change_stay_distributions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    pairs = sorted({(int(i), int(j)) for i, j in rng.integers(0, n, (14, 2)) if i != j})
    counts = rng.choice([0, 1, 3, 40, 500], (len(pairs), 2))
    cells = [(*pair, wins, 0, losses) for pair, (wins, losses) in zip(pairs, counts, strict=True)]
    given_pool = pool(n, cells, anchors=[(0, 2300.0, 0.01)] if seed % 2 else [])
    posterior = fit.cold(given_pool)
    for _ in range(4):
        if len(pairs):
            given_pool = with_result(given_pool, int(rng.integers(0, len(pairs))))
        given_pool = replace(given_pool, n=given_pool.n + int(rng.integers(0, 2)))
        posterior = fit.warm(given_pool, *going_on(posterior))
        assert (np.linalg.eigvalsh(posterior.C) > 0).all()
        assert np.isfinite(posterior.x).all()


@pytest.mark.parametrize("draw", [0.0, 1.0])
def test_cavities_beyond_all_exponentials(draw: float) -> None:
    """The mean of a cavity may lie where e^z overflows: what is found there is still a distribution."""
    of = sites.cells(pool(4, [(0, 1, 5, 1, 0), (3, 2, 7, 0, 1)]))
    d, precision = np.array([2.5e5, -3e5]), np.array([1e-9, 1e-9])
    tilted = sites.tilted(of, d, precision, d, 40.0, draw, learn=True)
    assert np.isfinite(tilted.mean).all()
    assert (tilted.variance > 0).all()
    assert np.isfinite(tilted.log_z).all()
    assert tilted.evidence is not None
    assert np.isfinite(tilted.evidence).all()


def test_what_is_learned_follows_the_expected_likelihood() -> None:
    """The derivatives by advantage and ln nu, against differences of the log of the integral (Fisher's identity)."""
    of = sites.cells(pool(3, [(0, 1, 5, 2, 1), (1, 0, 2, 1, 4), (2, 1, 3, 3, 0)]))
    d, precision = np.array([30.0, -80.0]), np.array([1e-4, 2e-5])

    def total(advantage: float, draw: float) -> float:
        return float(sites.tilted(of, d, precision, d, advantage, draw).log_z.sum())

    at, nu, small = 25.0, 0.6, 1e-3
    evidence = sites.tilted(of, d, precision, d, at, nu, learn=True).evidence
    assert evidence is not None
    assert evidence.advantage_slope == pytest.approx((total(at + small, nu) - total(at - small, nu)) / 2e-3, rel=1e-4)
    up, down = total(at, nu * np.exp(small)), total(at, nu * np.exp(-small))
    assert evidence.draw_slope == pytest.approx((up - down) / 2e-3, rel=1e-4)
    assert evidence.advantage_bend < 0
    assert evidence.draw_bend < 0


def test_small_rounds_that_lose_too_much_in_rounding_become_whole_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("a precision matrix is not positive definite")

    given_pool, _ = pool_of(40, 900, 5)
    posterior = fit.cold(given_pool)
    more = with_result(given_pool, 7)
    small = fit.warm(more, *going_on(posterior))
    monkeypatch.setattr(propagation, "_small_rounds", lost)
    whole = fit.warm(more, *going_on(posterior))
    assert set(whole.iterations) == {0} < set(small.iterations) | {0}
    assert apart(whole, small, 40) < 0.02
