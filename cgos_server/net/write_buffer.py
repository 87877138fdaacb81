"""Writes many lines to one peer as it takes them, so that a long answer never fills what may wait for it.

Must not know: what the lines mean.
"""

from __future__ import annotations

from typing import Final

from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.net.wire import Wire
from cgos_server.observability.metrics import CloseReason

AGAIN_US: Final = 50_000
"""Between two tries to write what waits."""


class WriteBuffer:
    """What waits here is bounded by its user: one answer, one picture.

    :param outbox: bytes that may wait in the wire
    """

    __slots__ = ("_closing", "_piece", "_time", "_timer", "_waiting", "_wire")

    def __init__(self, wire: Wire, time: Timekeeper, outbox: int) -> None:
        self._wire = wire
        self._time = time
        self._piece = outbox // 4
        self._waiting = bytearray()
        self._timer: Handle | None = None
        self._closing: CloseReason | None = None

    @property
    def has_room(self) -> bool:
        """True where the next lines would be written at once."""
        wire = self._wire
        return not self._waiting and self._closing is None and wire.alive and wire.has_room

    def write(self, data: bytes) -> None:
        """Whole lines, now or as soon as there is room; nothing to a connection that is being closed."""
        if not data or self._closing is not None or not self._wire.alive:
            return
        if not self._waiting and len(data) <= self._piece:
            self._wire.write(data)
            return
        self._waiting += data
        self._pump()

    def close(self, reason: CloseReason) -> None:
        """Write what waits, then close."""
        self._closing = self._closing or reason
        if not self._waiting:
            self._wire.close(reason)

    def gone(self) -> None:
        """The connection is lost."""
        self._waiting.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _pump(self) -> None:
        self._timer = None
        wire, waiting = self._wire, self._waiting
        if not wire.alive:
            waiting.clear()
            return
        while waiting and wire.has_room:
            end = waiting.rfind(b"\n", 0, self._piece) + 1 or waiting.find(b"\n") + 1
            wire.write(bytes(waiting[:end]))
            del waiting[:end]
        if waiting:
            self._timer = self._time.call_at(self._time.now() + AGAIN_US, self._pump)
        elif self._closing is not None:
            wire.close(self._closing)
