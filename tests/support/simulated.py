"""Simulated time, a store in memory whose commits the test releases, and sessions that write down what they hear."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

from cgos_server.core.games.base import Color
from cgos_server.protocol.session import GameSetup, Seat
from cgos_server.storage.records import Record


class _Timer:
    def __init__(self, callback: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.callback: Callable[..., None] | None = callback
        self.args = args

    def cancel(self) -> None:
        self.callback = None


class SimulatedTime:
    """A Timekeeper that moves only when told. `stall` lets time pass without polling, as a busy loop does."""

    def __init__(self) -> None:
        self.instant = 1_000_000_000
        self.polled = self.instant
        self._timers: list[tuple[int, int, _Timer]] = []
        self._count = 0

    def now(self) -> int:
        return self.instant

    def received(self) -> int:
        return self.polled

    def polled_since(self, instant: int) -> bool:
        return self.polled >= instant

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + self.instant // 1000

    def call_at(self, instant: int, callback: Callable[..., None], *args: Any) -> _Timer:
        timer = _Timer(callback, args)
        self._count += 1
        heapq.heappush(self._timers, (instant, self._count, timer))
        return timer

    def advance(self, us: int) -> None:
        """Let `us` microseconds pass on an idle loop: every timer fires at its time, after a poll."""
        end = self.instant + us
        while self._timers and self._timers[0][0] <= end:
            due, _, timer = heapq.heappop(self._timers)
            self.instant = self.polled = max(self.instant, due)
            if timer.callback is not None:
                timer.callback(*timer.args)
        self.instant = self.polled = end

    def stall(self, us: int) -> None:
        """The loop is busy for `us` microseconds: nothing is polled, no timer fires."""
        self.instant += us


class MemoryStore:
    """What the runtime submits, in order. `hold` keeps commits back until `release`."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.held: list[tuple[Sequence[Record], Callable[[], None] | None]] = []
        self.holding = False
        self.healthy = True

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        if self.holding:
            self.held.append((records, then))
        else:
            self._commit(records, then)

    async def commit(self, records: Sequence[Record]) -> None:
        self.submit(records)

    async def untold_game(self, venue_id: int, version_id: int, since: int) -> None:
        return None

    def _commit(self, records: Sequence[Record], then: Callable[[], None] | None) -> None:
        self.records.extend(records)
        if then is not None:
            then()

    def release(self) -> None:
        """The disk is back: commit what was held, in order."""
        self.holding = False
        held, self.held = self.held, []
        for records, then in held:
            self._commit(records, then)

    def of(self, kind: type) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]


class RecordingSession:
    """A PlayerSession that writes down what it is told, as short tuples."""

    def __init__(self, number: int = 1) -> None:
        self.id = number
        self.alive = True
        self.heard: list[tuple[Any, ...]] = []
        self.seat: Seat | None = None

    def accepted(self, seat: Seat) -> None:
        self.seat = seat
        self.heard.append(("accepted",))

    def refused(self, sentence: str) -> None:
        self.alive = False
        self.heard.append(("refused", sentence))

    def setup(self, setup: GameSetup) -> None:
        self.heard.append(("setup", setup))

    def genmove(self, color: Color, left_ms: int) -> None:
        self.heard.append(("genmove", color, left_ms))

    def played(self, color: Color, move: str, left_ms: int, then_left_ms: int | None) -> None:
        self.heard.append(("played", color, move, left_ms, then_left_ms))

    def game_over(self, date: str, result: str, detail: str) -> None:
        self.heard.append(("gameover", result, detail))

    def info(self, text: str) -> None:
        self.heard.append(("info", text))

    def words(self) -> list[str]:
        return [entry[0] for entry in self.heard]

    def last(self) -> tuple[Any, ...]:
        return self.heard[-1]
