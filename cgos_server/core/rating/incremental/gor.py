"""GoR, the European Go Federation's rating before 2021: Elo in which slope and step depend on the rating.

After Vuorinen (2010), sections 2.1-2.3, who describes the EGF's rules; the linear interpolation of con and the handicap
of the variants `egf` and `egf_half_eps` are as in Coulom (2008, comparison code of Whole-History Rating) and
Bartolomaeus (2010, Games::Ratings::Go::EGF). Ratings are GoR points: 100 points are one grade, 2100 is 1 dan.
Must not know: storage, names, which games are to be rated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Generic, Literal, NamedTuple, TypeVar

from cgos_protocol.options import Choice, Number
from cgos_server.core.rating.base import RatingDeclaration
from cgos_server.core.rating.incremental.graded import Graded, checked_result, finite, logistic

Variant = Literal["thesis", "egf", "egf_half_eps"]
"""`thesis`: a stone is worth 100 points, epsilon is taken from the higher rated player. `egf`: H stones are worth
100 (H - 0.5) points. `egf_half_eps`: also, half of epsilon is taken from each player."""

VARIANTS: Final[tuple[Variant, ...]] = ("thesis", "egf", "egf_half_eps")
EPS: Final = 0.016
"""How much the expectancies of a game fall short of 1: points put in against deflation."""
FLOOR: Final = 100.0

_TABLE: Final = (
    (100, 116),
    (200, 110),
    (300, 105),
    (400, 100),
    (500, 95),
    (600, 90),
    (700, 85),
    (800, 80),
    (900, 75),
    (1000, 70),
    (1100, 65),
    (1200, 60),
    (1300, 55),
    (1400, 51),
    (1500, 47),
    (1600, 43),
    (1700, 39),
    (1800, 35),
    (1900, 31),
    (2000, 27),
    (2100, 24),
    (2200, 21),
    (2300, 18),
    (2400, 15),
    (2500, 13),
    (2600, 11),
    (2700, 10),
)
"""Rating and con there, every 100 points."""

P = TypeVar("P")


class GorGame(NamedTuple, Generic[P]):
    """A game of a batch; `P` is what players are known by.

    :ivar one: first player
    :ivar other: second player
    :ivar result: of `one`: 0, 0.5 or 1
    :ivar handicap: stones that `one` received; negative: `other` did
    """

    one: P
    other: P
    result: float
    handicap: int = 0


def slope(rating: float, integer: bool = False) -> float:
    """a(R), the width of the win curve in points, 200..70. `integer`: with (R - 100) div 20, as some code has it.

    Constant outside 100..2700. Raises ValueError for a rating that is not finite.
    """
    finite(rating)
    if rating <= 100:
        return 200.0
    if rating > 2700:
        return 70.0
    return 200.0 - ((rating - 100) // 20 if integer else (rating - 100) / 20)


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


def update(
    r1: float,
    r2: float,
    result: float,
    handicap: int = 0,
    *,
    variant: Variant = "egf_half_eps",
    eps: float = EPS,
    weight: float = 1.0,
) -> tuple[float, float]:
    """Both ratings after a game with `result` (0, 0.5, 1) for player 1; never below :data:`FLOOR`.

    :param weight: of the event: 1 for class A, 0.75 B, 0.5 C, 0.25 D
    :raises ValueError: for a rating that is not finite and for another result
    """
    score = checked_result(result)
    s1, s2 = expectancy(r1, r2, handicap, variant=variant, eps=eps)
    return (
        max(FLOOR, r1 + weight * con(r1) * (score - s1)),
        max(FLOOR, r2 + weight * con(r2) * (1.0 - score - s2)),
    )


def batch(
    ratings: Mapping[P, float],
    games: Iterable[GorGame[P]],
    *,
    variant: Variant = "egf_half_eps",
    eps: float = EPS,
    weight: float = 1.0,
) -> dict[P, float]:
    """The ratings after a tournament: all expectancies and cons from the start, the floor applied once, at the end.

    :raises KeyError: for a player without a rating
    :raises ValueError: as :func:`update`
    """
    moved = dict.fromkeys(ratings, 0.0)
    for game in games:
        score = checked_result(game.result)
        r1, r2 = ratings[game.one], ratings[game.other]
        s1, s2 = expectancy(r1, r2, game.handicap, variant=variant, eps=eps)
        moved[game.one] += weight * con(r1) * (score - s1)
        moved[game.other] += weight * con(r2) * (1.0 - score - s2)
    return {player: max(FLOOR, rating + moved[player]) for player, rating in ratings.items()}


def total_change(rating: float, x: float, eps: float = EPS) -> float:
    """The inflation of a game between players of `rating` and `rating + x`, in points: what Vuorinen (2010, section
    2.2.2) calls the expected total change.

    Its probabilities sum to 1 - `eps`, so that it is only what epsilon puts into the pool, and 0 where `eps` is 0. To
    find the games that move ratings most use :func:`abs_change`. Raises ValueError for numbers that are not finite.
    """
    finite(rating, x)
    low, high = min(rating, rating + x), max(rating, rating + x)
    s_low, s_high = expectancy(low, high, variant="thesis", eps=eps)
    return eps * (con(low) * s_low + con(high) * s_high)


def abs_change(rating: float, x: float) -> float:
    """By how much a game between players of `rating` and `rating + x` can be expected to move both, in points and
    without regard to sign; with epsilon 0, colors and handicap left aside. Raises ValueError as above."""
    finite(rating, x)
    low, high = min(rating, rating + x), max(rating, rating + x)
    s_low, _ = expectancy(low, high, variant="thesis", eps=0.0)
    return (con(low) + con(high)) * 2.0 * s_low * (1.0 - s_low)


@dataclass(frozen=True, slots=True)
class Gor(Graded):
    """GoR as a fold: one update a game, even games only (a ledger knows no handicap stones).

    A version without a rating enters at `initial` points (a venue's own initial rating; 1400 would be 7 kyu). Values in
    ENTER and ANCHOR are taken as points.

    :ivar eps: 0 unless given: with the EGF's 0.016 a pool from which nobody retires inflates without end (our choice)
    """

    initial: float
    variant: Variant = "egf_half_eps"
    eps: float = 0.0

    @property
    def name(self) -> str:
        return "gor"

    @property
    def start_at(self) -> float:
        return self.initial

    @property
    def floor(self) -> float:
        return FLOOR

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
