"""One replicate of a pool of the goals: what a rating system, or an estimator that is told everything, makes of it.

Runs on the rating systems of whatever tree stands on the path (`tree_child.py`), older ones included. Must not know:
tables, goals, other replicates.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.ratings.goal_pools import GOAL_POOLS, Game, GoalPool, Record, read
from benchmarks.ratings.rating_newcomers import newcomers_run, told_run
from benchmarks.ratings.rating_pools import POOLS, Floats, generator
from benchmarks.ratings.rating_runs import Driven, aligned
from benchmarks.ratings.told import Told
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.posterior_fold import PosteriorFold

SAID = ((0.7, 0.8), (0.8, 0.9), (0.9, 0.95))
"""Probabilities of superiority, from and below, whose truth is looked at."""


class View(NamedTuple):
    """What is said of the versions that are looked at.

    :ivar mean: (n,) Elo
    :ivar lower: (n,) where the 95 % intervals begin, Elo
    :ivar upper: (n,) where they end
    :ivar sd: (n, n) of the differences, Elo
    :ivar superior: (n, n) probability that the one of the row is the stronger
    """

    mean: Floats
    lower: Floats
    upper: Floats
    sd: Floats
    superior: Floats


class Rated(Protocol):
    """Whoever rates a pool."""

    def games(self, games: Sequence[Game]) -> None:
        """The results of a round."""

    def ratings(self) -> Floats:
        """(n,) of all versions, Elo."""

    def view(self, which: Sequence[int]) -> View:
        """What is said of these versions."""


class BySystem:
    """`bayes` of the tree on the path, told of anchors and predecessors as by a server."""

    def __init__(self, pool: GoalPool, record: Record) -> None:
        self.driven = Driven("bayes")
        truth, predecessors = record.strengths
        for number, predecessor in enumerate(predecessors):
            value = float(truth[number]) if number in record.fixed else None
            self.driven.enter(value, predecessor=predecessor if pool.stated else None)
        self.driven.refit_if_due()

    def games(self, games: Sequence[Game]) -> None:
        for first, second, score in games:
            self.driven.game(first, second, score)
        self.driven.refit_if_due()

    def ratings(self) -> Floats:
        return self.driven.ratings()[0]

    def view(self, which: Sequence[int]) -> View:
        system, state = self.driven.system, self.driven.state
        assert isinstance(system, PosteriorFold)
        n = len(which)
        sd, superior = np.ones((n, n)), np.full((n, n), 0.5)
        for row, column in itertools.combinations(range(n), 2):
            one, other = VersionId(which[row]), VersionId(which[column])
            sd[row, column] = sd[column, row] = system.difference(state, one, other)[1]
            superior[row, column] = system.superiority(state, one, other)
            superior[column, row] = 1.0 - superior[row, column]
        lower, upper = self.driven.intervals()
        return View(self.ratings()[which], lower[which], upper[which], sd, superior)


class ByTold:
    """An estimator that is told the true distribution of the strengths."""

    def __init__(self, pool: GoalPool, record: Record) -> None:
        assert pool.prior is not None
        truth = record.strengths.truth
        self._told = Told(pool.prior(len(truth)), {at: float(truth[at]) for at in record.fixed}, pool.nu)

    def games(self, games: Sequence[Game]) -> None:
        self._told.count(games)

    def ratings(self) -> Floats:
        return self._told.mode

    def view(self, which: Sequence[int]) -> View:
        means, all_covariances = self._told.posterior()
        mean, covariance = means[which], all_covariances[np.ix_(which, which)]
        variance = covariance.diagonal()
        sd = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 1e-12))
        half = Z95 * np.sqrt(variance)
        return View(mean, mean - half, mean + half, sd, _normal((mean[:, None] - mean[None, :]) / sd))


def figures(view: View, truth: Floats) -> dict[str, Any]:
    """How far off that is. `truth`: (n,) of the same versions.

    ``mse``: mean square error, the mean offset removed; ``offset``: the mean error; ``inside``: share of the 95 %
    intervals that hold the truth; ``halfwidth``: their mean half; ``pairs``: share of the differences' 95 % intervals
    that hold the truth; ``said``: by the bins of SAID [pairs, pairs in which that is so]; ``undecided``: share of pairs
    said from the first to the last of SAID; ``superior``: mean probability of the stronger by rating in a pair, and
    the share in which it is; ``star``: [mean, lower, upper] of the strongest.
    """
    error = view.mean - truth
    row, column = np.triu_indices(len(truth), 1)
    apart = np.abs(error[row] - error[column])
    superior = view.superior[row, column]
    truly: NDArray[np.bool_] = (truth[row] > truth[column]) == (superior > 0.5)
    said = np.maximum(superior, 1.0 - superior)
    bins = [(said >= least) & (said < most) for least, most in SAID]
    best = int(np.argmax(truth))
    return {
        "mse": aligned(error),
        "offset": float(error.mean()),
        "inside": float(np.mean((view.lower <= truth) & (truth <= view.upper))),
        "halfwidth": float(np.mean(view.upper - view.lower) / 2),
        "pairs": float(np.mean(apart <= Z95 * view.sd[row, column])),
        "said": [[int(its.sum()), int(truly[its].sum())] for its in bins],
        "undecided": float(np.mean((said >= SAID[0][0]) & (said < SAID[-1][1]))),
        "superior": [float(said.mean()), float(truly.mean())],
        "star": [float(view.mean[best]), float(view.lower[best]), float(view.upper[best])],
    }


def rated_run(pool: GoalPool, rated: Rated, record: Record, own: Any) -> dict[str, Any]:
    """A replicate from its first game to its last.

    :param own: the randomness of games that the ratings themselves pair; None: the recorded games
    :return: ``at``: :func:`figures` by number of games; where links are wrong also ``misplaced``: the mean square error
        of the versions that they are stated of
    """
    truth = record.strengths.truth
    free = [number for number in range(len(truth)) if number not in record.fixed]
    wrong = [at for at, number in enumerate(free) if number in record.strengths.misplaced()]
    rounds = record.rounds if own is None else pool.rounds(record.strengths, own, rated.ratings, len(record.rounds))
    at: dict[str, Any] = {}
    for number, games in enumerate(rounds, 1):
        rated.games(games)
        if number in pool.looks:
            view = rated.view(free)
            at[str(number)] = figures(view, truth[free])
            if wrong:
                error = view.mean - truth[free]
                at[str(number)]["misplaced"] = float(np.mean((error - error.mean())[wrong] ** 2))
    return {"at": at}


def run(
    *, pool: str, told: bool, record: str | None, own: bool, seed: int, replicate: int, versions: int, rounds: int
) -> dict[str, Any]:
    """One replicate, in a process whose path has the tree that rates.

    :param told: by the estimator that is told everything, in place of the tree's system
    :param record: the file with its games; None for newcomers
    :param own: whoever rates it decides by its ratings who meets whom
    :return: the figures, and ``cpu_s``
    """
    start = time.process_time()
    found: dict[str, Any]
    if record is None:
        found = _newcomers(told, seed, replicate, versions, rounds)
    else:
        kind, games = GOAL_POOLS[pool], read(Path(record))
        rated: Rated = ByTold(kind, games) if told else BySystem(kind, games)
        found = rated_run(kind, rated, games, generator(seed, kind.source, "own", replicate) if own else None)
        if isinstance(rated, BySystem):
            found |= {"cpu": rated.driven.cpu, "refits": rated.driven.refits}
    return found | {"cpu_s": time.process_time() - start}


def _newcomers(told: bool, seed: int, replicate: int, versions: int, rounds: int) -> dict[str, Any]:
    """Newcomers by window among versions that are known to KNOWN_SD: mean squares after 1, 2, ... games."""
    pool = dataclasses.replace(POOLS["normal"], versions=versions)
    of_newcomers: dict[str, Any] = {"replicate": replicate, "newcomers": versions, "games": rounds}
    if told:
        return dict(told_run(pool, seed, **of_newcomers)["at"]["told"])
    systems: list[tuple[str, str, dict[str, Any]]] = [("bayes", "bayes", {})]
    return dict(newcomers_run(pool, seed, known="stated", systems=systems, **of_newcomers)["at"]["bayes"])


def _normal(z: Floats) -> Floats:
    """The normal distribution's share below."""
    return np.array([[0.5 * math.erfc(-each / math.sqrt(2.0)) for each in row] for row in z.tolist()])
