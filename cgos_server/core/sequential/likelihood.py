"""The log-likelihood ratio of a sequential test on counted results: the exact multinomial GSPRT.

The probabilities of the cells are not known. Under each hypothesis they are the most likely ones that agree with it,
and the ratio is of the two likelihoods (Van den Bergh 2020, after the empirical likelihood of Owen 1988). Decides
these. Must not know: where a test ends, what the counts come from.

With shares f and scores x, those of the mean s are p = f / (1 + theta (x - s)), with theta such that they sum to 1. The
normalized scale asks for (mean - 1/2) = t sd. There sd and mean of p are guessed, and
    y = x - 1/2 - t/2 (sd + (x - mean)^2 / sd)
must have the mean 0 under p = f / (1 + theta y): where the guess is the mean and sd of that p, p is a stationary point
(Van den Bergh 2020). For t > 0, sd = min over (m, s) of (s + E(x - m)^2 / s) / 2, so that the mean of y is at most
mean - 1/2 - t sd, and any p on the constraint is one that its own guess allows: beginning with such a p, every next
guess has a solution, and where the counts have a smaller t each is more likely than the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .hypotheses import EQUAL_SCORE, Counts, Floats, Hypotheses, Scale, scores, targets

EMPTY: Final = 1e-3
"""What an empty cell counts, so that it does not forbid what was not seen yet (as fishtest does)."""

_NEAR: Final = 1e-11
"""A guess of mean and standard deviation that moves by less is taken."""

_GUESSES: Final = 1000
_SHORT: Final = 1e-6
"""After a step of Newton's method shorter than this share of the way to the nearest pole one more is the last: the
error is squared."""

_STEPS: Final = 200


def log_likelihood_ratio(counts: Sequence[int] | Counts, hypotheses: Hypotheses) -> float:
    """The logarithm of how much likelier the counts are under H1 than under H0; 0 without any.

    >>> fishtest = Hypotheses(lower=0, upper=2)
    >>> round(log_likelihood_ratio((379, 10170, 21828, 10640, 343), fishtest), 6)
    2.945495
    """
    return float(log_likelihood_ratios(Counts.of(counts).cells, hypotheses))


def log_likelihood_ratios(counts: ArrayLike, hypotheses: Hypotheses) -> Floats:
    """The same of many counts at once.

    :param counts: of the shape (..., 3) or (..., 5), >= 0
    :returns: of the shape (...)
    """
    counted = np.asarray(counts, dtype=np.float64)
    rows = counted.reshape(-1, counted.shape[-1])
    seen = rows.sum(axis=1) > 0
    filled = regularized(rows)
    total = filled.sum(axis=1)
    jumps = log_ratios(filled / total[:, None], hypotheses)
    ratios: Floats = np.where(seen, (filled * jumps).sum(axis=1), 0.0)
    return ratios.reshape(counted.shape[:-1])


def closed_form(counts: Sequence[int] | Counts, hypotheses: Hypotheses) -> float:
    """The same approximately, without solving anything.

    N/2 ln[(1 + (t - t0)^2) / (1 + (t - t1)^2)] on the normalized scale, and on the logistic one the same with scores s
    in place of t and the variance in place of 1 (Van den Bergh 2020).
    """
    cells = regularized(np.array(Counts.of(counts).cells, dtype=np.float64))
    total = float(cells.sum())
    mean, sd = moments(cells / total)
    at, unit = (
        (float(mean), float(sd) ** 2)
        if hypotheses.scale is Scale.LOGISTIC
        else ((float(mean) - EQUAL_SCORE) / float(sd), 1.0)
    )
    null, other = targets(hypotheses, len(cells))
    return total / 2.0 * log((unit + (at - null) ** 2) / (unit + (at - other) ** 2))


def regularized(counts: Floats) -> Floats:
    """Counts without empty cells."""
    return np.where(counts > 0, counts, EMPTY)


def log_ratios(shares: Floats, hypotheses: Hypotheses) -> Floats:
    """log(p1 / p0) of each cell: what one more result of the cell adds to the log-likelihood ratio.

    :param shares: of the cells, above 0, sum 1; of the shape (..., cells), as the answer
    """
    null, other = targets(hypotheses, shares.shape[-1])
    likeliest = with_mean if hypotheses.scale is Scale.LOGISTIC else with_t
    return np.log(likeliest(shares, other) / likeliest(shares, null))


def moments(shares: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of one item's score, of shares of the shape (..., cells)."""
    x = scores(shares.shape[-1])
    mean = shares @ x
    return mean, np.sqrt((shares * (x - mean[..., None]) ** 2).sum(axis=-1))


def with_mean(shares: Floats, mean: float) -> Floats:
    """The likeliest probabilities of the cells with this mean score, above 0 and below 1."""
    rows = shares.reshape(-1, shares.shape[-1])
    y = np.broadcast_to(scores(rows.shape[1]) - mean, rows.shape)
    return _tilted(rows, y, np.zeros(len(rows)))[0].reshape(shares.shape)


def with_t(shares: Floats, t: float) -> Floats:
    """The likeliest probabilities of the cells whose mean lies `t` standard deviations above one half."""
    if t == 0.0:
        return with_mean(shares, EQUAL_SCORE)
    if t < 0.0:
        return with_t(shares[..., ::-1], -t)[..., ::-1]
    rows = shares.reshape(-1, shares.shape[-1])
    x = scores(rows.shape[1])
    p = _on_constraint(rows, t)
    guess = np.stack(moments(p), axis=1)
    theta, weight, way = np.zeros(len(rows)), np.ones(len(rows)), np.zeros((len(rows), 2))
    going = np.arange(len(rows))
    for _ in range(_GUESSES):
        mean, sd = guess[going, :1], guess[going, 1:]
        y = x - EQUAL_SCORE - 0.5 * t * (sd + (x - mean) ** 2 / sd)
        p[going], theta[going] = _tilted(rows[going], y, theta[going])
        whole = p[going] / p[going].sum(axis=1)[:, None]
        next_way = np.stack(moments(whole), axis=1) - guess[going]
        # Where counts have a larger t than the one asked for, guesses may swing around the solution.
        back = -(next_way * way[going]).sum(axis=1) > 0.2 * (way[going] ** 2).sum(axis=1)
        weight[going] *= np.where(back, 0.7, 1.0)
        guess[going] += weight[going, None] * next_way
        way[going] = next_way
        going = going[np.abs(next_way).sum(axis=1) > _NEAR]
        if not len(going):
            break
    return p.reshape(shares.shape)


def _on_constraint(shares: Floats, t: float) -> Floats:
    """Shares mixed with as much of the best or the worst result as it takes to have this t > 0."""
    mean, sd = moments(shares)
    short = mean - EQUAL_SCORE < t * sd
    best = np.where(short, 1.0, 0.0)
    # With a share w of `best`: mean + w (best - mean), variance (1 - w) sd^2 + w (1 - w) (best - mean)^2.
    way = best - mean
    a = way * way * (1.0 + t * t)
    b = 2.0 * (mean - EQUAL_SCORE) * way + t * t * (sd * sd - way * way)
    c = (mean - EQUAL_SCORE) ** 2 - t * t * sd * sd
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    w = np.clip((-b + np.where(short, root, -root)) / (2.0 * a), 0.0, 1.0)
    mixed = (1.0 - w)[:, None] * shares
    mixed[np.arange(len(shares)), np.where(short, shares.shape[1] - 1, 0)] += w
    return mixed


def _tilted(shares: Floats, y: Floats, start: Floats) -> tuple[Floats, Floats]:
    """shares / (1 + theta y) with the theta at which y has the mean 0, and theta.

    sum f y / (1 + theta y) falls in theta, from infinity to minus infinity between its two poles. What is answered sums
    to 1 but for the rounding of theta, to which the likelihood is not sensitive as it stands.

    :param y: has both signs in each row
    :param start: where theta may lie
    """
    low, high = -1.0 / y.max(axis=1), -1.0 / y.min(axis=1)
    poles = low, high
    theta = np.where((start > low) & (start < high), start, 0.0)
    near = np.zeros(len(shares), dtype=bool)
    for _ in range(_STEPS):
        weighted = y / (1.0 + theta[:, None] * y)
        term = shares * weighted
        slack = term.sum(axis=1)
        low, high = np.where(slack > 0, theta, low), np.where(slack < 0, theta, high)
        step = slack / (term * weighted).sum(axis=1)
        last = near
        near = np.abs(step) <= _SHORT * np.minimum(theta - poles[0], poles[1] - theta)
        stepped = theta + step
        theta = np.where(near | ((stepped > low) & (stepped < high)), stepped, 0.5 * (low + high))
        if (near & last).all():
            break
    return shares / (1.0 + theta[:, None] * y), theta
