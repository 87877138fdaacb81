"""Refits of the posterior: cold ones, that learn everything from the counts, and warm ones, that go on from the last.

Expectation propagation (Minka 2001) on a Bradley-Terry model whose strengths come from a mixture of normals. Decides
the schedule: stages, starts, when to stop. Everything is deterministic. Must not know: when a refit is due, who asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from . import normal, prior_sites, sites
from .evidence import log_evidence
from .joint import Joint, join, known_start
from .linear import symmetric
from .mode import climb
from .pool import Floats, Hyper, Pool, Posterior, Sites
from .propagation import FIRST_WIDTH, Stage, Standing, links, run, run_where_it_moves
from .starts import Start, starts

Follow = tuple[int | None, tuple[int, ...]]
"""A recorded refit: the start it chose (None for a warm one) and the iterations of each of its stages."""

BETTER: Final = 1.0
"""Nats by which another start must beat the first."""


ONE: Final = Stage(limit=100, tolerance=0.02, learn=True, exact=False)
START: Final = Stage(limit=80, tolerance=0.01, learn=True, exact=False)
LAST: Final = Stage(limit=200, tolerance=0.001, learn=True, exact=True, leap=True)
WARM: Final = Stage(limit=30, tolerance=0.001, learn=False, exact=True, leap=True)


def cold(pool: Pool, follow: Follow | None = None) -> Posterior:
    """Everything from the counts: width, weights, advantage and draw parameter are learned.

    :param follow: a recorded refit of the same counts: its start and its numbers of iterations are taken over
    :returns: `iterations`: of the search for the mode, of the single component, of each start, of the last stage
    """
    prior = pool.prior
    if not prior.learned:
        return normal.cold(pool, follow)
    merged = sites.cells(pool)
    one, counts = _one_component(pool, merged, follow)
    joint = join(pool, prior.components, merged)
    begun = starts(one.at.x[joint.free], prior)
    evidence: list[float] = []
    standings: dict[int, Standing] = {}
    for index, start in enumerate(begun):
        exactly = _recorded(follow, 2 + index)
        if follow is not None and exactly is not None and index != follow[0]:
            counts.append(exactly)
            continue
        standing, count = run(joint, prior, now=_begin(joint, one, start), stage=START, exactly=exactly)
        counts.append(count)
        standings[index] = standing
        if follow is None:
            evidence.append(log_evidence(joint, prior, standing))
    chosen = choose(evidence) if follow is None else follow[0]
    if (chosen or 0) not in standings:
        raise ValueError(f"the recorded refit chose start {chosen}, of {len(begun)}")
    last, count = run(joint, prior, now=standings[chosen or 0], stage=LAST, exactly=_recorded(follow, -1))
    details: dict[str, object] = {
        "one_component": (one.hyper.s, one.at.x[: pool.n] + prior.initial),
        "log_evidence": tuple(evidence),
    }
    return _posterior(joint, last, iterations=(*counts, count), start=chosen or 0, details=details)


def _one_component(pool: Pool, merged: sites.Cells, follow: Follow | None) -> tuple[Standing, list[int]]:
    """The posterior under a single normal component, from which the starts begin; the steps of the search for the mode
    and the iterations after it."""
    hyper, single = first_guess(merged), join(pool, 1, merged)
    ties, none = links(len(single.free), hyper.s), np.zeros((len(single.free), 2))
    mode = climb(
        single,
        single.with_sites(np.zeros(len(merged)), np.zeros(len(merged)), ties, none)[0],
        x=known_start(pool, single),
        advantage=hyper.advantage,
        draw=hyper.draw,
        exactly=_recorded(follow, 0),
    )
    at = single.solve(mode.T, mode.V, ties, none)
    one = Standing(hyper=hyper, T=mode.T, V=mode.V, PS=ties, PH=none, at=at)
    one, count = run(single, pool.prior, now=one, stage=ONE, exactly=_recorded(follow, 1))
    return one, [mode.steps, count]


def _recorded(follow: Follow | None, place: int) -> int | None:
    """How many iterations a recorded refit took at that place of its numbers."""
    return None if follow is None else follow[1][place]


def warm(pool: Pool, hyper: Hyper, given: Sites, x: Floats, follow: Follow | None = None) -> Posterior:
    """On from the last refit's sites, with what it learned held.

    :param given: sites of the last refit, which may know fewer versions and other pairs
    :param x: its means; only the fixed prior's search begins there
    """
    if not pool.prior.learned:
        return normal.warm(pool, hyper, x, follow)
    joint = join(pool, len(hyper.w))
    T, V = carried(joint, given)
    PS, PH = _prior_carried(joint, given, hyper)
    standing = Standing(hyper=hyper, T=T, V=V, PS=PS, PH=PH, at=joint.solve(T, V, PS, PH))
    last, rounds = run_where_it_moves(
        joint, pool.prior, now=standing, stage=WARM, follow=None if follow is None else follow[1]
    )
    return _posterior(joint, last, iterations=rounds, start=None, details={})


def rebuild(pool: Pool, hyper: Hyper, given: Sites) -> tuple[Floats, Floats]:
    """Mean and covariance from recorded sites, bit for bit those of the refit that recorded them.

    :raises ValueError: the sites are of another pool
    """
    joint = join(pool, len(hyper.w) if pool.prior.learned else 0)
    if len(given.PS) != pool.n or not (
        np.array_equal(given.one, joint.cells.one) and np.array_equal(given.two, joint.cells.two)
    ):
        raise ValueError("the recorded sites do not belong to these counts: fit again instead of rebuilding")
    at = joint.solve(given.T, given.V, given.PS[joint.free], given.PH[joint.free])
    return at.x + joint.initial, symmetric(at.C)


def first_guess(merged: sites.Cells) -> Hyper:
    """Before anything is known: the single component, no advantage, the draw parameter of equal opponents."""
    games, drawn = float((merged.ahead + merged.behind).sum()), float(merged.drawn.sum())
    share = min(drawn / games, 0.9) if games > 0 else 0.0
    return Hyper(s=FIRST_WIDTH, w=(1.0,), advantage=0.0, draw=2.0 * share / (1.0 - share))


def choose(evidence: list[float]) -> int:
    """The first start, unless others beat it by more than a nat; then the best."""
    best = max(range(len(evidence)), key=lambda index: (evidence[index], -index))
    return best if evidence[best] > evidence[0] + BETTER else 0


def _begin(joint: Joint, one: Standing, start: Start) -> Standing:
    PS, PH = prior_sites.starting(start.rho, start.s), np.zeros((len(joint.free), joint.components + 1))
    hyper = replace(one.hyper, s=start.s, w=tuple(start.w.tolist()))
    return Standing(hyper=hyper, T=one.T, V=one.V, PS=PS, PH=PH, at=joint.solve(one.T, one.V, PS, PH))


def carried(joint: Joint, given: Sites) -> tuple[Floats, Floats]:
    """(k,) sites of the joint's pairs as they were; a pair that is new begins at 0, one that is gone is left out."""
    key, known = joint.cells.one * joint.n + joint.cells.two, given.one * joint.n + given.two
    if not len(known):
        return np.zeros(len(key)), np.zeros(len(key))
    where = np.minimum(np.searchsorted(known, key), len(known) - 1)
    same = known[where] == key
    return np.where(same, given.T[where], 0.0), np.where(same, given.V[where], 0.0)


def _prior_carried(joint: Joint, given: Sites, hyper: Hyper) -> tuple[Floats, Floats]:
    """Prior sites as they were; a version that has none, or of another number of components, begins as a newcomer."""
    q, free = joint.components, joint.free
    PS = np.tile(prior_sites.starting(np.array([hyper.w]), hyper.s), (len(free), 1, 1))
    PH = np.zeros((len(free), q + 1))
    if given.PS.shape[1:] == (q + 1, q + 1):
        there = np.flatnonzero(free < len(given.PS))
        there = there[given.PS[free[there], 0, 0] > 0]
        PS[there], PH[there] = given.PS[free[there]], given.PH[free[there]]
    return PS, PH


def _posterior(
    joint: Joint, last: Standing, iterations: tuple[int, ...], start: int | None, details: dict[str, object]
) -> Posterior:
    n, q, cells = joint.n, joint.components, joint.cells
    PS, PH = np.zeros((n, q + 1, q + 1)), np.zeros((n, q + 1))
    PS[joint.free], PH[joint.free] = last.PS, last.PH
    return Posterior(
        hyper=last.hyper,
        sites=Sites(one=cells.one, two=cells.two, T=last.T, V=last.V, PS=PS, PH=PH),
        x=last.at.x + joint.initial,
        C=symmetric(last.at.C),
        iterations=iterations,
        start=start,
        details=details,
    )
