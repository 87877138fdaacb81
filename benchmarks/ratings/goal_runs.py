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
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.ratings.goal_pools import GOAL_POOLS, Game, GoalPool, Record, read
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.lab.ratings.newcomers import newcomers_run, told_run
from cgos_server.lab.ratings.pools import POOLS, Floats, generator
from cgos_server.lab.ratings.runs import Driven, aligned
from cgos_server.lab.ratings.told import Told

SAID = ((0.7, 0.8), (0.8, 0.9), (0.9, 0.95))
"""Probabilities of superiority, from and below, whose truth is looked at."""


class Shown(NamedTuple):
    """What is said of versions, each by itself.

    :ivar mean: (n,) Elo
    :ivar lower: (n,) where the 95 % intervals begin, Elo
    :ivar upper: (n,) where they end
    """

    mean: Floats
    lower: Floats
    upper: Floats

    def figures(self, truth: Floats) -> dict[str, float]:
        """``mse``: mean square error, the mean offset removed; ``offset``: the mean error; ``inside``: share of the
        95 % intervals that hold the truth; ``halfwidth``: their mean half. `truth`: (n,) of the same versions."""
        error = self.mean - truth
        return {
            "mse": aligned(error),
            "offset": float(error.mean()),
            "inside": float(np.mean((self.lower <= truth) & (truth <= self.upper))),
            "halfwidth": float(np.mean(self.upper - self.lower) / 2),
        }


class Differences(NamedTuple):
    """What is said of pairs of versions.

    :ivar sd: (n, n) of the differences, Elo
    :ivar superior: (n, n) probability that the one of the row is the stronger
    """

    sd: Floats
    superior: Floats


class Rated(Protocol):
    """Whoever rates a pool."""

    def enter(self, count: int) -> None:
        """From now on so many versions are there, the first ones."""

    def games(self, games: Sequence[Game]) -> None:
        """The results of a round."""

    def revise(self) -> None:
        """Now it is told what it was not told so far."""

    def refit(self) -> None:
        """What a server would do at the end of a round."""

    def ratings(self) -> Floats:
        """(n,) of all who are there, Elo."""

    def shown(self, which: Sequence[int]) -> Shown:
        """What is said of these versions."""

    def differences(self, which: Sequence[int]) -> Differences:
        """What is said of their pairs."""


class BySystem:
    """`bayes` of the tree on the path, told of anchors and predecessors as by a server."""

    def __init__(self, pool: GoalPool, record: Record) -> None:
        self.driven = Driven("bayes")
        self._pool = pool
        self._revised = not pool.revised_after
        self._record = record
        self._games = 0
        self._misreported: list[Game] = []

    def enter(self, count: int) -> None:
        truth, predecessors = self._record.strengths
        for number in range(self.driven.versions, count):
            value = float(truth[number]) if number in self._record.fixed else None
            stated = self._pool.stated and self._revised
            self.driven.enter(value, predecessor=predecessors[number] if stated else None)

    def games(self, games: Sequence[Game]) -> None:
        every = 0 if self._revised else self._pool.misreported_every
        for first, second, score in games:
            self._games += 1
            if every and self._games % every == 0:
                self._misreported.append((first, second, score))
                score = 2 - score
            self.driven.game(first, second, score)

    def revise(self) -> None:
        self._revised = True
        for first, second, score in self._misreported:
            self.driven.correct(first, second, was2=2 - score, score2=score)
        predecessors = self._record.strengths.predecessors[: self.driven.versions]
        for number, predecessor in enumerate(predecessors):
            if predecessor is not None and self._pool.stated:
                self.driven.link(number, predecessor)

    def refit(self) -> None:
        self.driven.refit_if_due()

    def ratings(self) -> Floats:
        return self.driven.ratings()[0]

    def shown(self, which: Sequence[int]) -> Shown:
        lower, upper = self.driven.intervals()
        return Shown(self.ratings()[which], lower[which], upper[which])

    def differences(self, which: Sequence[int]) -> Differences:
        system, state = self.driven.system, self.driven.state
        assert isinstance(system, PosteriorFold)
        n = len(which)
        sd, superior = np.ones((n, n)), np.full((n, n), 0.5)
        for row, column in itertools.combinations(range(n), 2):
            one, other = VersionId(which[row]), VersionId(which[column])
            sd[row, column] = sd[column, row] = system.difference(state, one, other)[1]
            superior[row, column] = system.superiority(state, one, other)
            superior[column, row] = 1.0 - superior[row, column]
        return Differences(sd, superior)


class ByTold:
    """An estimator that is told the true distribution of the strengths; those who are not there yet do not matter."""

    def __init__(self, pool: GoalPool, record: Record) -> None:
        assert pool.prior is not None
        truth = record.strengths.truth
        self._told = Told(pool.prior(len(truth)), {at: float(truth[at]) for at in record.fixed}, pool.nu)

    def enter(self, count: int) -> None:
        pass

    def games(self, games: Sequence[Game]) -> None:
        self._told.count(games)

    def revise(self) -> None:
        pass

    def refit(self) -> None:
        pass

    def ratings(self) -> Floats:
        return self._told.mode

    def shown(self, which: Sequence[int]) -> Shown:
        mean, covariance = self._told.posterior()
        half = Z95 * np.sqrt(covariance.diagonal()[which])
        return Shown(mean[which], mean[which] - half, mean[which] + half)

    def differences(self, which: Sequence[int]) -> Differences:
        mean, covariance = self._told.posterior()
        mean, covariance = mean[which], covariance[np.ix_(which, which)]
        variance = covariance.diagonal()
        sd = np.sqrt(np.maximum(variance[:, None] + variance[None, :] - 2.0 * covariance, 1e-12))
        return Differences(sd, _normal((mean[:, None] - mean[None, :]) / sd))


def figures(shown: Shown, differences: Differences, truth: Floats) -> dict[str, Any]:
    """How far off that is: those of :meth:`Shown.figures`, and of pairs.

    ``pairs``: share of the differences' 95 % intervals that hold the truth; ``said``: by the bins of SAID [pairs, pairs
    in which that is so]; ``undecided``: share of pairs said from the first to the last of SAID; ``superior``: mean
    probability of the stronger by rating in a pair, and the share in which it is; ``star``: [mean, lower, upper] of the
    strongest. `truth`: (n,) of the same versions.
    """
    error = shown.mean - truth
    row, column = np.triu_indices(len(truth), 1)
    apart = np.abs(error[row] - error[column])
    superior = differences.superior[row, column]
    truly: NDArray[np.bool_] = (truth[row] > truth[column]) == (superior > 0.5)
    probability = np.maximum(superior, 1.0 - superior)
    bins = [(probability >= least) & (probability < most) for least, most in SAID]
    best = int(np.argmax(truth))
    return shown.figures(truth) | {
        "pairs": float(np.mean(apart <= Z95 * differences.sd[row, column])),
        "said": [[int(its.sum()), int(truly[its].sum())] for its in bins],
        "undecided": float(np.mean((probability >= SAID[0][0]) & (probability < SAID[-1][1]))),
        "superior": [float(probability.mean()), float(truly.mean())],
        "star": [float(ends[best]) for ends in shown],
    }


def rated_run(pool: GoalPool, rated: Rated, record: Record, own: Generator | None) -> dict[str, Any]:
    """A replicate from its first game to its last.

    :param own: the randomness of games that the ratings themselves pair; None: the recorded games
    :return: ``at``: by number of rounds :func:`figures`; ``stepped``: the same of :meth:`Shown.figures` just before the
        refits of that round's end, so that they rest on a warm one and the steps of a round; where links are wrong
        ``misplaced``: the mean square error of the versions that they are stated of. ``entry``: those of versions that
        join later, when they join
    """
    truth, misplaced = record.strengths.truth, record.strengths.misplaced()
    count = len(record.rounds)
    rounds = iter(record.rounds if own is None else pool.rounds(record.strengths, own, rated.ratings, count))
    at: dict[str, Any] = {}
    entry: list[dict[str, float]] = []
    before = 0
    for number in range(1, count + 1):
        present = pool.present(number, len(truth))
        if present > before:
            rated.enter(present)
            if before:
                new = list(range(before, present))
                entry.append(rated.shown(new).figures(truth[new]))
            rated.refit()
        before = present
        if number - 1 == pool.revised_after > 0:
            rated.revise()
        rated.games(next(rounds))
        if number not in pool.looks:
            rated.refit()
            continue
        free = [version for version in range(present) if version not in record.fixed]
        stepped = rated.shown(free).figures(truth[free])
        rated.refit()
        shown = rated.shown(free)
        row = figures(shown, rated.differences(free), truth[free]) | {"stepped": stepped}
        if wrong := [place for place, version in enumerate(free) if version in misplaced]:
            error = shown.mean - truth[free]
            row["misplaced"] = float(np.mean((error - error.mean())[wrong] ** 2))
        at[str(number)] = row
    return {"at": at, "entry": entry}


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
    run_figures: dict[str, Any]
    if record is None:
        run_figures = _newcomers(told, seed, replicate, versions, rounds)
    else:
        kind, games = GOAL_POOLS[pool], read(Path(record))
        rated: Rated = ByTold(kind, games) if told else BySystem(kind, games)
        run_figures = rated_run(kind, rated, games, generator(seed, kind.source, "own", replicate) if own else None)
        if isinstance(rated, BySystem):
            run_figures |= {"cpu": rated.driven.cpu, "refits": rated.driven.refits}
    return run_figures | {"cpu_s": time.process_time() - start}


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
