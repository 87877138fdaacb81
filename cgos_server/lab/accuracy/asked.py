"""What is asked of a study of accuracy, the replicates it consists of, and figures from many of them.

Must not know: any study.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from cgos_server.lab.ratings.pools import GAMES, POOLS, Pool
from cgos_server.lab.ratings.runs import rms, share
from cgos_server.lab.report import Column, Mean

SEED: Final = 2026
"""With which the documented figures were made."""

HEADLINE: Final = "bayes"

MAIN_POOLS: Final = ("normal", "bimodal")

LARGE: Final = "large"
"""The normal pool with LARGE_VERSIONS, of the matchmakers alone."""

LARGE_VERSIONS: Final = 256


class Asked(Struct, frozen=True, kw_only=True):
    """Which figures are wanted.

    :ivar studies: words of :data:`cgos_server.lab.accuracy.studies.STUDIES`; none: all
    :ivar pools: of systems and matchmakers, words of POOLS or LARGE; none: all that a study has
    :ivar methods: rows of the matchmakers; none: all
    :ivar replicates: of the main rows; the others have fewer
    :ivar versions: in every pool, at least 4; None: as many as the pool has
    :ivar games: that each version plays, at least 5; of newcomers at most as many as they play
    """

    studies: tuple[str, ...] = ()
    pools: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    replicates: int = 96
    versions: int | None = None
    games: int = GAMES[-1]

    def wants_pool(self, pool: str) -> bool:
        return not self.pools or pool in self.pools

    def wants_method(self, method: str) -> bool:
        return not self.methods or method in self.methods


class Task(Struct, frozen=True, kw_only=True):
    """One replicate; everything that its figures depend on, but for the code.

    :ivar row: what is compared in the study
    :ivar games: of each version
    """

    study: str
    pool: str
    row: str
    versions: int
    games: int
    seed: int
    replicate: int

    def made_pool(self) -> Pool:
        """The pool with as many versions as the task has."""
        return dataclasses.replace(POOLS["normal" if self.pool == LARGE else self.pool], versions=self.versions)


Group = tuple[Task, list[dict[str, Any]]]
"""The first of a row's replicates, and what they all came to."""


def replicates(asked: Asked, fewer: int, **fields: Any) -> list[Task]:
    """Of one row: so many times fewer than were asked for."""
    return [Task(replicate=number, **fields) for number in range(math.ceil(asked.replicates / fewer))]


def grouped(answers: Mapping[Task, dict[str, Any]]) -> dict[str, dict[tuple[str, str], Group]]:
    """By study, by pool and row: what is done, in the order of the tasks."""
    studies: dict[str, dict[tuple[str, str], Group]] = {}
    for task, answer in answers.items():
        studies.setdefault(task.study, {}).setdefault((task.pool, task.row), (task, []))[1].append(answer)
    return studies


def root(squares: Iterable[float]) -> Mean:
    """Root of the mean, from one mean square for each replicate."""
    return _mean(rms, list(squares))


def average(parts: Iterable[float]) -> Mean:
    """Mean, from one value for each replicate."""
    return _mean(share, list(parts))


def _mean(of: Callable[[Sequence[float]], tuple[float, float]], values: Sequence[float]) -> Mean:
    mean, error = of(values)
    return Mean(mean, None if math.isnan(error) else error)


def by_games(games: Iterable[int], digits: int, percent: bool = False) -> tuple[Column, ...]:
    """Columns of figures after so many games a version."""
    return tuple(Column(name=str(number), digits=digits, percent=percent) for number in games)
