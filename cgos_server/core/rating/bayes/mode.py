"""The mode of a log posterior whose prior is Gaussian, by Newton.

Decides the steps. Must not know: which prior, what the mode is for.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from .joint import Joint
from .pool import Floats
from .sites import slopes

LONGEST: Final = 300.0
"""Elo: the whole step is scaled so that no rating moves further."""

STEPS: Final = 30
TOLERANCE: Final = 0.01
"""Elo: a step in which no rating moved further is the last."""


class Mode(NamedTuple):
    """Where it is (D,), the sites that have it as their mean (k,), and how many steps it took."""

    x: Floats
    T: Floats
    V: Floats
    steps: int


def climb(
    joint: Joint,
    precision: Floats,
    x: Floats,
    advantage: float,
    draw: float,
    *,
    exactly: int | None = None,
) -> Mode:
    """Newton with the log posterior of all strengths, advantage and draw parameter held.

    :param precision: (D, D) of everything but the games; its shift is the joint's own
    :param x: (D,) where to begin
    :param exactly: that many steps, whatever they move
    """
    one, two, size = joint.cells.one, joint.cells.two, joint.size
    n, steps = joint.n, 0
    while steps < (STEPS if exactly is None else exactly):
        slope, bend = slopes(joint.cells, joint.differences(x), advantage, draw)
        gradient = joint.base_shift - precision @ x
        gradient[:n] += np.bincount(one, slope, n) - np.bincount(two, slope, n)
        hessian = precision.copy()
        flat = hessian.reshape(-1)
        flat[one * size + two] -= bend
        flat[two * size + one] -= bend
        flat[:: size + 1][:n] += np.bincount(one, bend, n) + np.bincount(two, bend, n)
        move = np.linalg.solve(hessian, gradient)
        longest = float(np.abs(move[:n]).max(initial=0.0))
        x = x + move * min(1.0, LONGEST / longest if longest > 0 else 1.0)
        steps += 1
        if exactly is None and longest < TOLERANCE:
            break
    d = joint.differences(x)
    slope, bend = slopes(joint.cells, d, advantage, draw)
    return Mode(x, bend, bend * d + slope, steps)
