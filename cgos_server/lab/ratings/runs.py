"""One replicate of a simulation: rating systems driven as the server drives them, and how far off they are.

A system is told what a server would know: who enters, who is an anchor, who won. Refits follow at once, which a server
does in the background: a cold one when the system wants it, else a warm one after every n/2 results, at the end of the
round. A server has at least as many, but nobody looks at ratings within a round here.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95, Entry, Kind, Rating, RatingSystem, Refitting
from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.core.rating.registry import rating_system
from cgos_server.lab.ratings.pools import (
    GAMES,
    INITIAL,
    Colors,
    Floats,
    Pool,
    anchors,
    generator,
    permuted_window,
    score2,
)

PAIRS = 400
"""Random pairs of versions whose difference is looked at, at each number of games."""

_NORMAL = NormalDist()


class Driven:
    """A rating system with its state, fed as by a server.

    :ivar at_ms: when that happens of which it is told now
    :ivar refits: how many (cold, warm) there were
    :ivar cpu: CPU seconds spent on (folding, refits)
    """

    def __init__(self, name: str, options: Mapping[str, Any] | None = None, share: float = 0.5) -> None:
        self.system: RatingSystem = rating_system(name, INITIAL, dict(options or {}))
        self.state: Any = self.system.start()
        self.versions = 0
        self.at_ms = 0
        self.refits = [0, 0]
        self.cpu = [0.0, 0.0]
        self.notes: dict[str, Any] = {}
        self._share = share
        self._seq = 0

    def enter(
        self,
        value: float | None = None,
        anchor_sd: float | None = None,
        predecessor: int | None = None,
        start: float | None = None,
    ) -> int:
        """A new version, an anchor if a value is given; its number, from 0. `start`: where newcomers stand now, of the
        systems that ask for it."""
        number = self.versions
        self.versions += 1
        self._fold(kind=Kind.ENTER, version=number, other=predecessor, value=start)
        if value is not None:
            self._fold(kind=Kind.ANCHOR, version=number, value=value, sd=anchor_sd)
        return number

    def enter_at(self, value: float) -> int:
        """A new version that starts at a rating of its own and is no anchor, under a system without uncertainty."""
        number = self.versions
        self.versions += 1
        self._fold(kind=Kind.ENTER, version=number, value=value)
        return number

    def enter_known(self, value: float, sd: float) -> int:
        """A new version whose strength is known from elsewhere; an anchor where the system cannot say how well."""
        if not isinstance(self.system, Refitting):
            return self.enter(value, sd)
        number = self.versions
        self.versions += 1
        self._fold(kind=Kind.ENTER, version=number, value=value, sd=sd)
        return number

    def anchor(self, number: int, value: float, sd: float) -> None:
        """A version's rating is known from now on."""
        self._fold(kind=Kind.ANCHOR, version=number, value=value, sd=sd)

    def game(self, first: int, second: int, score: int, repeat: bool = False) -> None:
        """A result, in half points of the side that moved first. `repeat`: it was the very same game as one before."""
        self._fold(kind=Kind.GAME, black=first, white=second, score2=score, repeat=repeat)

    def correct(self, first: int, second: int, was2: int, score2: int) -> None:
        """A result that counted as `was2` half points of the side that moved first counts as `score2` from now on."""
        self._fold(kind=Kind.CORRECTION, black=first, white=second, was2=was2, score2=score2)

    def link(self, number: int, predecessor: int) -> None:
        """A version that is there already succeeds another one."""
        self._fold(kind=Kind.LINK, version=number, other=predecessor)

    def refit_if_due(self) -> None:
        """What the server would begin now, done at once."""
        if isinstance(self.system, Refitting):
            wanted = self.system.wanted(self.state)
            if wanted.cold or wanted.urgent or wanted.results >= max(1.0, self.versions * self._share):
                self.refit(wanted.cold)

    def refit(self, cold: bool) -> None:
        """A refit of all results so far; nothing for a system that has none."""
        if not isinstance(self.system, Refitting):
            return
        start = time.process_time()
        fit = self.system.refit(self.system.job(self.state, cold))
        self.state = self.system.install(self.state, fit)
        self.cpu[1] += time.process_time() - start
        self.refits[0 if cold else 1] += 1
        if cold:
            self.notes = json.loads(fit.notes)

    def ratings(self) -> tuple[Floats, Floats]:
        """(n,) means and (n,) standard deviations, or whatever the system's spread is."""
        standings = self.system.standings(self.state)
        rows = [standings[VersionId(number)] for number in range(self.versions)]
        return np.array([row.mean for row in rows]), np.array([row.spread for row in rows])

    def intervals(self) -> tuple[Floats, Floats]:
        """(n,) where the 95 % intervals begin, and (n,) where they end, Elo."""
        standings = self.system.standings(self.state)
        both = np.array([_ends(standings[VersionId(number)]) for number in range(self.versions)])
        return both[:, 0], both[:, 1]

    def rating(self, number: int) -> tuple[float, float, float]:
        """One version's mean, and where its 95 % interval begins and ends, Elo."""
        row = self.system.standings(self.state)[VersionId(number)]
        return row.mean, *_ends(row)

    def save(self) -> tuple[bytes, int, int]:
        """All of it as it is now."""
        return self.system.dump(self.state), self.versions, self._seq

    def restore(self, saved: tuple[bytes, int, int]) -> None:
        """As it was."""
        data, self.versions, self._seq = saved
        self.state = self.system.load(data)

    def difference_sd(self, first: int, second: int, mean: Floats) -> float | None:
        """What the system thinks it knows of a difference, from the published likelihood of superiority; None where
        that is too near 0 or 1 to tell. `mean`: all ratings as they are now."""
        assert isinstance(self.system, PosteriorFold)
        difference = float(mean[first] - mean[second])
        low, high = (first, second) if difference < 0 else (second, first)
        likelihood = self.system.superiority(self.state, VersionId(low), VersionId(high))
        if not 1e-300 < likelihood < 0.5 - 1e-9:
            return None
        return abs(difference) / -_NORMAL.inv_cdf(likelihood)

    def _fold(self, **fields: Any) -> None:
        self._seq += 1
        start = time.process_time()
        self.state, _ = self.system.fold(self.state, Entry(self._seq, at=self.at_ms, **fields))
        self.cpu[0] += time.process_time() - start


def _ends(rating: Rating) -> tuple[float, float]:
    """Of the 95 % interval; it is even in a tree or a system whose ratings have no ends of their own."""
    lower, upper = getattr(rating, "lower", None), getattr(rating, "upper", None)
    if lower is None or upper is None:
        return rating.mean - Z95 * rating.spread, rating.mean + Z95 * rating.spread
    return lower, upper


class Meetings(Protocol):
    """Who meets whom, and what it remembers of that."""

    def pairs(self, driven: Driven) -> list[tuple[int, int]]:
        """Who meets whom in the next round."""

    def began(self, first: int, second: int) -> None:
        """A game of these two begins; `first` moves first."""


class Window:
    """The permuted window as such, without memory and constraints."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng

    def pairs(self, driven: Driven) -> list[tuple[int, int]]:
        return permuted_window(self._rng, driven.ratings()[0])

    def began(self, first: int, second: int) -> None:
        pass


def aligned(error: Floats) -> float:
    """Mean square after the mean is taken off."""
    return float(np.mean((error - error.mean()) ** 2))


def line_error(ratings: Floats, truth: Floats) -> float:
    """Mean square about the straight line through (rating, truth) that fits best: what a system with points of its own
    can be held to."""
    x, y = ratings - ratings.mean(), truth - truth.mean()
    spread = float(x @ x)
    slope = float(x @ y) / spread if spread > 0 else 0.0
    return float(np.mean((y - slope * x) ** 2))


def figures(driven: Driven, truth: Floats, free: Sequence[int], rng: Generator) -> dict[str, Any]:
    """How far a system is off now, over the versions `free`.

    ``mse``: the offset removed; ``offset``: mean error; ``line``: see :func:`line_error`; where the system is sure also
    ``inside``: share of 95 % intervals that hold the truth, ``pairs``: the same for differences of random pairs,
    ``halfwidth``: the intervals' mean half-width, ``seen``: share of those pairs whose interval could be told.
    """
    mean, _ = driven.ratings()
    which = np.array(free)
    error = (mean - truth)[which]
    row: dict[str, Any] = {
        "mse": aligned(error),
        "offset": float(error.mean()),
        "line": line_error(mean[which], truth[which]),
    }
    if not (driven.system.sure and isinstance(driven.system, Refitting)):
        return row
    lower, upper = (ends[which] for ends in driven.intervals())
    row["inside"] = float(np.mean((lower <= truth[which]) & (truth[which] <= upper)))
    row["halfwidth"] = float(np.mean(upper - lower) / 2)
    inside, looked_at = 0, 0
    for _ in range(PAIRS):
        first, second = (int(number) for number in rng.choice(which, 2, replace=False))
        sd = driven.difference_sd(first, second, mean)
        if sd is not None:
            looked_at += 1
            inside += abs((mean - truth)[first] - (mean - truth)[second]) <= Z95 * sd
    row["pairs"] = inside / looked_at if looked_at else None
    row["seen"] = looked_at / PAIRS
    return row


def pool_run(
    pool: Pool,
    seed: int,
    replicate: int,
    systems: Sequence[tuple[str, str, Mapping[str, Any]]],
    rounds: int,
    meet: Callable[[Generator], Meetings] = Window,
) -> dict[str, Any]:
    """A pool from the cold start; the first of `systems`, (label, name, options), drives the matchmaker.

    All systems see the same results. The pool, the games' randomness and the pairs' are the same for every driver.

    :param meet: makes the matchmaker, from the games' source of randomness
    :return: ``at``: by number of games, by label, :func:`figures`; ``draws``: their share; ``cpu``, ``refits``: the
        driver's; ``learned``: what its last cold refit recorded
    """
    truth = pool.draw(generator(seed, pool.name, "truth", replicate))
    rng, looks = (generator(seed, pool.name, use, replicate) for use in ("games", "looks"))
    fixed = anchors(truth)
    free = [number for number in range(pool.versions) if number not in fixed]
    driven = {label: Driven(name, options) for label, name, options in systems}
    driver = next(iter(driven.values()))
    for system in driven.values():
        for number in range(pool.versions):
            system.enter(float(truth[number]) if number in fixed else None)
        system.refit_if_due()
    colors, meetings = Colors(rng), meet(rng)
    at: dict[str, Any] = {}
    drawn = 0
    for games in range(1, rounds + 1):
        for pair in meetings.pairs(driver):
            first, second = colors.first(*pair)
            meetings.began(first, second)
            score = score2(rng, pool, float(truth[first] - truth[second]))
            drawn += score == 1
            for system in driven.values():
                system.game(first, second, score)
        for system in driven.values():
            system.refit_if_due()
        if games in GAMES:
            at[str(games)] = {label: figures(rated, truth, free, looks) for label, rated in driven.items()}
    return {
        "at": at,
        "draws": drawn / (rounds * (pool.versions // 2)),
        "cpu": driver.cpu,
        "refits": driver.refits,
        "learned": {key: value for key, value in driver.notes.items() if not isinstance(value, list | dict)},
    }


def rms(squares: Sequence[float]) -> tuple[float, float]:
    """Root of the mean and its standard error, from one mean square for each replicate."""
    mean = float(np.mean(squares))
    root = math.sqrt(mean)
    if len(squares) < 2 or root == 0.0:
        return root, math.nan
    return root, float(np.std(squares, ddof=1)) / math.sqrt(len(squares)) / (2 * root)


def share(parts: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error, from one share for each replicate."""
    if len(parts) < 2:
        return float(np.mean(parts)), math.nan
    return float(np.mean(parts)), float(np.std(parts, ddof=1)) / math.sqrt(len(parts))
