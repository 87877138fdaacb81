"""``cgos.v1``: the CGOS line dialogue in WebSocket text frames.

A frame holds one line or several, and its end ends a line; what the server sends are whole lines. Must not know: what
the lines mean, sockets.
"""

from __future__ import annotations

from cgos_protocol.lines.framing import LineFramer
from cgos_protocol.session import PeerRelay
from cgos_server.net.lines import EngineLines
from cgos_server.net.websocket.port import Connection
from cgos_server.net.wire import ConnectionContext
from cgos_server.observability.metrics import CloseReason


class LineFrames(PeerRelay[Connection]):
    """One dialogue. A :class:`~cgos_server.net.websocket.port.Dialogue`, and the
    :class:`~cgos_server.net.wire.Wire` of its lines."""

    __slots__ = ("_framer", "_lines")

    may_lag = False
    message_max: int | None = None

    def __init__(self, context: ConnectionContext, connection: Connection) -> None:
        super().__init__(connection)
        self._framer = LineFramer()
        self._lines = EngineLines(_peer=self, _context=context)

    # -- what the connection says

    def opened(self) -> None:
        self._lines.opened(None)

    def message(self, data: bytes, binary: bool, received: int) -> None:
        if binary:
            self.violated("wrong-frame", "cgos.v1 is spoken in text frames.")
            return
        framer, lines = self._framer, self._lines
        for line in framer.feed(data if data.endswith(b"\n") else data + b"\n", received):
            if not self._peer.alive:
                return
            lines.receive(line)
        if framer.fault is not None:
            self.violated("long-line", framer.fault)

    def violated(self, code: str, sentence: str, close_code: int | None = None) -> None:  # noqa: ARG002
        if self._peer.alive:
            self._lines.unreadable(sentence)

    def round_trip(self, us: int) -> None:
        """These lines have no word for it."""

    def ended(self) -> None:
        self._lines.ended()

    def lost(self, clean: bool) -> None:
        self._lines.lost(clean)
        del self._lines  # they hold each other, and what lives long is out of the collector's sight

    # -- what the lines ask (Wire)

    def write(self, data: bytes) -> None:
        if data:
            self._peer.send((data,), False)

    def close(self, reason: CloseReason) -> None:
        self._peer.close(reason, reason.value)

    def flush(self) -> None:
        """Nothing is ever held back: the end of a frame ends a line."""
