"""An operator's command lines on one connection. Must not know: sockets, what the commands do."""

from __future__ import annotations

from cgos_server.net.wire import Door, Wire
from cgos_server.protocol.framing import Line
from cgos_server.protocol.session import OperatorDesk


class OperatorLines:
    """One operator's dialogue after the sign-in."""

    def __init__(self, door: Door, wire: Wire, desk: OperatorDesk) -> None:
        self._door = door
        self._wire = wire
        self._desk = desk

    def receive(self, line: Line) -> None:
        """The next command."""
