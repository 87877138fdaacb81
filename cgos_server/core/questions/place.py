"""Where a version stands among the opponents of a gauntlet, by the gauntlet's own games.

Must not know: which game is played next, the ladder.
"""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

import numpy as np

from cgos_protocol.games.base import Color
from cgos_server.core.questions.asked import Gauntlet
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.bayes.likelihood import draw_parameter, log_likelihood, step
from cgos_server.core.rating.together import JointRatings

PRIOR_SD: Final = 500.0
"""Elo, about the mean of the field: with wins alone there would be no end to the rating."""

_STEPS: Final = 100
_CLOSE: Final = 1e-7
_FARTHEST: Final = 200.0
"""Elo that a difference may move in one step: within it Newton's step always leads uphill."""
_JITTER: Final = 1e-4
"""Elo^2: keeps ratings that are known exactly apart from a division by zero."""


class Place(NamedTuple):
    """A rating on the scale of the opponents'.

    :ivar half_width: half of the 95 % interval, Elo
    :ivar least_half_width: what would be left of it after any number of games: what the venue does not know
    :ivar leads: mean and standard deviation of the version's strength minus that of each opponent, Elo
    """

    elo: float
    half_width: float
    least_half_width: float
    leads: tuple[tuple[float, float], ...]


def information(ahead: float, draws: float) -> float:
    """What a game of one who is so many Elo ahead tells of its strength, 1/Elo^2.

    :param draws: the share of their games that equals draw, 0..1 (below 1)
    """
    return step(ahead, 0.5, draw=draw_parameter(draws)).weight


def place(asked: Gauntlet, tally: Tally, ratings: JointRatings | None = None) -> Place:
    """The most likely rating by the pairs that count, and how sure it is.

    The unknowns are the version's strength, those of its opponents, and what the first move is worth. Before the games
    the latter two are normal, as the venue knows them; the games are taken by the ratings' own model of wins and draws.
    The interval is the normal one at the maximum, by the second derivatives (Laplace), with the opponents and the first
    move integrated out.

    :param ratings: in the order of the field; None: ratings as they were when it was asked count as known, and the
        first move as worth nothing
    """
    m = len(asked.field)
    if ratings is None:
        ratings = JointRatings(np.array([opponent.rating for opponent in asked.field]), np.zeros((m, m)))
    start = np.array([ratings.means.mean(), *ratings.means, ratings.first_move])
    prior = np.diag([PRIOR_SD**2, *[0.0] * m, ratings.first_move_sd**2])
    prior[1:-1, 1:-1] = ratings.covariance
    # One row for each opponent and color: the version's strength minus the opponent's, and the first move.
    rows = np.hstack((np.ones((2 * m, 1)), -np.repeat(np.eye(m), 2, axis=0), np.tile([[1.0], [-1.0]], (m, 1))))
    scores = [tally.score(opponent.version, color) for opponent in asked.field for color in Color]
    wins, draws, losses = np.array(scores, dtype=np.float64).T
    nu, found = draw_parameter(asked.draws), start.copy()
    free = np.flatnonzero(np.diagonal(prior))  # what is known exactly stays where it is, and costs nothing
    among, moving = prior[np.ix_(free, free)], rows[:, free]
    for _ in range(_STEPS):
        likelihood = log_likelihood(rows @ found, wins, draws=draws, losses=losses, draw=nu)
        scaled = np.eye(len(free)) - among @ (moving.T @ (likelihood.bend[:, None] * moving))
        move = np.linalg.solve(scaled, among @ (moving.T @ likelihood.slope) - (found - start)[free])
        farthest = float(np.abs(moving @ move).max(initial=0.0))
        found[free] += move * min(1.0, _FARTHEST / max(farthest, _CLOSE))
        if farthest < _CLOSE:
            break
    covariance = np.zeros_like(prior)
    covariance[np.ix_(free, free)] = np.linalg.solve(scaled, among)
    variances = covariance[0, 0] + np.diagonal(covariance) - 2.0 * covariance[0]
    leads = zip((found[0] - found).tolist(), np.sqrt(np.maximum(variances, _JITTER)).tolist(), strict=True)
    pool = float(np.linalg.solve(ratings.covariance + _JITTER * np.eye(m), np.ones(m)).sum())
    half_width, least = Z95 * sqrt(covariance[0, 0]), Z95 / sqrt(pool + PRIOR_SD**-2.0)
    return Place(float(found[0]), half_width, least, tuple(leads)[1:-1])
