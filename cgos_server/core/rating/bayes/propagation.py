"""Expectation propagation: rounds of all sites until nothing moves, and ways to need fewer or smaller rounds.

Decides what a round is, when rounds end, when to leap along a slow drift, and which sites a warm refit works on. Must
not know: where the rounds begin, which stages there are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import Final, NamedTuple

import numpy as np

from . import prior_sites, sites
from .joint import Joint, Marginals
from .linear import invert
from .pool import Floats, Hyper, Ints, Prior

FIRST_WIDTH: Final = 500.0
"""Elo: where the width of a single component begins, and its median."""

LONGEST_ADVANTAGE, LONGEST_LN_DRAW = 100.0, 1.0
"""The longest steps of the advantage (Elo) and of ln nu in one round."""

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

    :ivar learn: width, weights, advantage and draw parameter
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
    """Where the sites stand, and the posterior `at` that they give; PS, PH of the free versions only."""

    hyper: Hyper
    T: Floats
    V: Floats
    PS: Floats
    PH: Floats
    at: Marginals


class Proposal(NamedTuple):
    """What a round would make of a standing.

    :ivar pairs: (k,) how far each pair's results move its difference, in sd
    :ivar pulled: (n,) how far all its results move each version, in sd, or half the relative change of its variance
    :ivar versions: (n_f,) how far the prior moves each free version; `widened`: (n_f,) half the change of variance
    :ivar change: of what is learned, the largest, in units of its own uncertainty (ln s: absolute)
    """

    hyper: Hyper
    T: Floats
    V: Floats
    PS: Floats
    PH: Floats
    pairs: Floats
    pulled: Floats
    versions: Floats
    widened: Floats
    change: float

    def moves(self, exact: bool) -> float:
        """The largest change, that decides whether to stop."""
        largest = max(self.change, *(float(each.max(initial=0.0)) for each in (self.pairs, self.versions)))
        if not exact:
            return largest
        return max(largest, float(self.widened.max(initial=0.0)), float(self.pulled.max(initial=0.0)) / NOTICED)


def propose(joint: Joint, prior: Prior, now: Standing, learn: bool) -> Proposal:
    """One round: games, prior, width and weights, advantage and draws. With one component its sites are exact links."""
    hyper, at, count = now.hyper, now.at, len(joint.free)
    d, blocks = joint.differences(at.x), joint.blocks(at.C)
    v = blocks[0] + blocks[1] - 2.0 * blocks[2]
    games = sites.update(joint.cells, d, v=v, T=now.T, V=now.V, advantage=hyper.advantage, draw=hyper.draw, learn=learn)
    pulled = _pulled(joint, now, games=games, d=d, blocks=blocks)
    Sg, mu = joint.of_free(at.x, at.C)
    single = joint.components == 1 and learn
    if single:
        R, (q1, q2) = np.array([float(count)]), prior_sites.links_moments(Sg, mu)
        PS, PH = now.PS, now.PH
        moved = widened = np.zeros(count)
        median = FIRST_WIDTH if prior.components > 1 else prior.width
    else:
        versions = prior_sites.update(Sg, mu, PS=now.PS, PH=now.PH, w=np.array(hyper.w), s=hyper.s)
        R, q1, q2 = versions.rho.sum(axis=0), float(versions.q1.sum()), float(versions.q2.sum())
        PS, PH, moved, widened = versions.PS, versions.PH, versions.moved, versions.widened
        median = prior.width
    change = 0.0
    if learn:
        width = prior_sites.width(R, q1, q2=q2, n_f=count, s=hyper.s, median=median, log_sd=prior.width_log_sd)
        hyper, change = learned(replace(hyper, s=width.s, w=tuple(width.w.tolist())), prior, games)
        change = max(change, abs(width.change))
    return Proposal(
        hyper=hyper,
        T=games.T,
        V=games.V,
        PS=links(count, hyper.s) if single else PS,
        PH=PH,
        pairs=games.moved,
        pulled=pulled,
        versions=moved,
        widened=widened,
        change=change,
    )


def _pulled(
    joint: Joint, now: Standing, games: sites.Update, d: Floats, blocks: tuple[Floats, Floats, Floats]
) -> Floats:
    """Many small changes that each pair would hardly notice may move a version: to first order, each by its own."""
    one, two, n = joint.cells.one, joint.cells.two, joint.n
    variance = np.diagonal(now.at.C)[:n]
    of_one, of_two, across = blocks
    toward_one, toward_two = of_one - across, of_two - across
    stiffer = games.T - now.T
    pull = games.V - now.V - stiffer * d
    shift = np.bincount(one, pull * toward_one, n) - np.bincount(two, pull * toward_two, n)
    narrowed = np.bincount(one, stiffer * toward_one**2, n) + np.bincount(two, stiffer * toward_two**2, n)
    furthest: Floats = np.maximum(np.abs(shift) / np.sqrt(variance), 0.5 * np.abs(narrowed) / variance)
    return furthest


def links(count: int, s: float) -> Floats:
    """(count, 2, 2) exact sites of one component of width s."""
    return np.tile(prior_sites.starting(np.ones((1, 1)), s), (count, 1, 1))


def learned(hyper: Hyper, prior: Prior, games: sites.Update) -> tuple[Hyper, float]:
    """One Newton step of advantage and of ln nu on the expected log likelihood; the larger in standard deviations.

    Priors (our choice): advantage ~ N(0, advantage_sd^2), ln nu ~ N(0, 1).
    """
    evidence, change = games.tilted.evidence, 0.0
    if evidence is None:
        return hyper, change
    advantage, draw = hyper.advantage, hyper.draw
    if prior.advantage_sd > 0:
        known = 1.0 / prior.advantage_sd**2
        bend = known - evidence.advantage_bend
        step = (evidence.advantage_slope - known * advantage) / bend
        step = min(max(step, -LONGEST_ADVANTAGE), LONGEST_ADVANTAGE)
        advantage += step
        change = abs(step) * sqrt(bend)
    if draw > 0:
        bend = 1.0 - evidence.draw_bend
        step = (evidence.draw_slope - log(draw)) / bend
        step = min(max(step, -LONGEST_LN_DRAW), LONGEST_LN_DRAW)
        draw *= exp(step)
        change = max(change, abs(step) * sqrt(bend))
    return replace(hyper, advantage=advantage, draw=draw), change


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
        rest, fastest, plain = _rest(last, drift), float(np.abs(drift).max()), plain + 1
        if still and exactly is None and rest * fastest < FAR * stage.tolerance:
            break
        # No leap after the last round, however it came to be the last.
        if rest > 0 and plain >= PLAIN_ROUNDS and count < limit:
            rounds = min(rest, LONGEST_LEAP, FARTHEST / max(fastest, abs(log(now.hyper.s / before.hyper.s))))
            now, plain, drift = _ahead(joint, before, now, rounds), 0, None
    return now, count


def settle(joint: Joint, proposal: Proposal) -> Standing:
    """The proposal taken, with the posterior that follows."""
    hyper, T, V, PS, PH = proposal[:5]
    return Standing(hyper=hyper, T=T, V=V, PS=PS, PH=PH, at=joint.solve(T, V, PS, PH))


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
    """Every site and all that is learned, further along the last round's change.

    A site that would lose half of its precision stays. Where the result is no distribution, so does everything.
    """

    def on(old: Floats, new: Floats) -> Floats:
        return new + rounds * (new - old)

    was, hyper = before.hyper, now.hyper
    w = np.exp(on(np.log(was.w), np.log(hyper.w)))
    T, V = on(before.T, now.T), on(before.V, now.V)
    lost = T <= 0.5 * now.T
    T[lost], V[lost] = now.T[lost], now.V[lost]
    PS, PH = prior_sites.semidefinite_sites(on(before.PS, now.PS)), on(before.PH, now.PH)
    lost = PS[:, 0, 0] <= 0.5 * now.PS[:, 0, 0]
    PS[lost], PH[lost] = now.PS[lost], now.PH[lost]
    hyper = Hyper(
        s=hyper.s * (hyper.s / was.s) ** rounds,
        w=tuple((w / w.sum()).tolist()),
        advantage=hyper.advantage + rounds * (hyper.advantage - was.advantage),
        draw=hyper.draw * (hyper.draw / was.draw) ** rounds if was.draw > 0 else hyper.draw,
    )
    try:
        return Standing(hyper=hyper, T=T, V=V, PS=PS, PH=PH, at=joint.solve(T, V, PS, PH))
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
        priors = np.flatnonzero(np.maximum(proposal.versions, proposal.widened) >= quiet)
        touched = np.zeros(joint.n, dtype=bool)
        for some in (joint.cells.one[pairs], joint.cells.two[pairs], joint.free[priors]):
            touched[some] = True
        exactly = None if follow is None else follow[len(taken)]
        rounds = 0
        if exactly != 0 and (exactly is not None or touched.sum() <= WORTHWHILE * joint.n):
            small = replace(stage, limit=stage.limit - spent, tolerance=STILL * stage.tolerance)
            try:
                now, rounds = _small_rounds(
                    joint,
                    prior,
                    now=now,
                    pairs=pairs,
                    priors=priors,
                    touched=np.flatnonzero(touched),
                    stage=small,
                    exactly=exactly,
                )
            except np.linalg.LinAlgError:
                rounds = 0  # What stands for all else was lost in rounding: then all else takes part.
        if rounds == 0:
            now = settle(joint, proposal)
        taken.append(rounds)
    return now, tuple(taken)


def _small_rounds(
    joint: Joint,
    prior: Prior,
    now: Standing,
    pairs: Ints,
    priors: Ints,
    touched: Ints,
    stage: Stage,
    exactly: int | None,
) -> tuple[Standing, int]:
    """Rounds of these pairs and priors, among the versions `touched`; then the joint posterior of all again.

    :raises numpy.linalg.LinAlgError: rounding left no positive definite matrix for the rest
    """
    kept = np.concatenate([touched, np.arange(joint.n, joint.n + joint.components)])
    place = np.zeros(joint.n, dtype=np.int64)
    place[touched] = np.arange(len(touched))
    C, x = np.ascontiguousarray(now.at.C[np.ix_(kept, kept)]), now.at.x[kept]
    cells = joint.cells.part(pairs)
    cells = replace(cells, one=place[cells.one], two=place[cells.two])
    precision = invert(C).matrix
    part = replace(
        joint, n=len(touched), free=place[joint.free[priors]], cells=cells, base=precision, base_shift=precision @ x
    )
    T, V, PS, PH = now.T[pairs], now.V[pairs], now.PS[priors], now.PH[priors]
    rest, rest_shift = part.with_sites(-T, -V, -PS, -PH)
    part = replace(part, base=rest, base_shift=rest_shift)
    here = Standing(hyper=now.hyper, T=T, V=V, PS=PS, PH=PH, at=Marginals(x, C, 0.0, part.base_shift))
    here, count = run(part, prior, now=here, stage=stage, exactly=exactly)
    T, V, PS, PH = now.T.copy(), now.V.copy(), now.PS.copy(), now.PH.copy()
    T[pairs], V[pairs], PS[priors], PH[priors] = here.T, here.V, here.PS, here.PH
    return Standing(hyper=now.hyper, T=T, V=V, PS=PS, PH=PH, at=joint.solve(T, V, PS, PH)), count
