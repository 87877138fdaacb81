"""Many simulated tournaments in several processes, and what their measures say together.

Tournament number t of a series is the same whatever the number of processes, and however often it is simulated; with
one seed all systems meet the same players with the same ratings. Must not know: how one is simulated, command lines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_server.lab.report import Mean
from cgos_server.lab.running import Work, carry_out
from cgos_server.tournaments.base import System
from cgos_server.tournaments.simulation.many_events import at_once, is_fast, simulate_many
from cgos_server.tournaments.simulation.one_event import Measures, Plan, seed_of, simulate

ONE_BY_ONE: Final = 4
"""Tournaments a task where each is simulated by itself, which may take long."""

NAMES: Final = Measures.__struct_fields__


class Figure(Struct, frozen=True):
    """A measure over a series.

    :ivar mean: None: it was not measured
    :ivar error: standard error of the mean; None: fewer than two tournaments
    :ivar median: of Kendall's tau alone
    """

    measure: str
    mean: float | None
    error: float | None
    median: float | None = None


class Series(Struct, frozen=True):
    """What came of the tournaments of one plan.

    :ivar tournaments: how many are done, the first of as many as were asked for
    :ivar measures: of all of them, in the order of :class:`cgos_server.tournaments.simulation.one_event.Measures`
    """

    plan: Plan
    tournaments: int
    measures: tuple[Figure, ...]

    def figure(self, measure: str) -> Figure:
        """One of the measures by its name."""
        return self.measures[NAMES.index(measure)]

    def mean(self, measure: str) -> Mean | None:
        """The mean of a measure; None: it was not measured."""
        figure = self.figure(measure)
        return None if figure.mean is None else Mean(figure.mean, figure.error)


class Runs(Struct, frozen=True):
    """What was done. Where it was interrupted all series have about the same share of what was asked for."""

    series: tuple[Series, ...]
    interrupted: bool = False


class Asked(Struct, frozen=True, kw_only=True):
    """Tournaments that are to be simulated.

    :ivar by: who pairs and ranks in place of the plan's system; None: that one does
    """

    plan: Plan
    tournaments: int
    by: System | None = None

    @property
    def is_fast(self) -> bool:
        """Whether many of them are simulated together. Raises Refused where the plan cannot be."""
        return self.by is None and is_fast(self.plan)


class _Task(Struct, frozen=True):
    at: int
    asked: Asked
    seeds: tuple[int, ...]


def run(plans: Sequence[Plan], tournaments: int, work: Work) -> Runs:
    """Simulate `tournaments` tournaments by each plan; see :func:`run_all`."""
    return run_all([Asked(plan=plan, tournaments=tournaments) for plan in plans], work)


def run_all(asked: Sequence[Asked], work: Work) -> Runs:
    """Simulate what is asked for. Ctrl-C ends the processes at once and gives what is complete.

    :raises Refused: where a plan cannot be, or a system refuses to go on
    :raises OurFault: where another process was ended from outside
    """
    sums = [Sums() for _ in asked]
    interrupted = carry_out(
        _done,
        _tasks(asked, [_at_once(each) for each in asked], work.seed),
        lambda task, measures: sums[task.at].add(measures),
        work,
        everything=sum(each.tournaments for each in asked),
        size=lambda task: len(task.seeds),
    )
    return Runs(tuple(each.series(one.plan) for one, each in zip(asked, sums, strict=True)), interrupted)


class Sums:
    """What mean and standard error of every measure follow from, in memory that does not grow.

    Means and squares of deviations are joined part by part (Chan, Golub & LeVeque 1983), so that nothing is lost where
    deviations are small; with the same parts in the same order the figures are the same to the last bit.
    """

    def __init__(self) -> None:
        self.number = 0
        self.means = np.zeros(len(NAMES))
        self.squares = np.zeros(len(NAMES))
        # Kendall's tau of n players has no more values than there are pairs.
        self.kendalls: Counter[float] = Counter()

    def add(self, measures: Sequence[Measures]) -> None:
        if not measures:
            return
        # A measure that is None becomes NaN, and stays so.
        values = np.array([[getattr(each, name) for name in NAMES] for each in measures], dtype=np.float64)
        means = values.mean(axis=0)
        apart = means - self.means
        number = self.number + len(values)
        squares = ((values - means) ** 2).sum(axis=0) + apart * apart * (self.number * len(values) / number)
        # In one step: Ctrl-C may come at any call.
        self.number, self.means, self.squares, self.kendalls = (
            number,
            self.means + apart * (len(values) / number),
            self.squares + squares,
            self.kendalls + Counter(each.kendall for each in measures),
        )

    def series(self, plan: Plan) -> Series:
        return Series(plan, self.number, tuple(map(self._figure, range(len(NAMES)))))

    def _figure(self, at: int) -> Figure:
        if not self.number or np.isnan(self.means[at]):
            return Figure(NAMES[at], None, None)
        error = None
        if self.number > 1:
            error = math.sqrt(self.squares[at] / (self.number - 1) / self.number)
        return Figure(NAMES[at], float(self.means[at]), error, self._median() if NAMES[at] == "kendall" else None)

    def _median(self) -> float:
        """The middle one, or the mean of the two in the middle."""
        middle = ((self.number - 1) // 2, self.number // 2)
        values, counted = [], 0
        for value, count in sorted(self.kendalls.items()):
            values += [value for at in middle if counted <= at < counted + count]
            counted += count
        return sum(values) / len(values)


def _at_once(asked: Asked) -> int:
    """How many tournaments make a task: for the same plan always as many."""
    return at_once(asked.plan.players) if asked.is_fast else ONE_BY_ONE


def _tasks(asked: Sequence[Asked], sizes: Sequence[int], seed: int) -> Iterator[_Task]:
    """All tasks; the plans take turns, so that an interruption leaves about the same share of each series."""
    done = [0] * len(asked)
    while any(count < each.tournaments for count, each in zip(done, asked, strict=True)):
        at = min(range(len(asked)), key=lambda each: done[each] / asked[each].tournaments)
        end = min(asked[at].tournaments, done[at] + sizes[at])
        yield _Task(at, asked[at], tuple(seed_of(seed, index) for index in range(done[at], end)))
        done[at] = end


def _done(task: _Task) -> list[Measures]:
    if task.asked.is_fast:
        return simulate_many(task.asked.plan, task.seeds).measures
    return [simulate(task.asked.plan, seed, task.asked.by).measures for seed in task.seeds]
