"""A connection of a bots' port, whatever is spoken on it: where it comes from, what may wait for it, when it is over.

Slow readers and dead peers are dealt with here, each at the cost of the offender alone. Must not know: lines, messages.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import structlog

from cgos_server.net.forwarded import is_among, peer_of
from cgos_server.net.wire import BotSockets
from cgos_server.observability.metrics import CloseReason

log = structlog.get_logger(__name__)

_KEEPALIVE = ((socket.TCP_KEEPIDLE, 15), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
_USER_TIMEOUT_MS = 30_000


class BotSocket(asyncio.Protocol):
    """One connection, from accept to close.

    :param source: the bot's own address, where a proxy said it
    :ivar proxied: it comes through a proxy, so that its TCP says nothing about the bot
    """

    __slots__ = ("_closed_for", "_sockets", "_time", "_transport", "address", "heard_at", "id", "proxied")

    def __init__(self, sockets: BotSockets, source: str | None) -> None:
        self.id = sockets.new_id()
        self.address = source or ""
        self.heard_at = 0
        self.proxied = False
        self._sockets = sockets
        self._time = sockets.time
        self._transport: asyncio.Transport | None = None
        self._closed_for: CloseReason | None = None

    # -- asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        sockets = self._sockets
        self._transport = transport
        self.heard_at = sockets.time.now()
        peer = peer_of(transport)
        self.proxied = is_among(peer, sockets.proxies)
        self.address = self.address or peer
        transport.set_write_buffer_limits(high=sockets.limits.outbox)
        _watch_for_death(transport.get_extra_info("socket"))
        sockets.metrics.connection_opened()
        sockets.open.add(self)
        self._opened(sockets.count.enter(self.address))

    def pause_writing(self) -> None:
        """The outbox is full: this peer does not read. A player is dropped; its games go on under the clock."""
        self._closed_for = self._closed_for or CloseReason.SLOW
        log.info("slow reader dropped", connection=self.id, address=self.address)
        self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        sockets = self._sockets
        self._transport = None
        sockets.open.discard(self)
        sockets.count.leave(self.address)
        sockets.metrics.connection_closed(self._closed_for or CloseReason.LOST)
        self._lost(exc is None)

    def _opened(self, refusal: str | None) -> None:
        """The connection stands and is counted; `refusal` is the sentence why it may not stay."""
        raise NotImplementedError

    def _lost(self, clean: bool) -> None:
        """The connection is gone; `clean` where no error ended it."""
        raise NotImplementedError

    # -- what the dialogue and the server's own ending ask

    @property
    def alive(self) -> bool:
        """False once it is lost or being closed."""
        return self._transport is not None and self._closed_for is None

    @property
    def has_room(self) -> bool:
        """False while more than half of what may wait for this peer is waiting."""
        transport = self._transport
        return transport is not None and transport.get_write_buffer_size() <= self._sockets.limits.outbox // 2

    def shut(self) -> None:
        """The server stops: close without a word of blame."""
        raise NotImplementedError

    def cut(self) -> None:
        """Close now, whatever the peer has not read yet."""
        if self._transport is not None:
            self._transport.abort()


def _watch_for_death(sock: Any) -> None:
    """Let the kernel find out within half a minute that a peer is gone: nobody else can sign in under its name."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in _KEEPALIVE:
        sock.setsockopt(socket.IPPROTO_TCP, option, seconds)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)
