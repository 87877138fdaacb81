"""When a line counts as received: on simulated polls, and on a real loop with real sockets."""

from __future__ import annotations

import asyncio
import selectors
import socket
import threading
import time

import pytest

from cgos_server.net import loop as module
from cgos_server.net.loop import LoopTime, PollClock, new_loop

MS = 1_000_000  # nanoseconds


class Polls:
    """Scripted polls: (what time passes, in ms; is anything ready)."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 5_000 * MS
        self.script: list[tuple[int, bool]] = []
        monkeypatch.setattr(module.time, "monotonic_ns", lambda: self.now)
        monkeypatch.setattr(selectors.DefaultSelector, "select", self.select)

    def select(self, _: float | None = None) -> list[object]:
        passes, ready = self.script.pop(0)
        self.now += passes * MS
        return [object()] if ready else []


@pytest.fixture
def polls(monkeypatch: pytest.MonkeyPatch) -> Polls:
    return Polls(monkeypatch)


def test_a_line_that_was_waited_for_came_when_the_poll_returned(polls: Polls) -> None:
    clock = PollClock()
    polls.script = [(0, False), (30, True)]
    clock.select(1.0)
    assert clock.received == 5_030_000


def test_a_line_that_lay_there_came_when_the_poll_before_returned(polls: Polls) -> None:
    clock = PollClock()
    polls.script = [(0, False), (30, True)]
    clock.select(1.0)
    polls.now += 700 * MS  # the loop is busy
    polls.script = [(0, True)]
    clock.select(1.0)
    assert clock.received == 5_030_000
    assert clock.returned == clock.began == 5_730_000


def test_what_waits_for_the_end_of_a_turn_is_called_once_and_before_the_poll(polls: Polls) -> None:
    clock = PollClock()
    begun: list[int] = []
    before = clock.began
    polls.now += 5 * MS
    clock.before_poll(lambda: begun.append(clock.began))
    polls.script = [(0, True), (0, True)]
    clock.select(1.0)
    clock.select(1.0)
    assert begun == [before]
    assert clock.began > before


def test_a_process_that_overslept_gives_the_benefit_of_the_doubt(polls: Polls) -> None:
    clock = PollClock()
    polls.script = [(0, False), (9_000, True)]
    clock.select(0.1)
    assert clock.received == 5_000_000 + 100_000 + 2_000


def test_a_process_that_was_stopped_finds_its_lines_at_the_next_poll(polls: Polls) -> None:
    clock = PollClock()
    polls.script = [(0, False), (9_000, False)]
    clock.select(0.1)
    polls.script = [(0, True)]
    clock.select(0.1)
    assert clock.received == 5_000_000 + 100_000 + 2_000


def test_a_poll_that_may_not_wait_never_waits(polls: Polls) -> None:
    clock = PollClock()
    polls.script = [(0, False)]
    assert clock.select(0) == []


@pytest.fixture
def real() -> tuple[asyncio.AbstractEventLoop, LoopTime]:
    clock = PollClock()
    loop = new_loop(clock)
    return loop, LoopTime(loop, clock)


class Receiver(asyncio.Protocol):
    def __init__(self, time: LoopTime, arrival: asyncio.Future[int]) -> None:
        self.time = time
        self.arrival = arrival

    def data_received(self, data: bytes) -> None:
        if not self.arrival.done():
            self.arrival.set_result(self.time.received())


def test_real_loop_never_charges_its_own_stall_and_charges_thinking(
    real: tuple[asyncio.AbstractEventLoop, LoopTime],
) -> None:
    loop, clock = real

    async def receive(stall: float) -> tuple[int, int]:
        """(when the line was written, when it counts as received), in microseconds."""
        ours, theirs = socket.socketpair()
        arrival: asyncio.Future[int] = loop.create_future()
        transport, _ = await loop.create_connection(lambda: Receiver(clock, arrival), sock=ours)
        written: list[int] = []

        def write() -> None:
            written.append(time.monotonic_ns() // 1000)
            theirs.send(b"D4\n")

        thinker = threading.Timer(0.05, write)
        thinker.start()
        if stall:
            await asyncio.sleep(0)
            busy_until = time.monotonic() + stall
            while time.monotonic() < busy_until:
                pass
        received = await arrival
        thinker.join()
        transport.close()
        theirs.close()
        await asyncio.sleep(0)
        return written[0], received

    try:
        written, received = loop.run_until_complete(receive(stall=0.0))
        assert -1_000 <= received - written < 25_000  # thinking is charged; a noisy machine may wake late
        written, received = loop.run_until_complete(receive(stall=0.3))
        assert received <= written  # the 250 ms in which the line lay there are not
    finally:
        loop.close()


def test_polled_since_says_whether_the_sockets_were_looked_into(
    real: tuple[asyncio.AbstractEventLoop, LoopTime],
) -> None:
    loop, clock = real

    async def look() -> list[bool]:
        before = clock.now()
        answers = [clock.polled_since(before)]
        await asyncio.sleep(0)
        answers.append(clock.polled_since(before))
        return answers

    try:
        assert loop.run_until_complete(look()) == [False, True]
    finally:
        loop.close()
