"""Ladders in which somebody asks about a new version B and the old one, A, by the server's matchmaker and ratings.

Versions come in pairs of A and B. All play a number of rounds, from a cold start; there are no anchors. Must not know:
what is asked, tests.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.random import Generator

from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.lab.questions.asked import Bools, Game
from cgos_server.lab.ratings.draws import Strengths
from cgos_server.lab.ratings.matchmakers import Rounds
from cgos_server.lab.ratings.pools import Colors, Floats
from cgos_server.lab.ratings.runs import Driven

SYSTEM: Final = "bayes"
MATCHMAKER: Final = "information"

REFIT: Final = 10
"""After so many rounds, and after the last one, everything is fitted anew. A server does so more often; between refits
every result counts by one step, and nothing but who meets whom depends on it here."""


class Ladder(NamedTuple):
    """A ladder after its rounds.

    :ivar truth: (n,) strengths, Elo; those of A and B of each pair one after the other
    """

    driven: Driven
    truth: Floats

    @property
    def pairs(self) -> int:
        """Of A and B."""
        return len(self.truth) // 2

    @property
    def differences(self) -> Floats:
        """(pairs,) by how much B is stronger in truth, Elo."""
        return np.asarray(self.truth[1::2] - self.truth[::2])

    @property
    def leads(self) -> Bools:
        """(pairs,) whether B's rating is above A's."""
        ratings, _ = self.driven.ratings()
        return np.asarray(ratings[1::2] > ratings[::2])

    @property
    def system(self) -> PosteriorFold[Any]:
        """That rates."""
        assert isinstance(self.driven.system, PosteriorFold)
        return self.driven.system


def played(rng: Generator, strengths: Strengths, game: Game, rounds: int) -> Ladder:
    """A ladder of these versions, with so many games of each.

    :param strengths: an even number of them; predecessors are told to the ladder
    """
    driven, colors = Driven(SYSTEM), Colors(rng)
    meetings = Rounds(MATCHMAKER, {}, rng)
    for predecessor in strengths.predecessors:
        driven.enter(predecessor=predecessor)
    driven.refit(cold=True)
    for number in range(1, rounds + 1):
        for pair in meetings.pairs(driven):
            first, second = colors.first(*pair)
            meetings.began(first, second)
            difference = float(strengths.truth[first] - strengths.truth[second])
            driven.game(first, second, game.on_one_opening(rng, difference, 1)[0])
        if number == REFIT and number < rounds:
            driven.refit(cold=True)
    driven.refit(cold=True)
    return Ladder(driven, strengths.truth)
