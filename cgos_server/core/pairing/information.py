"""The default method's measure: what a game would tell about everybody's rating, by how much it narrows them all.

Decides what a pair is worth. Must not know: how the pairs are chosen, constraints, waiting, how the ratings came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import cos, exp, log, pi, sqrt
from typing import Any, Final

import numpy as np

from cgos_server.core.pairing.base import Act, Floats, Ints, Rng

ELO: Final = log(10.0) / 400.0
"""Logits a point of Elo."""
MOST: Final = ELO**2 / 4.0
"""What one game tells at most of a difference: Fisher's information between equals, 1/Elo^2."""
UNKNOWN_SD: Final = 200.0
"""Elo: of a rating of which nobody says how sure it is."""
RIDGES: Final = (1e-9, 1e-6, 1e-3)
"""Relative additions to a covariance's diagonal, tried in turn where rounding has made it look indefinite."""


@dataclass(frozen=True, slots=True)
class Information:
    """Expected drop of the trace of the ratings' covariance over all versions that are no anchors.

    A game of i against j adds the precision f (Fisher 1922) on r_i - r_j, which takes that trace down by

        f q / (1 + f v),  v = C_ii + C_jj - 2 C_ij,  q = G_ii + G_jj - 2 G_ij,  f = (ln 10 / 400)^2 p (1 - p),

    with C the covariance and G = C diag(no anchor) C: one step of A-optimal design (Chaloner and Verdinelli 1995). This
    form keeps the gauge: a centred one forgets what the anchors are good for.

    Worth is that drop as a share of what both could bring at best, each against an equal of whom all is known:

        worth = scale * f q / (1 + f v) / (most_i + most_j),  most_i = f_0 G_ii / (1 + f_0 C_ii),  f_0 = (ln 10 / 800)^2

    so that costs and waiting weigh the same for a newcomer, whose game tells a thousand times as much, as for the best
    known (our choice). What all have in common, such as the distance from the anchors, is in the denominator though
    no game among them can tell of it. So one `scale` for the whole act brings the pair that is best by all this to
    what its expected score alone leaves of a game: about 1 where there are equals. Where ratings are independent it is
    1 and left out.

    :ivar draw: share of the covariance, 0 to 1, from which the ratings that p is computed with are drawn about the
        means, for a whole act (Thompson 1933, tempered); always following the means would chase their noise
    """

    draw: float = 0.5

    @property
    def name(self) -> str:
        return "information"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"draw": self.draw}

    def look(self, act: Act, rng: Rng) -> Telling:
        """What the games of this act would tell; ratings are drawn here, in the order of the candidates."""
        means = np.array([one.rating for one in act.candidates], dtype=np.float64)
        known, deviates = act.knowledge, np.zeros(len(means))
        if self.draw > 0.0:
            deviates = sqrt(self.draw) * normals(rng, len(means))
        if known is None:
            sds = np.array([one.sd or (0.0 if one.anchor else UNKNOWN_SD) for one in act.candidates], dtype=np.float64)
            free = np.array([not one.anchor for one in act.candidates], dtype=np.bool_)
            return Telling(means, means + sds * deviates, sds**2, np.where(free, sds**4, 0.0))
        drawn = means + root(known.covariance) @ deviates
        own, gram = np.diagonal(known.covariance), np.diagonal(known.gram)
        return Telling(means, drawn, own, gram, known.covariance, known.gram).scaled()


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
    """What the games of one act would tell; indices are places among its candidates.

    :ivar means: (n,) Elo
    :ivar drawn: (n,) ratings that p is computed with
    :ivar variances: (n,) C_ii, Elo^2
    :ivar grams: (n,) G_ii, Elo^4
    :ivar covariance: (n, n); None: the ratings are independent
    :ivar gram: (n, n); None: then it is diagonal too
    :ivar scale: of this act
    """

    means: Floats
    drawn: Floats
    variances: Floats
    grams: Floats
    covariance: Floats | None = None
    gram: Floats | None = None
    scale: float = 1.0

    def of(self, i: Ints, j: Ints) -> Floats:
        """(m,) worths; see :class:`Information`."""
        found: Floats = self.scale * self._share(i, j)
        return found

    def drop(self, i: Ints, j: Ints) -> Floats:
        """(m,) Elo^2 by which the trace falls with one game of each pair."""
        f = self._information(i, j)
        found: Floats = f * self._between(self.grams, self.gram, i, j)
        found /= 1.0 + f * self._between(self.variances, self.covariance, i, j)
        return found

    def scaled(self) -> Telling:
        """With the scale that fits the best of all pairs."""
        i, j = np.triu_indices(len(self.means), 1)
        if not len(i):
            return self
        shares = self._share(i, j)
        best = int(np.argmax(shares))
        if shares[best] <= 0.0:
            return self
        one, two = i[best : best + 1], j[best : best + 1]
        f, v = self._information(one, two), self._between(self.variances, self.covariance, one, two)
        left = f * (1.0 + MOST * v) / (MOST * (1.0 + f * v))
        return replace(self, scale=float(left[0] / shares[best]))

    def say(self, i: int, j: int) -> str:
        one, two = np.array([i]), np.array([j])
        score = 1.0 / (1.0 + exp(-ELO * abs(float(self.means[i] - self.means[j]))))
        drop = float(self.drop(one, two)[0])
        drawn = abs(float(self.drawn[i] - self.drawn[j]))
        return (
            f"worth {float(self.of(one, two)[0]):.2f}, as it narrows all ratings by {drop:.3g} Elo^2 in sum, "
            f"expected score {score:.2f}, {drawn:.0f} Elo apart as drawn"
        )

    def _share(self, i: Ints, j: Ints) -> Floats:
        most = MOST * self.grams / (1.0 + MOST * self.variances)
        both = most[i] + most[j]
        found: Floats = np.divide(self.drop(i, j), both, out=np.zeros(len(both)), where=both > 0.0)
        return found

    def _information(self, i: Ints, j: Ints) -> Floats:
        """(m,) f, 1/Elo^2."""
        power = np.exp(-ELO * np.abs(self.drawn[i] - self.drawn[j]))
        found: Floats = ELO**2 * power / (1.0 + power) ** 2
        return found

    @staticmethod
    def _between(own: Floats, across: Floats | None, i: Ints, j: Ints) -> Floats:
        found: Floats = own[i] + own[j]
        if across is not None:
            found -= 2.0 * across[i, j]
        return np.maximum(found, 0.0, out=found)


def normals(rng: Rng, count: int) -> Floats:
    """(count,) standard normal variates, two for each two numbers from `rng` (Box and Muller 1958)."""
    found = np.empty(count)
    for place in range(0, count, 2):
        length = sqrt(-2.0 * log(1.0 - rng.random()))
        angle = 2.0 * pi * rng.random()
        found[place] = length * cos(angle)
        if place + 1 < count:
            found[place + 1] = length * cos(angle - pi / 2.0)
    return found


def root(covariance: Floats) -> Floats:
    """(n, n) lower triangle L with L L' = `covariance`; where rounding has made that impossible, of the nearest one to
    it with a larger diagonal."""
    diagonal: Floats = np.diagonal(covariance)
    found: Floats = np.zeros_like(covariance)
    for ridge in RIDGES:
        wider: Floats = covariance.copy()
        np.fill_diagonal(wider, diagonal * (1.0 + ridge) + RIDGES[0])
        try:
            found[...] = np.linalg.cholesky(wider)
        except np.linalg.LinAlgError:
            continue
        return found
    np.fill_diagonal(found, np.sqrt(np.maximum(diagonal, 0.0)))
    return found
