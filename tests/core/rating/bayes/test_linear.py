"""Inverses by halving and by sweeps, and what happens to matrices that are not positive definite."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_server.core.rating.bayes.linear import invert, invert_small, semidefinite
from cgos_server.core.rating.bayes.pool import Floats


def positive(size: int, seed: int, spread: float = 3.0) -> Floats:
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(size, size)))[0]
    matrix: Floats = (basis * 10.0 ** rng.uniform(-spread, 0.0, size)) @ basis.T
    return 0.5 * (matrix + matrix.T)


@pytest.mark.parametrize("size", [0, 1, 5, 64, 65, 200, 331])
def test_the_inverse_is_one(size: int) -> None:
    a = positive(size, size)
    inverse, log_det = invert(a)
    assert np.abs(inverse @ a - np.eye(size)).max(initial=0.0) < 1e-9
    assert log_det == pytest.approx(np.linalg.slogdet(a)[1], abs=1e-8)


def test_a_matrix_singular_by_rounding_gets_a_ridge() -> None:
    a = np.ones((90, 90)) + 1e-18 * np.eye(90)
    inverse, log_det = invert(a)
    assert np.isfinite(inverse).all()
    assert np.isfinite(log_det)
    assert np.abs(a @ inverse @ a - a).max() < 1e-3 * np.abs(inverse).max()
    assert (np.diagonal(inverse) > 0.0).all()


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_a_matrix_that_is_none_is_refused(bad: float) -> None:
    a = np.eye(70)
    a[3, 3] = bad
    with pytest.raises(np.linalg.LinAlgError):
        invert(a)


def test_an_indefinite_matrix_with_a_positive_diagonal_is_refused() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        invert(np.array([[1.0, 2.0], [2.0, 1.0]]))


def test_many_small_ones_at_once() -> None:
    many = np.array([positive(4, seed) for seed in range(30)])
    inverse = invert_small(np.moveaxis(many, 0, 2))
    assert np.allclose(np.moveaxis(inverse.matrices, 2, 0), np.linalg.inv(many), rtol=1e-8)
    assert np.allclose(inverse.log_det, np.linalg.slogdet(many)[1])


def test_negative_eigenvalues_become_zero_and_others_stay() -> None:
    definite, indefinite = positive(4, 1), positive(4, 2) - 0.1 * np.eye(4)
    both = semidefinite(np.moveaxis(np.array([definite, indefinite]), 0, 2).copy())
    assert (both[:, :, 0] == definite).all()
    before, after = np.linalg.eigvalsh(indefinite), np.linalg.eigvalsh(both[:, :, 1])
    assert before[0] < -1e-3
    assert after == pytest.approx(np.maximum(before, 0.0), abs=1e-12)


def test_what_rounding_made_indefinite_has_a_finite_determinant() -> None:
    one = np.array([[2.0, 0.0], [0.0, -1e-3]])
    inverse = invert_small(one[:, :, None])
    assert inverse.pivots[:, 0] == pytest.approx([2.0, -1e-3])
    assert inverse.log_det == pytest.approx(np.log(2.0))
