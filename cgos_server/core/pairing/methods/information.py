"""The default method's measure: what a game would tell about everybody's rating, by how much it narrows them all.

Decides what a pair is worth. Must not know: how the pairs are chosen, constraints, waiting, how the ratings came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import cos, exp, log, pi, sqrt
from typing import Any, Final

import numpy as np
import numpy.ma  # np.median imports it when it is first called, and the event loop would wait for that

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import LOGIT, Floats, Ints, PairingPass, of_difference

LOGISTIC: Final = ((0.25220, 0.90793), (0.58522, 0.57778), (0.16257, 0.36403))
"""Share and 1 / standard deviation of the normal distributions of which the logistic one is a mixture, nearly."""
UNKNOWN_SD: Final = 200.0
"""Elo: of a rating of which nobody says how sure it is."""
NEAR: Final = 4
"""Pairs count in the fit of :func:`usual` by this power of how open their game is: what is usual is set by opponents
within reach, so that a game that links two camps may be worth far more."""
STEPS: Final = 8
"""Of the fit in :func:`usual`: enough for the scale of a unit."""
MUCH: Final = 10.0
"""Games that bring more than so many times what those of the middle version bring count their shortfalls more."""
LEAST: Final = 1e-9
"""Keeps quotients finite."""
RIDGES: Final = (1e-9, 1e-6, 1e-3)
"""Relative additions to a covariance's diagonal, tried in turn where rounding has made it look indefinite."""


@dataclass(frozen=True, slots=True)
class Information:
    """Expected drop of the trace of the ratings' covariance over all versions that are no anchors.

    A game of i against j adds the precision f (Fisher 1922) on r_i - r_j, which takes that trace down by

        f q / (1 + f v),  v = C_ii + C_jj - 2 C_ij,  q = G_ii + G_jj - 2 G_ij,  f = (ln 10 / 400)^2 E[p (1 - p)],

    with C the covariance and G = C diag(no anchor) C: one step of A-optimal design (Chaloner and Verdinelli 1995). This
    form keeps the gauge: a centered one forgets what the anchors are good for.

    Worth measures that drop by what a game of these two usually brings between equals (our choice):

        share = f q / (1 + f v) / (usual_i + usual_j),  usual_i + usual_j ~ f_0 q / (1 + f_0 v),
        worth = share^w,  w = 1 + ln(max(1, (usual_i + usual_j) / (10 middle))) / 2;
        where the share is above 1, worth = 1 + ln(share),

    with f_0 = f where equal ratings were drawn, one number for each version, fitted to those pairs of the pass that are
    open games (see :func:`usual`), and `middle` the sum for two versions that are known as well as most. So a game that
    is as good as those two can have within their reach is worth about 1, for a newcomer, whose game tells a thousand
    times as much, as for the best known, and costs and waiting weigh the same for both; but what a poor opponent loses
    counts some times more for the newcomer. A game that links two camps that have hardly met may be worth several bits.
    Nothing in it depends on what all ratings have in common.

    :ivar draw: share of the covariance, 0 to 1, from which ratings are drawn about the means, once for a pass (Thompson
        1933, tempered): always following the means would chase their noise. The expectation of p (1 - p) is over the
        rest
    """

    draw: float = 0.5

    @property
    def name(self) -> str:
        return "information"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"draw": self.draw}

    def look(self, pairing_pass: PairingPass, rng: Rng) -> InformationWorths:
        """What the games of this pass would tell; ratings are drawn here, in the order of the candidates."""
        means = np.array([one.rating for one in pairing_pass.candidates], dtype=np.float64)
        known, deviates = pairing_pass.knowledge, np.zeros(len(means))
        if self.draw > 0.0:
            deviates = sqrt(self.draw) * normals(rng, len(means))
        if known is None:
            sds = np.array(
                [one.sd or (0.0 if one.anchor else UNKNOWN_SD) for one in pairing_pass.candidates], dtype=np.float64
            )
            free = np.array([not one.anchor for one in pairing_pass.candidates], dtype=np.bool_)
            apart, variances, grams = sds * deviates, sds**2, np.where(free, sds**4, 0.0)
        else:
            apart = root(known.covariance) @ deviates
            variances, grams = np.diagonal(known.covariance), np.diagonal(known.gram)
        look = InformationWorths(
            means=means,
            drawn=means + apart,
            rest=1.0 - self.draw,
            variances=variances,
            grams=grams,
            usual=np.ones(len(means)),
            covariance=None if known is None else known.covariance,
            gram=None if known is None else known.gram,
        )
        if known is not None:
            return replace(look, usual=usual(*look.between_equals()))
        most = look.most(variances)
        return replace(look, usual=most * grams / (1.0 + most * variances))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class InformationWorths:
    """What the games of one pass would tell; indices are places among its candidates.

    :ivar means: (n,) Elo
    :ivar drawn: (n,) ratings that p is computed with
    :ivar rest: share of the covariance that p is averaged over
    :ivar variances: (n,) C_ii, Elo^2
    :ivar grams: (n,) G_ii, Elo^4
    :ivar usual: (n,) what a game brings on behalf of each, Elo^2
    :ivar covariance: (n, n); None: the ratings are independent
    :ivar gram: (n, n); None: then it is diagonal too
    """

    means: Floats
    drawn: Floats
    rest: float
    variances: Floats
    grams: Floats
    usual: Floats
    covariance: Floats | None = None
    gram: Floats | None = None

    def of(self, i: Ints, j: Ints) -> Floats:
        """(m,) worths; see :class:`Information`."""
        both = self.usual[i] + self.usual[j]
        part: Floats = np.divide(self.drop(i, j), both, out=np.zeros(len(both)), where=both > 0.0)
        weight = 1.0 + 0.5 * np.log(np.maximum(both / (MUCH * self.middle), 1.0))
        gain: Floats = np.where(part > 1.0, 1.0 + np.log(np.maximum(part, 1.0)), part**weight)
        return gain

    @property
    def middle(self) -> float:
        """What a game brings between two versions that are known as well as most, Elo^2."""
        return max(2.0 * float(np.median(self.usual)), LEAST) if len(self.usual) else LEAST

    def drop(self, i: Ints, j: Ints) -> Floats:
        """(m,) Elo^2 by which the trace falls with one game of each pair."""
        v = of_difference(self.variances, self.covariance, i, j)
        f = self._information(i, j, v)
        narrowed: Floats = f * of_difference(self.grams, self.gram, i, j)
        narrowed /= 1.0 + f * v
        return narrowed

    def between_equals(self) -> tuple[Floats, Floats]:
        """For all pairs, (n, n), what a game would bring if they were drawn equal, Elo^2, and f as a share of f_0."""
        n = len(self.means)
        i, j = np.triu_indices(n, 1)
        v, q = of_difference(self.variances, self.covariance, i, j), of_difference(self.grams, self.gram, i, j)
        most = self.most(v)
        brings, part = np.zeros((n, n)), np.zeros((n, n))
        brings[i, j] = brings[j, i] = most * q / (1.0 + most * v)
        part[i, j] = part[j, i] = (self._information(i, j, v) / most) ** NEAR
        return brings, part

    def say(self, i: int, j: int) -> str:
        one, two = np.array([i]), np.array([j])
        score = 1.0 / (1.0 + exp(-LOGIT * abs(float(self.means[i] - self.means[j]))))
        drawn = abs(float(self.drawn[i] - self.drawn[j]))
        return (
            f"worth {float(self.of(one, two)[0]):.2f} of what their games usually tell, expected score {score:.2f}, "
            f"{drawn:.0f} Elo apart as drawn"
        )

    def most(self, variance: Floats) -> Floats:
        """(m,) f_0, 1/Elo^2, for differences of this variance."""
        return precision(np.zeros(len(variance)), self.rest * variance)

    def _information(self, i: Ints, j: Ints, variance: Floats) -> Floats:
        """(m,) f, 1/Elo^2."""
        return precision(self.drawn[i] - self.drawn[j], self.rest * variance)


def precision(mean: Floats, variance: Floats) -> Floats:
    """(m,) what a game tells on average of a normal difference, (ln 10 / 400)^2 E[p (1 - p)], 1/Elo^2: within 1 % up to
    1000 Elo.

    The logistic density p (1 - p) is nearly a mixture of three normal ones (Monahan and Stefanski 1992), of which
    averages are known.

    :param mean: Elo
    :param variance: Elo^2
    """
    precisions: Floats = np.zeros(len(mean))
    for share, steepness in LOGISTIC:
        spread = 1.0 / steepness**2 + LOGIT**2 * variance
        precisions += share * np.exp(-0.5 * (LOGIT * mean) ** 2 / spread) / np.sqrt(2.0 * pi * spread)
    precisions *= LOGIT**2
    return precisions


def usual(brings: Floats, weights: Floats) -> Floats:
    """(n,) numbers a with a_i + a_j near what is usual among brings[i, j]: exact where there are such numbers that do
    not differ too much, and hardly moved by pairs that bring far more than the others.

    Each is the harmonic mean of what the pairs leave for it, brings[i, j] - a_j, a quarter of brings[i, j] at least.

    :param brings: (n, n) symmetric, the diagonal is not looked at
    :param weights: (n, n) symmetric, 0 on the diagonal: how much each pair counts
    """
    n = len(brings)
    if n < 2:
        return np.zeros(n)
    brings = np.maximum(brings, LEAST)
    weights = np.maximum(weights, LEAST * (1.0 - np.eye(n)))
    total = weights.sum(axis=1)
    a: Floats = 0.5 * total / (weights / brings).sum(axis=1)
    for _ in range(STEPS):
        left = np.maximum(brings - a, 0.25 * brings)
        a = 0.5 * (a + total / (weights / left).sum(axis=1))
    return a


def normals(rng: Rng, count: int) -> Floats:
    """(count,) standard normal variates, two for each two numbers from `rng` (Box and Muller 1958)."""
    deviates = np.empty(count)
    for place in range(0, count, 2):
        length = sqrt(-2.0 * log(1.0 - rng.random()))
        angle = 2.0 * pi * rng.random()
        deviates[place] = length * cos(angle)
        if place + 1 < count:
            deviates[place + 1] = length * cos(angle - pi / 2.0)
    return deviates


def root(covariance: Floats) -> Floats:
    """(n, n) lower triangle L with L L' = `covariance`; where rounding has made that impossible, of the nearest one to
    it with a larger diagonal."""
    diagonal: Floats = np.diagonal(covariance)
    lower: Floats = np.zeros_like(covariance)
    for ridge in RIDGES:
        wider: Floats = covariance.copy()
        np.fill_diagonal(wider, diagonal * (1.0 + ridge) + RIDGES[0])
        try:
            lower[...] = np.linalg.cholesky(wider)
        except np.linalg.LinAlgError:
            continue
        return lower
    np.fill_diagonal(lower, np.sqrt(np.maximum(diagonal, 0.0)))
    return lower
