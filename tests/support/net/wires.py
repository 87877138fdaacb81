"""A wire that keeps what is written, and can be full; the context that its dialogue shares."""

from __future__ import annotations

import asyncio
from typing import Any

from prometheus_client import CollectorRegistry

from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.wire import BotSockets, ConnectionContext
from cgos_server.observability.metrics import CloseReason, Metrics
from support.live.simulated import SimulatedTime

S = 1_000_000


def context(time: SimulatedTime, gallery: Any = None, reception: Any = None, **limits: int) -> ConnectionContext:
    """With limits that nobody reaches, unless they are given."""
    bounds = {
        "connections": 10_000, "connections_per_address": 10_000, "login_timeout_us": 60 * S, "outbox": 1 << 20,
        "ignored_per_minute": 300,
    }  # fmt: skip
    bound = SocketLimits(**(bounds | limits))
    numbers = iter(range(1, 1_000_000))
    metrics = Metrics(CollectorRegistry(), "test")
    sockets = BotSockets(
        time=time,
        limits=bound,
        count=ConnectionCount(bound.connections, bound.connections_per_address),
        metrics=metrics,
        new_id=lambda: next(numbers),
    )
    return ConnectionContext(sockets=sockets, reception=reception, gallery=gallery)


class OtherEnd(asyncio.Transport):
    """What the transport doubles share: whose bytes they are.

    :ivar protocol: to be given what comes
    :ivar reading: False where no more is taken
    """

    def __init__(self, protocol: asyncio.Protocol, address: str = "192.0.2.1") -> None:
        super().__init__({"peername": (address, 4321), "socket": None})
        self.protocol = protocol
        self.reading = True

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self.protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self.protocol

    def pause_reading(self) -> None:
        self.reading = False


class SocketEnd(OtherEnd):
    """A socket's transport that keeps what is written.

    :ivar unread: bytes that it says it still has to send
    """

    def __init__(self, protocol: asyncio.Protocol, address: str = "192.0.2.1") -> None:
        super().__init__(protocol, address)
        self.written = bytearray()
        self.unread = 0
        self.high: int | None = None
        self.ended = self.closing = self.aborted = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high

    def resume_reading(self) -> None:
        self.reading = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.ended, "written after the close"
        self.written += data

    def write_eof(self) -> None:
        self.ended = True

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.ended = self.closing = True

    def abort(self) -> None:
        self.ended = self.closing = self.aborted = True


class FakeWire:
    """A :class:`cgos_server.net.wire.Wire`. `capacity` is how many bytes it takes before it has no room; None: any."""

    def __init__(self, capacity: int | None = None) -> None:
        self.id = 1
        self.address = "192.0.2.1"
        self.alive = True
        self.heard_at = 0
        self.proxied = False
        self.capacity = capacity
        self.writes: list[bytes] = []
        self.closed: CloseReason | None = None

    @property
    def has_room(self) -> bool:
        return self.capacity is None or self.capacity > 0

    def write(self, data: bytes) -> None:
        if not data:
            return
        assert self.closed is None, "written after the close"
        assert data.endswith(b"\n"), "half a line"
        self.writes.append(data)
        if self.capacity is not None:
            self.capacity -= len(data)

    def close(self, reason: CloseReason) -> None:
        self.closed = self.closed or reason
        self.alive = False

    def flush(self) -> None: ...

    async def reaches_peer(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """What was written since the last time."""
        text = b"".join(self.writes).decode("ascii")
        self.writes.clear()
        return text.splitlines()
