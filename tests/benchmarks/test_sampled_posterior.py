"""The sampled posterior where it is known: by integration over a grid, and without games by the prior itself."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.core.rating_pools import pool

from benchmarks.ratings.sampled_posterior import (
    HALF_LOGIT,
    SPIKE_SD,
    STEP_MEAN_SD,
    TAIL_SD,
    Draws,
    Sampler,
    rank_shares,
)
from cgos_server.core.rating.bayes.pool import Floats, Hyper, Pool

CENTER_SD, MEAN_SD = 500.0, 300.0
CENTER = CENTER_SD**2 + MEAN_SD**2
"""Variance of a center about `initial`."""


def sampled(known: Pool, hyper: Hyper, sweeps: int = 1000) -> Draws:
    return Sampler(known, hyper, 32, np.random.default_rng(1)).run(sweeps, burn_in=200)


def components(hyper: Hyper) -> list[tuple[float, int, float]]:
    """(weight, center, variance about it) of a root's prior."""
    classes = [
        (1.0 - hyper.tail - hyper.equals, hyper.s**2),
        (hyper.tail, hyper.s**2 + TAIL_SD**2),
        (hyper.equals, SPIKE_SD**2),
    ]
    return [(share * weight, k, b) for share, b in classes for k, weight in enumerate(hyper.w)]


def likelihood(difference: Floats, hyper: Hyper, wins: int, draws: int, losses: int) -> Floats:
    """Of the results of the side that moves first and is so much stronger."""
    win = np.exp(HALF_LOGIT * (difference + hyper.advantage))
    total = win + hyper.draw + 1.0 / win
    joint: Floats = (win / total) ** wins * (hyper.draw / total) ** draws / (win * total) ** losses
    return joint


def test_without_games_it_is_the_prior() -> None:
    hyper = Hyper(s=200.0, w=(0.7, 0.3), tail=0.1, equals=0.2, step=60.0, fresh=0.2)
    draws = sampled(pool(3, links=((1, 0, None, False), (2, 1, 150.0, True))), hyper)
    r0, r1, r2 = (draws.x[:, :, i].ravel() for i in range(3))
    spread = sum(weight * b for weight, _, b in components(hyper))
    assert r0.mean() == pytest.approx(2000.0, abs=15)
    assert r0.std() == pytest.approx((CENTER + spread) ** 0.5, rel=0.03)
    step = r2 - r1
    assert step.std() == pytest.approx((STEP_MEAN_SD**2 + 150.0**2) ** 0.5, rel=0.02)
    linked = STEP_MEAN_SD**2 + 60.0**2
    apart = 2 * spread + 2 * CENTER_SD**2 * (1 - 0.7**2 - 0.3**2)
    assert (r1 - r0).var() == pytest.approx(0.8 * linked + 0.2 * apart, rel=0.06)
    assert draws.fresh == pytest.approx([1.0, 0.2, 0.0], abs=0.01)


def test_whoever_never_loses_has_the_tail() -> None:
    hyper = Hyper(s=150.0, w=(1.0,), tail=0.02)
    draws = sampled(pool(2, ((0, 1, 12, 0, 0),), anchors=((1, 2000.0, 0.1),)), hyper, sweeps=4000)
    grid = np.arange(-1000.0, 6000.0, 4.0)
    prior = sum(w * np.exp(-(grid**2) / (2 * (b + CENTER))) / (b + CENTER) ** 0.5 for w, _, b in components(hyper))
    density = prior * likelihood(grid, hyper, 12, 0, 0)
    density /= density.sum()
    r = draws.x[:, :, 0].ravel() - 2000.0
    mean = float(density @ grid)
    sd = float(density @ (grid - mean) ** 2) ** 0.5
    assert r.mean() == pytest.approx(mean, abs=0.03 * sd)
    assert r.std() == pytest.approx(sd, rel=0.03)
    for share in (0.025, 0.5, 0.975):
        assert np.mean(r < grid[np.searchsorted(density.cumsum(), share)]) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(
    "hyper",
    [
        Hyper(s=120.0, w=(0.6, 0.4), tail=0.01, equals=0.5, step=30.0, fresh=0.3, advantage=40.0),
        Hyper(s=120.0, w=(0.6, 0.4), tail=0.01, step=30.0, fresh=0.3, advantage=40.0, draw=1.2),
    ],
    ids=["spike", "draws"],
)
def test_a_successor_that_may_be_a_stranger(hyper: Hyper) -> None:
    """Root 0, its successor 1, both against an anchor and against each other."""
    drawn = 4 if hyper.draw else 0
    cells = ((0, 2, 6, drawn, 5), (2, 1, 4, drawn, 9), (1, 0, 3, 0, 1))
    known = pool(3, cells, anchors=((2, 2100.0, 0.1),), links=((1, 0, None, False),))
    draws = sampled(known, hyper, sweeps=2000)
    axis = np.arange(-700.0, 1000.0, 6.0)
    r0, r1 = np.meshgrid(axis, axis, indexing="ij")
    linked, fresh = np.zeros_like(r0), np.zeros_like(r0)
    step = hyper.step**2 + STEP_MEAN_SD**2
    for weight, _k, b in components(hyper):
        root = weight * np.exp(-(r0**2) / (2 * (b + CENTER))) / (b + CENTER) ** 0.5
        linked += (1 - hyper.fresh) * root * np.exp(-((r1 - r0) ** 2) / (2 * step)) / step**0.5
    for (weight0, k0, b0), (weight1, k1, b1) in product(components(hyper), repeat=2):
        v0, v1, both = b0 + CENTER, b1 + CENTER, MEAN_SD**2 + (k0 == k1) * CENTER_SD**2
        det = v0 * v1 - both**2
        form = (v1 * r0**2 - 2 * both * r0 * r1 + v0 * r1**2) / det
        fresh += hyper.fresh * weight0 * weight1 * np.exp(-form / 2) / det**0.5
    results = likelihood(r0 - 100.0, hyper, 6, drawn, 5) * likelihood(100.0 - r1, hyper, 4, drawn, 9)
    results *= likelihood(r1 - r0, hyper, 3, 0, 1)
    density = (linked + fresh) * results
    share = (fresh * results).sum() / density.sum()
    density /= density.sum()
    for version, values in ((0, r0), (1, r1)):
        mean = (density * values).sum()
        sd = (density * (values - mean) ** 2).sum() ** 0.5
        assert draws.x[:, :, version].mean() - 2000.0 == pytest.approx(mean, abs=0.03 * sd)
        assert draws.x[:, :, version].std() == pytest.approx(sd, rel=0.02)
    stronger = density[r1 > r0].sum() + density[r1 == r0].sum() / 2
    assert np.mean(draws.x[:, :, 1] > draws.x[:, :, 0]) == pytest.approx(stronger, abs=0.01)
    assert draws.fresh[1] == pytest.approx(share, abs=0.01)


def test_ranks_are_counted_from_the_strongest() -> None:
    strengths = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    assert rank_shares(strengths).tolist() == [[0.5, 0.0, 0.5], [0.0, 0.5, 0.5], [0.5, 0.5, 0.0]]
