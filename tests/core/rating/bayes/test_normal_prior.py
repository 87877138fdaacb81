"""The fixed normal prior: the exact mode, its covariance, and what is held in a warm refit."""

from __future__ import annotations

from dataclasses import replace
from math import log

import numpy as np
import pytest
from support.core.rating_pools import apart, pool, sds, simulated

from cgos_server.core.rating.bayes import fit, normal
from cgos_server.core.rating.bayes.joint import join
from cgos_server.core.rating.bayes.pool import Pool, Posterior, Prior

FIXED = Prior(initial=2000.0, learned=False)


def drawn_pool() -> Pool:
    truth = np.random.default_rng(1).normal(2000.0, 350.0, 20)
    return replace(simulated(truth, 1500, 2, draw=0.5, advantage=30.0, anchors=(3,)), prior=FIXED)


def point(of: Posterior, given_pool: Pool) -> normal.Point:
    draw = of.hyper.draw
    return normal.Point(of.x - given_pool.prior.initial, of.hyper.advantage, log(draw) if draw else 0.0)


def test_the_gradient_vanishes() -> None:
    given_pool = drawn_pool()
    posterior = fit.cold(given_pool)
    gradient, hessian = normal.derivatives(join(given_pool, 0), FIXED, point(posterior, given_pool), True)
    assert np.linalg.norm(gradient) < 1e-8
    assert np.linalg.inv(hessian[:20, :20]) == pytest.approx(posterior.C, rel=1e-6)


def test_derivatives_are_those_of_the_value() -> None:
    given_pool = drawn_pool()
    joint, rng = join(given_pool, 0), np.random.default_rng(3)
    x = np.append(rng.normal(0.0, 300.0, 20), [25.0, -0.4])

    def at(y: np.ndarray) -> normal.Point:
        return normal.Point(y[:-2], float(y[-2]), float(y[-1]))

    gradient, hessian = normal.derivatives(joint, FIXED, at(x), True)
    for k in range(22):
        small = np.zeros(22)
        small[k] = 1e-3
        up, down = (normal.value(joint, FIXED, at(x + sign * small), True) for sign in (1, -1))
        assert gradient[k] == pytest.approx((up - down) / 2e-3, abs=1e-4 * max(1.0, abs(gradient[k])))
        above, below = (normal.derivatives(joint, FIXED, at(x + sign * small), True)[0] for sign in (1, -1))
        assert -hessian[k] == pytest.approx((above - below) / 2e-3, abs=1e-5)


def test_nobody_played() -> None:
    posterior = fit.cold(pool(3, prior=FIXED))
    assert posterior.x == pytest.approx([2000.0] * 3)
    assert sds(posterior, 3) == pytest.approx([500.0] * 3)


def test_five_wins_by_hand() -> None:
    """At the mode of a symmetric pair each side's pull by the prior equals q times the surprise."""
    posterior = fit.cold(pool(2, [(0, 1, 5, 0, 0)], prior=replace(FIXED, advantage_sd=0.0)))
    d = posterior.x[0] - posterior.x[1]
    assert posterior.x.sum() == pytest.approx(4000.0)
    assert d / 2 / 500.0**2 == pytest.approx(5 * 0.005756462732485115 * (1 - 1 / (1 + 10 ** (-d / 400))))


def test_warm_leads_where_cold_does() -> None:
    given_pool = drawn_pool()
    posterior = fit.cold(given_pool)
    more = replace(given_pool, wins=given_pool.wins + 1)
    warm, cold = fit.warm(more, posterior.hyper, posterior.sites, posterior.x), fit.cold(more)
    assert warm.hyper == posterior.hyper
    held = fit.warm(more, cold.hyper, posterior.sites, posterior.x)
    assert apart(held, cold, 20) < 1e-6
    assert sum(warm.iterations) < sum(cold.iterations)


def test_a_new_version_begins_where_it_is_expected() -> None:
    given_pool = drawn_pool()
    posterior = fit.cold(given_pool)
    grown = fit.warm(replace(given_pool, n=22), posterior.hyper, posterior.sites, posterior.x)
    assert grown.x[20:] == pytest.approx([2000.0, 2000.0])
    assert apart(grown, posterior, 20) < 1e-6
