"""Prior sites: what the mixture says of each free version and of the centers, as dense Gaussian factors, all at once.

Decides the sites on u_i = (r_i, m_1..m_Q), the responsibilities, and the step of width and weights. Must not know:
games, the joint precision matrix, when to stop.
"""

from __future__ import annotations

from math import exp, log, pi
from typing import Final, NamedTuple

import numpy as np

from .linear import invert_small, semidefinite
from .pool import Floats

DAMPING: Final = 0.7
NUDGE: Final = 1e-8
"""1/Elo^2 added to a cavity's precision of r_i: without it a version without games has none."""

LEAST_GAMMA: Final = 1e-6
SMOOTHING: Final = 1.0


class Update(NamedTuple):
    """For n_f versions; layouts (n_f, ...) as the names in `pool.Sites`.

    :ivar PS: (n_f, Q+1, Q+1) new precision, `PH`: (n_f, Q+1) new shift
    :ivar rho: (n_f, Q) responsibilities
    :ivar q1: (n_f, Q) rho (um s^2/t)^2; `q2`: (n_f, Q) rho uv s^2/t
    :ivar moved: (n_f,) shift of the mean of r_i in standard deviations; `widened`: (n_f,) half the relative change of
        its variance that this step makes, absolute
    :ivar log_z: (n_f,) log integral of the normalized cavity times the factor
    :ivar marginal: (n_f,) log normalizer of the marginal; `cavity`: (n_f,) of the cavity
    """

    PS: Floats
    PH: Floats
    rho: Floats
    q1: Floats
    q2: Floats
    moved: Floats
    widened: Floats
    log_z: Floats
    marginal: Floats
    cavity: Floats


def update(Sg: Floats, mu: Floats, PS: Floats, PH: Floats, w: Floats, s: float) -> Update:
    """One damped step of every version's site (undamped for one component).

    :param Sg: (n_f, Q+1, Q+1) covariance of u_i under the posterior; `mu`: (n_f, Q+1) its mean
    :param PS: (n_f, Q+1, Q+1), `PH`: (n_f, Q+1): the present sites
    :param w: (Q,) weights, `s`: width
    """
    Sg, PS = (np.ascontiguousarray(np.moveaxis(each, 0, 2)) for each in (Sg, PS))
    mu, PH = np.ascontiguousarray(mu.T), np.ascontiguousarray(PH.T)
    P = invert_small(Sg)
    Pc = P.matrices - PS
    h = _times(P.matrices, mu)
    hc = h - PH
    Pc[0, 0] += NUDGE
    hc[0] += NUDGE * mu[0]
    cavity = invert_small(Pc)
    Sc = cavity.matrices
    mc = _times(Sc, hc)

    g = Sc[:, :1] - Sc[:, 1:]
    um = mc[0] - mc[1:]
    uv = g[0] - np.diagonal(g[1:], axis1=0, axis2=1).T
    t = uv + s * s
    with np.errstate(divide="ignore"):
        terms = np.log(w)[:, None] - 0.5 * (um * um / t + np.log(2.0 * pi * t))
    top = terms.max(axis=0)
    rho = np.exp(terms - top)
    z = rho.sum(axis=0)
    rho /= z

    offset = -g * (um / t)
    e = mc + (rho * offset).sum(axis=1)
    offset -= (e - mc)[:, None]
    E = Sc + np.einsum("akn,bkn->abn", offset * rho, offset) - np.einsum("akn,bkn->abn", g * (rho / t), g)
    inverse = invert_small(E)
    raw = inverse.matrices - Pc
    raw = 0.5 * (raw + raw.swapaxes(0, 1))
    raw = semidefinite(raw)
    raw_shift = _times(Pc + raw, e) - hc

    damping = 1.0 if len(w) == 1 else DAMPING
    share = s * s / t
    both = 0.5 * len(mu) * log(2.0 * pi)
    step = damping * (raw - PS)
    row = Sg[0]
    return Update(
        PS=np.moveaxis(PS + step, 2, 0),
        PH=(PH + damping * (raw_shift - PH)).T,
        rho=rho.T,
        q1=(rho * (um * share) ** 2).T,
        q2=(rho * uv * share).T,
        moved=np.abs(e[0] - mu[0]) / np.sqrt(Sg[0, 0]),
        widened=0.5 * np.abs((row * _times(step, row)).sum(axis=0)) / Sg[0, 0],
        log_z=top + np.log(z),
        marginal=0.5 * (mu * h).sum(axis=0) + 0.5 * P.log_det + both,
        cavity=0.5 * ((mc * hc).sum(axis=0) - NUDGE * mu[0] ** 2 - cavity.log_det) + both,
    )


def semidefinite_sites(PS: Floats) -> Floats:
    """(n_f, Q+1, Q+1) with negative eigenvalues set to 0."""
    return np.moveaxis(semidefinite(np.ascontiguousarray(np.moveaxis(PS, 0, 2))), 2, 0)


def _times(a: Floats, x: Floats) -> Floats:
    """(m, m, n) times (m, n)."""
    products: Floats = (a * x).sum(axis=1)
    return products


def starting(rho: Floats, s: float) -> Floats:
    """(n_f, Q+1, Q+1): the links sum_k rho_ik / s^2 (e_0 - e_k)(e_0 - e_k)' for responsibilities (n_f, Q)."""
    count, components = rho.shape
    sites = np.zeros((count, components + 1, components + 1))
    part = rho / (s * s)
    each = np.arange(1, components + 1)
    sites[:, 0, 0] = part.sum(axis=1)
    sites[:, 0, 1:] = -part
    sites[:, 1:, 0] = -part
    sites[:, each, each] = part
    return sites


def links_moments(Sg: Floats, mu: Floats) -> tuple[float, float]:
    """q1 and q2, summed, of one component whose sites are exact links: from (n_f, 2, 2) and (n_f, 2)."""
    difference = Sg[:, 0, 0] + Sg[:, 1, 1] - 2.0 * Sg[:, 0, 1]
    toward = Sg[:, 0, 0] - Sg[:, 0, 1]
    difference = difference - toward * toward * (NUDGE / (1.0 + NUDGE * Sg[:, 0, 0]))
    return float(((mu[:, 0] - mu[:, 1]) ** 2).sum()), float(difference.sum())


class Width(NamedTuple):
    """After the step: the common width, the weights (Q,), the change of ln s."""

    s: float
    w: Floats
    change: float


def width(R: Floats, q1: float, q2: float, n_f: int, s: float, median: float, log_sd: float) -> Width:
    """One Newton step of ln s, and the weights.

    :param R: (Q,) sums of the responsibilities, `q1`, `q2`: summed over versions and components
    :param median: of s under its prior, whose logarithm has standard deviation `log_sd`
    """
    square, known = s * s, float(R.sum())
    gamma = max(known - q2 / square, LEAST_GAMMA)
    slope = q1 / square - gamma - (log(s) - log(median)) / log_sd**2
    bend = 2.0 * q1 / square + 1.0 / log_sd**2 + 2.0 * gamma * (1.0 - gamma / known if known > 0 else 1.0)
    change = min(max(slope / bend, -1.0), 1.0)
    return Width(s * exp(change), (SMOOTHING + R) / (SMOOTHING * len(R) + n_f), change)
