"""An operator's command lines on one connection: one command at a time, each with its answer.

Commands that come faster than they are done wait, a hundred at most: more is a flood, and the connection is closed.
Must not know: sockets, what the commands do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Final

from cgos_protocol.lines.admin import COMMAND_MAX, Quit, answer, parse
from cgos_protocol.lines.framing import Line
from cgos_protocol.lines.words import error_line, safe_text
from cgos_protocol.session import OperatorDesk
from cgos_server.net.wire import ConnectionContext, Wire, blame
from cgos_server.net.write_buffer import WriteBuffer
from cgos_server.observability.metrics import CloseReason

QUEUE: Final = 100
"""Commands that may wait."""


class OperatorLines:
    """One operator's dialogue after the sign-in."""

    __slots__ = ("_busy", "_closed", "_desk", "_metrics", "_out", "_waiting", "_wire")

    def __init__(self, context: ConnectionContext, wire: Wire, desk: OperatorDesk) -> None:
        sockets = context.sockets
        self._metrics = sockets.metrics
        self._wire = wire
        self._desk = desk
        self._out = WriteBuffer(wire, sockets.time, sockets.limits.outbox)
        self._waiting: deque[str] = deque()
        self._busy: object | None = None
        self._closed = False
        self._out.write(b"ok\n")

    def receive(self, line: Line) -> None:
        """The next command."""
        text = safe_text(line.text[:COMMAND_MAX].decode("latin-1"))
        if not text or self._closed:
            return
        if len(self._waiting) >= QUEUE:
            blame(self._wire, self._metrics, "flood")
            self._out.write(error_line(f"More than {QUEUE} commands wait for an answer.").encode("ascii"))
            self._close(CloseReason.VIOLATION)
            return
        self._waiting.append(text)
        self._go_on()

    def _go_on(self) -> None:
        """Begin the next command, unless one is being done. What a lost connection left waiting is dropped."""
        while self._waiting and self._busy is None and not self._closed and self._wire.alive:
            command = self._waiting.popleft()
            if isinstance(parse(command), Quit):
                self._out.write(answer(command, ["Quit"]))
                self._close(CloseReason.QUIT)
                return
            self._busy = ticket = object()
            self._desk.command(command, partial(self._answered, ticket, command))

    def _answered(self, ticket: object, command: str, lines: Sequence[str]) -> None:
        if self._busy is not ticket:
            return  # it was answered before
        self._busy = None
        self._out.write(answer(command, lines))
        self._go_on()

    def _close(self, reason: CloseReason) -> None:
        self._closed = True
        self._waiting.clear()
        self._out.close(reason)
