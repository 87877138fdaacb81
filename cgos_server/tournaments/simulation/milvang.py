"""How a game of chess between two strengths ends: an empirical model with draws and White's advantage.

For simulations, never to rate anybody. Must not know: tournaments.

Source: O. Milvang, "Probability for the outcome of a chess game based on rating" (2016), a fit to almost four million
games. The rating noise is a reconstruction, see :func:`rating_sd`.
"""

from __future__ import annotations

import numpy as np

from cgos_server.tournaments.base import Floats

LEAST, MOST = 0.0, 3000.0
"""The mean strength is held between them (our choice): above 3457 the fit has negative probabilities. Engines above
2800 or so are beyond the games behind it."""


def chances_of(white: Floats, black: Floats) -> tuple[Floats, Floats, Floats]:
    """How likely White wins, nobody does, Black wins, in many games: arrays of one shape in and out.

    :param white: strengths in Elo
    :param black: likewise
    """
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
