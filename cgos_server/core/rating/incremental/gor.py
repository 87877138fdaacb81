"""GoR, the European Go Federation's rating before 2021: Elo in which slope and step depend on the rating.

After Vuorinen (2010), sections 2.1-2.3, who describes the EGF's rules; the linear interpolation of con and the handicap
of the variants `egf` and `egf_half_eps` are as in Coulom (2008, comparison code of Whole-History Rating) and
Bartolomaeus (2010, Games::Ratings::Go::EGF). Ratings are GoR points: 100 points are one grade, 2100 is 1 dan.
Must not know: storage, names, which games are to be rated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, Final, Literal

from cgos_protocol.options import Choice, Number
from cgos_server.core.rating.base import RatingDeclaration
from cgos_server.core.rating.incremental.graded import Graded, finite, logistic

Variant = Literal["thesis", "egf", "egf_half_eps"]
"""`thesis`: a stone is worth 100 points, epsilon is taken from the higher rated player. `egf`: H stones are worth
100 (H - 0.5) points. `egf_half_eps`: also, half of epsilon is taken from each player."""

VARIANTS: Final[tuple[Variant, ...]] = ("thesis", "egf", "egf_half_eps")
EPS: Final = 0.016
"""How much the expectancies of a game fall short of 1: points put in against deflation."""
FLOOR: Final = 100.0

_CON = (116, 110, 105, 100, 95, 90, 85, 80, 75, 70, 65, 60, 55, 51, 47, 43, 39, 35, 31, 27, 24, 21, 18, 15, 13, 11, 10)
_TABLE: Final = tuple(zip(range(100, 2701, 100), _CON, strict=True))
"""Rating and con there, every 100 points."""


def slope(rating: float) -> float:
    """a(R), the width of the win curve in points, 200..70.

    Constant outside 100..2700. Raises ValueError for a rating that is not finite.
    """
    finite(rating)
    if rating <= 100:
        return 200.0
    if rating > 2700:
        return 70.0
    return 200.0 - (rating - 100) / 20


def con(rating: float) -> float:
    """How far a game moves a rating at most, 116..10 points: the table, linear between its rows, constant outside.

    Raises ValueError for a rating that is not finite.
    """
    finite(rating)
    if rating <= _TABLE[0][0]:
        return float(_TABLE[0][1])
    for (low, at_low), (high, at_high) in pairwise(_TABLE):
        if rating <= high:
            return at_low + (at_high - at_low) * (rating - low) / (high - low)
    return float(_TABLE[-1][1])


def handicap_points(stones: int, variant: Variant) -> float:
    """What `stones` (negative: the opponent's) are worth in points; any number is accepted."""
    if variant == "thesis" or stones == 0:
        return 100.0 * stones
    return math.copysign(100.0 * (abs(stones) - 0.5), stones)


def expectancy(
    r1: float, r2: float, handicap: int = 0, *, variant: Variant = "egf_half_eps", eps: float = EPS
) -> tuple[float, float]:
    """What two players of ratings `r1` and `r2` can expect of a game, in that order; together 1 - `eps`.

    Each is in 0..1 up to `eps`. At equal ratings the first one is taken for the lower rated (our choice). Stones count
    for the lower rated player, also where they are negative (our choice), in the difference and in the slope.

    :param handicap: stones that player 1 received; negative: player 2 did
    :raises ValueError: for a rating that is not finite
    """
    finite(r1, r2)
    first_is_low = r1 <= r2
    low, high = (r1, r2) if first_is_low else (r2, r1)
    low += handicap_points(handicap if first_is_low else -handicap, variant)
    of_low = logistic(-(high - low) / slope(low))
    if variant == "egf_half_eps":
        of_low -= eps / 2
    of_high = 1.0 - of_low - eps
    return (of_low, of_high) if first_is_low else (of_high, of_low)


@dataclass(frozen=True, slots=True)
class Gor(Graded):
    """GoR as a fold: one update a game, even games only (a ledger knows no handicap stones).

    A version without a rating enters at `initial` points (a venue's own initial rating; 1400 would be 7 kyu). Values in
    ENTER and ANCHOR are taken as points.

    :ivar eps: 0 unless given: with the EGF's 0.016 a pool from which nobody retires inflates without end (our choice)
    """

    name: ClassVar[str] = "gor"
    floor: ClassVar[float] = FLOOR

    initial: float
    variant: Variant = "egf_half_eps"
    eps: float = 0.0

    def con(self, mean: float) -> float:
        return con(mean)

    def expectancies(self, black: float, white: float) -> tuple[float, float]:
        return expectancy(black, white, variant=self.variant, eps=self.eps)

    def chance(self, black: float, white: float) -> float:
        """Without epsilon: it is no part of the probabilities."""
        return expectancy(black, white, variant=self.variant, eps=0.0)[0]


SYSTEM: Final = RatingDeclaration(
    name="gor",
    about="the ratings of European Go (GoR)",
    make=Gor,
    options={
        "variant": Choice(
            VARIANTS,
            default="egf_half_eps",
            meaning="the reading of its rules (handicap, and whose expectancy epsilon is taken from): `egf_half_eps`, "
            "`egf` or `thesis`",
        ),
        "eps": Number(
            0.0, 0.1, default=0.0, meaning="how much both expectancies together fall short of 1; it inflates a pool"
        ),
    },
)
