"""Strengths from games under a normal prior that is stated: what an estimator can do that is told everything.

Told the true joint distribution of the strengths, nobody does much better. The mode under a fixed wide one is that of
an ordinary estimator which belongs to no rating system and has nothing to learn. Must not know: any rating system,
where strengths come from.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cgos_server.lab.ratings.pools import INITIAL, Floats

HALF_LOGIT = math.log(10.0) / 800.0
"""Half of the logits a point of Elo."""

ANCHOR_SD = 1.0
"""How exactly anchors are known, Elo."""

FIXED_SD = 500.0

NEWTON_STEPS = 50
LONGEST_STEP = 300.0
"""Of a rating in one step of Newton's, Elo."""

NODES = 31
"""Of the quadrature."""
ROUNDS = 100
DAMPING = 0.8
TOLERANCE = 1e-3
"""Of expectation propagation: how far means may still move in a round, in standard deviations."""


class Prior:
    """A joint normal distribution of n strengths, put together of independent statements.

    :ivar precision: (n, n), 1/Elo^2
    :ivar shift: (n,) precision times mean, 1/Elo
    """

    def __init__(self, versions: int) -> None:
        self.precision = np.zeros((versions, versions))
        self.shift = np.zeros(versions)

    def value(self, at: int, mean: float, sd: float) -> None:
        """A strength is known to `sd` Elo."""
        self.precision[at, at] += sd**-2
        self.shift[at] += mean * sd**-2

    def step(self, at: int, below: int, mean: float, sd: float) -> None:
        """How far `at` stands above `below` is known to `sd` Elo."""
        self.precision[[at, below], [at, below]] += sd**-2
        self.precision[[at, below], [below, at]] -= sd**-2
        self.shift[at] += mean * sd**-2
        self.shift[below] -= mean * sd**-2

    def copy(self) -> Prior:
        """Another one with the same statements."""
        return self.reordered(range(len(self.shift)))

    def reordered(self, order: Sequence[int]) -> Prior:
        """The same with version `order[i]` in place i."""
        prior = Prior(len(order))
        prior.precision, prior.shift = self.precision[np.ix_(order, order)], self.shift[np.array(order)]
        return prior


def fixed_prior(versions: int) -> Prior:
    """Everybody N(2000, 500), whatever the pool is."""
    prior = Prior(versions)
    for number in range(versions):
        prior.value(number, INITIAL, FIXED_SD)
    return prior


class Told:
    """Results without a first-move advantage; Bradley and Terry (1952), with draws Davidson (1970).

    :param prior: of all strengths; the anchors are added to it
    :param fixed: strengths of anchors by number, Elo
    :param nu: Davidson's draw parameter, known
    :ivar mode: (n,) of the posterior, Elo
    """

    def __init__(self, prior: Prior, fixed: Mapping[int, float], nu: float = 0.0) -> None:
        for at, value in fixed.items():
            prior.value(at, value, ANCHOR_SD)
        self._prior = prior
        self._nu = nu
        n = len(prior.shift)
        self._games = np.zeros((n, n))
        self._balance = np.zeros((n, n))
        self.mode: Floats = np.asarray(np.linalg.solve(prior.precision, prior.shift), dtype=np.float64)

    def count(self, games: Iterable[tuple[int, int, int]]) -> None:
        """Results of a round, (first, second, half points of the first), and the mode with them."""
        for first, second, score in games:
            for one, other, lead in ((first, second, score - 1), (second, first, 1 - score)):
                self._games[one, other] += 1
                self._balance[one, other] += lead
        for _ in range(NEWTON_STEPS):
            slope, weight = self._derivatives(self.mode[:, None] - self.mode[None, :], self._games, self._balance)
            precision = self._prior.precision + np.diag(weight.sum(axis=1)) - weight
            gradient = slope.sum(axis=1) + self._prior.shift - self._prior.precision @ self.mode
            step = np.linalg.solve(precision, gradient)
            most = float(np.abs(step).max())
            self.mode = self.mode + step * min(1.0, LONGEST_STEP / max(most, 1e-9))
            if most < 0.01:
                return

    def posterior(self) -> tuple[Floats, Floats]:
        """(n,) means and (n, n) covariances, Elo: expectation propagation (Minka 2001) from the mode, a normal factor
        for each pair's difference."""
        one, other = np.nonzero(np.triu(self._games))
        games, balance = self._games[one, other], self._balance[one, other]
        difference = self.mode[one] - self.mode[other]
        slope, precision = self._derivatives(difference, games, balance)
        shift = precision * difference + slope
        mean, covariance = self._with_factors(one, other, precision, shift)
        nodes, weights = np.polynomial.hermite.hermgauss(NODES)
        for _ in range(ROUNDS):
            difference = mean[one] - mean[other]
            variance = covariance[one, one] + covariance[other, other] - 2.0 * covariance[one, other]
            cavity = np.maximum(1.0 / variance - precision, 1e-12)
            without = difference / variance - shift
            y = difference[:, None] + np.sqrt(2.0 * variance)[:, None] * nodes
            log_density = nodes**2 + np.log(weights) - cavity[:, None] / 2 * (y - (without / cavity)[:, None]) ** 2
            log_density += HALF_LOGIT * balance[:, None] * y - games[:, None] * self._log_total(HALF_LOGIT * y)
            density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
            density /= density.sum(axis=1, keepdims=True)
            center = (density * y).sum(axis=1)
            spread = (density * (y - center[:, None]) ** 2).sum(axis=1)
            matched = np.maximum(1.0 / spread - cavity, 1e-12)
            shift += DAMPING * (center * (cavity + matched) - without - shift)
            precision += DAMPING * (matched - precision)
            before = mean
            mean, covariance = self._with_factors(one, other, precision, shift)
            if float(np.max(np.abs(mean - before) / np.sqrt(covariance.diagonal()))) < TOLERANCE:
                break
        return mean, covariance

    def _with_factors(
        self, one: NDArray[np.int64], other: NDArray[np.int64], precision: Floats, shift: Floats
    ) -> tuple[Floats, Floats]:
        total, moved = self._prior.precision.copy(), self._prior.shift.copy()
        for rows, columns, sign in ((one, one, 1.0), (other, other, 1.0), (one, other, -1.0), (other, one, -1.0)):
            np.add.at(total, (rows, columns), sign * precision)
        np.add.at(moved, one, shift)
        np.add.at(moved, other, -shift)
        covariance = np.asarray(np.linalg.inv(total), dtype=np.float64)
        return covariance @ moved, covariance

    def _log_total(self, z: Floats) -> Floats:
        """Logarithm of Davidson's denominator, without overflow."""
        size = np.abs(z)
        return np.asarray(size + np.log1p(self._nu * np.exp(-size) + np.exp(-2.0 * size)), dtype=np.float64)

    def _derivatives(self, difference: Floats, games: Floats, balance: Floats) -> tuple[Floats, Floats]:
        """The first derivative by its difference of each pair's log likelihood, and minus the second one."""
        half = np.exp(HALF_LOGIT * np.clip(difference, -8000.0, 8000.0))
        total = half + self._nu + 1.0 / half
        lead = (half - 1.0 / half) / total
        return HALF_LOGIT * (balance - games * lead), HALF_LOGIT**2 * games * ((half + 1.0 / half) / total - lead**2)
