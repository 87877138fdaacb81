"""The performance rating: how strong somebody played, if all that one knew were these opponents and this score.

Must not know: events, tie-breakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, inf, log10
from typing import Final

from cgos_server.core.pairing.base import LOGIT
from cgos_server.core.rating.incremental.graded import logistic

STEPS: Final = 60
"""Halvings of the bracket: enough for a bracket of any ratings to reach the precision of a float."""


_NEAR: Final = 1e-7
"""In Elo, a tenth of what is told."""


def performance(opponents: Sequence[float], score: float) -> float | None:
    """The rating at which the sum of expected scores is the score that was made, which is also the most likely one
    under the logistic model; in Elo, rounded to a millionth. None without opponents.

    Elo (1978, 1.5) calls this the performance rating and reads the difference to the opponents' mean off a table;
    here the equation is solved as it stands. Scores of 0 % and 100 % have no solution: they count as a quarter of a
    point from the end, half way to the nearest other score that a single game's draw would give (our choice).

    :param opponents: their ratings in Elo, again for each game
    :param score: points, 0 to as many as there are opponents
    :raises ValueError: where the score is outside that
    """
    games = len(opponents)
    if not 0 <= score <= games:
        raise ValueError(f"{score} points from {games} games")
    if not games:
        return None
    score = min(max(score, 0.25), games - 0.25)
    ratings = sorted(opponents)
    above = 400.0 * log10(score / (games - score))
    low, high = ratings[0] + above, ratings[-1] + above
    below, beyond = _about(ratings, score, (low + high) / 2)
    for _ in range(STEPS):
        middle = (low + high) / 2
        if not low < middle < high or round(low, 6) == round(high, 6):
            break
        if middle <= below or (middle < beyond and _expected(ratings, middle) < score):
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 6)


def _expected(ratings: Sequence[float], rating: float) -> float:
    """The sum of expected scores against these; it grows with the rating."""
    return fsum([logistic(LOGIT * (rating - other)) for other in ratings])


def _about(ratings: Sequence[float], score: float, start: float) -> tuple[float, float]:
    """A rating at which less than the score is surely expected, and one with more, both near the solution, so that the
    halving needs no look beyond them; without an end where Newton's method finds none."""
    rating = start
    for _ in range(8):
        shares = [logistic(LOGIT * (rating - other)) for other in ratings]
        slope = LOGIT * sum([share * (1.0 - share) for share in shares])
        step = (fsum(shares) - score) / max(slope, 1e-300)
        rating -= step
        if abs(step) < _NEAR:
            break
    sure = 1e-14 * len(ratings)  # many times what sums of floats are off
    below, beyond = rating - _NEAR, rating + _NEAR
    return (
        below if _expected(ratings, below) < score - sure else -inf,
        beyond if _expected(ratings, beyond) > score + sure else inf,
    )
