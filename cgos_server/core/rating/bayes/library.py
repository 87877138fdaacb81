"""The headline rating for anybody with results in hand: names in, ratings with intervals out.

Decides nothing that the engine does not: it turns names into indices and results into counts. Must not know: ledgers,
venues, refits.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import isfinite

from cgos_server.core.rating.base import Z95, Outcome
from cgos_server.core.rating.posterior_state import Known

from . import fit as engine
from .belief import Belief, head
from .pool import Prior
from .state import Cells, pool_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A rating and how sure it is; ``str()`` of it is ``1873 ± 42``, the 95 % interval.

    :ivar mean: Elo
    :ivar sd: standard deviation, Elo
    :ivar games: how many games of this name were counted
    :ivar anchor: True where the rating was given by :meth:`BradleyTerry.anchor`
    """

    mean: float
    sd: float
    games: int
    anchor: bool = False

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval."""
        return self.mean - Z95 * self.sd, self.mean + Z95 * self.sd

    def __str__(self) -> str:
        return f"{self.mean:.0f} ± {Z95 * self.sd:.0f}"


class BradleyTerry:
    """Ratings from game results, with their uncertainty.

    A Bradley-Terry model (1952) with draws after Davidson (1970), an advantage of the first move and a prior whose
    shape is learned from the pool. What may be asked is fitted first, where something was added since the last time.

    >>> from cgos_server.core.rating import BradleyTerry
    >>> pool = BradleyTerry()
    >>> pool.anchor("GNU Go", 1800)
    >>> pool.add("GNU Go", "newcomer", 0, games=8)
    >>> pool.add("newcomer", "GNU Go", 1, games=9)
    >>> pool.add("newcomer", "GNU Go", 0, games=5)
    >>> pool.add("newcomer", "rival", 0, games=4)
    >>> pool.add("rival", "newcomer", 0, games=3)
    >>> print(pool.rating("newcomer"))
    2050 ± 182
    >>> round(pool.superiority("rival", "newcomer"), 2)
    0.61
    >>> round(pool.predict("newcomer", "GNU Go").win, 2)
    0.72

    :param initial: where the pool is expected, Elo. Without anchors the mean of all names is held there
    :param learned: False: a fixed normal prior with standard deviation `prior_sd`, in place of the learned one
    :param advantage_sd: standard deviation, in Elo, of what the first move may be worth; 0: nothing
    """

    def __init__(
        self, initial: float = 2000.0, *, learned: bool = True, prior_sd: float = 500.0, advantage_sd: float = 50.0
    ) -> None:
        if not (isfinite(initial) and isfinite(prior_sd) and prior_sd > 0 and 0 <= advantage_sd < float("inf")):
            raise ValueError(
                "The pool's initial rating and the standard deviations must be finite, and the prior wide."
            )
        self._prior = Prior(
            initial=float(initial), learned=learned, sd=float(prior_sd), advantage_sd=float(advantage_sd)
        )
        self._index: dict[Hashable, int] = {}
        self._games: list[int] = []
        self._anchors: dict[int, tuple[float, float]] = {}
        self._cells = Cells()
        self._belief: Belief | None = None

    def anchor(self, name: Hashable, value: float, sd: float = 1.0) -> None:
        """The rating of `name` is known: `value` Elo, to `sd` Elo. Raises ValueError for any other numbers."""
        if not isfinite(value) or not (isfinite(sd) and sd > 0):
            raise ValueError(f"{name!r} cannot be an anchor at {value} ± {sd}: give a number and an sd above 0.")
        self._anchors[self._entered(name)] = float(value), float(sd)
        self._belief = None

    def add(self, first: Hashable, second: Hashable, score: float, games: int = 1) -> None:
        """Count `games` games in which `first` had the first move and scored `score`: 1, 0.5 or 0.

        A negative number of games takes so many of the same kind back. Raises ValueError for another score, for a name
        that plays itself, and where there are not as many games to take back.
        """
        if score not in (0, 0.5, 1):
            raise ValueError(f"A game is scored 1, 0.5 or 0 for the side that moves first, not {score}.")
        if first == second:
            raise ValueError(f"{first!r} cannot play itself.")
        if not isfinite(games) or games != int(games):
            raise ValueError(f"The number of games must be whole, not {games}.")
        if games < 0 and not (first in self._index and second in self._index):
            raise ValueError(f"{first!r} and {second!r} have no such games to take back.")
        a, b = self._entered(first), self._entered(second)
        if games and not self._cells.add(a, b, int(2 * score), int(games)):
            raise ValueError(f"{first!r} and {second!r} have fewer than {-games} such games to take back.")
        self._games[a] += int(games)
        self._games[b] += int(games)
        self._belief = None

    def fit(self) -> BradleyTerry:
        """Fit now, from the counts alone; the order of results does not matter. Returns the pool itself."""
        anchors = tuple((at, *self._anchors[at]) for at in sorted(self._anchors))
        n = len(self._games)
        posterior = engine.cold(pool_of(Known(n, anchors, (), ()), self._prior, self._cells.copy()))
        x, C = head(posterior.x, n), head(posterior.C, n)
        self._belief = Belief(x=x, C=C, ends=posterior.ends, hyper=posterior.hyper, prior=self._prior, established=None)
        return self

    def rating(self, name: Hashable) -> Estimate:
        """Where `name` stands. Raises KeyError for a name that has neither games nor an anchor."""
        at = self._at(name)
        if at in self._anchors:
            mean, sd = self._anchors[at]
            return Estimate(mean=mean, sd=sd, games=self._games[at], anchor=True)
        mean, sd, *_ = self._fitted().shown(at, centered=not self._anchors)
        return Estimate(mean=mean, sd=sd, games=self._games[at])

    def standings(self) -> dict[Hashable, Estimate]:
        """Every name's rating, the strongest first."""
        ratings = {name: self.rating(name) for name in self._index}
        return dict(sorted(ratings.items(), key=lambda item: -item[1].mean))

    def superiority(self, one: Hashable, other: Hashable) -> float:
        """The probability (0..1) that `one` is stronger than `other`. Raises KeyError for an unknown name."""
        a, b = self._at(one), self._at(other)
        return self._fitted().superiority(a, b, centered=not self._anchors)

    def predict(self, first: Hashable, second: Hashable) -> Outcome:
        """Probabilities that `first`, moving first, wins, draws and loses. Raises KeyError for an unknown name."""
        a, b = self._at(first), self._at(second)
        return self._fitted().outcome(a, b)

    def _fitted(self) -> Belief:
        if self._belief is None:
            self.fit()
        assert self._belief is not None
        return self._belief

    def _entered(self, name: Hashable) -> int:
        at = self._index.setdefault(name, len(self._index))
        if at == len(self._games):
            self._games.append(0)
        return at

    def _at(self, name: Hashable) -> int:
        at = self._index.get(name)
        if at is None:
            raise KeyError(f"{name!r} is not in this pool: it has neither games nor an anchor.")
        return at
