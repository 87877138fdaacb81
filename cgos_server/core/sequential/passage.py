"""A Brownian motion between two barriers that absorb it: which one it meets, when, and where it is before.

All of it for a motion that begins at 0, has the variance 1 per unit of time and a drift. For short times a sum over
mirror images of the starting point is taken, for long ones the series of eigenfunctions (Feller 1971, Siegmund 1985).
Must not know: tests, games.
"""

from __future__ import annotations

from math import cos, erfc, exp, expm1, log, pi, sin, sqrt
from typing import Final, NamedTuple

OVERSHOOT: Final = 0.5826
"""By so many standard deviations of a step a random walk passes a barrier, on average (Siegmund 1985, chapter X)."""

_SHORT: Final = 0.5
"""Times up to this part of the squared distance of the barriers are short."""

_NO_DRIFT: Final = 1e-16
"""A drift that adds less than this on the way between the barriers changes no digit; the least ones have few digits
themselves."""

_IMAGES: Final = 4
_TERMS: Final = 6


class Barriers(NamedTuple):
    """Where the motion ends: `lower` < 0 < `upper`."""

    lower: float
    upper: float

    @property
    def width(self) -> float:
        """How far they are apart."""
        return self.upper - self.lower

    @property
    def mirrored(self) -> Barriers:
        """The same seen upside down."""
        return Barriers(-self.upper, -self.lower)


def ends_above(barriers: Barriers, drift: float) -> float:
    """P(the motion meets the upper barrier before the lower one)."""
    if abs(drift) * barriers.width < _NO_DRIFT:
        return -barriers.lower / barriers.width
    if drift < 0.0:
        return exp(2.0 * drift * barriers.upper) * ends_above(barriers, -drift)
    return expm1(2.0 * drift * barriers.lower) / expm1(-2.0 * drift * barriers.width)


def expected_time(barriers: Barriers, drift: float) -> float:
    """How long the motion goes on, on average (Wald 1945)."""
    if abs(drift) * barriers.width < 1e-6:
        return -barriers.lower * barriers.upper
    above = ends_above(barriers, drift)
    return (above * barriers.upper + (1.0 - above) * barriers.lower) / drift


def above_by(barriers: Barriers, drift: float, time: float) -> float:
    """P(the motion meets the upper barrier first, and does so until `time` >= 0)."""
    if drift < 0.0:
        return exp(2.0 * drift * barriers.upper) * above_by(barriers, -drift, time)
    if time <= 0.0:
        return 0.0
    if time <= _SHORT * barriers.width**2:
        return _above_by_images(barriers, drift, time)
    a, b = barriers
    tail = 0.0
    for k in range(1, _TERMS + 1):
        wave = k * pi / barriers.width
        rate = 0.5 * (drift * drift + wave * wave)
        tail -= wave * cos(k * pi) * sin(-wave * a) * exp(drift * b - rate * time) / rate
    return ends_above(barriers, drift) - tail / barriers.width


def below_by(barriers: Barriers, drift: float, time: float) -> float:
    """P(the motion meets the lower barrier first, and does so until `time`)."""
    return above_by(barriers.mirrored, -drift, time)


def still_above(barriers: Barriers, drift: float, time: float, level: float) -> float:
    """P(at `time` > 0 the motion has met neither barrier and lies above `level`, which lies between them)."""
    a, b = barriers
    total = 0.0
    if time <= _SHORT * barriers.width**2:
        for image in range(-_IMAGES, _IMAGES + 1):
            begin = 2.0 * image * barriers.width
            for start, sign in ((begin, 1.0), (begin + 2.0 * b, -1.0)):
                low, high = ((each - start - drift * time) / sqrt(time) for each in (level, b))
                share = _between(low, high)
                if share > 0.0:
                    total += sign * exp(drift * start + log(share))
        return total
    for k in range(1, _TERMS + 1):
        wave = k * pi / barriers.width
        faded = -0.5 * (drift * drift + wave * wave) * time
        at_barrier, at_level = (
            exp(drift * x + faded) * (drift * sin(wave * (x - a)) - wave * cos(wave * (x - a))) for x in (b, level)
        )
        total += sin(-wave * a) * (at_barrier - at_level) / (drift * drift + wave * wave)
    return 2.0 * total / barriers.width


def _above_by_images(barriers: Barriers, drift: float, time: float) -> float:
    """`above_by` for a short time and `drift` >= 0: times of first passage to the images of the barrier."""
    total, root = 0.0, sqrt(time)
    for image in range(-_IMAGES, _IMAGES + 1):
        place = barriers.upper + 2.0 * image * barriers.width
        way = abs(place)
        passed = exp(drift * (barriers.upper - way) + _log_below((drift * time - way) / root))
        passed += exp(drift * (barriers.upper + way) + _log_below((-drift * time - way) / root))
        total += passed if place > 0 else -passed
    return total


def normal_below(z: float) -> float:
    """P(standard normal < z)."""
    return 0.5 * erfc(-z / sqrt(2.0))


def _log_below(z: float) -> float:
    if z > -30.0:
        return log(normal_below(z))
    return -0.5 * z * z - log(-z) - 0.5 * log(2.0 * pi) - 1.0 / (z * z)


def _between(low: float, high: float) -> float:
    """P(low < standard normal < high), with few digits lost far out on either side."""
    return normal_below(-low) - normal_below(-high) if low > 0.0 else normal_below(high) - normal_below(low)
