"""Many independent tasks in several processes, their answers in the order of the tasks.

Where a task is decided by values alone, any number of processes gives the same figures. Must not know: what a task is.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Final, NamedTuple, TypeAlias, TypeVar

from threadpoolctl import threadpool_limits

from cgos_protocol.errors import Code, OurFault, Refused

T = TypeVar("T")
A = TypeVar("A")

Progress: TypeAlias = Callable[[int, int], None]
"""Is told how much is done, and of how much."""

WAITING: Final = 3
"""Tasks per process that are handed out ahead."""


class Work(NamedTuple):
    """How an experiment is carried out.

    :ivar seed: of everything drawn by lot
    :ivar jobs: how many processes compute; 1: this one
    """

    seed: int = 0
    jobs: int = 1
    progress: Progress = lambda _done, _all: None


def carry_out(
    do: Callable[[T], A],
    tasks: Iterable[T],
    take: Callable[[T, A], None],
    work: Work,
    *,
    everything: int,
    size: Callable[[T], int] = lambda _task: 1,
) -> bool:
    """Do all tasks and hand their answers to `take`, in their order. Ctrl-C ends the processes at once and leaves what
    was taken; whether it came.

    :param do: a function of a module, or a partial of one: other processes import it
    :param everything: the sum of the sizes of all tasks, of which `progress` tells
    :raises Refused: where `do` refuses
    :raises OurFault: where another process was ended from outside
    """
    done = 0
    try:
        with contextlib.closing(_here(do, tasks) if work.jobs == 1 else _in_processes(do, tasks, work.jobs)) as answers:
            work.progress(0, everything)
            for task, answer in answers:
                take(task, answer)
                done += size(task)
                work.progress(done, everything)
    except KeyboardInterrupt:
        return True
    return False


def _here(do: Callable[[T], A], tasks: Iterable[T]) -> Generator[tuple[T, A], None, None]:
    with threadpool_limits(1):
        for task in tasks:
            yield task, do(task)


def _in_processes(do: Callable[[T], A], tasks: Iterable[T], jobs: int) -> Generator[tuple[T, A], None, None]:
    before = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_worker)
    waiting: deque[tuple[T, Future[A | _Refusal]]] = deque()
    try:
        for task in tasks:
            with _deaf():  # processes are started here, and hear no Ctrl-C: this one does, and ends them
                waiting.append((task, executor.submit(functools.partial(_answer, do), task)))
            if len(waiting) >= jobs * WAITING:
                yield _taken(*waiting.popleft())
        while waiting:
            yield _taken(*waiting.popleft())
        executor.shutdown()
    except BrokenProcessPool as problem:
        raise OurFault(
            "A process that computed was ended from outside, perhaps for want of memory. Take fewer jobs."
        ) from problem
    finally:
        for child in multiprocessing.active_children():
            if child not in before:
                child.terminate()
        executor.shutdown(cancel_futures=True)  # waits for them, and for its own thread, which is told of their end


class _Refusal(NamedTuple):
    """A refusal on its way to another process, where exceptions do not arrive as they are."""

    code: Code
    sentence: str


def _taken(task: T, future: Future[A | _Refusal]) -> tuple[T, A]:
    answer = future.result()
    if isinstance(answer, _Refusal):
        raise Refused.of(*answer)
    return task, answer


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


def _answer(do: Callable[[T], A], task: T) -> A | _Refusal:
    try:
        return do(task)
    except Refused as refused:
        return _Refusal(refused.code, refused.sentence)
