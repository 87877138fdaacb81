"""The fixed prior: every free version ~ N(initial, sd^2), the exact mode, and Laplace's covariance about it.

Decides the fit without a learned prior. Must not know: mixtures, sites of expectation propagation (here a site is the
curvature of a pair's log likelihood at the mode, so that mean and covariance are rebuilt in the same way).
"""

from __future__ import annotations

from math import exp, log
from typing import Final, NamedTuple

import numpy as np

from .joint import Factors, Joint, join, known_start
from .likelihood import normalizer
from .linear import symmetric
from .mode import LONGEST
from .pool import Q_ELO, Floats, Hyper, Pool, Posterior, Prior, Sites, even_ends
from .sites import slopes, values

GRADIENT: Final = 1e-8
"""1/Elo: the norm of the log posterior's gradient below which the search ends."""

STEPS: Final = 100
HALVINGS: Final = 30


class Point(NamedTuple):
    """Strengths relative to `initial` (n,), advantage h and ln nu (0 where there are no draws)."""

    x: Floats
    advantage: float
    log_draw: float


def cold(pool: Pool, follow: tuple[int | None, tuple[int, ...]] | None = None) -> Posterior:
    """The mode of strengths, advantage and draw parameter together. The log posterior is concave: there is one."""
    joint = join(pool, 0)
    games, drawn = float(joint.cells.games.sum()), float(joint.cells.drawn.sum())
    share = min(drawn / games, 0.9) if games > 0 else 0.0
    begin = Point(known_start(pool, joint), 0.0, log(2.0 * share / (1.0 - share)) if share > 0 else 0.0)
    return _fit(pool, joint, begin, learn=True, draws=share > 0, follow=follow)


def warm(pool: Pool, hyper: Hyper, x: Floats, follow: tuple[int | None, tuple[int, ...]] | None = None) -> Posterior:
    """The mode of the strengths, from the last one, with the advantage and the draw parameter held."""
    joint = join(pool, 0)
    begin = known_start(pool, joint)
    known = min(len(x), pool.n)
    begin[:known] = x[:known] - joint.initial
    at = Point(begin, hyper.advantage, log(hyper.draw) if hyper.draw > 0 else 0.0)
    return _fit(pool, joint, at, learn=False, draws=hyper.draw > 0, follow=follow)


def _fit(
    pool: Pool,
    joint: Joint,
    at: Point,
    *,
    learn: bool,
    draws: bool,
    follow: tuple[int | None, tuple[int, ...]] | None,
) -> Posterior:
    turn, drawn = learn and pool.prior.advantage_sd > 0, learn and draws
    exactly, steps = None if follow is None else follow[1][0], 0
    while steps < (STEPS if exactly is None else exactly):
        gradient, hessian = derivatives(joint, pool.prior, at, draws)
        kept = np.concatenate([np.arange(joint.n), np.flatnonzero([turn, drawn]) + joint.n])
        gradient, hessian = gradient[kept], hessian[np.ix_(kept, kept)]
        if exactly is None and float(np.sqrt(gradient @ gradient)) < GRADIENT:
            break
        move = np.zeros(joint.n + 2)
        move[kept] = np.linalg.solve(hessian, gradient)
        longest = max(float(np.abs(move[:-1]).max()) / LONGEST, abs(float(move[-1])) / 2.0)
        at = _ahead(joint, pool.prior, at=at, move=move / max(longest, 1.0), draws=draws)
        steps += 1
    draw = exp(at.log_draw) if draws else 0.0
    d = joint.differences(at.x)
    slope, bend = slopes(joint.cells, d, at.advantage, draw)
    T, V = bend, bend * d + slope
    factors = without_prior(T, V)
    solved = joint.solve(factors)
    return Posterior(
        hyper=Hyper(s=pool.prior.sd, w=(1.0,), advantage=float(at.advantage), draw=draw),
        sites=Sites(
            one=joint.cells.one,
            two=joint.cells.two,
            T=T,
            V=V,
            PS=np.zeros((pool.n, 0, 0)),
            PH=np.zeros((pool.n, 0)),
            linked=np.zeros((0, 2), dtype=np.int64),
            LS=factors.LS,
            LH=factors.LH,
        ),
        x=solved.x + joint.initial,
        C=symmetric(solved.C),
        ends=even_ends(pool.n),
        iterations=(steps,),
        start=0 if learn else None,
    )


def without_prior(T: Floats, V: Floats) -> Factors:
    """The sites of the cells alone."""
    return Factors(T, V, PS=np.zeros((0, 0, 0)), PH=np.zeros((0, 0)), LS=np.zeros((0, 0, 0)), LH=np.zeros((0, 0)))


def _ahead(joint: Joint, prior: Prior, at: Point, move: Floats, draws: bool) -> Point:
    """The whole step, or the half, quarter, ... of it that does not lose (rounding apart)."""
    here = value(joint, prior, at, draws)
    allowed = 1e-12 * (1.0 + abs(here))
    share = 1.0
    for _ in range(HALVINGS):
        tried = Point(at.x + share * move[:-2], at.advantage + share * move[-2], at.log_draw + share * move[-1])
        if value(joint, prior, tried, draws) >= here - allowed:
            break
        share *= 0.5
    return tried


def value(joint: Joint, prior: Prior, at: Point, draws: bool) -> float:
    """Log posterior, up to a constant."""
    draw = exp(at.log_draw) if draws else 0.0
    total = float(values(joint.cells, joint.differences(at.x), at.advantage, draw).sum())
    total += float(joint.base_shift @ at.x) - 0.5 * float(at.x @ joint.base @ at.x)
    if prior.advantage_sd > 0:
        total -= 0.5 * (at.advantage / prior.advantage_sd) ** 2
    return total - 0.5 * at.log_draw**2


def derivatives(joint: Joint, prior: Prior, at: Point, draws: bool) -> tuple[Floats, Floats]:
    """Gradient (n + 2,) of the log posterior by strengths, advantage and ln nu, and minus its Hessian."""
    n, cells = joint.n, joint.cells
    one, two = cells.one, cells.two
    draw = exp(at.log_draw) if draws else 0.0
    d = joint.differences(at.x)
    front, back = normalizer(Q_ELO * (d + at.advantage), draw), normalizer(Q_ELO * (d - at.advantage), draw)
    ahead, behind = cells.ahead, cells.behind
    slope = Q_ELO * (cells.margin - ahead * front.slope - behind * back.slope)
    bend = Q_ELO**2 * (ahead * front.bend + behind * back.bend)
    across = Q_ELO**2 * (ahead * front.bend - behind * back.bend)
    # The probability of a draw has the derivative -slope * itself in z.
    tied = -Q_ELO * (ahead * front.drawn * front.slope + behind * back.drawn * back.slope)
    undrawn = cells.drawn - ahead * front.drawn - behind * back.drawn
    spread = ahead * front.drawn * (1.0 - front.drawn) + behind * back.drawn * (1.0 - back.drawn)
    gradient, hessian = np.zeros(n + 2), np.zeros((n + 2, n + 2))
    hessian[n, n] = float(bend.sum())
    if cells.neutral is not None:
        level, neutral = normalizer(Q_ELO * d, draw), cells.neutral
        slope -= Q_ELO * neutral * level.slope
        bend += Q_ELO**2 * neutral * level.bend
        tied -= Q_ELO * neutral * level.drawn * level.slope
        undrawn -= neutral * level.drawn
        spread += neutral * level.drawn * (1.0 - level.drawn)
    gradient[:n] = joint.base_shift - joint.base @ at.x + np.bincount(one, slope, n) - np.bincount(two, slope, n)
    hessian[:n, :n] = joint.with_sites(without_prior(bend, np.zeros(len(d))))[0]
    gradient[n] = Q_ELO * float((cells.turn - ahead * front.slope + behind * back.slope).sum())
    if prior.advantage_sd > 0:
        gradient[n] -= at.advantage / prior.advantage_sd**2
        hessian[n, n] += 1.0 / prior.advantage_sd**2
    gradient[n + 1] = float(undrawn.sum()) - at.log_draw
    hessian[n + 1, n + 1] = float(spread.sum()) + 1.0
    hessian[n, :n] = np.bincount(one, across, n) - np.bincount(two, across, n)
    hessian[n + 1, :n] = np.bincount(one, tied, n) - np.bincount(two, tied, n)
    turned = -Q_ELO * (ahead * front.drawn * front.slope - behind * back.drawn * back.slope)
    hessian[n, n + 1] = hessian[n + 1, n] = float(turned.sum())
    hessian[:n, n:] = hessian[n:, :n].T
    return gradient, hessian
