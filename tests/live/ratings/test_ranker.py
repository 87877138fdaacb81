"""Ranks follow refits, the latest first, without anybody waiting for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
from support.storage.ledger_store import LedgerStore

from cgos_server.core.rating.ranks import Ranks
from cgos_server.live.ratings.ranker import Ranker
from cgos_server.live.ratings.refit_executor import FitFailed
from cgos_server.service.ratings.venue_ranks import Ranking

FOUND = Ranks(
    lower=np.array([1]),
    upper=np.array([1]),
    best=np.ones(1),
    first_three=np.ones(1),
    places=np.array([1]),
    apart=0,
    groups=(),
    turned=None,
)


class Ratings:
    """Takes note of what is ranked."""

    def __init__(self, *missing: Ranking) -> None:
        self.missing = missing
        self.ranked_refits: list[int] = []

    def missing_ranks(self) -> tuple[Ranking, ...]:
        return self.missing

    def ranked(self, ranking: Ranking, computed: Ranks) -> list[Any]:
        assert computed is FOUND
        self.ranked_refits.append(ranking.refit)
        return [ranking.refit]


class Executor:
    """Computes when it is let."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun = 0

    async def ranks(self, task: Callable[[], Ranks]) -> Ranks:
        self.begun += 1
        await self.gate.wait()
        return task()


class StillTime:
    def now(self) -> int:
        return 0


def ranking(refit: int, task: Callable[[], Ranks] = lambda: FOUND) -> Ranking:
    return Ranking("bayes", refit, (), task)


@contextlib.asynccontextmanager
async def running(ratings: Ratings, executor: Executor) -> AsyncIterator[tuple[Ranker, LedgerStore]]:
    store: Any = LedgerStore()
    ranker = Ranker("9x9", ratings, store, StillTime(), executor)  # type: ignore[arg-type]
    task = asyncio.get_running_loop().create_task(ranker.run())
    yield ranker, store
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def until(what: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not what():  # noqa: ASYNC110 - a condition without an event
            await asyncio.sleep(0)


async def test_of_the_refits_in_the_meantime_only_the_last_is_ranked() -> None:
    ratings, executor = Ratings(), Executor()
    async with running(ratings, executor) as (ranker, store):
        ranker.follow(ranking(1))
        await until(lambda: executor.begun)
        for refit in (2, 3):
            ranker.follow(ranking(refit))
        ranker.follow(None)
        executor.gate.set()
        await until(lambda: len(ratings.ranked_refits) == 2)
    assert ratings.ranked_refits == [1, 3]
    assert store.groups == [[1], [3]]


async def test_what_is_missing_after_a_start_comes_first() -> None:
    ratings, executor = Ratings(ranking(7)), Executor()
    executor.gate.set()
    async with running(ratings, executor):
        await until(lambda: ratings.ranked_refits)
    assert ratings.ranked_refits == [7]


async def test_ranks_that_fail_cost_nothing_but_themselves() -> None:
    def fail() -> Ranks:
        raise FitFailed("its process died")

    def surprise() -> Ranks:
        raise ZeroDivisionError

    ratings, executor = Ratings(), Executor()
    executor.gate.set()
    async with running(ratings, executor) as (ranker, _):
        for count, task in enumerate((fail, surprise), 1):
            ranker.follow(ranking(count, task))
            await until(lambda count=count: executor.begun == count)  # type: ignore[misc]
        ranker.follow(ranking(3))
        await until(lambda: ratings.ranked_refits)
    assert ratings.ranked_refits == [3]
