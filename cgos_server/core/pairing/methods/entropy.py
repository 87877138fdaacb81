"""Entropy pairing: a round is worth the sum, over its games, of the entropy of the predicted result.

After Vuorinen (2010, sections 2.4.5-2.4.6), who predicts by the EGF's win curve, and Shannon (1948). Decides what a
game is worth by this measure. Must not know: waiting, constraints, colors, how rounds are chosen.

It asks how open a game is, never how much is known of the two, so that versions at equal ratings meet again and again:
on a server worth is halved for each of their meetings among their last games.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import LOGIT, Floats, Ints, PairingPass, of_difference
from cgos_server.core.pairing.meetings import Meetings
from cgos_server.core.rating.incremental.gor import expectancy

LATELY: Final = 10
"""So many last games of either are looked at for meetings of the two."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS /= _WEIGHTS.sum()


def term(p: ArrayLike) -> Floats:
    """-p log2 p, of any shape; 0 at 0."""
    values = np.asarray(p, dtype=np.float64)
    return -values * np.log2(np.where(values > 0.0, values, 1.0))


def bits(win: ArrayLike) -> Floats:
    """Entropy of the result of a game without draws, of any shape: 0..1 bit.

    :param win: probability that one side wins
    """
    won = np.asarray(win, dtype=np.float64)
    return term(won) + term(np.maximum(0.0, 1.0 - won))


def result_bits(chances: Iterable[float]) -> float:
    """The same of one game, from the probabilities of its results."""
    return sum(-chance * math.log2(chance) for chance in chances if chance > 0.0)


def gor_win(one: ArrayLike, other: ArrayLike, integer: bool = False) -> Floats:
    """P(one beats other) by GoR without epsilon, so that both sides' sum to 1; of the shape of the two.

    Vuorinen's text has epsilon 0.016 here too; his table has not, and an entropy needs probabilities.

    :param integer: the slope with (R - 100) div 20, which is what his printed table was computed with
    """
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    low = np.minimum(first, second)
    steps = np.clip((low - 100.0) / 20.0, 0.0, 130.0)
    power = np.exp(-np.abs(first - second) / (200.0 - (np.floor(steps) if integer else steps)))
    return np.where(first <= second, power, 1.0) / (1.0 + power)


def venue_win(one: ArrayLike, other: ArrayLike, variance: ArrayLike = 0.0) -> Floats:
    """P(one beats other) by the Elo curve, averaged over what is not known of their difference (Gauss-Hermite, 15
    nodes); of the shape of the two.

    :param variance: of the difference of the two ratings, Elo squared
    """
    mean = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    spread = np.sqrt(np.asarray(variance, dtype=np.float64))
    if not spread.any():
        return _logistic(LOGIT * mean)
    averaged: Floats = _logistic(LOGIT * (mean[..., None] + spread[..., None] * _NODES)) @ _WEIGHTS
    return averaged


def _logistic(x: Floats) -> Floats:
    power = np.exp(-np.abs(x))
    return np.where(x < 0.0, power, 1.0) / (1.0 + power)


@dataclass(frozen=True, slots=True)
class Entropy:
    """The objective: entropy of the predicted result, times 0.5 for each meeting of the two among the last 10 games of
    either (the larger count; our choice).

    :ivar model: ``gor`` takes means for GoR points (eps = 0) and knows nothing of their uncertainty. ``venue``: the Elo
        curve of the venue's ratings, averaged over the uncertainty of the difference, as far as that is known
    """

    model: str = "gor"

    @property
    def name(self) -> str:
        return "entropy"

    @property
    def options(self) -> Mapping[str, Any]:
        return {"model": self.model}

    def look(self, pairing_pass: PairingPass, rng: Rng) -> Entropies:  # noqa: ARG002 - nothing is left to chance
        return Entropies(pairing_pass, self.model)


class Entropies:
    """The objective looking at one pass; see :class:`cgos_server.core.pairing.methods.objective.Worths`."""

    def __init__(self, pairing_pass: PairingPass, model: str) -> None:
        self._model = model
        self._ratings = np.array([c.rating for c in pairing_pass.candidates], dtype=np.float64)
        known = pairing_pass.knowledge
        self._covariance = None if known is None else known.covariance
        sds = np.array([c.sd for c in pairing_pass.candidates], dtype=np.float64)
        self._variances = sds**2 if known is None else np.diagonal(known.covariance)
        self._meetings = Meetings(pairing_pass)

    def of(self, i: Ints, j: Ints) -> Floats:
        worth = bits(self._win(i, j))
        where, history = self._meetings.lookup(i, j)
        worth[where] *= 0.5 ** np.maximum(history.lately_i, history.lately_j)
        return worth

    def say(self, i: int, j: int) -> str:
        win = self._win_of(i, j)
        worth = result_bits((win, 1.0 - win))
        sentence = f"{worth:.2f} bit, expected score {win:.2f}"
        history = self._meetings.of(np.array([i]), np.array([j]))
        met = int(max(history.lately_i[0], history.lately_j[0]))
        if met:
            sentence += f", but {worth * 0.5**met:.2f} after {met} meetings in their last {LATELY} games"
        return sentence

    def _win(self, i: Ints, j: Ints) -> Floats:
        one, other = self._ratings[i], self._ratings[j]
        if self._model == "gor":
            return gor_win(one, other)
        return venue_win(one, other, of_difference(self._variances, self._covariance, i, j))

    def _win_of(self, i: int, j: int) -> float:
        if self._model == "gor":
            return expectancy(float(self._ratings[i]), float(self._ratings[j]), variant="thesis", eps=0.0)[0]
        return float(self._win(np.array([i]), np.array([j]))[0])
