"""Many simulated tournaments in several processes, and what their measures say together.

Tournament number t of a series is the same whatever the number of processes, and however often it is simulated; with
one seed all systems meet the same players with the same ratings. Must not know: how one is simulated, command lines.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final, TypeAlias

import numpy as np
from msgspec import Struct
from threadpoolctl import threadpool_limits

from cgos_protocol.errors import Code, OurFault, Refused
from cgos_server.tournaments.simulation.many_events import at_once, is_fast, simulate_many
from cgos_server.tournaments.simulation.one_event import Measures, Plan, seed_of, simulate

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how many tournaments are done, and of how many."""

Answers: TypeAlias = Generator[tuple[int, list[Measures]], None, None]
"""The next tournaments of a plan, which is named by its index."""

ONE_BY_ONE: Final = 4
"""Tournaments a task where each is simulated by itself, which may take long."""

NAMES: Final = Measures.__struct_fields__

WAITING: Final = 3
"""Tasks per process that are handed out ahead."""


class Figure(Struct, frozen=True):
    """A measure over a series.

    :ivar mean: None: it was not measured
    :ivar error: standard error of the mean; None: fewer than two tournaments
    """

    measure: str
    mean: float | None
    error: float | None


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


def run(
    plans: Sequence[Plan], tournaments: int, jobs: int = 1, seed: int = 0, progress: Progress = lambda _done, _all: None
) -> Runs:
    """Simulate `tournaments` tournaments by each plan. Ctrl-C ends the processes at once and gives what is complete.

    :param jobs: how many processes compute; 1: this one
    :param seed: of the whole series
    :raises Refused: where a plan cannot be, or a system refuses to go on
    :raises OurFault: where another process was ended from outside
    """
    sizes = [_at_once(plan) for plan in plans]
    tasks = _tasks(plans, sizes, tournaments, seed)
    sums = [Sums() for _ in plans]
    everything = tournaments * len(plans)
    interrupted = False
    try:
        with contextlib.closing(_here(tasks) if jobs == 1 else _in_processes(tasks, jobs)) as answers:
            progress(0, everything)
            for at, measures in answers:
                sums[at].add(measures)
                progress(sum(each.number for each in sums), everything)
    except KeyboardInterrupt:
        interrupted = True
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
        self.number, self.means, self.squares = (
            number,
            self.means + apart * (len(values) / number),
            self.squares + squares,
        )

    def series(self, plan: Plan) -> Series:
        return Series(plan, self.number, tuple(map(self._figure, range(len(NAMES)))))

    def _figure(self, at: int) -> Figure:
        if not self.number or np.isnan(self.means[at]):
            return Figure(NAMES[at], None, None)
        error = None
        if self.number > 1:
            error = math.sqrt(self.squares[at] / (self.number - 1) / self.number)
        return Figure(NAMES[at], float(self.means[at]), error)


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


def _here(tasks: Iterable[_Task]) -> Answers:
    with threadpool_limits(1):
        for task in tasks:
            yield task.at, _done(task)


def _in_processes(tasks: Iterable[_Task], jobs: int) -> Answers:
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_worker)
    waiting: deque[tuple[int, Future[list[Measures] | tuple[Code, str]]]] = deque()
    try:
        for task in tasks:
            with _deaf():  # processes are started here, and hear no Ctrl-C: this one does, and ends them
                waiting.append((task.at, executor.submit(_answer, task)))
            if len(waiting) >= jobs * WAITING:
                yield _taken(*waiting.popleft())
        while waiting:
            yield _taken(*waiting.popleft())
        executor.shutdown()
    except BrokenProcessPool as problem:
        raise OurFault(
            "A process that simulated was ended from outside, perhaps for want of memory. Take fewer jobs."
        ) from problem
    finally:
        for child in multiprocessing.active_children():
            if child not in before:
                child.terminate()
        executor.shutdown(cancel_futures=True)  # waits for them, and for its own thread, which is told of their end


def _taken(at: int, future: Future[list[Measures] | tuple[Code, str]]) -> tuple[int, list[Measures]]:
    answer = future.result()
    if isinstance(answer, tuple):
        raise Refused.of(*answer)
    return at, answer


@contextlib.contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C waits; processes that are started meanwhile never hear it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin_worker() -> None:
    """One thread of linear algebra; and the process ends with the one that started it, however that ends."""
    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _answer(task: _Task) -> list[Measures] | tuple[Code, str]:
    """What came of it; or why not, since refusals do not travel between processes."""
    try:
        return _done(task)
    except Refused as refused:
        return refused.code, refused.sentence


def _done(task: _Task) -> list[Measures]:
    if is_fast(task.plan):
        return simulate_many(task.plan, task.seeds).measures
    return [simulate(task.plan, seed).measures for seed in task.seeds]
