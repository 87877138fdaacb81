"""What one difference of strength makes of results: Bradley-Terry with Davidson's draws and a first-move advantage.

Decides the probabilities of win, draw and loss and the log likelihood of counted results with its derivatives. Must not
know: versions, priors, or how a posterior is computed.

With z = q (d + h), q = ln 10 / 400, P(win) : P(draw) : P(loss) = e^(z/2) : nu : e^(-z/2) (Bradley & Terry 1952,
Davidson 1970), so that log P = m z - log(e^(z/2) + nu + e^(-z/2)) (+ ln nu for a draw), m = 1/2, 0, -1/2. The logarithm
in it, the log normalizer, is even and convex in z: all that follows is made of it and of its derivatives.
"""

from __future__ import annotations

from math import copysign, exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .pool import Q_ELO, Floats


class Probabilities(NamedTuple):
    """Of the side with the first move; each of the shape of the differences asked for, 0..1, sum 1."""

    win: Floats
    draw: Floats
    loss: Floats


class LogLikelihood(NamedTuple):
    """Of counted results at a difference: in nats, and its derivatives by the difference, 1/Elo and 1/Elo^2."""

    value: Floats
    slope: Floats
    bend: Floats


class Step(NamedTuple):
    """One result's slope g and weight w (minus the second derivative of its log likelihood), 1/Elo and 1/Elo^2."""

    slope: float
    weight: float


class Normalizer(NamedTuple):
    """log(e^(z/2) + nu + e^(-z/2)) with its first two derivatives in z, and the probability of a draw."""

    value: Floats
    slope: Floats
    bend: Floats
    drawn: Floats


def log_normalizer(z: Floats, draw: float) -> Floats:
    """The value alone: log(e^(z/2) + nu + e^(-z/2)) for any finite z, `draw` = nu >= 0."""
    half = np.abs(z)
    half *= 0.5
    if draw == 0.0:
        u = np.exp(-2.0 * half)
        u += 1.0
    else:
        u = np.exp(-half)
        u = (u + draw) * u
        u += 1.0
    return np.log(u) + half


def curvature(z: Floats, draw: float) -> tuple[Floats, Floats]:
    """First and second derivative of the log normalizer at any z, `draw` = nu >= 0."""
    if draw == 0.0:
        u = np.exp(-np.abs(z))
        p = 1.0 / (1.0 + u)
        return np.copysign(p - 0.5, z), u * p * p
    slope, bend, _ = curvature_and_draws(z, draw)
    return slope, bend


def curvature_and_draws(z: Floats, draw: float) -> tuple[Floats, Floats, Floats]:
    """The same, and the probability of a draw, which is what the value changes by with ln nu."""
    u = np.exp(-0.5 * np.abs(z))
    square = u * u
    total = 1.0 + draw * u + square
    slope = np.copysign(0.5 * (1.0 - square) / total, z)
    bend = u * (draw * (1.0 + square) + 4.0 * u) / (4.0 * total * total)
    return slope, bend, draw * u / total


def normalizer(z: Floats, draw: float) -> Normalizer:
    """Value, derivatives and the probability of a draw at any finite z, `draw` = nu >= 0."""
    return Normalizer(log_normalizer(z, draw), *curvature_and_draws(z, draw))


def draw_parameter(share: float) -> float:
    """Davidson's nu with which equals draw this share, 0..1 (below 1), of their games."""
    return 2.0 * share / (1.0 - share)


def drawn_between_equals(draw: float) -> float:
    """The share of their games, 0..1, that equals draw; `draw` = nu >= 0."""
    return draw / (2.0 + draw)


def probabilities(d: ArrayLike, advantage: float = 0.0, draw: float = 0.0) -> Probabilities:
    """What the side with the first move may expect.

    :param d: its strength minus the other's, Elo; any shape, any finite value
    :param advantage: h, what the first move is worth, Elo
    :param draw: Davidson's nu >= 0; 0: no draws
    """
    z = Q_ELO * (np.asarray(d, dtype=np.float64) + advantage)
    u = np.exp(-0.5 * np.abs(z))
    better, drawn, worse = np.ones_like(u), draw * u, u * u
    total = better + drawn + worse
    ahead = z >= 0
    return Probabilities(np.where(ahead, better, worse) / total, drawn / total, np.where(ahead, worse, better) / total)


def log_likelihood(
    d: ArrayLike,
    wins: ArrayLike,
    draws: ArrayLike,
    losses: ArrayLike,
    advantage: float = 0.0,
    draw: float = 0.0,
) -> LogLikelihood:
    """Of the results of cells (first mover, second mover), counted in the first mover's view; broadcasts.

    With nu = 0 a drawn game counts as half a win and half a loss: nothing has been learned of draws yet.

    :param d: first mover's strength minus second mover's, Elo
    :param wins: games that the first mover won, >= 0; `draws` and `losses` alike
    :param advantage: h, Elo
    :param draw: Davidson's nu >= 0
    """
    w, t, lost = (np.asarray(each, dtype=np.float64) for each in (wins, draws, losses))
    z = Q_ELO * (np.asarray(d, dtype=np.float64) + advantage)
    games, margin = w + t + lost, 0.5 * (w - lost)
    part = normalizer(z, draw)
    value = margin * z - games * part.value
    if draw > 0:
        value = value + t * log(draw)
    return LogLikelihood(value, Q_ELO * (margin - games * part.slope), -Q_ELO * Q_ELO * games * part.bend)


def step(d: float, score: float, advantage: float = 0.0, draw: float = 0.0) -> Step:
    """One result's derivatives, as plain floats: what the step of the mean after a single game is made of.

    :param d: first mover's strength minus second mover's, Elo
    :param score: the first mover's: 1, 0.5 or 0
    """
    z = Q_ELO * (d + advantage)
    u = exp(-0.5 * abs(z))
    total = 1.0 + draw * u + u * u
    slope = copysign(0.5 * (1.0 - u * u) / total, z)
    bend = u * (draw * (1.0 + u * u) + 4.0 * u) / (4.0 * total * total)
    return Step(Q_ELO * (score - 0.5 - slope), Q_ELO * Q_ELO * bend)
