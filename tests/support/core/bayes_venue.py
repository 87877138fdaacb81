"""A ledger that writes itself, folded by the headline rating as it grows."""

from __future__ import annotations

from typing import Any

import numpy as np

from cgos_server.core.rating.base import Entry, Kind, Rating
from cgos_server.core.rating.bayes.system import Bayes

BAYES = Bayes(2000.0)
FIXED = Bayes(2000.0, learned=False)


class Venue:
    """Writes entries and folds them."""

    def __init__(self, system: Bayes = BAYES) -> None:
        self.system = system
        self.state = system.start()
        self.entries: list[Entry] = []

    def say(self, kind: Kind, version: int | None = None, **fields: Any) -> tuple[Any, ...]:
        entry = Entry(len(self.entries) + 1, kind, version, **fields)
        self.state, changes = self.system.fold(self.state, entry)
        self.entries.append(entry)
        return changes

    def enter(self, *versions: int, **fields: Any) -> None:
        for version in versions:
            self.say(Kind.ENTER, version, **fields)

    def joined(self) -> None:
        """Everybody who entered joins now, in that order, as if something were known of them."""
        for version in list(self.state.waiting):
            self.state.join(version, self.state.seq, 0)

    def anchor(self, version: int, value: float, **fields: Any) -> None:
        self.say(Kind.ANCHOR, version, value=value, **fields)

    def game(self, black: int, white: int, score2: int, **fields: Any) -> tuple[Any, ...]:
        return self.say(Kind.GAME, black=black, white=white, score2=score2, **fields)

    def play(self, black: int, white: int, results: str) -> None:
        """``+`` Black wins, ``-`` loses, ``=`` draw; colors alternate, the result is always `black`'s."""
        for number, result in enumerate(results):
            score2 = "-=+".index(result)
            if number % 2:
                self.game(white, black, 2 - score2)
            else:
                self.game(black, white, score2)

    def refit(self, cold: bool = True) -> Any:
        fit = self.system.refit(self.system.job(self.state, cold))
        self.state = self.system.install(self.state, fit)
        return fit

    def ratings(self) -> dict[int, Rating]:
        return dict(self.system.standings(self.state))

    def difference(self, first: int, second: int) -> tuple[float, float]:
        """Mean and variance by the joint distribution."""
        return self.state.belief.joint_difference(self.state.index[first], self.state.index[second])


def pool(seed: int, n: int, games: int, anchors: int = 2, system: Bayes = BAYES) -> tuple[Venue, dict[int, float]]:
    """n versions 1..n from N(2000, 350) and random games; the first ones are anchors."""
    rng = np.random.default_rng(seed)
    true = {version: float(rng.normal(2000, 350)) for version in range(1, n + 1)}
    venue = Venue(system)
    venue.enter(*true)
    venue.joined()
    for version in range(1, anchors + 1):
        venue.anchor(version, true[version])
    for entry in random_games(rng, true, games):
        venue.game(*entry)
    return venue, true


def random_games(rng: np.random.Generator, true: dict[int, float], games: int) -> list[tuple[int, int, int]]:
    results = []
    for _ in range(games):
        a, b = (int(number) for number in rng.choice(list(true), 2, replace=False))
        won = rng.random() < 1 / (1 + 10 ** ((true[b] - true[a]) / 400))
        results.append((a, b, 2 if won else 0))
    return results
