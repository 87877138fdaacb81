"""Facts through a pipe: nothing waits, what is left out is said, and order is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.live.simulated import SimulatedTime

from cgos_protocol.facts import AnyFact, BotArrived, Missed, MovePlayed, encode
from cgos_server.live.bus import Bus
from cgos_server.live.processes.fact_pipe import FACTS, KINDS, PERIOD_US, FactPipe
from cgos_server.web.live.fact_reader import LINE_MAX, FactReader


class Child:
    """Reads the pipe as the web process does."""

    def __init__(self, buffer: int = 1 << 20) -> None:
        self.time = SimulatedTime()
        self.bus = Bus(lambda error: pytest.fail(repr(error)))
        self.dropped: list[int] = []
        self.pipe = FactPipe(self.bus, self.time, buffer=buffer, dropped=self.dropped.append)  # type: ignore[arg-type]
        self.theirs, self.ours = os.pipe()
        os.set_blocking(self.theirs, False)
        self.heard: list[AnyFact | None] = []
        self.inflow = FactReader(self.heard.append)

    def play(self, *plies: int) -> None:
        for ply in plies:
            self.bus.publish(move(ply))

    def read(self, size: int = 1 << 20) -> list[AnyFact | None]:
        """What came since the last time."""
        try:
            while data := os.read(self.theirs, min(size, 65_536)):
                self.inflow.feed(data)
                size -= len(data)
                if size <= 0:
                    break
        except BlockingIOError:
            pass
        heard = self.heard[:]
        self.heard.clear()
        return heard

    def close(self) -> None:
        self.pipe.closed()
        for descriptor in (self.theirs, self.ours):
            if descriptor >= 0:
                os.close(descriptor)


def move(ply: int) -> MovePlayed:
    return MovePlayed(venue="9x9", game=7, ply=ply, move="D4", left_ms=60_000)


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child()
    yield child
    child.close()


def test_a_new_child_hears_first_that_it_missed_the_past_and_then_everything_in_order(child: Child) -> None:
    child.play(1, 2)
    child.pipe.opened(child.ours)
    assert child.read() == [None]
    child.play(3, 4)
    child.bus.publish(BotArrived("9x9", "anna"))
    assert child.read() == []
    child.time.advance(PERIOD_US)
    assert child.read() == [move(3), move(4), BotArrived("9x9", "anna")]
    child.play(5)
    child.time.advance(PERIOD_US)
    assert child.read() == [move(5)]
    assert child.dropped == []


def test_without_a_child_nobody_listens_and_no_timer_runs(child: Child) -> None:
    assert not any(child.bus.wanted(kind) for kind in KINDS)
    child.pipe.opened(child.ours)
    assert all(child.bus.wanted(kind) for kind in KINDS)
    child.play(1)
    child.pipe.closed()
    child.pipe.closed()
    assert not any(child.bus.wanted(kind) for kind in KINDS)
    child.read()
    child.time.advance(10 * PERIOD_US)
    assert child.read() == []


def test_the_next_child_gets_nothing_that_was_meant_for_the_last_one(child: Child) -> None:
    child.pipe.opened(child.ours)
    child.play(*range(1, 3000))
    child.time.advance(PERIOD_US)  # more than a pipe takes
    child.pipe.closed()
    os.close(child.theirs)
    os.close(child.ours)
    child.theirs, child.ours = os.pipe()
    os.set_blocking(child.theirs, False)
    child.inflow = FactReader(child.heard.append)
    child.pipe.opened(child.ours)
    child.play(5000)
    child.time.advance(PERIOD_US)
    assert child.read() == [None, move(5000)]


def test_what_a_slow_child_leaves_is_bounded_and_it_is_told_where_facts_are_missing() -> None:
    child = Child(buffer=20_000)
    child.pipe.opened(child.ours)
    ply = 0
    while not child.dropped:
        child.play(*range(ply + 1, ply + 101))
        ply += 100
        child.time.advance(PERIOD_US)
    for _ in range(5):
        child.play(*range(ply + 1, ply + 101))
        ply += 100
        child.time.advance(PERIOD_US)
    assert len(child.pipe._waiting) <= 20_000
    heard: list[AnyFact | None] = []
    for _ in range(100):
        heard += child.read(5_000)
        child.time.advance(PERIOD_US)
    child.play(99_999)
    child.time.advance(PERIOD_US)
    heard += child.read()
    assert heard[0] is None
    assert heard.count(None) == 2
    gap = heard.index(None, 1)
    before = [fact.ply for fact in heard[1:gap] if isinstance(fact, MovePlayed)]
    assert before == list(range(1, len(before) + 1))
    assert heard[gap + 1 :] == [move(99_999)]
    assert sum(child.dropped) == ply - len(before)
    child.close()


def test_a_child_that_is_gone_is_no_fault(child: Child) -> None:
    child.pipe.opened(child.ours)
    os.close(child.theirs)
    child.theirs = -1
    child.play(1)
    child.time.advance(PERIOD_US)
    child.play(2)
    child.time.advance(PERIOD_US)
    assert not child.bus.wanted(MovePlayed)


def test_a_burst_before_the_loop_turns_is_bounded(child: Child) -> None:
    child.pipe.opened(child.ours)
    child.play(*range(1, 4 * FACTS))
    assert len(child.pipe._facts) <= FACTS
    assert sum(child.dropped) > 0


@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.data())
def test_facts_survive_any_cut_of_the_stream(plies: list[int], data: st.DataObject) -> None:
    """However the bytes are cut, the same facts come out; a line that is none is a gap."""
    lines = [encode(move(ply)) for ply in plies]
    spoilt = data.draw(st.sets(st.integers(0, len(lines) - 1)))
    expected: list[AnyFact | None] = [None if at in spoilt else move(ply) for at, ply in enumerate(plies)]
    for at in spoilt:
        lines[at] = data.draw(st.sampled_from([encode(Missed()), b"", b"{", b'{"fact":"New"}', b"x" * (LINE_MAX + 5)]))
    stream = b"".join(line + b"\n" for line in lines)
    heard: list[AnyFact | None] = []
    inflow = FactReader(heard.append)
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        inflow.feed(stream[:size])
        stream = stream[size:]
        assert len(inflow._rest) <= LINE_MAX
    assert heard == expected
