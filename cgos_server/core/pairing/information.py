"""The default method's measure: what a game would tell about everybody's rating, by how much it narrows them all.

Decides what a pair is worth. Must not know: how the pairs are chosen, constraints, waiting, how the ratings came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, log, pi, sqrt
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

    A game of i against j adds the precision f on r_i - r_j (Fisher 1922), which takes that trace down by

        f q / (1 + f v),  v = C_ii + C_jj - 2 C_ij,  q = G_ii + G_jj - 2 G_ij,  f = (ln 10 / 400)^2 p (1 - p),

    with C the covariance and G = C diag(no anchor) C. That is one-step A-optimal design (Chaloner and Verdinelli 1995).
    The form keeps the gauge: unlike a centred one it does not forget what the anchors are good for.

    :ivar draw: share of the covariance, 0 to 1, from which the ratings that p is computed with are drawn, about the
        means (Thompson 1933, tempered): always following the means would chase their noise
    """

    draw: float = 0.5

    @property
    def name(self) -> str:
        return "information"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"draw": self.draw}

    def look(self, act: Act, rng: Rng) -> Telling:
        """What the games of this act would tell; the ratings are drawn here, in the order of the candidates."""
        means = np.array([one.rating for one in act.candidates], dtype=np.float64)
        free = np.array([not one.anchor for one in act.candidates], dtype=np.bool_)
        known = act.knowledge
        if known is None:
            sds = np.array([one.sd or (0.0 if one.anchor else UNKNOWN_SD) for one in act.candidates])
            variances = sds**2
            return Telling(
                means,
                means + sqrt(self.draw) * sds * normals(rng, len(means)),
                variances,
                np.where(free, variances**2, 0.0),
                None,
                None,
            )
        drawn = means.copy()
        if self.draw > 0.0 and len(means):
            drawn += sqrt(self.draw) * root(known.covariance) @ normals(rng, len(means))
        return Telling(
            means, drawn, np.diagonal(known.covariance), np.diagonal(known.gram), known.covariance, known.gram
        )


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
    """What the games of one act would tell; indices are places among its candidates.

    :ivar means: (n,) Elo
    :ivar drawn: (n,) ratings that expected scores are computed with
    :ivar variances: (n,) Elo^2
    :ivar grams: (n,) Elo^4: how much of all is to be learned by each
    :ivar covariance: (n, n) or None: independent
    :ivar gram: (n, n) or None: diagonal
    """

    means: Floats
    drawn: Floats
    variances: Floats
    grams: Floats
    covariance: Floats | None
    gram: Floats | None

    def drop(self, i: Ints, j: Ints) -> Floats:
        """(m,) Elo^2 by which the trace falls with one game of each pair."""
        chance = 1.0 / (1.0 + np.exp(ELO * (self.drawn[j] - self.drawn[i])))
        f = ELO**2 * chance * (1.0 - chance)
        found: Floats = f * self._between(self.grams, self.gram, i, j)
        found /= 1.0 + f * self._between(self.variances, self.covariance, i, j)
        return found

    def most(self, i: Ints) -> Floats:
        """(m,) what a game would be worth to each at best: against an equal of whom everything is known."""
        found: Floats = MOST * self.grams[i] / (1.0 + MOST * self.variances[i])
        return found

    def of(self, i: Ints, j: Ints) -> Floats:
        """(m,) what a game of each pair would tell, as a share of what the two could tell at best."""
        most = self.most(i) + self.most(j)
        found: Floats = np.divide(self.drop(i, j), most, out=np.zeros(len(most)), where=most > 0.0)
        return found

    def say(self, i: int, j: int) -> str:
        one, two = np.array([i]), np.array([j])
        gap = self.means[i] - self.means[j]
        score = 1.0 / (1.0 + np.exp(-ELO * abs(gap)))
        return f"{float(self.of(one, two)[0]):.2f} of what their games can tell at most, expected score {score:.2f}"

    @staticmethod
    def _between(own: Floats, across: Floats | None, i: Ints, j: Ints) -> Floats:
        found: Floats = own[i] + own[j]
        if across is not None:
            found -= 2.0 * across[i, j]
        positive: Floats = np.maximum(found, 0.0)
        return positive


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
            found = np.linalg.cholesky(wider)
        except np.linalg.LinAlgError:
            continue
        return found
    np.fill_diagonal(found, np.sqrt(np.maximum(diagonal, 0.0)))
    return found
