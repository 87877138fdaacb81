"""The total error of a tournament: how far apart those were who met, by strengths that its own results show.

After Vuorinen (2010), equation 7.1. Must not know: pairing systems, standings.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_server.tournaments.base import Event, Floats, Ints

PRECISION: Final = 0.25
"""Of the prior of strengths, in 1/(natural-log odds)^2; our choice, which keeps unbeaten players finite."""

TOLERANCE: Final = 1e-13
STEPS: Final = 200


class TotalError(Struct, frozen=True, kw_only=True):
    """Differences of strength over the games really played, in the strengths' unit; 0 where there were none.

    :ivar games: how many
    :ivar sum_sq_over_games: sum of squares, every game once
    :ivar e_total: equation 7.1 as printed: 1/(2kN) times the root of the sum over players and rounds, in which every
        game appears twice; k rounds, N entrants. It falls with size, against what its author says of it
    :ivar inside_root_reading: the same with the factor inside the root, which the published values look like
    :ivar rms_per_game: root mean square difference of a game; the one to compare events by (our addition)
    """

    games: int
    sum_sq_over_games: float
    e_total: float
    inside_root_reading: float
    rms_per_game: float


def total_error(event: Event, strengths: Mapping[int, float]) -> TotalError:
    """The error under these strengths (by id). Byes, absences, forfeits and void games contribute nothing, but all
    rounds and all entrants count as such (our choice)."""
    squares = [(strengths[white] - strengths[black]) ** 2 for white, black, _ in _games(event)]
    total = sum(squares)
    size = len(event.rounds) * len(event.entrants)
    if not squares:
        return TotalError(games=0, sum_sq_over_games=0.0, e_total=0.0, inside_root_reading=0.0, rms_per_game=0.0)
    return TotalError(
        games=len(squares),
        sum_sq_over_games=total,
        e_total=sqrt(2 * total) / (2 * size),
        inside_root_reading=sqrt(2 * total / (2 * size)),
        rms_per_game=sqrt(total / len(squares)),
    )


def relative_strengths(event: Event) -> dict[int, float]:
    """What the results say of everybody's strength, by id, in natural-log odds; they sum to 0.

    The algorithm of the source is lost with its appendix B; known is that it lets every result push the two strengths
    apart or pull them together, until nothing moves. This is a reconstruction (our choice) with that behavior and one
    well-defined answer: the most likely strengths under P(i beats j) = 1/(1 + exp(s_j - s_i)), a draw being half a win
    of each, with a normal prior of mean 0 and :data:`PRECISION`. The sum is strictly concave; Newton's method finds its
    top.
    """
    at = {one.id: index for index, one in enumerate(event.entrants)}
    games = [(at[white], at[black], score) for white, black, score in _games(event)]
    if not games:
        return dict.fromkeys(at, 0.0)
    whites, blacks = (np.array([game[side] for game in games]) for side in (0, 1))
    scores = np.array([game[2] for game in games])

    def likelihood(strengths: Floats) -> float:  # of the logistic model, with the prior
        gaps = strengths[whites] - strengths[blacks]
        return float(np.sum(scores * gaps - np.logaddexp(0.0, gaps)) - PRECISION / 2 * np.sum(strengths * strengths))

    strengths: Floats = np.zeros(len(at))
    for _ in range(STEPS):
        step = _step(strengths, whites, blacks=blacks, scores=scores)
        before = likelihood(strengths)
        size = 1.0
        while size > 1e-6 and likelihood(strengths + size * step) < before - 1e-9:
            size /= 2
        strengths = np.add(strengths, size * step)
        if np.abs(size * step).max() < TOLERANCE:
            break
    return {id_: float(strengths[index]) for id_, index in at.items()}


def _games(event: Event) -> list[tuple[int, int, float]]:
    """White, Black, White's share of the points (0..1), of games really played."""
    return [(game.white, game.black, result.white_share) for game, result in event.played]


def _step(strengths: Floats, whites: Ints, blacks: Ints, scores: Floats) -> Floats:
    chances = 1.0 / (1.0 + np.exp(strengths[blacks] - strengths[whites]))
    left, spread = scores - chances, chances * (1.0 - chances)
    slope = -PRECISION * strengths
    np.add.at(slope, whites, left)
    np.add.at(slope, blacks, -left)
    bend = PRECISION * np.eye(len(strengths))
    for one, other, sign in ((whites, whites, 1), (blacks, blacks, 1), (whites, blacks, -1), (blacks, whites, -1)):
        np.add.at(bend, (one, other), sign * spread)
    return np.linalg.solve(bend, slope).astype(np.float64)
