"""Fields shaped like those of Go tournaments: who enters, with which grade, and how strong everybody is.

Drawn, as the fields of Vuorinen (2010) are not published. Must not know: systems, what a tournament is worth.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from cgos_server.core.pairing.methods.entropy import gor_win
from cgos_server.tournaments.base import Entrant, Floats, Game
from cgos_server.tournaments.simulation.one_event import Chances
from cgos_server.tournaments.standings.grades import GRADES, grade_index

MEAN: Final = 1600.0
SPREAD: Final = 550.0
LEAST: Final = 100.0
MOST: Final = 2700.0
"""True strengths, in GoR points, are normal with this mean (5 kyu) and standard deviation, drawn again until they are
from 20 kyu to 7 dan."""

NOISE: Final = 100.0
"""Standard deviation of a rating round the strength: a grade."""

_LOWEST: Final = grade_index(GRADES[0])


class Field(NamedTuple):
    """Who takes part.

    :ivar strengths: (n,) true ones, GoR points, of entrants 1, 2...
    """

    entrants: tuple[Entrant, ...]
    strengths: Floats


def field_of(size: int, rng: Generator) -> Field:
    """A field, in the order of registration, which is by lot. Ratings are held from 20 kyu to 7 dan, and rounded; the
    grade is the one whose middle is next."""
    strengths = np.empty(0)
    while len(strengths) < size:
        more = rng.normal(MEAN, SPREAD, size)
        strengths = np.concatenate([strengths, more[(more >= LEAST) & (more <= MOST)]])[:size]
    ratings = np.rint(np.clip(strengths + rng.normal(0.0, NOISE, size), LEAST, MOST))
    grades = [GRADES[int(np.floor((rating - LEAST) / 100.0 + 0.5)) - _LOWEST] for rating in ratings.tolist()]
    entrants = tuple(
        Entrant(id=at, name=f"player-{at}", rating=rating, grade=grade)
        for at, (rating, grade) in enumerate(zip(ratings.tolist(), grades, strict=True), 1)
    )
    return Field(entrants, strengths)


def chances_of(field: Field) -> Chances:
    """What decides its games: GoR's curve without epsilon, by true strengths. No draws, and colors mean nothing."""
    wins = gor_win(field.strengths[:, None], field.strengths)

    def chances(game: Game) -> tuple[float, float]:
        win = float(wins[game.white - 1, game.black - 1])
        return win, win

    return chances
