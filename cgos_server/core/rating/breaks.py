"""Does a version play as it always did, or did its strength change under one name?

Decides whether a version's results break with its past, with a stated rate of false alarms. Must not know: where
expectations come from, what is done about a break.

The test: at each possible change point the games before it and those after it are allowed a strength of their own,
against one strength for all (a likelihood ratio; the common strength is fitted too, so that only differences count,
and the process of its signed roots is a standardized Brownian bridge). Its largest value over the change points is
compared with the tail of the supremum of such a bridge (Miller & Siegmund 1982). Small samples: a score is moved half
a game towards its expectation (continuity), a segment has at least `SHORTEST` games, and the likelihood is that of
games with these expectations and variances, not a normal one, so that lop-sided pairings do not raise alarms. Where
the change points, the corrections and the looks are ours, they are our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log, pi, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHORTEST: Final = 10
"""Games that each side of a change point has at least."""
FIRST_LOOK: Final = 40
FALSE_ALARMS: Final = 0.001
"""Of the whole life of a version that never changes: the probability that it is ever flagged, at most."""

_POINTS: Final = 64
_ELO: Final = 400.0 / log(10.0)
_FARTHEST: Final = 12.0
"""Logits: no strength is estimated farther away than this."""


class Result(NamedTuple):
    """One game of the version, in order of play.

    :ivar score: 0..1
    :ivar expected: the score to expect, 0..1, at the ratings of today (not at those of the day)
    :ivar variance: of the score; with e = `expected` it is e (1 - e) without draws, less with draws, more where the
        opponent's rating is unsure
    """

    score: float
    expected: float
    variance: float


class Break(NamedTuple):
    """The likeliest change.

    :ivar at: index of the first game after it
    :ivar shift: strength after it minus strength before it, Elo
    :ivar p: the probability of so large a difference somewhere if nothing changed
    """

    at: int
    shift: float
    p: float


def looks(games: int) -> int:
    """How many looks a version with so many counted games has passed: it need be checked again only when this grows.

    Looks are at 40, 80, 160, ... games.
    """
    return (games // FIRST_LOOK).bit_length()


def level(games: int) -> float | None:
    """The p-value at or below which a version with so many games is flagged; None: this is no look.

    The j-th look has the share 1 / (j (j + 1)) of `FALSE_ALARMS`; they sum to it.
    """
    look = looks(games)
    return FALSE_ALARMS / (look * (look + 1)) if look > looks(games - 1) else None


def find(results: Sequence[Result]) -> tuple[int, Break] | None:
    """The first flag of a version's life, with the number of games at that look. None: never flagged.

    Raises ValueError for impossible results.
    """
    at = FIRST_LOOK
    while at <= len(results):
        change, allowed = examine(results[:at]), level(at)
        if change is not None and allowed is not None and change.p <= allowed:
            return at, change
        at *= 2
    return None


def examine(results: Sequence[Result]) -> Break | None:
    """The likeliest change in these games, whatever its p-value; None where they are too few to be divided.

    Up to 64 change points are looked at, evenly spread. Raises ValueError for impossible results.
    """
    n = len(results)
    if n < 2 * SHORTEST:
        return None
    x, e, v = np.asarray(results, dtype=np.float64).reshape(n, 3).T
    if not (np.isfinite(x).all() and ((x >= 0) & (x <= 1) & (e > 0) & (e < 1) & (v > 0)).all()):
        raise ValueError("Scores must be 0..1, expected scores between 0 and 1, and variances above 0.")
    family = _Family(e, v)
    first, last = SHORTEST, n - SHORTEST
    points = np.unique(np.linspace(first, last, min(_POINTS, last - first + 1)).astype(np.int64))
    before = np.arange(n) < points[:, None]

    everything = np.ones((1, n), dtype=np.bool_)
    common = family.strength(everything, np.array([x.sum()]), 0.0)
    here = family.means(common)[0]
    expected = before @ here
    scored = before @ x
    gap = scored - expected
    scored -= np.sign(gap) * np.minimum(np.abs(gap), 0.5)
    after = float(x.sum()) - scored
    here_d = float(common[0])
    one, two = family.strength(before, scored, here_d), family.strength(~before, after, here_d)
    ratio = family.gain(before, scored, one, here_d) + family.gain(~before, after, two, here_d)
    best = int(np.argmax(ratio))
    information = np.cumsum(family.variances(common)[0])
    early, late = (float(information[point - 1] / information[-1]) for point in (first, last))
    return Break(
        at=int(points[best]),
        shift=float(two[best] - one[best]) * _ELO,
        p=tail(sqrt(max(float(ratio[best]), 0.0)), early, late),
    )


def tail(c: float, early: float, late: float) -> float:
    """P(sup |B(t)| / sqrt(t (1 - t)) > c over `early` <= t <= `late`) of a Brownian bridge B, both between 0 and 1.

    Miller & Siegmund (1982): phi(c) (4 / c + (c - 1 / c) log(late (1 - early) / ((1 - late) early))); 1 where that
    is no probability.
    """
    if c <= 1.0:
        return 1.0
    width = log(max(late * (1.0 - early) / ((1.0 - late) * early), 1.0))
    density = exp(-c * c / 2.0) / sqrt(2.0 * pi)
    return min(1.0, density * (4.0 / c + (c - 1.0 / c) * width))


class _Family:
    """Scores with given means e and variances v, tilted by a strength d in logits.

    A score counts as c times that of 1/c independent games with two outcomes, c = v / (e (1 - e)), so that it has the
    cumulant function log(1 - e + e exp(c d)) / c: mean e and variance v at d = 0.
    """

    def __init__(self, e: Floats, v: Floats) -> None:
        self._scale = np.clip(v / (e * (1.0 - e)), 0.05, 4.0)
        self._logit = np.log(e) - np.log1p(-e)

    def means(self, d: Floats) -> Floats:
        """(points, n) expected scores at strengths d (points,)."""
        tilted: Floats = 1.0 / (1.0 + np.exp(-(self._logit + self._scale * d[:, None])))
        return tilted

    def variances(self, d: Floats) -> Floats:
        """(points, n) variances."""
        mean = self.means(d)
        tilted: Floats = self._scale * mean * (1.0 - mean)
        return tilted

    def strength(self, chosen: NDArray[np.bool_], scored: Floats, begin: float) -> Floats:
        """(points,) the strength at which the `chosen` (points, n) games are expected to bring `scored` (points,)."""
        low, high = np.full(len(scored), -_FARTHEST), np.full(len(scored), _FARTHEST)
        d = np.full(len(scored), begin)
        for _ in range(60):
            mean = self.means(d)
            mean *= chosen
            gap = scored - mean.sum(axis=1)
            slope = np.einsum("pn,pn,n->p", mean, 1.0 - mean, self._scale)
            low, high = np.where(gap > 0, d, low), np.where(gap > 0, high, d)
            stepped = d + gap / np.maximum(slope, 1e-12)
            stepped = np.where((stepped > low) & (stepped < high), stepped, (low + high) / 2.0)
            moved = float(np.abs(stepped - d).max())
            d = stepped
            if moved < 1e-6:
                break
        return d

    def gain(self, chosen: NDArray[np.bool_], scored: Floats, d: Floats, common: float) -> Floats:
        """(points,) twice the log likelihood ratio of strengths d (points,) against the `common` one."""
        further = (d - common)[:, None]
        risen = np.log1p(self.means(np.array([common])) * np.expm1(self._scale * further)) / self._scale
        risen *= chosen
        gains: Floats = 2.0 * ((d - common) * scored - risen.sum(axis=1))
        return gains
