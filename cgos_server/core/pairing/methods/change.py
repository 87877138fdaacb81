"""Expected total change: a game is worth what it can be expected to add to the sum of the two ratings.

After Vuorinen (2010, section 2.2.2), who looks for the games that move GoR ratings most. His probabilities sum to
1 - epsilon, so that what comes out is only what epsilon puts into the pool: the objective **measures inflation**. It is
here because it was proposed. Low rated players' games count most, as their con is largest; for one player of 300 to
1500 points the best opponent is some 200 points weaker; but in a round in which everybody plays, close pairs win: the
sum of con_A S_A + con_B S_B is a constant less the sum of (1/2 - S_A)(con_A - con_B).

Decides what games are worth by this measure. Must not know: waiting, constraints, colors, how rounds are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Floats, Ints, PairingPass
from cgos_server.core.pairing.methods.entropy import gor_win
from cgos_server.core.rating.incremental.gor import EPS, con, expectancy

_KNOTS: Final = np.arange(100.0, 2701.0, 100.0)
_CONS: Final = np.array([con(float(rating)) for rating in _KNOTS])


def total_change(one: ArrayLike, other: ArrayLike) -> Floats:
    """What epsilon adds to the sum of both ratings, in GoR points, 0..1.83, of the shape of the two."""
    first, second = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    low, high = np.minimum(first, second), np.maximum(first, second)
    s_low = gor_win(low, high)
    return EPS * (_cons(low) * s_low + _cons(high) * (1.0 - s_low - EPS))


def _cons(ratings: Floats) -> Floats:
    cons: Floats = np.interp(ratings, _KNOTS, _CONS)
    return cons


@dataclass(frozen=True, slots=True)
class ExpectedChange:
    """The objective. Means are taken for GoR points.

    Worth is the expected total change over the most that any game of the pass could have: the lowest rated candidate
    against its equal, eps (1 - eps) con(lowest) points. So it is 1 at most, and pairs compare within a pass, not
    between passes (our choice: con falls from 116 to 10, and a fixed divisor would make strong versions wait for ever).
    """

    @property
    def name(self) -> str:
        return "expected-change"

    @property
    def options(self) -> Mapping[str, Any]:
        return {}

    def look(self, pairing_pass: PairingPass, rng: Rng) -> Changes:  # noqa: ARG002 - nothing is left to chance
        return Changes(pairing_pass)


class Changes:
    """The objective looking at one pass; see :class:`cgos_server.core.pairing.methods.objective.Worths`."""

    def __init__(self, pairing_pass: PairingPass) -> None:
        self._ratings = np.array([c.rating for c in pairing_pass.candidates], dtype=np.float64)
        self._most = EPS * (1.0 - EPS) * con(float(self._ratings.min())) if len(self._ratings) else 1.0

    def of(self, i: Ints, j: Ints) -> Floats:
        return total_change(self._ratings[i], self._ratings[j]) / self._most

    def say(self, i: int, j: int) -> str:
        one, other = float(self._ratings[i]), float(self._ratings[j])
        change = float(total_change(one, other))
        expected = expectancy(one, other, variant="thesis", eps=0.0)[0]
        share = change / self._most
        return f"expected total change {change:.3f} points, {share:.2f} of the most, expected score {expected:.2f}"
