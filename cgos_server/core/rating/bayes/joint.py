"""The joint precision matrix of all unknowns: what is in it from the start, and what the sites add.

Unknowns are the versions' strengths, the centers m_1..m_Q and their mean M, all relative to the prior's `initial`,
which changes no result and keeps the numbers small; and the mean step mu from a version to its successor. Decides the
layout. Must not know: how sites are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from .linear import invert
from .pool import MEAN_STEP_SD, STEP, Floats, Ints, Links, Pool
from .sites import Cells, cells

LEAST_SD: Final = 1e-2
MOST_SD: Final = 1e9
"""Elo: no anchor, factor or link is taken as more certain than the first, or less than the second."""
LEAST_STATED_STEP: Final = 1.0
"""Elo: no stated step is taken as surer; a site must stay a difference of precisions that can be told apart."""


class Marginals(NamedTuple):
    """The posterior that the sites give: mean x (D,), covariance C (D, D), log |Lambda|, and shift (D,) = Lambda x."""

    x: Floats
    C: Floats
    log_det: float
    shift: Floats


class Factors(NamedTuple):
    """All sites: precision and shift of each.

    :ivar T: (k,) of the cells, `V`: (k,)
    :ivar PS: (roots, Q+1, Q+1), `PH`: (roots, Q+1)
    :ivar LS: (successors, Q+3, Q+3), `LH`: (successors, Q+3)
    """

    T: Floats
    V: Floats
    PS: Floats
    PH: Floats
    LS: Floats
    LH: Floats

    def negative(self) -> Factors:
        return Factors(*(-each for each in self))

    def part(self, cells: Ints, roots: Ints, successors: Ints) -> Factors:
        return Factors(
            T=self.T[cells],
            V=self.V[cells],
            PS=self.PS[roots],
            PH=self.PH[roots],
            LS=self.LS[successors],
            LH=self.LH[successors],
        )

    def replaced(self, cells: Ints, roots: Ints, successors: Ints, by: Factors) -> Factors:
        """With those of some places taken from `by`, in that order."""
        every = Factors(*(each.copy() for each in self))
        for old, where, new in zip(every, (cells, cells, roots, roots, successors, successors), by, strict=True):
            old[where] = new
        return every


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Joint:
    """A pool made ready. With `components` 0 the prior is one fixed normal, and strengths are the only unknowns.

    :ivar components: Q; size: D = n + Q + 2, or n with a fixed prior
    :ivar roots: (n_r,) versions without a predecessor that are no anchors, ascending
    :ivar links: of the successors; none with a fixed prior, where they are part of `base`
    :ivar cells: the results
    :ivar base: (D, D) precision without sites, `base_shift`: (D,)
    """

    n: int
    components: int
    initial: float
    roots: Ints
    links: Links
    cells: Cells
    base: Floats
    base_shift: Floats

    @property
    def size(self) -> int:
        return len(self.base)

    @property
    def mean_games(self) -> float:
        """Games of a version, on average."""
        return 2.0 * float(self.cells.games.sum()) / max(self.n, 1)

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

    def of_roots(self, x: Floats, C: Floats) -> tuple[Floats, Floats]:
        """Covariance (n_r, Q+1, Q+1) and mean (n_r, Q+1) of each u_i = (r_i, m_1..m_Q)."""
        n, q, roots = self.n, self.components, self.roots
        Sg, mu = np.empty((len(roots), q + 1, q + 1)), np.empty((len(roots), q + 1))
        Sg[:, 0, 0] = np.diagonal(C)[roots]
        Sg[:, 0, 1:] = Sg[:, 1:, 0] = C[roots, n : n + q]
        Sg[:, 1:, 1:] = C[n : n + q, n : n + q]
        mu[:, 0] = x[roots]
        mu[:, 1:] = x[n : n + q]
        return Sg, mu

    def of_successors(self, x: Floats, C: Floats) -> tuple[Floats, Floats]:
        """Covariance (k, Q+3, Q+3) and mean (k, Q+3) of each u_i = (r_i, m_1..m_Q, r_predecessor, mu)."""
        at = self._places()
        return C.ravel()[at[:, :, None] * len(C) + at[:, None, :]], x[at]

    def _places(self) -> Ints:
        """(k, Q+3) of the successors' unknowns."""
        at = np.empty((len(self.links.new), self.components + 3), dtype=np.int64)
        at[:, 0], at[:, -2], at[:, -1] = self.links.new, self.links.old, self.size - 1
        at[:, 1:-2] = np.arange(self.n, self.n + self.components)
        return at

    def with_sites(self, factors: Factors) -> tuple[Floats, Floats]:
        """Lambda and shift."""
        # Sums must run in the same order whatever the arrays' memory layout: a rebuilt posterior has the same bits.
        T, V, PS, PH, LS, LH = map(np.ascontiguousarray, factors)
        n, q, roots, size = self.n, self.components, self.roots, self.size
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
            diagonal[roots] += PS[:, 0, 0]
            precision[roots, centers] += PS[:, 0, 1:]
            precision[centers, roots] += PS[:, 0, 1:].T
            precision[centers, centers] += PS[:, 1:, 1:].sum(axis=0)
            shift[roots] += PH[:, 0]
            shift[centers] += PH[:, 1:].sum(axis=0)
        if len(self.links.new):
            at = self._places()
            np.add.at(flat, (at[:, :, None] * size + at[:, None, :]).ravel(), LS.ravel())
            np.add.at(shift, at.ravel(), LH.ravel())
        return precision, shift

    def solve(self, factors: Factors) -> Marginals:
        precision, shift = self.with_sites(factors)
        C, log_det = invert(precision)
        return Marginals(C @ shift, C, log_det, shift)


def join(pool: Pool, components: int, merged: Cells | None = None) -> Joint:
    """:param components: Q of the mixture (1 for the first stage of a cold refit), 0 for the fixed normal prior"""
    n, prior, links = pool.n, pool.prior, pool.links
    size = n + components + 2 if components else n
    root = np.ones(n, dtype=bool)
    root[pool.anchors[0]] = False
    root[links.new] = False
    base, shift = np.zeros((size, size)), np.zeros(size)
    for index, value, sd in (pool.anchors, pool.own):
        known = 1.0 / np.clip(sd, LEAST_SD, MOST_SD) ** 2
        np.add.at(base, (index, index), known)
        np.add.at(shift, index, known * (value - prior.initial))
    where = np.flatnonzero(root)
    if components:
        centers, common, step = np.arange(n, n + components), size - 2, size - 1
        tie = 1.0 / prior.center_sd**2
        base[centers, centers] += tie
        base[centers, common] -= tie
        base[common, centers] -= tie
        base[common, common] += components * tie + 1.0 / prior.mean_sd**2
        base[step, step] += 1.0 / MEAN_STEP_SD**2
        links = links._replace(sd=np.clip(links.sd, LEAST_STATED_STEP, MOST_SD))
    else:
        base[where, where] += 1.0 / prior.sd**2
        known = 1.0 / fixed_step(links.sd) ** 2
        for a, b, sign in (
            (links.new, links.new, 1.0),
            (links.old, links.old, 1.0),
            (links.new, links.old, -1.0),
            (links.old, links.new, -1.0),
        ):
            np.add.at(base, (a, b), sign * known)
        links = links.part(np.zeros(0, dtype=np.int64))
    return Joint(
        n=n,
        components=components,
        initial=prior.initial,
        roots=where,
        links=links,
        cells=cells(pool) if merged is None else merged,
        base=base,
        base_shift=shift,
    )


def fixed_step(sd: Floats) -> Floats:
    """Elo: how far a successor is from its predecessor under the fixed prior, which learns no step; nan: not stated
    (our choice: the step's sd and that of the mean step together, at their medians)."""
    stated: Floats = np.clip(np.where(np.isnan(sd), np.hypot(STEP, MEAN_STEP_SD), sd), LEAST_SD, MOST_SD)
    return stated


def known_start(pool: Pool, joint: Joint) -> Floats:
    """(D,) anchors and versions with outside knowledge at their value, all else at `initial`; relative to it."""
    x = np.zeros(joint.size)
    for index, value, _ in (pool.own, pool.anchors):
        x[index] = value - pool.prior.initial
    return x
