"""How a game of chess between two strengths ends: an empirical model with draws and White's advantage.

For simulations and tests, never to rate anybody. Must not know: tournaments.

Source: O. Milvang, "Probability for the outcome of a chess game based on rating" (2016), a fit to almost four million
games. The rating noise is a reconstruction, see :func:`rating_sd`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cgos_server.core.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Floats, Result

LEAST, MOST = 0.0, 3000.0
"""The mean strength is held between them (our choice): above 3457 the fit has negative probabilities. Engines above
2800 or so are beyond the games behind it."""


class Chances(NamedTuple):
    """Probabilities; their sum is 1."""

    white: float
    draw: float
    black: float


def chances(white: float, black: float) -> Chances:
    """How likely White wins, nobody does, Black wins.

    :param white: strength in Elo
    :param black: likewise
    """
    return Chances(*(float(each[0]) for each in chances_of(np.array([white]), np.array([black]))))


def chances_of(white: Floats, black: Floats) -> tuple[Floats, Floats, Floats]:
    """The same of many games at once: arrays of one shape in and out."""
    mean = np.clip((white + black) / 2.0, LEAST, MOST)
    ahead = white - black
    drawish = np.maximum(0.0, (mean - 1200.0) / 1200.0)
    drawish = drawish * drawish
    wins = _rising(
        ahead, low=-1492.0 + 0.391 * mean, center=40.0, high=1691.0 - 0.428 * mean, at_center=0.45 - 0.10 * drawish
    )
    # Black's chance falls as White's rises: the same curve seen from the other side.
    loses = _rising(
        -ahead, low=-(1428.0 - 0.388 * mean), center=80.0, high=1753.0 - 0.416 * mean, at_center=0.46 - 0.13 * drawish
    )
    draws = 1.0 - wins - loses
    below = draws < 0.0
    total = np.where(below, wins + loses, 1.0)
    return wins / total, np.where(below, 0.0, draws), loses / total


def outcome(chances: Chances, drawn: float) -> Result:
    """What came of a game.

    :param drawn: uniform in [0, 1): from below White wins, then the draws, then Black
    """
    if drawn < chances.white:
        return WHITE_WINS
    return DRAWN if drawn < chances.white + chances.draw else BLACK_WINS


def rating_sd(strength: Floats) -> Floats:
    """Standard deviation of a published rating round the true strength, in Elo: 100 at 1000, 0 from 3000 on.

    Sauer, Cseh & Lenzner (2022) draw ratings so, but their formula is lost; this line fits their table of mean
    Kendall taus.
    """
    return np.maximum(0.0, 150.0 - strength / 20.0)


def _rising(ahead: Floats, low: Floats, center: float, high: Floats, at_center: Floats) -> Floats:
    """0 up to `low`, two parabolas that meet at (`center`, `at_center`), 1 from `high` on."""
    left = np.maximum(0.0, (ahead - low) / (center - low))
    right = np.maximum(0.0, (high - ahead) / (high - center))
    curve: Floats = np.where(ahead <= center, at_center * (left * left), 1.0 - (1.0 - at_center) * (right * right))
    return curve
