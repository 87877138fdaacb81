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

from cgos_server.lab.running import Work, carry_out
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


class Runs(Struct, frozen=True):
    """What was done. Where it was interrupted all series end with about the same tournament."""

    series: tuple[Series, ...]
    interrupted: bool = False


class _Task(Struct, frozen=True):
    at: int
    plan: Plan
    seeds: tuple[int, ...]


def run(plans: Sequence[Plan], tournaments: int, work: Work) -> Runs:
    """Simulate `tournaments` tournaments by each plan. Ctrl-C ends the processes at once and gives what is complete.

    :raises Refused: where a plan cannot be, or a system refuses to go on
    :raises OurFault: where another process was ended from outside
    """
    sizes = [_at_once(plan) for plan in plans]
    sums = [Sums() for _ in plans]
    interrupted = carry_out(
        _done,
        _tasks(plans, sizes, tournaments, work.seed),
        lambda task, measures: sums[task.at].add(measures),
        work,
        tournaments * len(plans),
        size=lambda task: len(task.seeds),
    )
    return Runs(tuple(each.series(plan) for plan, each in zip(plans, sums, strict=True)), interrupted)


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


def _at_once(plan: Plan) -> int:
    """How many tournaments make a task: for the same plan always as many."""
    return at_once(plan.players) if is_fast(plan) else ONE_BY_ONE


def _tasks(plans: Sequence[Plan], sizes: Sequence[int], tournaments: int, seed: int) -> Iterator[_Task]:
    """All tasks; the plans take turns, so that an interruption leaves series of about the same length."""
    done = [0] * len(plans)
    while any(count < tournaments for count in done):
        at = min(range(len(plans)), key=lambda each: done[each])
        end = min(tournaments, done[at] + sizes[at])
        yield _Task(at, plans[at], tuple(seed_of(seed, index) for index in range(done[at], end)))
        done[at] = end


def _done(task: _Task) -> list[Measures]:
    if is_fast(task.plan):
        return simulate_many(task.plan, task.seeds).measures
    return [simulate(task.plan, seed).measures for seed in task.seeds]
