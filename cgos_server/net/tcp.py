"""A TCP connection of the CGOS port: bytes from the socket to lines, lines to the socket.

Framing, slow readers and dead peers are dealt with here, each at the cost of the offender alone. Must not know: what
the lines mean.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass
from typing import Any

import structlog

from cgos_protocol.lines.framing import LineFramer
from cgos_server.net.forwarded import Network, is_among
from cgos_server.net.lines import EngineLines
from cgos_server.net.lingering import LINGER_US, linger
from cgos_server.net.loop import Handle
from cgos_server.net.wire import ConnectionContext, Ending, answered
from cgos_server.observability.metrics import CloseReason

log = structlog.get_logger(__name__)

_KEEPALIVE = ((socket.TCP_KEEPIDLE, 15), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
_USER_TIMEOUT_MS = 30_000
_ESTABLISHED = 1
_TCP_INFO = struct.Struct("=B23xI")
"""Of Linux' ``struct tcp_info``: `tcpi_state`, its first byte, and `tcpi_unacked`, the fifth 32-bit field after eight
bytes."""


@dataclass(frozen=True, slots=True)
class Port:
    """What all connections of one bots' port share. `open` holds them while they stand."""

    context: ConnectionContext
    proxies: tuple[Network, ...]
    open: set[Ending]


class BotConnection(asyncio.Protocol):
    """One connection, from accept to close. The :class:`~cgos_server.net.wire.Wire` of its dialogue."""

    __slots__ = (
        "_closed_for",
        "_framer",
        "_lines",
        "_port",
        "_silence",
        "_transport",
        "address",
        "heard_at",
        "id",
        "proxied",
    )

    def __init__(self, port: Port) -> None:
        self.id = port.context.new_id()
        self.address = ""
        self.heard_at = 0
        self.proxied = False
        self._port = port
        self._framer = LineFramer()
        self._transport: asyncio.Transport | None = None
        self._silence: Handle | None = None
        self._closed_for: CloseReason | None = None
        self._lines = EngineLines(port.context, self)

    # -- asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        port, context = self._port, self._port.context
        self._transport = transport
        self.heard_at = context.time.now()
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]).removeprefix("::ffff:") if peer else "unknown"
        self.proxied = is_among(self.address, port.proxies)
        transport.set_write_buffer_limits(high=context.limits.outbox)
        watch_for_death(transport.get_extra_info("socket"))
        context.metrics.connection_opened()
        port.open.add(self)
        self._lines.opened(context.count.enter(self.address))

    def data_received(self, data: bytes) -> None:
        received = self.heard_at = self._port.context.time.received()
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
            self._silence = self._port.context.time.call_at(received + silence, self.flush)

    def eof_received(self) -> None:
        self._lines.ended()
        self.close(CloseReason.PEER)

    def pause_writing(self) -> None:
        """The outbox is full: this peer does not read. It is dropped; its game goes on under the clock."""
        self._closed_for = self._closed_for or CloseReason.SLOW
        log.info("slow reader dropped", connection=self.id, address=self.address)
        self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        context = self._port.context
        self._transport = None
        self._port.open.discard(self)
        context.count.leave(self.address)
        context.metrics.connection_closed(self._closed_for or CloseReason.LOST)
        if self._silence is not None:
            self._silence.cancel()
        self._lines.lost(exc is None)

    # -- Wire

    @property
    def alive(self) -> bool:
        return self._transport is not None and self._closed_for is None

    @property
    def has_room(self) -> bool:
        transport = self._transport
        return transport is not None and transport.get_write_buffer_size() <= self._port.context.limits.outbox // 2

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
        context = self._port.context
        if reason is CloseReason.PEER:
            transport.close()
        else:
            linger(self, transport, context.count, self.address)
            # The dialogue is over now, not when the peer has closed its side.
            context.time.call_at(context.time.now(), self._lines.lost, True)
        context.time.call_at(context.time.now() + LINGER_US, transport.abort)

    def flush(self) -> None:
        line = self._framer.silence()
        if line is not None and self._closed_for is None:
            self._lines.receive(line)

    async def reaches_peer(self) -> bool:
        time = self._port.context.time
        since = time.now()
        return await answered(self, time, lambda: self._acknowledged(since))

    def _acknowledged(self, since: int) -> bool:
        """Everything written has reached the peer's system; where that cannot be asked, whether it spoke since."""
        transport = self._transport
        if transport is None or transport.get_write_buffer_size():
            return False
        reached = acknowledged(transport.get_extra_info("socket"))
        return reached if reached is not None else self.heard_at > since

    # -- the server's own ending

    def shut(self) -> None:
        """The server stops: close without a word of blame."""
        self.close(CloseReason.SHUTDOWN)

    def cut(self) -> None:
        """Close now, whatever the peer has not read yet."""
        if self._transport is not None:
            self._transport.abort()


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


def watch_for_death(sock: Any) -> None:
    """Let the kernel find out within half a minute that a peer is gone: nobody else can sign in under its name."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in _KEEPALIVE:
        sock.setsockopt(socket.IPPROTO_TCP, option, seconds)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)


async def listen(port: Port, sock: socket.socket, backlog: int) -> asyncio.Server:
    """Accept bots on a bound socket, which the server takes over."""
    return await asyncio.get_running_loop().create_server(lambda: BotConnection(port), sock=sock, backlog=backlog)
