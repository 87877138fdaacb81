"""Hands every fact to one child process through a pipe, as lines of JSON, and never waits for it.

On the way of a move a fact is only put on a list; some milliseconds later all of the list are encoded at once and
written as far as the pipe takes them. What a slow child leaves behind is bounded: beyond that facts are dropped, and a
line :class:`~cgos_protocol.facts.Missed` stands where they are missing. While no child is there nobody listens to
the bus. Must not know: what the child does with them, who starts it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final, get_args

import msgspec
import structlog

from cgos_protocol.facts import AnyFact, Fact, Missed, NamesErased, encode
from cgos_server.live.bus import FactBus
from cgos_server.net.loop import Handle, Timekeeper

log = structlog.get_logger(__name__)

PERIOD_US: Final = 25_000
"""From the first fact of a batch to its writing, and between two tries to write what waits."""

BUFFER: Final = 1 << 20
"""Bytes that may wait for the child."""

FACTS: Final = 16_384
"""Facts that may wait to be encoded: more than a loop that turns can make in a period."""

KINDS: Final[tuple[type[Any], ...]] = (*get_args(AnyFact), NamesErased)
"""All of them."""

_MISSED: Final = encode(Missed()) + b"\n"
_PIECE: Final = 65_536
"""Bytes of one write."""


class FactPipe:
    """One a child that is supervised; what it holds belongs to the child that lives.

    :param buffer: bytes that may wait
    :param dropped: told how many facts were dropped
    """

    def __init__(
        self, bus: FactBus, time: Timekeeper, *, buffer: int = BUFFER, dropped: Callable[[int], None] = lambda _: None
    ) -> None:
        self._bus = bus
        self._time = time
        self._most = buffer
        self._dropped = dropped
        self._encode = msgspec.json.Encoder().encode_lines
        self._facts: list[Fact] = []
        self._waiting = bytearray()
        self._missing = False
        self._descriptor = -1
        self._timer: Handle | None = None
        self._stops: list[Callable[[], None]] = []

    def opened(self, descriptor: int) -> None:
        """A child reads the other end of the pipe `descriptor`, which stays its owner's and is made non-blocking. It
        is told first that it missed what was before."""
        self.closed()
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._waiting += _MISSED
        self._stops = [self._bus.subscribe(kind, self._heard) for kind in KINDS]
        self._write()

    def closed(self) -> None:
        """The child is gone, and what it was to be told with it. Does nothing where there is none."""
        self._descriptor = -1
        for stop in self._stops:
            stop()
        self._stops = []
        self._facts.clear()
        self._waiting.clear()
        self._missing = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _heard(self, fact: Fact) -> None:
        """On the way of a move."""
        self._facts.append(fact)
        if self._timer is None:
            self._timer = self._time.call_at(self._time.now() + PERIOD_US, self._woken)
        elif len(self._facts) > FACTS:
            self._take()

    def _woken(self) -> None:
        self._timer = None
        self._take()
        self._write()
        if self._waiting and self._descriptor >= 0:
            self._timer = self._time.call_at(self._time.now() + PERIOD_US, self._woken)

    def _take(self) -> None:
        """Encode what was heard; drop it where there is no room."""
        facts, waiting = self._facts, self._waiting
        if not facts:
            return
        if self._missing and len(waiting) <= self._most // 2:
            waiting += _MISSED
            self._missing = False
        lines = b"" if self._missing else self._encode(facts)
        if self._missing or len(waiting) + len(lines) > self._most:
            if not self._missing:
                log.info("the web process reads facts too slowly; some are dropped", waiting=len(waiting))
            self._missing = True
            self._dropped(len(facts))
        else:
            waiting += lines
        facts.clear()

    def _write(self) -> None:
        waiting = self._waiting
        while waiting:
            try:
                written = os.write(self._descriptor, memoryview(waiting)[:_PIECE])
            except BlockingIOError:
                break
            except OSError:  # the child is gone; whoever started it will notice
                self.closed()
                return
            del waiting[:written]
        if self._missing and len(waiting) <= self._most // 2:
            waiting += _MISSED
            self._missing = False
