"""Whoever rates the versions of a ladder, as its matchmaker sees them: a rating system of the server, one that knows
from the beginning how strong everybody is, or the oracle, which is told the distribution of the strengths.

Must not know: who meets whom, the clockwork, what true strengths are but where it is told them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Knowledge
from cgos_server.core.rating.base import Outcome, Rating, normal_rating
from cgos_server.lab.ladder.players import Players
from cgos_server.lab.ratings.matchmakers import knowledge
from cgos_server.lab.ratings.pools import Floats
from cgos_server.lab.ratings.runs import Driven
from cgos_server.lab.ratings.told import Told

KNOWN: Final = "known"
TOLD: Final = "told"
"""Words beside those of the rating systems."""

KNOWN_SD: Final = 40.0
"""How well strengths are known from the beginning, standard deviation, Elo."""

WELL_KNOWN: Final = 1000
"""Games."""


class Rater(Protocol):
    """:ivar learns: its ratings follow from the games
    :ivar sure: its spread is a standard deviation, Elo
    """

    learns: bool
    sure: bool

    def enter(self, version: int, ready: Iterable[VersionId], now: float) -> None:
        """The next version joins while these are ready to play; `now` in seconds."""

    def game(self, black: int, white: int, score2: int, repeat: bool, now: float) -> None:
        """A game has ended; `repeat`: it was the very same as one before. Refits follow at once."""

    def ratings(self) -> Sequence[Rating]:
        """Of all who have joined, by number."""

    def knowledge(self, versions: Sequence[VersionId]) -> Knowledge | None:
        """What is known of these together, if anything is."""

    def predict(self, black: int, white: int) -> Outcome | None:
        """Their next game; None where it does not say."""


class Known:
    """Strengths are known to KNOWN_SD from the beginning, and nothing is learned."""

    learns = False
    sure = True

    def __init__(self, values: Floats) -> None:
        """:param values: (n,) what is known of all who ever play, Elo"""
        self._ratings = [Rating(value, KNOWN_SD, WELL_KNOWN, provisional=False) for value in values.tolist()]

    def enter(self, version: int, ready: Iterable[VersionId], now: float) -> None:
        pass

    def game(self, black: int, white: int, score2: int, repeat: bool, now: float) -> None:
        pass

    def ratings(self) -> Sequence[Rating]:
        return self._ratings

    def knowledge(self, versions: Sequence[VersionId]) -> Knowledge | None:  # noqa: ARG002
        return None

    def predict(self, black: int, white: int) -> Outcome | None:  # noqa: ARG002
        return None


class BySystem:
    """A rating system, told of anchors, predecessors and results as by a server.

    With CGOS's own rules (`compat`) a newcomer begins at the mean of those who are ready, as on CGOS and on the server.
    """

    learns = True

    def __init__(self, players: Players, name: str, options: Mapping[str, Any]) -> None:
        self.driven = Driven(name, options)
        self.sure = self.driven.system.sure
        self._players = players
        self._at_mean = name == "cgos-elo" and bool(options.get("compat"))
        self._ratings: Sequence[Rating] = ()

    def enter(self, version: int, ready: Iterable[VersionId], now: float) -> None:
        players, driven = self._players, self.driven
        anchored = float(players.truth[version]) if version in players.anchors else None
        start, waiting = None, list(ready)
        if self._at_mean and waiting and version >= players.present:
            rows = self.ratings()
            start = math.fsum(rows[each].mean for each in waiting) / len(waiting)
        driven.at_ms = round(1000.0 * now)
        driven.enter(anchored, predecessor=players.predecessors[version], start=start)
        self._ratings = ()
        if driven.versions >= players.present:
            driven.refit_if_due()

    def game(self, black: int, white: int, score2: int, repeat: bool, now: float) -> None:
        self.driven.at_ms = round(1000.0 * now)
        self.driven.game(black, white, score2, repeat)
        self.driven.refit_if_due()
        self._ratings = ()

    def ratings(self) -> Sequence[Rating]:
        if not self._ratings:
            standings = self.driven.system.standings(self.driven.state)
            self._ratings = [standings[VersionId(number)] for number in range(self.driven.versions)]
        return self._ratings

    def knowledge(self, versions: Sequence[VersionId]) -> Knowledge | None:
        return knowledge(self.driven, versions)

    def predict(self, black: int, white: int) -> Outcome | None:
        return self.driven.system.predict(self.driven.state, VersionId(black), VersionId(white))


class Oracle:
    """An estimator that is told the distribution of the true strengths; it begins again from all results after every
    n/2 of them, as often as a rating system is refitted.

    Who has not joined yet does not matter to the others.
    """

    learns = True
    sure = True

    def __init__(self, players: Players) -> None:
        self._players = players
        self._told = Told(players.prior.copy(), {at: float(players.truth[at]) for at in players.anchors})
        self._joined = 0
        self._games = [0] * players.all
        self._new: list[tuple[int, int, int]] = []
        self._mean, self._covariance = self._told.posterior()
        self._ratings: Sequence[Rating] = ()

    def enter(self, version: int, ready: Iterable[VersionId], now: float) -> None:  # noqa: ARG002
        self._joined = version + 1
        self._ratings = ()

    def game(self, black: int, white: int, score2: int, repeat: bool, now: float) -> None:  # noqa: ARG002
        self.note(black, white, score2, repeat)
        if len(self._new) >= max(1.0, self._joined / 2):
            self.catch_up()

    def note(self, black: int, white: int, score2: int, repeat: bool) -> None:
        """A result that is counted later; that of a repeated game says nothing new."""
        if not repeat:
            self._new.append((black, white, score2))
        for version in (black, white):
            self._games[version] += 1

    def catch_up(self) -> None:
        """Count all results so far."""
        if self._new:
            self._told.count(self._new)
            self._new = []
            self._mean, self._covariance = self._told.posterior()
            self._ratings = ()

    def ratings(self) -> Sequence[Rating]:
        if not self._ratings:
            sds = np.sqrt(self._covariance.diagonal())
            self._ratings = [
                normal_rating(
                    float(self._mean[version]),
                    float(sds[version]),
                    games=self._games[version],
                    provisional=not self._games[version],
                    anchor=version in self._players.anchors,
                )
                for version in range(self._joined)
            ]
        return self._ratings

    def knowledge(self, versions: Sequence[VersionId]) -> Knowledge | None:
        of = list(versions)
        free = [version for version in range(self._joined) if version not in self._players.anchors]
        across = self._covariance[np.ix_(of, free)]
        return Knowledge(self._covariance[np.ix_(of, of)], across @ across.T)

    def predict(self, black: int, white: int) -> Outcome | None:  # noqa: ARG002
        return None


def rater(players: Players, name: str, options: Mapping[str, Any], luck: np.random.Generator) -> Rater:
    """The one of this word.

    :param luck: from where what is known of the strengths is drawn
    :raises Refused: where there is no such rating system, or no such option
    """
    if name == KNOWN:
        return Known(players.truth + luck.normal(0.0, KNOWN_SD, players.all))
    return Oracle(players) if name == TOLD else BySystem(players, name, options)
