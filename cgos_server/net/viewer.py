"""A line viewer (``v1``) on one connection. Must not know: sockets, games' insides."""

from __future__ import annotations

from cgos_server.net.wire import Door, Wire
from cgos_server.observability.metrics import CloseReason
from cgos_server.protocol.framing import Line


class ViewerLines:
    """One viewer's dialogue after its ``v1`` line."""

    def __init__(self, door: Door, wire: Wire, client: str) -> None:
        self._door = door
        self._wire = wire

    def receive(self, line: Line) -> None:
        """The next line of the viewer."""
        if line.text == b"quit":
            self._wire.close(CloseReason.QUIT)

    def gone(self) -> None:
        """The connection is lost."""
