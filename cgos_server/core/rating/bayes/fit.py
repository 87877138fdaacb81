"""Refits of the posterior: cold ones, that learn everything from the counts, and warm ones, that go on from the last.

Expectation propagation (Minka 2001) on a Bradley-Terry model whose strengths come from a mixture of normals. Decides
the schedule: stages, starts, when to stop. Everything is deterministic. Must not know: when a refit is due, who asked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from . import normal, prior_sites, sites
from .evidence import log_evidence
from .intervals import ends_of
from .joint import Factors, Joint, join, known_start
from .learning import FIRST_WIDTH
from .linear import symmetric
from .mode import climb
from .pool import FRESH, Floats, Hyper, Ints, Pool, Posterior, Prior, Sites
from .propagation import Stage, Standing, exact_roots, run, run_where_it_moves, with_exact
from .starts import Start, starts

Follow = tuple[int | None, tuple[int, ...]]
"""A recorded refit: the start it chose (None for a warm one) and the iterations of each of its stages."""

BETTER: Final = 1.0
"""Nats by which another start must beat the first."""
OTHER_STAGES: Final = 3
"""Besides one for each start: the search for the mode, the single component, the last."""

ONE: Final = Stage(limit=100, tolerance=0.02, learn=True, exact=False)
START: Final = Stage(limit=80, tolerance=0.01, learn=True, exact=False)
LAST: Final = Stage(limit=200, tolerance=0.001, learn=True, exact=True, leap=True)
WARM: Final = Stage(limit=30, tolerance=0.001, learn=False, exact=True, leap=True)


def cold(pool: Pool, follow: Follow | None = None) -> Posterior:
    """Everything from the counts: the prior's shape, the first move's worth and the draw parameter are learned.

    :param follow: a recorded refit of the same counts: its start and its numbers of iterations are taken over
    :returns: `iterations`: of the search for the mode, of the single component, of each start, of the last stage
    """
    prior = pool.prior
    if not prior.learned:
        return normal.cold(pool, follow)
    merged = sites.cells(pool)
    joints = {count: join(pool, count, merged) for count in (1, prior.components)}
    one, counts = _one_component(pool, merged, joints[1], follow)
    free = _free(pool)
    begun = starts(one.at.x[free], np.isin(free, joints[1].roots), prior)
    evidence: list[float] = []
    standings: dict[int, Standing] = {}
    for index, start in enumerate(begun if follow is None else begun[: len(follow[1]) - OTHER_STAGES]):
        exactly = _recorded(follow, 2 + index)
        if follow is not None and exactly is not None and index != follow[0]:
            counts.append(exactly)
            continue
        if follow is None and len(start.w) < prior.components and not begun[choose(evidence, begun)].equals:
            break  # nobody looks for the center of equals who are not there
        joint = joints[len(start.w)]
        standing, count = run(
            joint, prior, now=_begin(joint, prior, one=one, start=start, free=free), stage=START, exactly=exactly
        )
        counts.append(count)
        standings[index] = standing
        if follow is None:
            evidence.append(log_evidence(joint, prior, standing))
    chosen = choose(evidence, begun) if follow is None else follow[0]
    if (chosen or 0) not in standings:
        raise ValueError(f"the recorded refit chose start {chosen}, of {len(begun)}")
    joint = joints[len(begun[chosen or 0].w)]
    last, count = run(joint, prior, now=standings[chosen or 0], stage=LAST, exactly=_recorded(follow, -1))
    details: dict[str, object] = {
        "one_component": (one.hyper.s, one.at.x[: pool.n] + prior.initial),
        "log_evidence": tuple(evidence),
    }
    return _posterior(pool, joint, last, iterations=(*counts, count), start=chosen or 0, details=details)


def _one_component(pool: Pool, merged: sites.Cells, single: Joint, follow: Follow | None) -> tuple[Standing, list[int]]:
    """The posterior under a single normal component, from which the starts begin; the steps of the search for the mode
    and the iterations after it."""
    hyper = first_guess(merged)
    met, roots, successors = len(merged), len(single.roots), len(single.links.new)
    LS, LH = with_exact(single, hyper, np.zeros((successors, 4, 4)), np.zeros((successors, 4)))
    ties = Factors(
        T=np.zeros(met), V=np.zeros(met), PS=exact_roots(roots, hyper.s), PH=np.zeros((roots, 2)), LS=LS, LH=LH
    )
    mode = climb(
        single,
        single.with_sites(ties)[0],
        x=known_start(pool, single),
        advantage=hyper.advantage,
        draw=hyper.draw,
        exactly=_recorded(follow, 0),
    )
    factors = ties._replace(T=mode.T, V=mode.V)
    one = Standing(hyper=hyper, factors=factors, at=single.solve(factors))
    one, count = run(single, pool.prior, now=one, stage=ONE, exactly=_recorded(follow, 1))
    return one, [mode.steps, count]


def _recorded(follow: Follow | None, place: int) -> int | None:
    """How many iterations a recorded refit took at that place of its numbers."""
    return None if follow is None else follow[1][place]


def _free(pool: Pool) -> Ints:
    """Versions that are no anchors, ascending."""
    return np.setdiff1d(np.arange(pool.n), pool.anchors[0])


def warm(pool: Pool, hyper: Hyper, given: Sites, x: Floats, follow: Follow | None = None) -> Posterior:
    """On from the last refit's sites, with what it learned held.

    :param given: sites of the last refit, which may know fewer versions and other pairs
    :param x: its means; only the fixed prior's search begins there
    """
    if not pool.prior.learned:
        return normal.warm(pool, hyper, x, follow)
    joint = join(pool, len(hyper.w))
    factors = _carried(joint, given, hyper)
    standing = Standing(hyper=hyper, factors=factors, at=joint.solve(factors))
    last, rounds = run_where_it_moves(
        joint, pool.prior, now=standing, stage=WARM, follow=None if follow is None else follow[1]
    )
    return _posterior(pool, joint, last, iterations=rounds, start=None, details={})


def rebuild(pool: Pool, hyper: Hyper, given: Sites) -> tuple[Floats, Floats]:
    """Mean and covariance from recorded sites, bit for bit those of the refit that recorded them.

    :raises ValueError: the sites are of another pool
    """
    joint = join(pool, len(hyper.w) if pool.prior.learned else 0)
    linked = np.stack(joint.links[:2], axis=1)
    same = (given.one, joint.cells.one), (given.two, joint.cells.two), (given.linked, linked)
    if len(given.PS) != pool.n or not all(np.array_equal(*each) for each in same):
        raise ValueError("the recorded sites do not belong to these counts: fit again instead of rebuilding")
    PS, PH = given.PS[joint.roots], given.PH[joint.roots]
    at = joint.solve(Factors(given.T, given.V, PS=PS, PH=PH, LS=given.LS, LH=given.LH))
    return at.x + _origin(joint), symmetric(at.C)


def first_guess(merged: sites.Cells) -> Hyper:
    """Before anything is known: the single component, no advantage, the draw parameter of equal opponents."""
    games, drawn = float(merged.games.sum()), float(merged.drawn.sum())
    share = min(drawn / games, 0.9) if games > 0 else 0.0
    return Hyper(s=FIRST_WIDTH, w=(1.0,), advantage=0.0, draw=2.0 * share / (1.0 - share), fresh=0.0)


def choose(evidence: list[float], begun: tuple[Start, ...]) -> int:
    """The first start, unless others without equals beat it by more than a nat; then the best. One with equals must
    beat them all by as much; and the same about a single center must beat that one.

    :param evidence: of the first so many starts, which are those without equals at least
    """
    plain = [nats for nats, start in zip(evidence, begun, strict=False) if not start.equals]
    best = max(range(len(plain)), key=lambda index: (plain[index], -index))
    equals = evidence[len(plain) :]
    if equals and equals[0] > plain[best] + BETTER:
        return len(plain) + (len(equals) > 1 and equals[1] > equals[0])
    return best if plain[best] > plain[0] + BETTER else 0


def _begin(joint: Joint, prior: Prior, one: Standing, start: Start, free: Ints) -> Standing:
    prior_of = np.full((joint.n, joint.components), 1.0 / joint.components)
    prior_of[free] = start.rho
    hyper = replace(
        one.hyper,
        s=start.s,
        w=tuple(start.w.tolist()),
        fresh=FRESH,
        tail=prior.tail,
        equals=start.equals,
    )
    links = joint.links
    factors = one.factors._replace(
        PS=prior_sites.starting(prior_of[joint.roots], start.s),
        PH=np.zeros((len(joint.roots), joint.components + 1)),
        LS=prior_sites.starting_links(prior_of[links.new], hyper, links),
        LH=np.zeros((len(links.new), joint.components + 3)),
    )
    return Standing(hyper=hyper, factors=factors, at=joint.solve(factors))


def carried(joint: Joint, given: Sites) -> tuple[Floats, Floats]:
    """(k,) sites of the joint's pairs as they were; a pair that is new begins at 0, one that is gone is left out."""
    where, same = _known(joint.cells.one * joint.n + joint.cells.two, given.one * joint.n + given.two)
    if not len(given.one):
        return np.zeros(len(where)), np.zeros(len(where))
    return np.where(same, given.T[where], 0.0), np.where(same, given.V[where], 0.0)


def _known(keys: Ints, known: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Where each key is among those that are known, which ascend, and whether it is."""
    if not len(known):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=np.bool_)
    where = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return where, known[where] == keys


def _carried(joint: Joint, given: Sites, hyper: Hyper) -> Factors:
    """Sites as they were; the prior's of a version that has none of the same kind, or of another number of components,
    begins as a newcomer's."""
    q, roots, links = joint.components, joint.roots, joint.links
    T, V = carried(joint, given)
    w = np.array([hyper.w])
    PS = np.tile(prior_sites.starting(w, hyper.s), (len(roots), 1, 1))
    PH = np.zeros((len(roots), q + 1))
    LS = prior_sites.starting_links(np.tile(w, (len(links.new), 1)), hyper, links)
    LH = np.zeros((len(links.new), q + 3))
    if given.PS.shape[1:] == (q + 1, q + 1):
        there = np.flatnonzero(roots < len(given.PS))
        there = there[given.PS[roots[there], 0, 0] > 0]
        PS[there], PH[there] = given.PS[roots[there]], given.PH[roots[there]]
        where, same = _known(links.new * joint.n + links.old, given.linked[:, 0] * joint.n + given.linked[:, 1])
        LS[same], LH[same] = given.LS[where[same]], given.LH[where[same]]
    LS, LH = with_exact(joint, hyper, LS, LH)
    return Factors(T, V, PS=PS, PH=PH, LS=LS, LH=LH)


def _origin(joint: Joint) -> Floats:
    """(D,) what is added to means relative to `initial`: nothing to the mean step."""
    origin = np.full(joint.size, joint.initial)
    if joint.components:
        origin[-1] = 0.0
    return origin


def _posterior(
    pool: Pool, joint: Joint, last: Standing, iterations: tuple[int, ...], start: int | None, details: dict[str, object]
) -> Posterior:
    n, q, cells, factors = joint.n, joint.components, joint.cells, last.factors
    PS, PH = np.zeros((n, q + 1, q + 1)), np.zeros((n, q + 1))
    PS[joint.roots], PH[joint.roots] = factors.PS, factors.PH
    C = symmetric(last.at.C)
    last = replace(last, at=last.at._replace(C=C))
    return Posterior(
        hyper=last.hyper,
        sites=Sites(
            one=cells.one,
            two=cells.two,
            T=factors.T,
            V=factors.V,
            PS=PS,
            PH=PH,
            linked=np.stack(joint.links[:2], axis=1),
            LS=factors.LS,
            LH=factors.LH,
        ),
        x=last.at.x + _origin(joint),
        C=C,
        ends=ends_of(pool, joint, last),
        iterations=iterations,
        start=start,
        details=details,
    )
