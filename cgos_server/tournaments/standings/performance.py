"""The performance rating: how strong somebody played, if all that one knew were these opponents and this score.

Must not know: events, tie-breakers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, log10
from typing import Final

from cgos_server.core.pairing.base import LOGIT
from cgos_server.core.rating.incremental.graded import logistic

STEPS: Final = 60
"""Halvings of the bracket: enough for a bracket of any ratings to reach the precision of a float."""


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
    for _ in range(STEPS):
        middle = (low + high) / 2
        if not low < middle < high or round(low, 6) == round(high, 6):
            break
        if fsum([logistic(LOGIT * (middle - rating)) for rating in ratings]) < score:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 6)
