"""How much stronger B is: an estimate with its 95 % interval, from a sequential test or from a fixed number of games.

A test that ended early ended on a lucky streak more often than not, so that its score flatters: the estimate after a
test is the difference under which a more favorable outcome would have been as likely as a less favorable one (it is
median-unbiased), and its interval leaves out 2.5 % on either side. Outcomes are ordered by stages: accepted, the sooner
the more favorable; still running, by the log-likelihood ratio; rejected, the later the more favorable (Siegmund 1985;
Van den Bergh 2019). The log-likelihood ratio is taken for a Brownian motion whose variance is that of what one more
result adds to it. Decides all of that. Must not know: who plays, where a test ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

import numpy as np

from .hypotheses import EQUAL_SCORE, Counts, Decision, Floats, Hypotheses, Scale, elo_of, nelo_of, scores
from .likelihood import log_ratios, moments, regularized
from .passage import OVERSHOOT, Barriers, above_by, below_by, normal_below, still_above
from .standing import decided

TAIL: Final = 0.025
"""The probability that each side of an interval leaves out."""

LEAST_GAMES: Final = 20
"""Of fewer games, in ten pairs or single, no estimate is stated."""

_WIDTH: Final = 1.959963984540054
_NEAR: Final = 1e-10
_STEPS: Final = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """By how much B is stronger than A. None: unbounded on that side; of all, where there are no results.

    :ivar elo: logistic Elo
    :ivar lower: where its 95 % interval begins
    :ivar upper: where it ends
    :ivar normalized: normalized Elo, with the ends `normalized_lower` and `normalized_upper`; None where every result
        is the same
    :ivar superiority: one minus the probability that so favorable an outcome, or a more favorable one, comes of two
        that are equal; 0..1
    """

    elo: float | None
    lower: float | None
    upper: float | None
    normalized: float | None
    normalized_lower: float | None
    normalized_upper: float | None
    superiority: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The log-likelihood ratio as a Brownian motion, seen from what was counted.

    :ivar items: pairs or single games
    :ivar llr: where it is
    :ivar sd: standard deviation of what one more item adds
    :ivar at: the difference that was seen: the mean score, or on the normalized scale t
    :ivar slope: what a unit more of the difference adds to the drift per item
    """

    items: float
    llr: float
    sd: float
    at: float
    slope: float

    def drift(self, difference: float) -> float:
        """What an item adds on average where this is the difference."""
        return self.llr / self.items + self.slope * (difference - self.at)


def barriers(hypotheses: Hypotheses, sd: float, start: float = 0.0) -> Barriers:
    """Where the ratio ends, seen from `start` and in steps of `sd`, with the overshoot that is to be expected."""
    over = OVERSHOOT * sd
    return Barriers((hypotheses.reject_at - over - start) / sd, (hypotheses.accept_at + over - start) / sd)


def path(counts: Counts, hypotheses: Hypotheses) -> Path:
    """The motion of these counts, which are more than none."""
    cells = regularized(np.array(counts.cells, dtype=np.float64))
    shares = cells / cells.sum()
    jumps = log_ratios(shares, hypotheses)
    drift, sd = _mean_and_sd(jumps, shares)
    at, influence = difference_of(shares, hypotheses.scale)
    items = float(counts.total)
    return Path(items=items, llr=float(cells.sum()) * drift, sd=sd, at=at, slope=sd / influence)


def estimate(counts: Sequence[int] | Counts, hypotheses: Hypotheses) -> Estimate:
    """What a sequential test says of the difference, while it runs and after its end.

    >>> after = estimate((379, 10170, 21828, 10640, 343), Hypotheses(lower=0, upper=2))
    >>> f"{after.elo:.2f}, {after.lower:.2f} to {after.upper:.2f}"
    '1.42, 0.15 to 2.66'
    """
    counted = Counts.of(counts)
    if sum(each > 0 for each in counted.cells) < 2:
        return _one_cell(counted)
    motion = path(counted, hypotheses)
    favorable = _as_favorable(motion, hypotheses)
    ends = [_solved(favorable, motion, share) for share in (0.5, TAIL, 1.0 - TAIL)]
    nothing = EQUAL_SCORE if hypotheses.scale is Scale.LOGISTIC else 0.0
    superiority = 1.0 - favorable(motion.drift(nothing) / motion.sd)
    cells = regularized(np.array(counted.cells, dtype=np.float64))
    _, sd = moments(cells / cells.sum())
    if hypotheses.scale is Scale.LOGISTIC:
        as_scores, as_t = ends, [(each - EQUAL_SCORE) / float(sd) for each in ends]
    else:
        as_scores, as_t = [EQUAL_SCORE + each * float(sd) for each in ends], ends
    return _written(as_scores, as_t, len(cells), superiority)


def fixed_estimate(counts: Sequence[int] | Counts) -> Estimate:
    """What a number of games that was fixed before says of the difference: the score seen, with the interval that the
    variance of pairs (or of single games) gives."""
    counted = Counts.of(counts)
    if sum(each > 0 for each in counted.cells) < 2:
        return _one_cell(counted)
    shares = np.array(counted.cells, dtype=np.float64) / counted.total
    ends = []
    for scale in (Scale.LOGISTIC, Scale.NORMALIZED):
        at, sd = difference_of(shares, scale)
        half = _WIDTH * sd / sqrt(counted.total)
        ends.append([at, at - half, at + half])
    mean, sd_of_score = (float(each) for each in moments(shares))
    superiority = normal_below((mean - EQUAL_SCORE) / sd_of_score * sqrt(counted.total))
    return _written(ends[0], ends[1], len(shares), superiority)


def drop_vague_elo(known: Estimate, games: int) -> Estimate:
    """Return `known`, without its Elo where it has fewer than `LEAST_GAMES` games or an interval with an open end."""
    if games >= LEAST_GAMES and known.lower is not None and known.upper is not None:
        return known
    known = replace(known, elo=None, lower=None, upper=None)
    return replace(known, normalized=None, normalized_lower=None, normalized_upper=None)


def _as_favorable(motion: Path, hypotheses: Hypotheses) -> Callable[[float], float]:
    """P(an outcome as favorable as this one, or more so), by the drift in units of `motion.sd`; grows with it.

    A test that is decided ended where its ratio, growing as it did, passed the barrier.
    """
    between = barriers(hypotheses, motion.sd)
    level = motion.llr / motion.sd
    decision = decided(motion.llr, hypotheses)
    if decision is Decision.ACCEPTED:
        ended = motion.items * between.upper / level
        return lambda drift: above_by(between, drift, ended)
    if decision is Decision.REJECTED:
        ended = motion.items * between.lower / level
        return lambda drift: 1.0 - below_by(between, drift, ended)
    return lambda drift: above_by(between, drift, motion.items) + still_above(between, drift, motion.items, level)


def _solved(favorable: Callable[[float], float], motion: Path, share: float) -> float:
    """The difference at which `favorable` is this share: the rule of false position (Illinois)."""
    center = motion.llr / motion.items / motion.sd
    low = high = center
    below = above = favorable(center) - share
    width = 1.0 / sqrt(motion.items)
    while below > 0.0:
        high, above = low, below
        low -= width
        below = favorable(low) - share
        width *= 2.0
    while above < 0.0:
        low, below = high, above
        high += width
        above = favorable(high) - share
        width *= 2.0
    at, value = high, above
    for _ in range(_STEPS):
        if abs(value) < _NEAR:
            break
        before, at = value, high - above * (high - low) / (above - below)
        value = favorable(at) - share
        if value < 0.0:
            low, below, above = at, value, above * (0.5 if before < 0.0 else 1.0)
        else:
            high, above, below = at, value, below * (0.5 if before > 0.0 else 1.0)
    return motion.at + (at - center) * motion.sd / motion.slope


def difference_of(shares: Floats, scale: Scale) -> tuple[float, float]:
    """The mean score or t of shares, and the standard deviation that one item gives its estimate (delta method)."""
    mean, sd = (float(each) for each in moments(shares))
    if scale is Scale.LOGISTIC:
        return mean, sd
    t = (mean - EQUAL_SCORE) / sd
    z = (scores(len(shares)) - mean) / sd
    return t, _mean_and_sd(z - 0.5 * t * (z * z - 1.0), shares)[1]


def _mean_and_sd(values: Floats, shares: Floats) -> tuple[float, float]:
    mean = float(shares @ values)
    return mean, sqrt(float(shares @ (values - mean) ** 2))


def _one_cell(counts: Counts) -> Estimate:
    """Where every result is the same, or there is none. So many of them come with probability q^n, q that of one: the
    interval ends where q^n is 2.5 %, and the other results were the worst, or the best (Clopper & Pearson 1934)."""
    if not counts.total:
        return Estimate(
            elo=None,
            lower=None,
            upper=None,
            normalized=None,
            normalized_lower=None,
            normalized_upper=None,
            superiority=0.5,
        )
    x = next(value for value, seen in zip(scores(len(counts.cells)).tolist(), counts.cells, strict=True) if seen)
    surely, likely = TAIL ** (1.0 / counts.total), 0.5 ** (1.0 / counts.total)
    middle = likely * x + (1.0 - likely) * (0.0 if x == 1.0 else 1.0 if x == 0.0 else x)
    p = (EQUAL_SCORE / max(x, 1.0 - x)) ** counts.total
    return Estimate(
        elo=elo_of(middle),
        lower=elo_of(surely * x),
        upper=None if x == 1.0 else elo_of(1.0 - surely * (1.0 - x)),
        normalized=None,
        normalized_lower=None,
        normalized_upper=None,
        superiority=0.5 if x == EQUAL_SCORE else 1.0 - p if x > EQUAL_SCORE else p,
    )


def _written(as_scores: Sequence[float], as_t: Sequence[float], cells: int, superiority: float) -> Estimate:
    """An estimate of value, lower and upper end, as scores and as t."""
    elo, lower, upper = (elo_of(each) for each in as_scores)
    normalized, normalized_lower, normalized_upper = (nelo_of(each, cells) for each in as_t)
    return Estimate(
        elo=elo,
        lower=lower,
        upper=upper,
        normalized=normalized,
        normalized_lower=normalized_lower,
        normalized_upper=normalized_upper,
        superiority=min(max(superiority, 0.0), 1.0),
    )
