"""Does a version play as it always did, or did its strength change under one name?

Decides whether a version's results break with its past, and how surely: `watch` and `flagged` are two rates of false
alarms. Must not know: where expectations come from, what is done about a break.

The test is sequential. It looks when a version has 40, 57, 80, 113, 160, ... games: 40 * 2^(i/2). At each look every
possible change point with `SHORTEST` games on either side is tried: z is the score before it minus what one common
strength makes expected there, 1/4 game nearer to 0 (continuity), in standard deviations (Rao's score statistic, 1948;
the common strength is fitted, so that only differences count). The largest |z| is held against `THRESHOLDS`. They were
calibrated by simulation over all looks within 320 games (`benchmarks/ratings/rating_movers.py`): a formula for the tail
of such a maximum (Miller & Siegmund 1982), shared out over the looks, is much more cautious.

z is normal only where both outcomes are in reach. So that lop-sided pairings raise no alarms, z is not taken to be more
than the root of the likelihood ratio of two strengths against one at that change point, and a little; this is our
choice, as are the thresholds beyond 320 games.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from math import log, log2, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SHORTEST: Final = 10
"""Games that each side of a change point has at least."""
FIRST_LOOK: Final = 40
CALIBRATED: Final = 320
"""Games up to which the rates of false alarms were measured."""
CONTINUITY: Final = 0.25
"""Games by which a score is moved towards its expectation."""
ELO: Final = 400.0 / log(10.0)
"""In one logit."""

_WIDER: Final = 0.1
"""By which thresholds grow at each doubling of the games beyond `CALIBRATED`."""
_BEYOND_ROOT: Final = 0.15
"""By which z may exceed the root of the likelihood ratio. Late after an early change it does so at even pairings, too,
where 0 would cost .02 of the detections. Without a bound .006 of the versions 400 Elo above their opponents would be
flagged within 320 games."""
_FARTHEST: Final = 12.0
"""Logits: no strength is estimated farther away than this."""


class State(enum.StrEnum):
    """How sure it is that a version changed."""

    WATCH = "watch"
    """Of versions that never change, .01 come here within 320 games."""
    FLAGGED = "flagged"
    """The same with .001."""


THRESHOLDS: Final = {State.WATCH: 3.76, State.FLAGGED: 4.26}
"""Of the largest |z|, up to `CALIBRATED` games."""


class Result(NamedTuple):
    """One game of the version, in order of play.

    :ivar score: 0..1
    :ivar expected: the score to expect, 0..1, at the ratings of today (not at those of the day)
    :ivar variance: of the score; with e = `expected` it is e (1 - e) without draws, less with draws
    """

    score: float
    expected: float
    variance: float


class Change(NamedTuple):
    """The likeliest change among some games.

    :ivar at: index of the first game after it
    :ivar shift: strength after it minus strength before it, Elo
    :ivar z: the deviation that is held against `THRESHOLDS`, at least 0
    """

    at: int
    shift: float
    z: float


class Break(NamedTuple):
    """A change that was noticed.

    :ivar look: the number of games at that look
    :ivar change: `at` counts from the version's first game
    """

    state: State
    look: int
    change: Change


def look_at(number: int) -> int:
    """At how many games the look with this number, from 0, takes place."""
    games: float = FIRST_LOOK * 2.0 ** (number / 2.0)
    return round(games)


def looks(games: int) -> int:
    """How many looks a version with so many counted games has passed: it is tested again when this changes."""
    passed = 0
    while look_at(passed) <= games:
        passed += 1
    return passed


def threshold(state: State, games: int) -> float:
    """From which |z| on a version is in this state at a look with so many games."""
    return THRESHOLDS[state] + _WIDER * log2(max(games / CALIBRATED, 1.0))


def find(results: Sequence[Result]) -> Break | None:
    """What the looks so far say of a version; None: nothing.

    It is the first flag, or where there is none the first look that put the version on watch. After a flag the test
    begins anew with the games after that change, and a flag among those replaces it: a version that changed back, or
    again, has changed twice. Raises ValueError for impossible results.
    """
    noticed: Break | None = None
    begin = 0
    while True:
        later = _first(results[begin:])
        if later is None or (noticed is not None and later.state is State.WATCH):
            return noticed
        begin += later.change.at
        at_all = later.change._replace(at=begin)
        noticed = Break(state=later.state, look=begin - later.change.at + later.look, change=at_all)
        if noticed.state is State.WATCH:
            return noticed


def _first(results: Sequence[Result]) -> Break | None:
    """The first flag among these games; without one the first watch."""
    watched: Break | None = None
    for number in range(looks(len(results))):
        games = look_at(number)
        change = examine(results[:games])
        if change is None or change.z < threshold(State.WATCH, games):
            continue
        if change.z >= threshold(State.FLAGGED, games):
            return Break(state=State.FLAGGED, look=games, change=change)
        watched = watched or Break(state=State.WATCH, look=games, change=change)
    return watched


def examine(results: Sequence[Result]) -> Change | None:
    """The likeliest change in these games, however small; None where they are too few to be divided.

    Raises ValueError for impossible results.
    """
    n = len(results)
    if n < 2 * SHORTEST:
        return None
    scores = ScoreModel(results)
    common = scores.strength()
    mean = scores.means(common)
    information = np.cumsum(scores.scale * mean * (1.0 - mean))
    gaps = np.cumsum(scores.score - mean)
    points = slice(SHORTEST - 1, n - SHORTEST)
    before, gap = information[points], gaps[points]
    moved = np.maximum(np.abs(gap) - CONTINUITY, 0.0)
    z = moved / np.sqrt(np.maximum(before * (information[-1] - before) / information[-1], 1e-12))
    best = int(np.argmax(z))
    at = best + SHORTEST
    scored = float(scores.score[:at].sum()) - float(np.sign(gap[best]) * (np.abs(gap[best]) - moved[best]))
    sides = ((scores.some(slice(at)), scored), (scores.some(slice(at, n)), float(scores.score.sum()) - scored))
    one, two = (side.strength(total) for side, total in sides)
    ratio = sum(
        side.gain(total, d) - side.gain(total, common) for (side, total), d in zip(sides, (one, two), strict=True)
    )
    return Change(at=at, shift=(two - one) * ELO, z=min(float(z[best]), sqrt(max(ratio, 0.0)) + _BEYOND_ROOT))


class ScoreModel:
    """Games with given expected scores e and variances v, tilted by a strength d in logits.

    A score counts as c times that of 1/c independent games with two outcomes, c = v / (e (1 - e)), so that it has the
    cumulant function log(1 - e + e exp(c d)) / c: mean e and variance v at d = 0. Raises ValueError for impossible
    results.

    :ivar score: (n,) 0..1
    :ivar scale: (n,) c
    """

    def __init__(self, results: Sequence[Result] | Floats) -> None:
        self._rows = np.asarray(results, dtype=np.float64).reshape(len(results), 3)
        x, e, v = self._rows.T
        if not (np.isfinite(self._rows).all() and ((x >= 0) & (x <= 1) & (e > 0) & (e < 1) & (v > 0)).all()):
            raise ValueError("Scores must be 0..1, expected scores between 0 and 1, and variances above 0.")
        self.score = x
        self.scale = np.clip(v / (e * (1.0 - e)), 0.05, 4.0)
        self._expected = e
        self._logit = np.log(e) - np.log1p(-e)

    def some(self, games: slice) -> ScoreModel:
        """These games alone."""
        return ScoreModel(self._rows[games])

    def means(self, d: float) -> Floats:
        """(n,) expected scores at strength d."""
        tilted: Floats = 1.0 / (1.0 + np.exp(-(self._logit + self.scale * d)))
        return tilted

    def strength(self, scored: float | None = None) -> float:
        """The strength at which these games are expected to bring `scored` points, or what they brought."""
        total = float(self.score.sum()) if scored is None else scored
        low, high, d = -_FARTHEST, _FARTHEST, 0.0
        for _ in range(60):
            mean = self.means(d)
            gap = total - float(mean.sum())
            low, high = (d, high) if gap > 0 else (low, d)
            stepped = d + gap / max(float((self.scale * mean * (1.0 - mean)).sum()), 1e-12)
            if not low < stepped < high:
                stepped = (low + high) / 2.0
            moved, d = abs(stepped - d), stepped
            if moved < 1e-9:
                break
        return d

    def gain(self, scored: float, d: float) -> float:
        """Twice the log likelihood ratio of strength d against 0, where the games brought `scored`."""
        risen = np.log1p(self._expected * np.expm1(self.scale * d)) / self.scale
        return 2.0 * (d * scored - float(risen.sum()))
