"""The European Go Federation's rating since 2021.

The formulas are those of the European Go Database. Ratings are GoR points below 3300: 100 points are one grade, 2100 is
1 dan. Must not know: storage, names, which games are to be rated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from cgos_protocol.options import Flag
from cgos_server.core.rating.base import RatingDeclaration
from cgos_server.core.rating.incremental.gor import handicap_points
from cgos_server.core.rating.incremental.graded import Graded, finite, logistic

HIGHEST: Final = 3299.0
"""Ratings are evaluated as if they were no higher: our choice, since the formulas end at 3300."""
FLOOR: Final = -900.0
"""30 kyu, the lowest rating of a venue's version: our choice."""


def con(rating: float) -> float:
    """How far a game moves a rating at most, in points. Raises ValueError for a rating that is not finite."""
    return float(((3300.0 - _evaluated(rating)) / 200.0) ** 1.6)


def bonus(rating: float) -> float:
    """What every game gives a player besides, in points. Raises ValueError for a rating that is not finite."""
    x = (2300.0 - _evaluated(rating)) / 80.0
    return (max(x, 0.0) + math.log1p(math.exp(-abs(x)))) / 5.0


def beta(rating: float) -> float:
    """The strength on a logit scale. Raises ValueError for a rating that is not finite."""
    return -7.0 * math.log(3300.0 - _evaluated(rating))


def expectancy(r1: float, r2: float, handicap: int = 0) -> tuple[float, float]:
    """What two players of ratings `r1` and `r2` can expect of a game (0..1), in that order; together 1.

    :param handicap: stones that player 1 received; negative: player 2 did. H stones raise their receiver's rating by
        100 (H - 0.5) points here and nowhere else (our choice)
    :raises ValueError: for a rating that is not finite
    """
    finite(r1, r2)
    points = handicap_points(handicap, "egf")
    s1 = logistic(beta(r1 + max(points, 0.0)) - beta(r2 + max(-points, 0.0)))
    return s1, 1.0 - s1


@dataclass(frozen=True, slots=True)
class Egf2021(Graded):
    """The system as a fold: one update a game, even games only (a ledger knows no handicap stones).

    A version without a rating enters at `initial` points (a venue's own initial rating). Values in ENTER and ANCHOR are
    taken as points.

    :ivar bonus: False unless given: the bonus makes a pool from which nobody retires inflate without end (our choice)
    """

    name: ClassVar[str] = "egf2021"
    floor: ClassVar[float] = FLOOR

    initial: float
    bonus: bool = False

    def con(self, mean: float) -> float:
        return con(mean)

    def given(self, mean: float) -> float:
        return bonus(mean) if self.bonus else 0.0

    def expectancies(self, black: float, white: float) -> tuple[float, float]:
        return expectancy(black, white)


def _evaluated(rating: float) -> float:
    finite(rating)
    return min(rating, HIGHEST)


SYSTEM: Final = RatingDeclaration(
    name="egf2021",
    about="the ratings of the European Go Federation since 2021",
    make=Egf2021,
    options={"bonus": Flag(default=False, meaning="whether every game gives both players a bonus; it inflates a pool")},
)
