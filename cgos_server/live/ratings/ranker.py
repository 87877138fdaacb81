"""Has ranks computed beside a venue's refits, and puts what is news in them into the store.

The ranks of the latest refit follow those before, some seconds apart; they take no more than a fifth of one core, and
no refit waits for them. Must not know: how ranks are computed, who computes, what is news.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from cgos_server.live.ratings.refit_executor import FitFailed, RefitExecutor
from cgos_server.net.loop import Timekeeper
from cgos_server.service.ratings.venue_ranks import Ranking
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

REST: Final = 4
"""After ranks were computed none are for so many times as long."""

LEAST_REST_S: Final = 5.0
"""And for so long at least: a busy small pool is refitted many times a second."""


class Ranker:
    """One a venue. For a task group: ``group.create_task(ranker.run())``."""

    def __init__(
        self, venue: str, ratings: VenueRatings, store: Store, time: Timekeeper, executor: RefitExecutor
    ) -> None:
        self._venue = venue
        self._ratings = ratings
        self._store = store
        self._time = time
        self._executor = executor
        self._next: dict[str, Ranking] = {}
        self._news = asyncio.Event()

    def follow(self, ranking: Ranking | None) -> None:
        """These ranks are wanted, in the place of any of the same system that were not begun; None: none are."""
        if ranking is not None:
            self._next[ranking.system] = ranking
            self._news.set()

    async def run(self) -> None:
        """For ever."""
        for ranking in self._ratings.missing_ranks():
            self.follow(ranking)
        while True:
            await self._news.wait()
            self._news.clear()
            while self._next:
                began = self._time.now()
                await self._compute(self._next.pop(next(iter(self._next))))
                await asyncio.sleep(max(REST * (self._time.now() - began) / 1e6, LEAST_REST_S))

    async def _compute(self, ranking: Ranking) -> None:
        try:
            computed = await self._executor.ranks(ranking.task)
            records = self._ratings.ranked(ranking, computed)
        except Exception as error:  # whatever is wrong with ranks, games and ratings go on
            ours = None if isinstance(error, FitFailed) else error
            log.error(
                "ranks could not be computed", venue=self._venue, system=ranking.system, error=str(error), exc_info=ours
            )
            return
        if records:
            self._store.submit(records)
