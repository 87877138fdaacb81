"""What a game does to GoR ratings, written out from the formulas: handicap and weight of the event included, which no
venue has."""

from __future__ import annotations

from cgos_server.core.rating.incremental.gor import EPS, FLOOR, Variant, con, expectancy


def update(
    r1: float,
    r2: float,
    result: float,
    handicap: int = 0,
    *,
    variant: Variant = "egf_half_eps",
    weight: float = 1.0,
) -> tuple[float, float]:
    """Both ratings after a game with `result` (0, 0.5, 1) for player 1; never below the floor.

    :param weight: of the event: 1 for class A, 0.75 B, 0.5 C, 0.25 D
    """
    s1, s2 = expectancy(r1, r2, handicap, variant=variant)
    return (
        max(FLOOR, r1 + weight * con(r1) * (result - s1)),
        max(FLOOR, r2 + weight * con(r2) * (1.0 - result - s2)),
    )


def total_change(rating: float, x: float, eps: float = EPS) -> float:
    """What Vuorinen (2010, section 2.2.2) calls the expected total change of a game between players of `rating` and
    `rating + x`, in points. Its probabilities sum to 1 - `eps`, so that it is only what epsilon puts into the pool."""
    low, high = min(rating, rating + x), max(rating, rating + x)
    s_low, s_high = expectancy(low, high, variant="thesis", eps=eps)
    return eps * (con(low) * s_low + con(high) * s_high)
