"""Expectation propagation: rounds of all sites until nothing moves, and ways to need fewer or smaller rounds.

Decides what a round is, when rounds end, when to leap along a slow drift, and which sites a warm refit works on. Must
not know: where the rounds begin, which stages there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import learning, prior_sites, sites
from .joint import Factors, Joint, Marginals
from .linear import invert
from .pool import Floats, Hyper, Ints, Prior

PLAIN_ROUNDS: Final = 3
SLOW, STEADY, ALIKE, LONGEST_LEAP, FARTHEST = 0.6, 0.98, 0.95, 12.0, 0.3
"""A leap: after so many plain rounds, where each repeats at least the first share of the one before (at most the
second, for the sake of the estimate) and points the same way (cosine); at most so many rounds' worth, and no mean (in
sd) nor ln s further than the last."""

FAR: Final = 10.0
"""Tolerances: rounds that may leap do not end while a steady drift has further to go than that."""

QUIET, STILL = 0.25, 0.25
"""Of the tolerance: a site that would move less than the first is left alone by the small rounds of a warm refit; they
end when none of theirs moves more than the second."""

NOTICED: Final = 4.0
"""Tolerances: what all the results of a version together may still move it by."""

WORTHWHILE: Final = 0.7
"""Of the versions: where more have a site that moves, small rounds are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """When rounds end.

    :ivar learn: all of `Hyper` but the share of the tail
    :ivar exact: variances and not only means must have settled
    :ivar leap: follow a slow drift faster
    """

    limit: int
    tolerance: float
    learn: bool
    exact: bool
    leap: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Standing:
    """Where the sites stand, and the posterior `at` that they give."""

    hyper: Hyper
    factors: Factors
    at: Marginals


class Proposal(NamedTuple):
    """What a round would make of a standing.

    :ivar pairs: (k,) how far each pair's results move its difference, in sd
    :ivar pulled: (n,) how far all its results move each version, in sd, or half the relative change of its variance
    :ivar priors: (roots + successors,) how far the prior moves each of them; `widened`: half the change of variance
    :ivar change: of what is learned, the largest, in units of its own uncertainty (ln s, ln tau, v_K: absolute)
    """

    hyper: Hyper
    factors: Factors
    pairs: Floats
    pulled: Floats
    priors: Floats
    widened: Floats
    change: float

    def moves(self, exact: bool) -> float:
        """The largest change, that decides whether to stop."""
        largest = max(self.change, *(float(each.max(initial=0.0)) for each in (self.pairs, self.priors)))
        if not exact:
            return largest
        return max(largest, float(self.widened.max(initial=0.0)), float(self.pulled.max(initial=0.0)) / NOTICED)


def propose(joint: Joint, prior: Prior, now: Standing, learn: bool) -> Proposal:
    """One round: games, prior, what is learned of the prior, advantage and draws. A single component's sites are
    exact links, set again with what is learned."""
    hyper, at, factors = now.hyper, now.at, now.factors
    d, blocks = joint.differences(at.x), joint.blocks(at.C)
    v = blocks[0] + blocks[1] - 2.0 * blocks[2]
    games = sites.update(
        joint.cells, d, v=v, T=factors.T, V=factors.V, advantage=hyper.advantage, draw=hyper.draw, learn=learn
    )
    pulled = _pulled(joint, now, games=games, d=d, blocks=blocks)
    roots, successors = prior_updates(joint, now)
    updates = roots[1], successors[1]
    PS, PH, LS, LH = updates[0].PS, updates[0].PH, updates[1].PS, updates[1].PH
    change = 0.0
    if learn:
        total = prior_sites.sums(roots, successors, joint.links, joint.components)
        hyper, change = learning.of_prior(joint, prior, hyper, total)
        hyper, further = learning.of_games(hyper, prior, games)
        change = max(change, further)
    priors, widened = (
        np.concatenate(each) for each in zip(*((each.moved, each.widened) for each in updates), strict=True)
    )
    if hyper.single and learn:
        PS, PH = exact_roots(len(joint.roots), hyper.s), factors.PH
        priors = widened = np.zeros(0)
    LS, LH = with_exact(joint, hyper, LS, LH)
    return Proposal(
        hyper=hyper,
        factors=Factors(games.T, games.V, PS=PS, PH=PH, LS=LS, LH=LH),
        pairs=games.moved,
        pulled=pulled,
        priors=priors,
        widened=widened,
        change=change,
    )


Prepared = tuple[prior_sites.Mixture, prior_sites.Update]


def prior_updates(joint: Joint, now: Standing) -> tuple[Prepared, Prepared]:
    """Mixtures and what one step makes of the sites, of roots and of successors."""
    hyper, at, factors = now.hyper, now.at, now.factors
    roots = prior_sites.of_roots(hyper)
    successors = prior_sites.of_successors(hyper, joint.links) if len(joint.links.new) else roots
    return (
        (roots, prior_sites.update(*joint.of_roots(at.x, at.C), PS=factors.PS, PH=factors.PH, mixture=roots)),
        (
            successors,
            prior_sites.update(*joint.of_successors(at.x, at.C), PS=factors.LS, PH=factors.LH, mixture=successors),
        ),
    )


def with_exact(joint: Joint, hyper: Hyper, LS: Floats, LH: Floats) -> tuple[Floats, Floats]:
    """The successors' sites; of those with one component, a sure link, exactly that."""
    sure = np.flatnonzero(prior_sites.fresh_shares(hyper, joint.links) == 0.0)
    if sure.size:
        LS, LH = LS.copy(), LH.copy()
        LS[sure] = prior_sites.exact_links(1.0 / prior_sites.steps(hyper, joint.links.part(sure)), joint.components)
        LH[sure] = 0.0
    return LS, LH


def _pulled(
    joint: Joint, now: Standing, games: sites.Update, d: Floats, blocks: tuple[Floats, Floats, Floats]
) -> Floats:
    """Many small changes that each pair would hardly notice may move a version: to first order, each by its own."""
    variance = np.diagonal(now.at.C)[: joint.n]
    one, two, n = joint.cells.one, joint.cells.two, joint.n
    of_one, of_two, across = blocks
    toward_one, toward_two = of_one - across, of_two - across
    stiffer = games.T - now.factors.T
    pull = games.V - now.factors.V - stiffer * d
    shift = np.bincount(one, pull * toward_one, n) - np.bincount(two, pull * toward_two, n)
    narrowed = np.bincount(one, stiffer * toward_one**2, n) + np.bincount(two, stiffer * toward_two**2, n)
    furthest: Floats = np.maximum(np.abs(shift) / np.sqrt(variance), 0.5 * np.abs(narrowed) / variance)
    return furthest


def exact_roots(count: int, s: float) -> Floats:
    """(count, 2, 2) exact sites of one component of width s."""
    return np.tile(prior_sites.starting(np.ones((1, 1)), s), (count, 1, 1))


def run(joint: Joint, prior: Prior, now: Standing, stage: Stage, exactly: int | None = None) -> tuple[Standing, int]:
    """Rounds of all sites until nothing moves (two at least), or as many as recorded; how many there were."""
    count, plain = 0, 0
    drift: Floats | None = None
    limit = stage.limit if exactly is None else exactly
    while count < limit:
        proposal = propose(joint, prior, now, stage.learn)
        before, now = now, settle(joint, proposal)
        count += 1
        still = count >= 2 and proposal.moves(stage.exact) < stage.tolerance
        if not stage.leap:
            if still and exactly is None:
                break
            continue
        last, drift = drift, (now.at.x - before.at.x) / np.sqrt(np.diagonal(now.at.C))
        learned = abs(log(now.hyper.s / before.hyper.s)), abs(log(now.hyper.step / before.hyper.step))
        rest, fastest, plain = _rest(last, drift), max(float(np.abs(drift).max()), *learned), plain + 1
        if still and exactly is None and rest * fastest < FAR * stage.tolerance:
            break
        # No leap after the last round, however it came to be the last.
        if rest > 0 and plain >= PLAIN_ROUNDS and count < limit:
            rounds = min(rest, LONGEST_LEAP, FARTHEST / fastest)
            now, plain, drift = _ahead(joint, before, now, rounds), 0, None
    return now, count


def settle(joint: Joint, proposal: Proposal) -> Standing:
    """The proposal taken, with the posterior that follows."""
    return Standing(hyper=proposal.hyper, factors=proposal.factors, at=joint.solve(proposal.factors))


def _rest(last: Floats | None, drift: Floats) -> float:
    """How many rounds' worth is still to come of a slow, steady drift: the rest of its geometric series; else 0."""
    if last is None:
        return 0.0
    before, after, along = float(last @ last), float(drift @ drift), float(last @ drift)
    if before == 0.0 or after == 0.0 or along < ALIKE * sqrt(before * after):
        return 0.0
    repeated = along / before
    if repeated < SLOW:
        return 0.0
    return repeated / (1.0 - repeated) if repeated < STEADY else STEADY / (1.0 - STEADY)


def _ahead(joint: Joint, before: Standing, now: Standing, rounds: float) -> Standing:
    """Every site and all that is learned, further along the last round's change; shares of fresh ones and of equals
    follow from the rest.

    A site that would lose half of its precision stays. Where the result is no distribution, so does everything.
    """

    def on(old: Floats, new: Floats) -> Floats:
        return new + rounds * (new - old)

    was, hyper = before.hyper, now.hyper
    T, V, PS, PH, LS, LH = map(on, before.factors, now.factors)
    lost = T <= 0.5 * now.factors.T
    T[lost], V[lost] = now.factors.T[lost], now.factors.V[lost]
    PS, LS = prior_sites.semidefinite_sites(PS), prior_sites.semidefinite_sites(LS)
    for new, shift, old, old_shift in ((PS, PH, *now.factors[2:4]), (LS, LH, *now.factors[4:])):
        lost = new[:, 0, 0] <= 0.5 * old[:, 0, 0]
        new[lost], shift[lost] = old[lost], old_shift[lost]
    w = np.exp(on(np.log(was.w), np.log(hyper.w)))
    hyper = replace(
        hyper,
        s=hyper.s * (hyper.s / was.s) ** rounds,
        w=tuple((w / w.sum()).tolist()),
        step=hyper.step * (hyper.step / was.step) ** rounds,
        advantage=hyper.advantage + rounds * (hyper.advantage - was.advantage),
        draw=hyper.draw * (hyper.draw / was.draw) ** rounds if was.draw > 0 else hyper.draw,
    )
    factors = Factors(T, V, PS=PS, PH=PH, LS=LS, LH=LH)
    try:
        return Standing(hyper=hyper, factors=factors, at=joint.solve(factors))
    except np.linalg.LinAlgError:
        return now


def run_where_it_moves(
    joint: Joint, prior: Prior, now: Standing, stage: Stage, follow: tuple[int, ...] | None = None
) -> tuple[Standing, tuple[int, ...]]:
    """Rounds with all that is learned held, on the sites that move; then one over all tells whether that was all.

    A refit after few results moves few sites. Only the versions that they touch need new covariances meanwhile: the
    marginal precision of those, which is the inverse of their block of C, stands for all else.

    :returns: for each search for what moves, how many small rounds followed; 0: one round of all sites
    """
    taken: list[int] = []
    while follow is None or len(taken) < len(follow):
        proposal = propose(joint, prior, now, False)
        spent = sum(max(rounds, 1) for rounds in taken)
        if follow is None and (spent >= stage.limit or (taken and proposal.moves(True) < stage.tolerance)):
            break
        quiet = QUIET * stage.tolerance
        # At first every player of a new result is pulled, by that result; whether its other pairs follow is seen later.
        pulled = (proposal.pulled >= 0.5 * NOTICED * stage.tolerance) & bool(taken)
        pairs = np.flatnonzero((proposal.pairs >= quiet) | pulled[joint.cells.one] | pulled[joint.cells.two])
        priors = np.maximum(proposal.priors, proposal.widened) >= quiet
        moving = Moving(pairs, *map(np.flatnonzero, np.split(priors, [len(joint.roots)])))
        exactly = None if follow is None else follow[len(taken)]
        rounds = 0
        if exactly != 0 and (exactly is not None or moving.versions(joint).sum() <= WORTHWHILE * joint.n):
            small = replace(stage, limit=stage.limit - spent, tolerance=STILL * stage.tolerance)
            try:
                now, rounds = _small_rounds(joint, prior, now=now, moving=moving, stage=small, exactly=exactly)
            except np.linalg.LinAlgError:
                rounds = 0  # What stands for all else was lost in rounding: then all else takes part.
        if rounds == 0:
            now = settle(joint, proposal)
        taken.append(rounds)
    return now, tuple(taken)


class Moving(NamedTuple):
    """Indices of the sites that a small round works on.

    :ivar pairs: among the cells, `roots`: among the roots, `successors`: among the links
    """

    pairs: Ints
    roots: Ints
    successors: Ints

    def versions(self, joint: Joint) -> NDArray[np.bool_]:
        """(n,) True for those that these sites are about."""
        cells, links = joint.cells, joint.links
        touched = np.zeros(joint.n, dtype=np.bool_)
        for some in (cells.one[self.pairs], cells.two[self.pairs], joint.roots[self.roots]):
            touched[some] = True
        touched[links.new[self.successors]] = touched[links.old[self.successors]] = True
        return touched


def _small_rounds(
    joint: Joint, prior: Prior, now: Standing, moving: Moving, stage: Stage, exactly: int | None
) -> tuple[Standing, int]:
    """Rounds of these sites, among the versions that they are about; then the joint posterior of all again.

    :raises numpy.linalg.LinAlgError: rounding left no positive definite matrix for the rest
    """
    touched = np.flatnonzero(moving.versions(joint))
    kept = np.concatenate([touched, np.arange(joint.n, joint.n + joint.components), [joint.size - 1]])
    place = np.zeros(joint.n, dtype=np.int64)
    place[touched] = np.arange(len(touched))
    C, x = np.ascontiguousarray(now.at.C[np.ix_(kept, kept)]), now.at.x[kept]
    cells, links = joint.cells.part(moving.pairs), joint.links.part(moving.successors)
    precision = invert(C).matrix
    part = replace(
        joint,
        n=len(touched),
        roots=place[joint.roots[moving.roots]],
        links=links._replace(new=place[links.new], old=place[links.old]),
        cells=replace(cells, one=place[cells.one], two=place[cells.two]),
        base=precision,
        base_shift=precision @ x,
    )
    factors = now.factors.part(*moving)
    rest, rest_shift = part.with_sites(factors.negative())
    part = replace(part, base=rest, base_shift=rest_shift)
    here = Standing(hyper=now.hyper, factors=factors, at=Marginals(x, C, 0.0, part.base_shift))
    here, count = run(part, prior, now=here, stage=stage, exactly=exactly)
    factors = now.factors.replaced(*moving, by=here.factors)
    return Standing(hyper=now.hyper, factors=factors, at=joint.solve(factors)), count
