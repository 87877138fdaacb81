"""A connection from a proxy, until it is known where it comes from; then it is handed to whatever is spoken on it.

Nothing stands between afterwards: the socket's own transport goes to the next protocol, inside TLS or not. Must not
know: what is spoken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from cgos_server.net.forwarded import is_among, peer_of
from cgos_server.net.lingering import LINGER_US, linger
from cgos_server.net.loop import Handle
from cgos_server.net.proxies.header import Broken, may_begin, read
from cgos_server.net.wire import BotSockets

log = structlog.get_logger(__name__)

HEADER_US: Final = 5_000_000
"""Microseconds in which a header must be complete: enough for a lost segment to be sent again."""

SAID_EVERY_US: Final = 60_000_000
"""Microseconds between two warnings of one port: whoever configured the proxy wrongly did so for every connection."""

Make = Callable[[str | None], asyncio.Protocol]
"""What is spoken on a connection; given the address from which the proxy has it, or None where it has the peer's."""


class ProxyPort:
    """What all connections of one kind of port share.

    :param required: every connection from a proxy begins with a header, since the server speaks first here and has to
        know to whom; otherwise one may, and the first bytes show it
    :param answer: makes of a sentence what a peer is told whose header is refused
    """

    def __init__(self, sockets: BotSockets, *, required: bool, answer: Callable[[str], bytes]) -> None:
        self.sockets = sockets
        self.required = required
        self.answer = answer
        self.limit = min(HEADER_US, sockets.limits.login_timeout_us)
        self.waiting: set[ProxiedConnection] = set()
        self._silent_until = 0
        self._unsaid = 0

    def connection(self, make: Make) -> ProxiedConnection:
        """For a new socket."""
        return ProxiedConnection(self, make)

    def refused(self, proxy: str, why: str) -> None:
        """Count a header that is none; log it, unless one was logged a moment ago."""
        now = self.sockets.time.now()
        self.sockets.metrics.refused("proxy-header")
        if now < self._silent_until:
            self._unsaid += 1
            return
        log.warning("a proxy's connection is refused", proxy=proxy, why=why, unsaid_before=self._unsaid)
        self._silent_until, self._unsaid = now + SAID_EVERY_US, 0

    def cut(self) -> None:
        """End all connections whose header has not come."""
        for connection in list(self.waiting):
            connection.cut()


class ProxiedConnection(asyncio.Protocol):
    """One connection, from accept until its header has come. Who is no proxy is handed on at once."""

    __slots__ = ("_came", "_deadline", "_make", "_port", "_proxy", "_transport")

    def __init__(self, port: ProxyPort, make: Make) -> None:
        self._port = port
        self._make = make
        self._came = bytearray()
        self._deadline: Handle | None = None
        self._proxy = ""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        port, sockets = self._port, self._port.sockets
        self._transport = transport
        self._proxy = peer_of(transport)
        if not is_among(self._proxy, sockets.proxies):
            self._hand_on(transport, None)
            return
        port.waiting.add(self)
        sockets.count.enter(self._proxy)  # of a proxy's there may be any number
        self._deadline = sockets.time.call_at(sockets.time.now() + port.limit, self._too_late)

    def data_received(self, data: bytes) -> None:
        transport = self._transport
        assert transport is not None
        if transport.is_closing():
            return
        came = self._came
        came += data
        if not self._port.required and not may_begin(came):
            self._hand_on(transport, None)
            return
        found = read(came)
        if isinstance(found, Broken):
            self._refuse(transport, found.why)
        elif found is not None:
            del came[: found.length]
            self._hand_on(transport, found.source)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """A proxy that looks whether the port is open goes without a word, and none is made of it."""
        self._known()

    def cut(self) -> None:
        """The server stops."""
        if self._transport is not None:
            self._transport.abort()

    def _too_late(self) -> None:
        transport, port = self._transport, self._port
        assert transport is not None
        if not port.required and not self._came:
            self._hand_on(transport, None)  # who speaks first here has a time of its own
        else:
            seconds = port.limit / 1e6
            self._refuse(transport, f"The header of the PROXY protocol was not complete after {seconds:g} s.")

    def _hand_on(self, transport: asyncio.Transport, source: str | None) -> None:
        self._known()
        spoken = self._make(source)
        transport.set_protocol(spoken)
        spoken.connection_made(transport)
        if self._came:
            spoken.data_received(bytes(self._came))

    def _refuse(self, transport: asyncio.Transport, why: str) -> None:
        port, sockets = self._port, self._port.sockets
        port.refused(self._proxy, why)
        transport.write(port.answer(f"The proxy before this server is not configured as the server is. {why}"))
        self._stop_waiting()
        linger(self, transport, sockets.count, self._proxy)
        sockets.time.call_at(sockets.time.now() + LINGER_US, transport.abort)

    def _known(self) -> None:
        """It is the next protocol's, or gone."""
        if self in self._port.waiting:
            self._port.waiting.discard(self)
            self._port.sockets.count.leave(self._proxy)
        self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
