"""A TCP connection of the CGOS port: bytes from the socket to lines, lines to the socket.

What every port has is :mod:`cgos_server.net.bot_socket`'s. Must not know: what the lines mean.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any, Final

from cgos_protocol.lines.framing import LineFramer
from cgos_protocol.lines.words import error_line
from cgos_server.net.bot_socket import BotSocket
from cgos_server.net.lines import EngineLines
from cgos_server.net.lingering import LINGER_US, linger
from cgos_server.net.listening import accept
from cgos_server.net.loop import Handle
from cgos_server.net.proxies.connection import ProxyPort
from cgos_server.net.tls.connection import TlsPort
from cgos_server.net.wire import ConnectionContext, answered
from cgos_server.observability.metrics import CloseReason

NO_TLS: Final = error_line("This port speaks TLS: connect by cgoss://, or to the port that speaks none.").encode(
    "ascii"
)
"""To a peer without TLS where TLS is spoken."""

_ESTABLISHED = 1
_TCP_INFO = struct.Struct("=B23xI")
"""Of Linux' ``struct tcp_info``: `tcpi_state`, its first byte, and `tcpi_unacked`, the fifth 32-bit field after eight
bytes."""


class BotConnection(BotSocket):
    """One connection of a venue's port. The :class:`~cgos_server.net.wire.Wire` of its dialogue."""

    __slots__ = ("_framer", "_lines", "_silence")

    def __init__(self, context: ConnectionContext, source: str | None = None) -> None:
        super().__init__(context.sockets, source)
        self._framer = LineFramer()
        self._silence: Handle | None = None
        self._lines = EngineLines(_peer=self, _context=context)

    # -- asyncio

    def _opened(self, refusal: str | None) -> None:
        self._lines.opened(refusal)

    def data_received(self, data: bytes) -> None:
        received = self.heard_at = self._time.received()
        framer, lines = self._framer, self._lines
        for line in framer.feed(data, received):
            if self._closed_for is not None:
                return
            lines.receive(line)
        if framer.fault is not None:
            lines.unreadable(framer.fault)
        elif data[-1:] != b"\n" and (silence := framer.silence_after()) is not None:
            if self._silence is not None:
                self._silence.cancel()
            self._silence = self._time.call_at(received + silence, self.flush)

    def eof_received(self) -> None:
        self._lines.ended()
        self.close(CloseReason.PEER)

    def _lost(self, clean: bool) -> None:
        if self._silence is not None:
            self._silence.cancel()
        self._lines.lost(clean)
        del self._lines  # they hold each other, and what lives long is out of the collector's sight

    # -- Wire

    def write(self, data: bytes) -> None:
        transport = self._transport
        # Where a send fails, the loss is told only later; what is written meanwhile would fill the log with warnings.
        if transport is not None and data and self._closed_for is None and not transport.is_closing():
            transport.write(data)

    def close(self, reason: CloseReason) -> None:
        transport = self._transport
        if transport is None or self._closed_for is not None:
            return
        self._closed_for = reason
        time = self._time
        if reason is CloseReason.PEER:
            transport.close()
        else:
            linger(self, transport, self._sockets.count, self.address)
            # The dialogue is over now, not when the peer has closed its side.
            time.call_at(time.now(), self._lines.lost, True)
        time.call_at(time.now() + LINGER_US, transport.abort)

    def flush(self) -> None:
        line = self._framer.silence()
        if line is not None and self.alive:
            self._lines.receive(line)

    async def reaches_peer(self) -> bool:
        time = self._time
        since = time.now()
        return await answered(self, time, lambda: self._acknowledged(since))

    def _acknowledged(self, since: int) -> bool:
        """Everything written has reached the peer's system; where that cannot be asked, whether it spoke since."""
        transport = self._transport
        if transport is None or transport.get_write_buffer_size():
            return False
        reached = acknowledged(transport.get_extra_info("socket"))
        return reached if reached is not None else self.heard_at > since

    def shut(self) -> None:
        self.close(CloseReason.SHUTDOWN)


def acknowledged(sock: Any) -> bool | None:
    """True where the peer's system has acknowledged all that was sent; None where this system does not say.

    A reset answers, too, and leaves nothing unacknowledged; but it says that nobody is there.
    """
    option = getattr(socket, "TCP_INFO", None)
    if option is None or sock is None:
        return None
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, option, _TCP_INFO.size)
    except OSError:
        return None
    if len(info) < _TCP_INFO.size:
        return None
    state, unacked = _TCP_INFO.unpack(info)
    return bool(state == _ESTABLISHED and unacked == 0)


async def listen(
    context: ConnectionContext,
    sock: socket.socket,
    backlog: int,
    tls: TlsPort | None = None,
    *,
    front: ProxyPort | None = None,
) -> asyncio.Server:
    """Accept bots on a bound socket, which the server takes over; inside `tls`, behind `front` where given."""
    return await accept(lambda source: BotConnection(context, source), sock, backlog, tls, front=front)
