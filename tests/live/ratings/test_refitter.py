"""When a refit begins, and that what it finds is stored in its place among the results."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from support.live.simulated import SimulatedTime
from support.service.loaded_ratings import loaded_ratings
from support.storage.ledger_store import LedgerStore

from cgos_server.core.rating.base import Fit, Refitting, Wanted
from cgos_server.core.rating.ranks import Ranks
from cgos_server.core.rating.registry import rating_system
from cgos_server.live.ratings import refitter
from cgos_server.live.ratings.refit_executor import FitFailed
from cgos_server.live.ratings.refitter import EVERY_S, REST, Refitter, warm_wait
from cgos_server.observability.metrics import Metrics
from cgos_server.service.ratings.venue_ratings import VenueRatings


@pytest.mark.parametrize(
    ("results", "urgent", "since_s", "took_s", "wait_s"),
    [
        (1, False, 0.0, 0.0, EVERY_S),  # a single result waits for company, but no longer than this
        (1, False, 0.4, 0.0, EVERY_S - 0.4),
        (1, False, 5.0, 0.0, 0.0),
        (16, False, 0.0, 0.0, 0.0),  # a quarter of the 64 versions
        (15, False, 0.0, 0.0, EVERY_S),
        (1, True, 0.0, 0.0, 0.0),  # something was taken back
        (500, True, 0.1, 0.3, REST * 0.3 - 0.1),  # never more than a fifth of a core
        (500, False, 9.0, 0.3, 0.0),
    ],
)
def test_a_warm_refit_begins_soon_but_rests(
    results: int, urgent: bool, since_s: float, took_s: float, wait_s: float
) -> None:
    assert warm_wait(Wanted(results, False, urgent), 64, since_s, took_s) == pytest.approx(wait_s)


class Gated:
    """Computes when it is let."""

    def __init__(self) -> None:
        self.jobs: list[bool] = []
        self.gate = asyncio.Event()
        self.fails = 0

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        self.jobs.append(cold)
        await self.gate.wait()
        if self.fails:
            self.fails -= 1
            raise FitFailed("it went wrong")
        return system.refit(job)

    async def ranks(self, task: Callable[[], Ranks]) -> Ranks:
        return task()


class Venue:
    """Ratings at work, without games."""

    def __init__(self) -> None:
        self.store = LedgerStore()
        self.fitting = Gated()
        self.meter = Metrics(CollectorRegistry(), "test").venue("9x9")
        self.ratings: VenueRatings
        self.refitter: Refitter
        self.games = 0

    async def open(self) -> Venue:
        self.ratings = await loaded_ratings(
            self.store,
            1,
            rating_system("bayes", 1800.0, {}),
            (),
            "build",  # type: ignore[arg-type]
        )
        time: Any = RunningTime()
        self.refitter = Refitter("9x9", self.ratings, self.store, time, self.fitting, self.meter)  # type: ignore[arg-type]
        for version in range(1, 5):
            self.store.submit(self.ratings.enter(version, 1800.0, 0).records)
        return self

    def play(self, games: int = 1) -> None:
        for _ in range(games):
            self.games += 1
            black, white = 1 + self.games % 4, 1 + (self.games + 1) % 4
            self.store.submit(self.ratings.game(self.games, black, white, 2, 0).records)
        self.refitter.changed()

    async def until(self, what: Callable[[], object]) -> None:
        async with asyncio.timeout(20):
            while not what():  # noqa: ASYNC110 - a condition without an event
                await asyncio.sleep(0.01)


class RunningTime(SimulatedTime):
    """Goes with the loop's own."""

    def now(self) -> int:
        return int(asyncio.get_running_loop().time() * 1e6)


@contextlib.asynccontextmanager
async def running(venue: Venue) -> Any:
    task = asyncio.get_running_loop().create_task(venue.refitter.run())
    yield
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_results_during_a_refit_come_again_on_top_and_are_recorded_so() -> None:
    venue = await Venue().open()
    async with running(venue):
        venue.play()
        await venue.until(lambda: venue.fitting.jobs)
        assert venue.fitting.jobs == [True], "nothing to go on from: the first is a cold one, alone"
        begun_at = venue.ratings.seq
        venue.play(3)
        venue.fitting.gate.set()
        await venue.until(lambda: venue.store.recorded)
        first = venue.store.recorded[0]
        assert (first.number, first.included, first.base, first.applied, first.cold) == (
            1,
            begun_at,
            0,
            begun_at + 3,
            1,
        )
        await venue.until(lambda: any(not refit.cold for refit in venue.store.recorded))
        assert venue.meter.refits["cold"] >= 1
        await venue.until(lambda: not venue.ratings.wanted())


async def test_a_failed_refit_costs_nothing_but_itself() -> None:
    venue = await Venue().open()
    venue.fitting.gate.set()
    venue.fitting.fails = 1
    async with running(venue):
        venue.play(2)
        await venue.until(lambda: venue.meter.refit_failures)
        assert not venue.store.recorded
        assert venue.ratings.game(99, 1, 2, 2, 0).changes, "results go on being rated"


@pytest.mark.parametrize("place", ["wanted", "begin", "finish"])
async def test_whatever_breaks_in_a_refit_the_venue_goes_on(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refitter, "AGAIN_S", 0.02)
    venue = await Venue().open()
    venue.fitting.gate.set()
    whole = getattr(venue.ratings, place)
    broke: list[str] = []

    def breaks(*arguments: Any) -> Any:
        if not broke:
            broke.append(place)
            raise ArithmeticError("nobody foresaw this")
        return whole(*arguments)

    monkeypatch.setattr(venue.ratings, place, breaks)
    async with running(venue):
        venue.play(2)
        await venue.until(lambda: venue.store.recorded)
        assert broke
        assert place == "wanted" or venue.meter.refit_failures == 1


async def test_a_state_that_cannot_be_saved_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(state: Any) -> bytes:
        raise MemoryError

    venue = await Venue().open()
    monkeypatch.setattr(type(venue.ratings.system), "dump", lambda _self, state: breaks(state))
    venue.refitter.save()
    assert not venue.store.states


class Refits:
    """The refits that are computed in this process, all of `system`'s class."""

    def __init__(self, system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cold: list[bool] = []
        self.threads: list[threading.Thread] = []
        self._refit = type(system).refit
        monkeypatch.setattr(type(system), "refit", lambda system, job: self._noted(system, job))

    def _noted(self, system: Any, job: Any) -> Fit:
        fit: Fit = self._refit(system, job)
        self.cold.append(fit.cold)
        self.threads.append(threading.current_thread())
        return fit


async def test_the_state_is_saved_right_after_a_cold_refit_and_nothing_of_it_is_computed_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refitter, "SAVE_S", 1e6)
    venue = await Venue().open()
    venue.fitting.gate.set()
    async with running(venue):
        venue.play(2)
        await venue.until(lambda: venue.store.states)
    assert venue.store.recorded[0].cold
    assert venue.store.states["bayes"].refit >= venue.store.recorded[0].number
    system = rating_system("bayes", 1800.0, {})
    refits = Refits(system, monkeypatch)
    loaded = await loaded_ratings(venue.store, 1, system, (), "build")
    assert True not in refits.cold
    assert dict(loaded.standings()) == dict(venue.ratings.standings())


async def test_a_start_computes_refits_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    venue = await Venue().open()
    venue.fitting.gate.set()
    venue.play(2)
    venue.store.submit(venue.ratings.states(0))
    begun = venue.ratings.begin("bayes", cold=True)
    fit = await venue.fitting.refit(venue.ratings.refitting("bayes"), begun.job, cold=True)
    venue.store.submit(venue.ratings.finish(begun, fit, 0, 0) or [])
    system = rating_system("bayes", 1800.0, {})
    refits = Refits(system, monkeypatch)
    loaded = await loaded_ratings(venue.store, 1, system, (), "build")
    assert refits.cold == [True]
    assert threading.main_thread() not in refits.threads
    assert dict(loaded.standings()) == dict(venue.ratings.standings())


async def test_nothing_happens_while_there_are_no_results_and_a_stop_saves_the_state() -> None:
    venue = await Venue().open()
    venue.fitting.gate.set()
    async with running(venue):
        venue.play(5)
        await venue.until(lambda: venue.store.recorded and not venue.ratings.wanted())
        jobs = len(venue.fitting.jobs)
        await asyncio.sleep(0.1)
        assert len(venue.fitting.jobs) == jobs
    venue.refitter.save()
    saved = venue.store.states["bayes"]
    assert (saved.seq, saved.refit) == (venue.ratings.seq, len(venue.store.recorded))
    loaded = await loaded_ratings(
        venue.store,
        1,
        rating_system("bayes", 1800.0, {}),
        (),
        "build",  # type: ignore[arg-type]
    )
    assert dict(loaded.standings()) == dict(venue.ratings.standings())
