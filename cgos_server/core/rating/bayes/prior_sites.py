"""Prior sites: what the mixture says of each version, of the centers and of predecessors, as dense Gaussian factors.

Decides the mixture's components for roots and for successors, the sites on u_i = (r_i, m_1..m_Q) of a root and
(r_i, m_1..m_Q, r_predecessor, mu) of a successor, the responsibilities, and the steps of what is learned of the prior.
Must not know: games, the joint precision matrix, when to stop.
"""

from __future__ import annotations

from math import exp, log, pi
from typing import Final, NamedTuple

import numpy as np

from .linear import invert_small, semidefinite
from .pool import FRESH, Floats, Hyper, Ints, Links

DAMPING: Final = 0.7
NUDGE: Final = 1e-8
"""1/Elo^2 added to a cavity's precision of r_i: without it a version without games has none."""

LEAST_GAMMA: Final = 1e-6
SMOOTHING: Final = 1.0
TAIL_SD: Final = 1000.0
"""W, Elo: on top of the common width."""
EQUALS_SD: Final = 10.0
"""sd_K, Elo: of strengths that are the same as others."""
EQUALS_PRIOR: Final = (2.0, 0.9)
"""b and k: what the share of the body and that of the equals count for before games, in versions."""
FRESH_LINKS: Final = 10.0
"""How many links the prior mean of the fresh share counts for."""

BODY, TAIL, EQUALS, STEP = range(4)
"""Classes of components: of the common width, the wide ones, the narrow ones, links."""


class Mixture(NamedTuple):
    """The components of the prior of n versions, K each.

    :ivar along: (K,) what a component ties r_i to: center k, or Q for predecessor and mean step
    :ivar kind: (K,) its class
    :ivar variance: (K, n) of the difference, Elo^2; (K, 1) where it is the same for all
    :ivar log_weight: likewise
    """

    along: Ints
    kind: Ints
    variance: Floats
    log_weight: Floats


def shares(hyper: Hyper) -> tuple[float, float, float]:
    """Of body, tail and equals: v_B, v_T, v_K; their sum is 1."""
    return 1.0 - hyper.tail - hyper.equals, hyper.tail, hyper.equals


def variances(s: float) -> tuple[float, float, float]:
    """Of body, tail and equals about their center."""
    return s * s, s * s + TAIL_SD**2, EQUALS_SD**2


def of_roots(hyper: Hyper) -> Mixture:
    """g(r) = sum over k of w_k [v_B N(m_k, s^2) + v_T N(m_k, s^2 + W^2) + v_K N(m_k, sd_K^2)]."""
    q, share, variance = len(hyper.w), shares(hyper), variances(hyper.s)
    classes = [kind for kind in (BODY, TAIL, EQUALS) if share[kind] > 0]
    weight = np.array([share[kind] * w for kind in classes for w in hyper.w])
    with np.errstate(divide="ignore"):
        log_weight = np.log(weight)[:, None]
    kind = np.array(classes).repeat(q)
    return Mixture(np.tile(np.arange(q), len(classes)), kind, np.array(variance)[kind][:, None], log_weight)


def fresh_shares(hyper: Hyper, links: Links) -> Floats:
    """(k,) f_i of each successor."""
    return np.where(links.surely > 0, 0.0, hyper.fresh)


def steps(hyper: Hyper, links: Links) -> Floats:
    """(k,) tau_i^2 of each successor."""
    squares: Floats = np.where(np.isnan(links.sd), hyper.step, links.sd) ** 2
    return squares


def of_successors(hyper: Hyper, links: Links) -> Mixture:
    """(1 - f_i) N(r_predecessor + mu, tau_i^2) + f_i g(r_i)."""
    roots, fresh, square = of_roots(hyper), fresh_shares(hyper, links), steps(hyper, links)
    with np.errstate(divide="ignore"):
        log_weight = np.concatenate([roots.log_weight + np.log(fresh), np.log1p(-fresh)[None]])
    return Mixture(
        along=np.append(roots.along, len(hyper.w)),
        kind=np.append(roots.kind, STEP),
        variance=np.concatenate([np.broadcast_to(roots.variance, (len(roots.kind), len(square))), square[None]]),
        log_weight=log_weight,
    )


class Update(NamedTuple):
    """For n versions of L unknowns each and K components; layouts (n, ...) as the names in `pool.Sites`.

    :ivar PS: (n, L, L) new precision, `PH`: (n, L) new shift
    :ivar rho: (K, n) responsibilities; 0 where a version took no part, since its cavity was no distribution
    :ivar q1: (K, n) rho (um b/t)^2; `q2`: (K, n) rho uv b/t
    :ivar moved: (n,) shift of the mean of r_i in standard deviations; `widened`: (n,) half the relative change of
        its variance that this step makes, absolute
    :ivar log_z: (n,) log integral of the normalized cavity times the factor
    :ivar marginal: (n,) log normalizer of the marginal; `cavity`: (n,) of the cavity
    :ivar mean: (K, n) of r_i within each component; `variance`: (K, n) likewise
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
    mean: Floats
    variance: Floats


def update(Sg: Floats, mu: Floats, PS: Floats, PH: Floats, mixture: Mixture) -> Update:
    """One damped step of every version's site (undamped for one component).

    :param Sg: (n, L, L) covariance of u_i under the posterior; `mu`: (n, L) its mean
    :param PS: (n, L, L), `PH`: (n, L): the present sites
    """
    if not len(mu):
        return _of_nobody(PS, PH, len(mixture.along))
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

    along, b = mixture.along, mixture.variance
    ties = int(along.max()) + 1
    g = _toward(Sc.swapaxes(0, 1), ties).swapaxes(0, 1)
    uv = _own(g, ties)[along]
    t = uv + b
    sound = (t > 0).all(axis=0)
    t = np.where(sound, t, 1.0)
    pulls = _toward(mc, ties)[along] / t
    rho, log_z = _responsibilities(mixture.log_weight, pulls, t)

    toward = np.zeros((ties, len(along)))
    toward[along, np.arange(len(along))] = 1.0
    delta = -np.einsum("atn,tn->an", g, toward @ (rho * pulls))
    e = mc + delta
    bend = toward @ (rho * (pulls * pulls - 1.0 / t))
    E = Sc + np.einsum("atn,btn->abn", g * bend, g) - delta[:, None] * delta
    raw = invert_small(E).matrices - Pc
    raw = 0.5 * (raw + raw.swapaxes(0, 1))
    if not sound.all():
        raw[:, :, ~sound] = PS[:, :, ~sound]
    raw = semidefinite(raw)
    raw_shift = _times(Pc + raw, e) - hc

    damping = np.where(sound, 1.0 if len(along) == 1 else DAMPING, 0.0)
    both = 0.5 * len(mu) * log(2.0 * pi)
    step = damping * (raw - PS)
    row, g0 = Sg[0], g[0][along]
    rho *= sound
    return Update(
        PS=np.moveaxis(PS + step, 2, 0),
        PH=(PH + np.where(sound, damping * (raw_shift - PH), 0.0)).T,
        rho=rho,
        q1=rho * (pulls * b) ** 2,
        q2=rho * uv * (b / t),
        moved=np.where(sound, np.abs(e[0] - mu[0]) / np.sqrt(Sg[0, 0]), 0.0),
        widened=0.5 * np.abs((row * _times(step, row)).sum(axis=0)) / Sg[0, 0],
        log_z=log_z,
        marginal=0.5 * (mu * h).sum(axis=0) + 0.5 * P.log_det + both,
        cavity=0.5 * ((mc * hc).sum(axis=0) - cavity.log_det) + both,
        mean=mc[0] - g0 * pulls,
        variance=Sc[0, 0] - g0 * g0 / t,
    )


def _of_nobody(PS: Floats, PH: Floats, components: int) -> Update:
    by_component = dict.fromkeys(("rho", "q1", "q2", "mean", "variance"), np.zeros((components, 0)))
    each = dict.fromkeys(("moved", "widened", "log_z", "marginal", "cavity"), np.zeros(0))
    return Update(PS=PS, PH=PH, **by_component, **each)


def _responsibilities(log_weight: Floats, pulls: Floats, t: Floats) -> tuple[Floats, Floats]:
    """(K, n) of the components whose differences are `pulls` times their variances `t`; (n,) log of their sum."""
    terms = log_weight - 0.5 * (pulls * pulls * t + np.log(2.0 * pi * t))
    top = terms.max(axis=0)
    rho = np.exp(terms - top)
    total = rho.sum(axis=0)
    rho /= total
    return rho, top + np.log(total)


def _toward(u: Floats, ties: int) -> Floats:
    """(ties, ...) differences of r_i (row 0) from each center; with more rows than centers, the last is that from
    predecessor and mean step."""
    if len(u) == ties + 1:
        return u[:1] - u[1:]
    return np.concatenate([u[:1] - u[1:ties], u[:1] - u[-2:-1] - u[-1:]])


def _own(g: Floats, ties: int) -> Floats:
    """(ties, n): :func:`_toward` of each tie's own (L, n)."""
    centers = np.arange(ties if len(g) == ties + 1 else ties - 1)
    own: Floats = g[0, centers] - g[centers + 1, centers]
    if len(g) == ties + 1:
        return own
    return np.concatenate([own, g[:1, -1] - g[-2:-1, -1] - g[-1:, -1]])


def semidefinite_sites(PS: Floats) -> Floats:
    """(n, L, L) with negative eigenvalues set to 0."""
    return np.moveaxis(semidefinite(np.ascontiguousarray(np.moveaxis(PS, 0, 2))), 2, 0)


def _times(a: Floats, x: Floats) -> Floats:
    """(m, m, n) times (m, n)."""
    products: Floats = (a * x).sum(axis=1)
    return products


def starting(rho: Floats, s: float) -> Floats:
    """(n, Q+1, Q+1): the links sum_k rho_ik / s^2 (e_0 - e_k)(e_0 - e_k)' for responsibilities (n, Q)."""
    count, components = rho.shape
    sites = np.zeros((count, components + 1, components + 1))
    part = rho / (s * s)
    each = np.arange(1, components + 1)
    sites[:, 0, 0] = part.sum(axis=1)
    sites[:, 0, 1:] = -part
    sites[:, 1:, 0] = -part
    sites[:, each, each] = part
    return sites


def starting_links(rho: Floats, hyper: Hyper, links: Links) -> Floats:
    """(k, Q+3, Q+3): (1 - f_i)/tau_i^2 a a', a = e_0 - e_predecessor - e_mu, and f_i of what a root would begin with.

    :param rho: (k, Q) responsibilities
    """
    fresh = fresh_shares(hyper, links)
    sites = exact_links((1.0 - fresh) / steps(hyper, links), rho.shape[1])
    q = rho.shape[1] + 1
    sites[:, :q, :q] += starting(fresh[:, None] * rho, hyper.s)
    return sites


def exact_links(precision: Floats, components: int) -> Floats:
    """(k, Q+3, Q+3): `precision` (k,) times a a'."""
    a = np.zeros(components + 3)
    a[0], a[-2:] = 1.0, -1.0
    return precision[:, None, None] * np.outer(a, a)


class Width(NamedTuple):
    """After the step: the width, and the change of its logarithm."""

    s: float
    change: float


def width(known: float, q1: float, q2: float, s: float, median: float, log_sd: float) -> Width:
    """One Newton step of ln s.

    :param known: sum of the responsibilities of the components of this width; `q1`, `q2`: summed over them
    :param median: of s under its prior, whose logarithm has standard deviation `log_sd`
    """
    square = s * s
    gamma = max(known - q2 / square, LEAST_GAMMA)
    slope = q1 / square - gamma - (log(s) - log(median)) / log_sd**2
    bend = 2.0 * q1 / square + 1.0 / log_sd**2 + 2.0 * gamma * (1.0 - gamma / known if known > 0 else 1.0)
    change = min(max(slope / bend, -1.0), 1.0)
    return Width(s * exp(change), change)


class Sums(NamedTuple):
    """What all versions say together of the prior, from the sites of roots and of successors.

    :ivar by_center: (Q,) responsibilities of all root components; `by_class`: (4,) of each class, of links those whose
        step's sd is not stated
    :ivar q1: (4,) by class; `q2`: (4,)
    :ivar fresh: root shares of the successors that may be fresh; `links`: how many these are
    """

    by_center: Floats
    by_class: Floats
    q1: Floats
    q2: Floats
    fresh: float
    links: int


def sums(roots: tuple[Mixture, Update], successors: tuple[Mixture, Update], links: Links, components: int) -> Sums:
    """:param components: Q"""
    by_center, by_class, q1, q2 = np.zeros(components), np.zeros(4), np.zeros(4), np.zeros(4)
    learned = np.isnan(links.sd)
    for mixture, updated in (roots, successors):
        responsibility = updated.rho.sum(axis=1)
        by_center += np.bincount(mixture.along, responsibility, components + 1)[:components]
        for total, each in ((by_class, updated.rho), (q1, updated.q1), (q2, updated.q2)):
            of_component = each.sum(axis=1)
            if mixture.kind[-1] == STEP:
                of_component[-1] = each[-1, learned].sum()
            total += np.bincount(mixture.kind, of_component, 4)
    doubted = links.surely == 0
    fresh = float(successors[1].rho[:-1, doubted].sum())
    return Sums(by_center, by_class, q1=q1, q2=q2, fresh=fresh, links=int(doubted.sum()))


def weights(total: Sums) -> tuple[float, ...]:
    """(Q,) of the centers."""
    R = total.by_center
    w: Floats = (SMOOTHING + R) / (SMOOTHING * len(R) + R.sum())
    return tuple(w.tolist())


def fresh_share(total: Sums) -> float:
    """f."""
    return (FRESH * FRESH_LINKS + total.fresh) / (FRESH_LINKS + total.links)


def share_of_equals(total: Sums, tail: float) -> float:
    """v_K."""
    body, equals = EQUALS_PRIOR
    known = float(total.by_class[BODY]), float(total.by_class[EQUALS])
    return (1.0 - tail) * (equals + known[1]) / (body + equals + sum(known))
