"""When the live server removes what is old: by its clock, and when somebody wants it; a run that fails ends nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs
from support.live.simulated import MemoryStore, SimulatedTime

from cgos_protocol.errors import StoreError
from cgos_server.live.processes import pruning
from cgos_server.live.processes.pruning import EVERY_US, FIRST_US, BackgroundPruner
from cgos_server.service.pruning import Days, Kind
from cgos_server.storage.reading.keeping.old_rows import Dated
from cgos_server.storage.writing.records import RoundInputs


class Rounds:
    """A hundred pairing passes, one each hour from the start on."""

    def __init__(self, store: MemoryStore, time: SimulatedTime) -> None:
        self._store = store
        self._times = [time.wall_ms() + n * 3_600_000 for n in range(100)]
        self.fails: Exception | None = None
        self.runs = 0

    async def last_emptied_round(self) -> int:
        self.runs += 1
        if self.fails is not None:
            raise self.fails
        return len(self._store.of(RoundInputs))

    async def rounds(self, after: int, some: int) -> Sequence[Dated]:
        return [Dated(n, at) for n, at in enumerate(self._times, 1) if n > after][:some]


class House:
    def __init__(self) -> None:
        self.time, self.store = SimulatedTime(), MemoryStore()
        self.rounds = Rounds(self.store, self.time)
        self.store.history = type("History", (), {"keeping": self.rounds})()
        self.days: Days = {Kind.ROUNDS: 2.0}
        self.counted = 0
        self.pruner = BackgroundPruner(
            self.store,  # type: ignore[arg-type]
            lambda: self.days,
            time=self.time,
            counted=self.count,
            pause=self.pause,
        )

    def count(self, kind: Kind, rows: int) -> None:
        assert kind is Kind.ROUNDS
        self.counted += rows

    async def pause(self, _seconds: float) -> None:
        await asyncio.sleep(0)

    async def passes(self, us: int) -> int:
        """So much time; how many runs there were."""
        before = self.rounds.runs
        self.time.advance(us)
        for _ in range(300):
            await asyncio.sleep(0)
        return self.rounds.runs - before


@pytest.fixture
async def house() -> Any:
    made = House()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(made.pruner.run())
        await asyncio.sleep(0)
        yield made
        task.cancel()


async def test_a_run_after_some_minutes_and_then_each_hour(house: House) -> None:
    assert await house.passes(FIRST_US - 1) == 0
    assert await house.passes(1) == 1
    assert await house.passes(EVERY_US - 1) == 0
    assert await house.passes(1) == 1
    assert house.counted == 0, "nothing is older than two days"
    for _ in range(60):
        await house.passes(EVERY_US)
    emptied = len(house.store.of(RoundInputs))
    assert house.counted == emptied == 61 - 48 + 1


async def test_somebody_wants_it_at_once_and_other_days_hold_from_then_on(house: House) -> None:
    for _ in range(4):
        await house.passes(EVERY_US)
    assert house.counted == 0
    house.days = {Kind.ROUNDS: 1 / 24}
    with capture_logs() as logs:
        assert await house.pruner.begin() is None
        assert await house.passes(0) == 1
    assert house.counted == 3
    assert [(line["event"], line["rounds"]) for line in logs] == [("removed what is old", 3)]
    assert await house.passes(EVERY_US - 1) == 0, "the hour begins anew"
    assert await house.passes(1) == 1


@pytest.mark.parametrize("error", [StoreError("the database could not be read"), KeyError("odd")])
async def test_a_run_that_fails_is_logged_and_the_next_one_comes(house: House, error: Exception) -> None:
    house.rounds.fails = error
    with capture_logs() as logs:
        await house.passes(FIRST_US)
    assert [line["log_level"] for line in logs] == ["warning" if isinstance(error, StoreError) else "error"]
    house.rounds.fails = None
    assert await house.passes(EVERY_US) == 1


async def test_the_pause_is_a_multiple_of_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(pruning.asyncio, "sleep", sleep)
    for seconds in (0.0, 0.0005, 0.005, 10.0):
        await pruning._rest(seconds)
    assert pauses == pytest.approx([0.02, 0.02, 0.1, 2.0])
