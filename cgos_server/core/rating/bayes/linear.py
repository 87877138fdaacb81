"""Symmetric positive definite matrices, by matrix products: the one large inverse, and many small ones at once.

Decides how an inverse is taken and what happens where rounding makes a precision matrix look indefinite. Must not know:
what the matrices mean.
"""

from __future__ import annotations

from math import isfinite
from typing import Final, NamedTuple

import numpy as np

from .pool import Floats

LEAF: Final = 64
"""Below this size LAPACK's own inverse is quicker than halving once more."""

RIDGES: Final = (1e-14, 1e-12, 1e-10, 1e-8)
"""Relative additions to the diagonal, tried in turn where the factorisation fails for rounding."""


class Inverse(NamedTuple):
    """An inverse and the logarithm of the determinant of what was inverted."""

    matrix: Floats
    log_det: float


def invert(precision: Floats) -> Inverse:
    """Inverse of a symmetric positive definite (D, D) matrix, by halving (Schur complements) down to small blocks.

    About 4/3 D^3 operations, nearly all in matrix products. Every block is factorised (Cholesky), so an indefinite
    matrix is noticed, and so is one with a pivot that rounding alone can make of nothing; then it is scaled to a unit
    diagonal, and the smallest ridge is added with which it passes.

    :raises numpy.linalg.LinAlgError: not positive definite even so
    """
    out = np.empty_like(precision)
    try:
        log_det = _halve(precision, out, _rounding(precision))
    except np.linalg.LinAlgError:
        return _with_ridge(precision)
    return Inverse(out, log_det) if isfinite(log_det) else _with_ridge(precision)


def _rounding(a: Floats) -> Floats:
    """What rounding can leave of each pivot where nothing should be left. Its sign differs between machines."""
    return len(a) * float(np.finfo(float).eps) * np.abs(np.diagonal(a))


def _halve(a: Floats, out: Floats, rounding: Floats) -> float:
    size = len(a)
    if size <= LEAF:
        pivots = np.diagonal(np.linalg.cholesky(a))
        if (pivots * pivots <= rounding).any():
            raise np.linalg.LinAlgError("a pivot is nothing but rounding")
        out[...] = np.linalg.inv(a)
        return 2.0 * float(np.log(pivots).sum())
    half = size // 2
    first, last = slice(0, half), slice(half, size)
    log_det = _halve(a[first, first], out[first, first], rounding[first])
    across = a[first, last]
    toward = out[first, first] @ across
    rest = across.T @ toward
    np.subtract(a[last, last], rest, out=rest)
    log_det += _halve(rest, out[last, last], rounding[last])
    corner = toward @ out[last, last]
    out[first, first] += corner @ toward.T
    np.negative(corner, out=corner)
    out[first, last] = corner
    out[last, first] = corner.T
    return log_det


def _with_ridge(precision: Floats) -> Inverse:
    diagonal = np.diagonal(precision)
    if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
        raise np.linalg.LinAlgError("a precision matrix has a diagonal that is not positive")
    scale = 1.0 / np.sqrt(diagonal)
    scaled = precision * scale * scale[:, None]
    for ridge in RIDGES:
        tried, out = scaled + ridge * np.eye(len(scaled)), np.empty_like(scaled)
        try:
            log_det = _halve(tried, out, _rounding(tried))
        except np.linalg.LinAlgError:
            continue
        return Inverse(out * scale * scale[:, None], log_det - 2.0 * float(np.log(scale).sum()))
    raise np.linalg.LinAlgError("a precision matrix is not positive definite")


def symmetric(a: Floats) -> Floats:
    """The mean of a square matrix and its transpose, C-contiguous."""
    both = a + a.T
    both *= 0.5
    return both


class SmallInverses(NamedTuple):
    """Many small inverses at once, layout (m, m, n)."""

    matrices: Floats
    pivots: Floats

    @property
    def log_det(self) -> Floats:
        """(n,) of what was inverted. Pivots that are not positive, as a cavity has them that rounding made indefinite,
        are left out: a start with such a cavity is compared by the rest."""
        logs: Floats = np.log(np.where(self.pivots > 0.0, self.pivots, 1.0)).sum(axis=0)
        return logs


def invert_small(a: Floats) -> SmallInverses:
    """Inverses of n symmetric positive definite matrices of size m, layout (m, m, n), by sweeps (Goodnight 1979).

    Vectorized over n: no pivoting, as positive definite matrices need none. The pivots (m, n) are those of Gaussian
    elimination: all positive only for a positive definite matrix.
    """
    out = np.array(a, dtype=np.float64, order="C")
    size = len(out)
    pivots = np.empty((size, out.shape[2]))
    for k in range(size):
        pivots[k] = out[k, k]
        column = out[:, k].copy()
        row = column / pivots[k]
        out -= column[:, None] * row
        out[k] = row
        out[:, k] = row
        out[k, k] = -1.0 / pivots[k]
    np.negative(out, out=out)
    return SmallInverses(out, pivots)


def semidefinite(a: Floats) -> Floats:
    """n symmetric matrices (m, m, n) with negative eigenvalues set to 0."""
    with np.errstate(all="ignore"):
        pivots = _elimination(a)
    bad = np.flatnonzero(~(pivots >= 0.0).all(axis=0))
    if not bad.size:
        return a
    values, vectors = np.linalg.eigh(np.moveaxis(a[:, :, bad], 2, 0))
    np.maximum(values, 0.0, out=values)
    a[:, :, bad] = np.moveaxis((vectors * values[:, None, :]) @ np.swapaxes(vectors, 1, 2), 0, 2)
    return a


def _elimination(a: Floats) -> Floats:
    work, size = a.copy(), len(a)
    pivots = np.empty((size, a.shape[2]))
    for k in range(size):
        pivots[k] = work[k, k]
        if k + 1 < size:
            column = work[k + 1 :, k]
            work[k + 1 :, k + 1 :] -= column[:, None] * (column / pivots[k])
    return pivots
