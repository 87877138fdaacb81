"""Entropy pairing: a round is worth the sum, over its games, of the entropy of the predicted result.

After Vuorinen (2010, sections 2.4.5-2.4.6), who predicts by the EGF's win curve, and Shannon (1948). Decides what a
game is worth by this measure (`Entropy`), and the best round of a tournament by nothing else (`entropy_round`). Must
not know: waiting, constraints, colors.

It asks how open a game is, never how much is known of the two, so that versions at equal ratings meet again and again:
on a server worth is halved for each of their meetings among their last games.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import LOGIT, Floats, Ints, PairingPass, of_difference
from cgos_server.core.pairing.matching import best, pack
from cgos_server.core.pairing.meetings import Meetings
from cgos_server.core.rating.incremental.gor import expectancy

LATELY: Final = 10
"""So many last games of either are looked at for meetings of the two."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS /= _WEIGHTS.sum()

P = TypeVar("P", bound=Hashable)
Win = Callable[[Floats, Floats], Floats]
"""Probabilities that players of the first ratings beat players of the second."""


def term(p: ArrayLike) -> Floats:
    """-p log2 p, of any shape; 0 at 0."""
    values = np.asarray(p, dtype=np.float64)
    return -values * np.log2(np.where(values > 0.0, values, 1.0))


def bits(win: ArrayLike, draw: ArrayLike = 0.0) -> Floats:
    """Entropy of a game's result, of any shape: 0..1 bit without draws, at most log2 3 with them.

    :param win: probability that one side wins
    :param draw: probability of a draw; the rest is a loss (three terms: our choice)
    """
    won, drawn = np.asarray(win, dtype=np.float64), np.asarray(draw, dtype=np.float64)
    return term(won) + term(drawn) + term(np.maximum(0.0, 1.0 - won - drawn))


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

    def look(self, act: PairingPass, rng: Rng) -> Entropies:  # noqa: ARG002 - nothing is left to chance
        return Entropies(act, self.model)


class Entropies:
    """The objective looking at one pass; see :class:`cgos_server.core.pairing.methods.objective.Worths`."""

    def __init__(self, act: PairingPass, model: str) -> None:
        self._model = model
        self._ratings = np.array([c.rating for c in act.candidates], dtype=np.float64)
        known = act.knowledge
        self._covariance = None if known is None else known.covariance
        sds = np.array([c.sd for c in act.candidates], dtype=np.float64)
        self._variances = sds**2 if known is None else np.diagonal(known.covariance)
        self._repeats = _Repeats(act)

    def of(self, i: Ints, j: Ints) -> Floats:
        worth = bits(self._win(i, j))
        where, met = self._repeats.lookup(i, j)
        worth[where] *= 0.5**met
        return worth

    def say(self, i: int, j: int) -> str:
        win = self._win_of(i, j)
        worth = result_bits((win, 1.0 - win))
        sentence = f"{worth:.2f} bit, expected score {win:.2f}"
        met = self._repeats.of_pair(i, j)
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


class _Repeats:
    """How often two candidates met among the last 10 games of either, the larger count."""

    def __init__(self, act: PairingPass) -> None:
        self._n = len(act.candidates)
        self._any = bool(act.meetings)
        self._meetings = Meetings(act)

    def lookup(self, i: Ints, j: Ints) -> tuple[Ints, Ints]:
        """Which of the pairs (i, j), both (m,), have met: (k,) their positions, and their counts."""
        where, history = self._meetings.lookup(i, j)
        return where, np.maximum(history.lately_i, history.lately_j)

    def of_pair(self, i: int, j: int) -> int:
        """The count of one pair, 0 where they never met."""
        if min(i, j) * self._n + max(i, j) not in self._keys:
            return 0
        return int(self.lookup(np.array([i]), np.array([j]))[1][0])

    @cached_property
    def _keys(self) -> frozenset[int]:
        return frozenset(self._meetings.keys.tolist()) if self._any else frozenset()


@dataclass(frozen=True, slots=True)
class Round(Generic[P]):
    """A tournament's round.

    :ivar pairs: the higher rated first, in the order of their ratings
    :ivar free: who sits out: one where the number is odd, more only where pairs are forbidden
    :ivar bits: sum of the pairs' entropies
    :ivar rematches: earlier meetings of those who meet, in all; above 0 only where it could not be avoided, which the
        caller should report
    """

    pairs: tuple[tuple[P, P], ...]
    free: tuple[P, ...]
    bits: float
    rematches: int


def entropy_round(
    ratings: Mapping[P, float],
    *,
    forbidden: Collection[tuple[P, P]] = (),
    byes: Mapping[P, int] | None = None,
    met: Mapping[tuple[P, P], int] | None = None,
    win: Win = gor_win,
    draw: Win | None = None,
) -> Round[P]:
    """The round of a tournament that yields most bits, exactly (to 1e-9 bit a pair).

    As many pairs as possible; of those rounds the ones in which only who has had the fewest byes is free; of those the
    ones with the smallest sum of earlier meetings; of those the one with the largest sum of entropies, where at equal
    sums the lower rated is free. What is not a matter of entropy is our choice.

    :param ratings: finite numbers; some hundreds of players at most
    :param forbidden: pairs that are never made
    :param byes: how often each has sat out, 0 where it is missing
    :param met: how often two met before, each pair in either order
    :param win: P(a beats b) for arrays of ratings
    :param draw: P(draw) likewise; None: no draws
    """
    ranked = sorted(ratings, key=lambda player: -ratings[player])
    n = len(ranked)
    if n < 2:
        return Round((), tuple(ranked), 0.0, 0)
    place = {player: at for at, player in enumerate(ranked)}
    i, j = np.triu_indices(n, 1)
    barred = np.zeros((n, n), dtype=np.bool_)
    for a, b in forbidden:
        barred[place[a], place[b]] = barred[place[b], place[a]] = True
    allowed = ~barred[i, j]
    i, j = i[allowed], j[allowed]
    meetings = np.zeros((n, n), dtype=np.int64)
    for (a, b), games in (met or {}).items():
        meetings[place[a], place[b]] += games
        meetings[place[b], place[a]] += games
    sat_out = np.array([(byes or {}).get(player, 0) for player in ranked], dtype=np.int64)
    strength = np.array([ratings[player] for player in ranked], dtype=np.float64)
    drawn = 0.0 if draw is None else draw(strength[i], strength[j])
    worth = bits(win(strength[i], strength[j]), drawn)
    above = n - 1 - np.arange(n)
    levels = [
        np.ones_like(i),
        sat_out[i] + sat_out[j],
        -meetings[i, j],
        np.rint(worth * 1e9).astype(np.int64),
        above[i] + above[j],
    ]
    chosen = best(n, i, j, pack(levels, n // 2))
    value = dict(zip(zip(i.tolist(), j.tolist(), strict=True), worth.tolist(), strict=True))
    busy = set(chain.from_iterable(chosen))
    return Round(
        tuple((ranked[a], ranked[b]) for a, b in chosen),
        tuple(player for at, player in enumerate(ranked) if at not in busy),
        math.fsum(value[pair] for pair in chosen),
        sum(int(meetings[pair]) for pair in chosen),
    )
