"""When did a line arrive? A selector that remembers its polls, and the loop built on it.

Server time is nobody's time: a line counts as received when the poll that delivered it returned, if that poll had to
wait; if it returned at once (the line may have lain there while the loop was busy), when the poll before it returned.
Must not know: what lines mean, whose clock runs.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable
from typing import Any, Protocol

from cgos_server.net.limits import AcceptingLoop

_WAKE_SLACK_US = 2_000
"""epoll counts in whole milliseconds and rounds up; a poll that slept this much longer than asked was not scheduled."""


def now_us() -> int:
    """The loop's clock (monotonic), in microseconds."""
    return time.monotonic_ns() // 1000


class Handle(Protocol):
    """A timer that can be called off."""

    def cancel(self) -> None: ...


class Timekeeper(Protocol):
    """All that the live server knows of time. Microseconds on the loop's clock, except `wall_ms`."""

    def now(self) -> int:
        """This instant."""

    def received(self) -> int:
        """When the bytes that are being handled now count as received."""

    def polled_since(self, instant: int) -> bool:
        """True when a poll begun at or after `instant` has returned and its lines were handled."""

    def call_at(self, instant: int, callback: Callable[..., None], *args: Any) -> Handle:
        """Call back at `instant`, or in the next turn of the loop where it has passed."""

    def wall_ms(self) -> int:
        """Unix time in milliseconds."""


class PollClock(selectors.DefaultSelector):
    """The platform's selector, with the times of its polls.

    Every select asks first without waiting. Only so is it known whether a line lay there already (its bot gets the
    benefit of the doubt: the end of the poll before) or arrived while we waited (that very moment).

    :ivar began: when the latest poll began
    :ivar returned: when the latest poll returned, or should have
    :ivar received: when the lines of the latest poll count as received
    """

    def __init__(self) -> None:
        super().__init__()
        self.began = self.returned = self.received = now_us()
        self._before: list[Callable[[], None]] = []

    def before_poll(self, call: Callable[[], None]) -> None:
        """Call once, when this turn of the loop is over and before it looks for what has arrived. Cheaper than another
        turn; `call` must not raise, and what it asks of the loop may have to wait for the next event."""
        self._before.append(call)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self._before:
            calls, self._before = self._before, []
            for call in calls:
                call()
        self.began = began = time.monotonic_ns() // 1000
        before = self.returned
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            self.received = before
            self.returned = time.monotonic_ns() // 1000
            return ready
        ready = super().select(timeout)
        returned = time.monotonic_ns() // 1000
        if timeout is not None:
            # A process that was stopped, or got no processor, wakes long after its timeout. Lines may have come at any
            # time since, and it may even find them only at its next poll: the system ends this one empty-handed.
            returned = min(returned, began + int(timeout * 1e6) + _WAKE_SLACK_US)
        self.returned = self.received = returned
        return ready


class LoopTime:
    """The real :class:`Timekeeper`: an event loop over a :class:`PollClock`."""

    __slots__ = ("_clock", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, clock: PollClock) -> None:
        self._loop = loop
        self._clock = clock

    def now(self) -> int:
        return time.monotonic_ns() // 1000

    def received(self) -> int:
        return self._clock.received

    def polled_since(self, instant: int) -> bool:
        return self._clock.began >= instant

    def call_at(self, instant: int, callback: Callable[..., None], *args: Any) -> Handle:
        return self._loop.call_at(instant / 1e6, callback, *args)

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000


def new_loop(clock: PollClock) -> asyncio.AbstractEventLoop:
    """An event loop that polls through `clock`."""
    return AcceptingLoop(clock)
