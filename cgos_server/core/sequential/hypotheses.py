"""What a sequential test asks: two hypotheses about a difference of strength, and how often it may be wrong.

Decides the scales of differences, what counts of results are, and where the log-likelihood ratio decides. Must not
know: how a likelihood is computed, who asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, log, log10, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from cgos_protocol.errors import Code, Invalid

Floats = NDArray[np.float64]

ELO_PER_T: Final = 800.0 / log(10.0)
"""Normalized Elo of a difference of one standard deviation of a game (Van den Bergh 2020)."""

LARGEST: Final = 1000.0
"""A bound lies at most so far from 0, Elo on either scale."""

CELLS: Final = (3, 5)
"""How many counts there are: of single games, of pairs of games."""

EQUAL_SCORE: Final = 0.5


class Scale(StrEnum):
    """The scale of a difference of strength.

    LOGISTIC: a lead of d scores 1 / (1 + 10^(-d/400)) of the points. NORMALIZED: the score over one half, in standard
    deviations of a game, times 800 / ln 10. The second says how many games it takes to see the difference, whatever
    the share of draws; both agree near 0 where nobody draws and openings are balanced.
    """

    LOGISTIC = "elo"
    NORMALIZED = "nelo"


class Decision(StrEnum):
    """How a test ended: ACCEPTED: B is stronger by the upper bound rather than by the lower one; REJECTED: not so."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypotheses:
    """Two hypotheses about the Elo by which B is stronger than A, and the error rates of the test between them.

    The test accepts or rejects where the log-likelihood ratio leaves the interval between its two bounds (Wald 1945).

    :ivar scale: of `lower` and `upper`
    :ivar lower: H0: B is stronger by so much, Elo; may be negative
    :ivar upper: H1, Elo, above `lower`
    :ivar alpha: at most about this share of tests accept where H0 is true; above 0
    :ivar beta: at most about this share reject where H1 is true; above 0, and `alpha` + `beta` below 1
    :raises Invalid: they do not lie so
    """

    scale: Scale = Scale.NORMALIZED
    lower: float
    upper: float
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not all(isfinite(each) and abs(each) <= LARGEST for each in (self.lower, self.upper)):
            raise Invalid(Code.BOUNDS, f"Bounds of a test lie between {-LARGEST:g} and {LARGEST:g} Elo. Give such.")
        if self.lower >= self.upper:
            raise Invalid(
                Code.BOUNDS,
                f"The lower bound of a test lies below the upper one, and {self.lower:g} does not lie below "
                f"{self.upper:g}. Give such as 0 and 10.",
            )
        if not (self.alpha > 0 and self.beta > 0 and self.alpha + self.beta < 1):
            raise Invalid(
                Code.BOUNDS, "Both error rates of a test are above 0, and below 1 together. Give such as 0.05 and 0.05."
            )

    @property
    def reject_at(self) -> float:
        """The log-likelihood ratio at which the test rejects, and below it; below 0."""
        return log(self.beta / (1.0 - self.alpha))

    @property
    def accept_at(self) -> float:
        """The log-likelihood ratio at which the test accepts, and above it; above 0."""
        return log((1.0 - self.beta) / self.alpha)


@dataclass(frozen=True, slots=True)
class Counts:
    """How often which result came: of pairs of games or of single ones.

    :ivar cells: five: pairs of games with colors swapped on one opening, in which B scored 0, 1/2, 1, 3/2 and 2 points;
        or three: single games that B lost, drew and won
    :raises Invalid: there are not so many, or one is negative
    """

    cells: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.cells) not in CELLS or min(self.cells) < 0:
            raise Invalid(
                Code.COUNTS,
                "Counts are five numbers, of pairs in which B scored 0, 1/2, 1, 3/2 and 2 points, or three, of games "
                "that B lost, drew and won; none is negative.",
            )

    @staticmethod
    def of(counts: Sequence[int] | Counts) -> Counts:
        """The counts themselves, or of a sequence."""
        return counts if isinstance(counts, Counts) else Counts(tuple(int(each) for each in counts))

    @property
    def paired(self) -> bool:
        """Whether pairs are counted."""
        return len(self.cells) == max(CELLS)

    @property
    def total(self) -> int:
        """How many pairs or single games there are."""
        return sum(self.cells)

    @property
    def games(self) -> int:
        """How many games there are."""
        return self.total * games_per_item(len(self.cells))

    @property
    def score(self) -> float | None:
        """B's share of the points, 0..1; None without a game."""
        return float(scores(len(self.cells)) @ np.array(self.cells)) / self.total if self.total else None


def games_per_item(cells: int) -> int:
    """How many games one counted item has: a pair two, a single game one."""
    return (cells - 1) // 2


def scores(cells: int) -> Floats:
    """B's share of the points in each of so many cells, ascending, 0..1."""
    return np.arange(cells) / (cells - 1)


def score_of(elo: float) -> float:
    """The share of the points, 0..1, that a lead of so many logistic Elo scores."""
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


def elo_of(score: float) -> float | None:
    """The logistic Elo of a share of the points; None at 0 and 1 and beyond, where it has none."""
    return 400.0 * log10(score / (1.0 - score)) if 0.0 < score < 1.0 else None


def t_of(nelo: float, cells: int) -> float:
    """Normalized Elo as (mean - 1/2) / standard deviation of one counted item: of a pair sqrt(2) times of a game."""
    return nelo / ELO_PER_T * sqrt(games_per_item(cells))


def nelo_of(t: float, cells: int) -> float:
    """The inverse of :func:`t_of`."""
    return t * ELO_PER_T / sqrt(games_per_item(cells))


def targets(hypotheses: Hypotheses, cells: int) -> tuple[float, float]:
    """What H0 and H1 say of one counted item: its mean score, or on the normalized scale its t."""
    if hypotheses.scale is Scale.LOGISTIC:
        return score_of(hypotheses.lower), score_of(hypotheses.upper)
    return t_of(hypotheses.lower, cells), t_of(hypotheses.upper, cells)
