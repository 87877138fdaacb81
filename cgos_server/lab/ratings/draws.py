"""True strengths as real servers have them: families of versions, one who beats everybody, equals, heavy tails.

Must not know: any rating system, who meets whom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from cgos_server.lab.ratings import told
from cgos_server.lab.ratings.pools import Floats, Pool

STAR: Final = 3500.0
"""The strength of the one who beats everybody, Elo."""

LONG_STEP: Final = 250.0
"""No right link spans as much, Elo."""


class Strengths(NamedTuple):
    """A pool as it is in truth, and as it is stated.

    :ivar truth: (n,) Elo
    :ivar predecessors: of each version the one that it is stated to succeed, always an earlier one; None of a root
    """

    truth: Floats
    predecessors: tuple[int | None, ...]

    def misplaced(self) -> list[int]:
        """Versions whose predecessor is wrong: no step of a family is as long."""
        return [
            number
            for number, below in enumerate(self.predecessors)
            if below is not None and abs(self.truth[number] - self.truth[below]) > LONG_STEP
        ]


Draw = Callable[[Generator, int], Strengths]
"""Strengths of so many versions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Families of versions: roots are N(2000, 350), a successor is N(step, sd) above its predecessor.

    :ivar size: versions a family; 0: all are one
    :ivar interleaved: the first versions of all families come first, then the second ones; else family after family
    :ivar wrong_every: one of so many links is wrong, by lot; 0: none
    :ivar wrong_by: how far its version stands from where the link says, up or down by lot; later versions of the family
        follow from where it really stands
    """

    size: int
    step: float
    sd: float
    wrong_every: int = 0
    wrong_by: float = 0.0
    interleaved: bool = False

    def _below(self, number: int, versions: int) -> int | None:
        """The predecessor."""
        if self.interleaved:
            families = max(1, versions // self.size)
            return number - families if number >= families else None
        return number - 1 if number % (self.size or versions) else None

    def __call__(self, rng: Generator, versions: int) -> Strengths:
        predecessors = tuple(self._below(number, versions) for number in range(versions))
        successors = [number for number, below in enumerate(predecessors) if below is not None]
        count = len(successors) // self.wrong_every if self.wrong_every else 0
        shifts = dict(zip(rng.permutation(successors)[:count].tolist(), rng.choice((-1.0, 1.0), count), strict=True))
        truth: list[float] = []
        for number, below in enumerate(predecessors):
            if below is None:
                truth.append(float(rng.normal(2000.0, 350.0)))
            else:
                step = float(rng.normal(self.step, self.sd) + shifts.get(number, 0.0) * self.wrong_by)
                truth.append(truth[below] + step)
        return Strengths(np.array(truth), predecessors)

    def prior(self, versions: int) -> told.Prior:
        """What an estimator knows that is told everything but the strengths."""
        prior = told.Prior(versions)
        for number in range(versions):
            below = self._below(number, versions)
            if below is None:
                prior.value(number, 2000.0, 350.0)
            else:
                prior.step(number, below, self.step, self.sd)
        return prior


def star(rng: Generator, versions: int) -> Strengths:
    """One at :data:`STAR` over N(2000, 150)."""
    truth = rng.normal(2000.0, 150.0, versions)
    truth[-1] = STAR
    return Strengths(truth, (None,) * versions)


def equals(share: float, width: float, rng: Generator, versions: int) -> Strengths:
    """A share within `width` Elo of one another, about 2000; the others are N(2000, 350)."""
    equal = round(share * versions)
    near, far = rng.uniform(2000.0 - width / 2, 2000.0 + width / 2, equal), rng.normal(2000.0, 350.0, versions - equal)
    return Strengths(np.concatenate([near, far]), (None,) * versions)


def heavy_tails(rng: Generator, versions: int) -> Strengths:
    """Student's t with 3 degrees of freedom; its sd is 350, too."""
    return Strengths(2000.0 + 350.0 / np.sqrt(3.0) * rng.standard_t(3, versions), (None,) * versions)


def normals(groups: tuple[tuple[float, float, float], ...], rng: Generator, versions: int) -> Strengths:
    """(share, mean, sd) of each."""
    return Strengths(Pool(name="", text="", versions=versions, groups=groups).draw(rng), (None,) * versions)


def uniform(rng: Generator, versions: int) -> Strengths:
    """From 800 to 3200."""
    return Strengths(rng.uniform(800.0, 3200.0, versions), (None,) * versions)
