"""The joint precision matrix of all unknowns: what is in it from the start, and what the sites add.

Unknowns are the versions' strengths, the centers m_1..m_Q and their mean M, all relative to the prior's `initial`: that
changes no result and keeps the numbers small. Decides the layout. Must not know: how sites are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from .linear import invert
from .pool import Floats, Ints, Pool
from .sites import Cells, cells

LEAST_SD: Final = 1e-2
MOST_SD: Final = 1e9
"""Elo: no anchor, factor or link is taken as more certain than the first, or less than the second."""


class Marginals(NamedTuple):
    """The posterior that the sites give: mean x (D,), covariance C (D, D), log |Lambda|, and shift (D,) = Lambda x."""

    x: Floats
    C: Floats
    log_det: float
    shift: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joint:
    """A pool made ready. With `components` 0 the prior is one fixed normal, and strengths are the only unknowns.

    :ivar components: Q; size: D = n + Q + 1, or n with a fixed prior
    :ivar free: (n_f,) versions that are no anchors, ascending
    :ivar cells: the results
    :ivar base: (D, D) precision without sites, `base_shift`: (D,)
    """

    n: int
    components: int
    initial: float
    free: Ints
    cells: Cells
    base: Floats
    base_shift: Floats

    @property
    def size(self) -> int:
        return len(self.base)

    def differences(self, x: Floats) -> Floats:
        """(k,) r_one - r_two."""
        between: Floats = x[self.cells.one] - x[self.cells.two]
        return between

    def variances(self, C: Floats) -> Floats:
        """(k,) of r_one - r_two."""
        one, two, across = self.blocks(C)
        return one + two - 2.0 * across

    def blocks(self, C: Floats) -> tuple[Floats, Floats, Floats]:
        """(k,) variance of r_one, of r_two, their covariance."""
        diagonal = np.diagonal(C)
        one, two = self.cells.one, self.cells.two
        return diagonal[one], diagonal[two], C.ravel()[one * len(C) + two]

    def of_free(self, x: Floats, C: Floats) -> tuple[Floats, Floats]:
        """Covariance (n_f, Q+1, Q+1) and mean (n_f, Q+1) of each u_i = (r_i, m_1..m_Q)."""
        n, q, free = self.n, self.components, self.free
        Sg, mu = np.empty((len(free), q + 1, q + 1)), np.empty((len(free), q + 1))
        Sg[:, 0, 0] = np.diagonal(C)[free]
        Sg[:, 0, 1:] = Sg[:, 1:, 0] = C[free, n : n + q]
        Sg[:, 1:, 1:] = C[n : n + q, n : n + q]
        mu[:, 0] = x[free]
        mu[:, 1:] = x[n : n + q]
        return Sg, mu

    def with_sites(self, T: Floats, V: Floats, PS: Floats, PH: Floats) -> tuple[Floats, Floats]:
        """Lambda and shift; T, V: (k,) of the cells; PS, PH: of the free versions."""
        # Sums must run in the same order whatever the arrays' memory layout: a rebuilt posterior has the same bits.
        PS, PH = np.ascontiguousarray(PS), np.ascontiguousarray(PH)
        n, q, free, size = self.n, self.components, self.free, self.size
        one, two = self.cells.one, self.cells.two
        precision, shift = self.base.copy(), self.base_shift.copy()
        flat = precision.reshape(-1)
        flat[one * size + two] -= T
        flat[two * size + one] -= T
        diagonal = flat[:: size + 1]
        diagonal[:n] += np.bincount(one, T, n)
        diagonal[:n] += np.bincount(two, T, n)
        shift[:n] += np.bincount(one, V, n)
        shift[:n] -= np.bincount(two, V, n)
        if q:
            centers = slice(n, n + q)
            diagonal[free] += PS[:, 0, 0]
            precision[free, centers] += PS[:, 0, 1:]
            precision[centers, free] += PS[:, 0, 1:].T
            precision[centers, centers] += PS[:, 1:, 1:].sum(axis=0)
            shift[free] += PH[:, 0]
            shift[centers] += PH[:, 1:].sum(axis=0)
        return precision, shift

    def solve(self, T: Floats, V: Floats, PS: Floats, PH: Floats) -> Marginals:
        precision, shift = self.with_sites(T, V, PS, PH)
        C, log_det = invert(precision)
        return Marginals(C @ shift, C, log_det, shift)


def join(pool: Pool, components: int, merged: Cells | None = None) -> Joint:
    """:param components: Q of the mixture (1 for the first stage of a cold refit), 0 for the fixed normal prior"""
    n, prior = pool.n, pool.prior
    size = n + components + 1 if components else n
    free = np.ones(n, dtype=bool)
    free[pool.anchors[0]] = False
    base, shift = np.zeros((size, size)), np.zeros(size)
    for index, value, sd in (pool.anchors, pool.own):
        known = 1.0 / np.clip(sd, LEAST_SD, MOST_SD) ** 2
        np.add.at(base, (index, index), known)
        np.add.at(shift, index, known * (value - prior.initial))
    new, old, sd = pool.links
    known = 1.0 / np.clip(sd, LEAST_SD, MOST_SD) ** 2
    for a, b, sign in ((new, new, 1.0), (old, old, 1.0), (new, old, -1.0), (old, new, -1.0)):
        np.add.at(base, (a, b), sign * known)
    where = np.flatnonzero(free)
    if components:
        centers, top = np.arange(n, n + components), size - 1
        tie = 1.0 / prior.center_sd**2
        base[centers, centers] += tie
        base[centers, top] -= tie
        base[top, centers] -= tie
        base[top, top] += components * tie + 1.0 / prior.mean_sd**2
    else:
        base[where, where] += 1.0 / prior.sd**2
    return Joint(
        n=n,
        components=components,
        initial=prior.initial,
        free=where,
        cells=cells(pool) if merged is None else merged,
        base=base,
        base_shift=shift,
    )


def known_start(pool: Pool, joint: Joint) -> Floats:
    """(D,) anchors and versions with outside knowledge at their value, all else at `initial`; relative to it."""
    x = np.zeros(joint.size)
    for index, value, _ in (pool.own, pool.anchors):
        x[index] = value - pool.prior.initial
    return x
