"""Decides when a venue's ratings are refitted, has it done elsewhere, and puts what was found in place.

Short (warm) refits follow the results within a second, long (cold) ones are done when the system says that one is due;
both go on side by side, and neither kind takes more than a fifth of one core. Must not know: how ratings are computed,
who computes.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

import structlog

from cgos_server.core.rating.base import Wanted
from cgos_server.live.ratings.ranker import Ranker
from cgos_server.live.ratings.refit_executor import FitFailed, RefitExecutor
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import VenueMeter
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

EVERY_S: Final = 1.0
"""While results arrive, a warm refit at least so often, as far as `REST` allows."""

REST: Final = 4
"""After a refit nothing of its kind begins for so many times its duration."""

SAVE_S: Final = 10.0
"""Between two saved states: what a start after a kill has to compute again. After a cold refit one is saved at once: it
alone may have taken longer than a start may take."""

AGAIN_S: Final = 30.0
"""After a refit that failed."""


def warm_wait(wanted: Wanted, versions: int, since_s: float, took_s: float) -> float:
    """Seconds until a warm refit should begin, 0 for now.

    :param versions: how many there are
    :param since_s: since the last one ended
    :param took_s: how long that took
    """
    rested = REST * took_s - since_s
    enough = wanted.urgent or wanted.results >= max(1, versions // 4)
    return max(rested, 0.0 if enough else EVERY_S - since_s, 0.0)


class _Lane:
    """Refits of one kind, one after the other."""

    def __init__(self, cold: bool) -> None:
        self.cold = cold
        self.news = asyncio.Event()
        self.busy = False
        self.ended_s: dict[str, float] = {}
        self.took_s: dict[str, float] = {}


class Refitter:
    """One a venue. For a task group: ``group.create_task(refitter.run())``."""

    def __init__(
        self,
        venue: str,
        ratings: VenueRatings,
        store: Store,
        time: Timekeeper,
        executor: RefitExecutor,
        meter: VenueMeter,
    ) -> None:
        self._venue = venue
        self._ratings = ratings
        self._store = store
        self._time = time
        self._executor = executor
        self._meter = meter
        self._ranker = Ranker(venue=venue, ratings=ratings, store=store, time=time, executor=executor)
        self._lanes = (_Lane(cold=False), _Lane(cold=True))
        self._save_due_s = self._now_s() + SAVE_S

    def changed(self) -> None:
        """Entries were applied."""
        for lane in self._lanes:
            lane.news.set()

    async def run(self) -> None:
        """For ever."""
        self.changed()
        async with asyncio.TaskGroup() as group:
            for lane in self._lanes:
                group.create_task(self._serve(lane))
            group.create_task(self._save_now_and_then())
            group.create_task(self._ranker.run())

    def save(self) -> None:
        """Save what changed since the last time, unless a refit is under way that could not be computed again then."""
        if not any(lane.busy for lane in self._lanes):
            self._save_due_s = self._now_s() + SAVE_S
            try:
                records = self._ratings.states(self._time.wall_ms())
            except Exception as error:  # then the next start has more to compute
                log.error("the state of the ratings could not be saved", venue=self._venue, exc_info=error)
                return
            self._store.submit(records)

    async def _serve(self, lane: _Lane) -> None:
        while True:
            try:
                waits = self._waits(lane)
            except Exception as error:  # whatever is wrong with a venue's ratings, its games go on
                log.error("our fault; no refit for now", venue=self._venue, exc_info=error)
                await asyncio.sleep(AGAIN_S)
                continue
            system, wait_s = min(waits.items(), key=lambda item: item[1], default=("", None))
            if wait_s == 0:
                await self._refit(lane, system)
                continue
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await lane.news.wait()
            lane.news.clear()

    def _waits(self, lane: _Lane) -> dict[str, float]:
        """System -> seconds until its next refit of this kind; those that want none are left out."""
        waits: dict[str, float] = {}
        for system, wanted in self._ratings.wanted().items():
            since_s = self._now_s() - lane.ended_s.get(system, -1e9)
            took_s = lane.took_s.get(system, 0.0)
            if lane.cold:
                if wanted.cold:
                    waits[system] = max(0.0, REST * took_s - since_s)
            elif wanted.results and not (wanted.cold and not self._ratings.refitted(system)):
                waits[system] = warm_wait(wanted, len(self._ratings.standings()), since_s, took_s)
        return waits

    async def _refit(self, lane: _Lane, system: str) -> None:
        """One refit: begun now, computed elsewhere, in place at the end."""
        if not lane.cold:
            self._save_where_due()
        began_s = self._now_s()
        lane.busy = True
        try:
            begun = self._ratings.begin(system, lane.cold)
            fit = await self._executor.refit(self._ratings.refitting(system), begun.job, lane.cold)
            took_s = self._now_s() - began_s
            records = self._ratings.finish(begun, fit, self._time.wall_ms(), round(took_s * 1e6))
            ranking = None if records is None else self._ratings.ranking(begun, fit)
        except Exception as error:  # whatever is wrong with a venue's ratings, its games go on
            ours = None if isinstance(error, FitFailed) else error
            log.error(
                "a refit failed; the ratings go on without it",
                venue=self._venue,
                system=system,
                error=str(error),
                exc_info=ours,
            )
            lane.took_s[system] = AGAIN_S / REST
            self._meter.refit_failures += 1
            return
        finally:
            lane.busy = False
            lane.ended_s[system] = self._now_s()
        lane.took_s[system] = took_s
        if records is None:
            return
        self._store.submit(records)
        self._ranker.follow(ranking)
        self._meter.refitted(lane.cold, round(took_s * 1e6))
        if lane.cold:
            self._save_due_s = self._now_s()  # it stays due where a warm refit is under way just now
            self.save()
        self.changed()

    async def _save_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(SAVE_S)
            self._save_where_due()

    def _save_where_due(self) -> None:
        if self._now_s() >= self._save_due_s:
            self.save()

    def _now_s(self) -> float:
        return self._time.now() / 1e6
