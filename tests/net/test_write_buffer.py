"""What is written when the other side reads slowly: whole lines, in order, to the end."""

from __future__ import annotations

from support.live.simulated import SimulatedTime
from support.net.wires import FakeWire

from cgos_server.net.write_buffer import AGAIN_US, WriteBuffer
from cgos_server.observability.metrics import CloseReason

LINE = b"x" * 9 + b"\n"


def write_buffer(capacity: int | None = None, outbox: int = 400) -> tuple[WriteBuffer, FakeWire, SimulatedTime]:
    wire, time = FakeWire(capacity), SimulatedTime()
    return WriteBuffer(wire, time, outbox), wire, time


def test_what_fits_is_written_at_once() -> None:
    out, wire, _ = write_buffer()
    out.write(LINE * 10)
    out.write(b"")
    assert wire.writes == [LINE * 10]
    assert out.has_room


def test_what_does_not_fit_goes_out_in_whole_lines_as_there_is_room() -> None:
    out, wire, time = write_buffer(capacity=150)
    out.write(LINE * 35)
    assert wire.writes == [LINE * 10, LINE * 10]
    assert not out.has_room
    out.write(b"last\n")
    time.advance(AGAIN_US)
    assert len(wire.writes) == 2
    wire.capacity = 1000
    time.advance(AGAIN_US)
    assert b"".join(wire.writes) == LINE * 35 + b"last\n"
    assert max(map(len, wire.writes)) <= 100
    assert out.has_room


def test_a_line_longer_than_a_piece_stays_whole() -> None:
    out, wire, _ = write_buffer()
    out.write(b"y" * 500 + b"\n" + LINE)
    assert wire.writes == [b"y" * 500 + b"\n", LINE]


def test_it_closes_when_all_is_written() -> None:
    out, wire, time = write_buffer(capacity=50)
    out.write(LINE * 15)
    out.close(CloseReason.QUIT)
    out.write(b"too late\n")
    assert wire.closed is None
    wire.capacity = 1000
    time.advance(AGAIN_US)
    assert wire.closed is CloseReason.QUIT
    assert b"".join(wire.writes) == LINE * 15


def test_it_closes_at_once_where_nothing_waits() -> None:
    out, wire, _ = write_buffer()
    out.close(CloseReason.QUIT)
    assert wire.closed is CloseReason.QUIT
    assert not out.has_room


def test_nothing_is_written_to_a_connection_that_is_gone() -> None:
    out, wire, time = write_buffer(capacity=50)
    out.write(LINE * 15)
    out.gone()
    out, other, time = write_buffer(capacity=50)
    out.write(LINE * 15)
    other.alive = False
    written = len(other.writes)
    other.capacity = wire.capacity = 1000
    time.advance(10 * AGAIN_US)
    assert len(other.writes) == written
