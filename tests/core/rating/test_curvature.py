"""The covariance of whole-history rating: the inverse of a matrix that is written out once more."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_server.core.rating.curvature import Curvature, Ties, covariance, today, untied

SIZE = 90


def ties(rng: np.random.Generator, count: int) -> Ties:
    first = rng.integers(0, SIZE, count)
    return Ties(first, (first + rng.integers(1, SIZE, count)) % SIZE, rng.uniform(1e-5, 1e-3, count))


def curvature(advantage: float) -> Curvature:
    rng = np.random.default_rng(1)
    last = np.sort(rng.choice(SIZE, 20, replace=False))
    return Curvature(rng.uniform(1e-6, 1e-4, SIZE), ties(rng, 50), ties(rng, 400), advantage, last)


@pytest.mark.parametrize("advantage", [0.0, 1 / 2500])
def test_it_is_the_inverse_of_the_sum_of_all_that_is_known(advantage: float) -> None:
    information = curvature(advantage)
    full = SIZE + bool(advantage)
    precision = np.diag([*information.alone, advantage][:full])
    for what, with_advantage in ((information.tied, False), (information.met, bool(advantage))):
        for first, second, weight in zip(*what, strict=True):
            way = np.zeros(full)
            way[first], way[second] = 1.0, -1.0
            if with_advantage:
                way[SIZE] = 1.0
            precision += weight * np.outer(way, way)
    C = covariance(information)
    assert C.shape == (full, full)
    assert np.abs(C @ precision - np.eye(full)).max() < 1e-8
    assert np.array_equal(today(information, C), C[information.last][:, information.last])


def test_pairs_may_recur_and_their_direction_matters_only_to_the_first_move() -> None:
    information = curvature(0.0)
    twice = Ties(*(np.concatenate([part, part]) for part in information.met))
    halved = information._replace(met=twice._replace(weight=twice.weight / 2))
    turned = information._replace(met=Ties(information.met.other, information.met.one, information.met.weight))
    for other in (halved, turned):
        assert covariance(other) == pytest.approx(covariance(information), rel=1e-9)
    moving = information._replace(advantage=1 / 2500), turned._replace(advantage=1 / 2500)
    first, second = map(covariance, moving)
    assert first[:SIZE, SIZE] == pytest.approx(-second[:SIZE, SIZE], rel=1e-6)


def test_of_nothing_there_is_nothing_to_know() -> None:
    nothing = Curvature(np.zeros(0), untied(), untied(), 0.0, np.zeros(0, dtype=np.int64))
    assert today(nothing, covariance(nothing)).shape == (0, 0)
