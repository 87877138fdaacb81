"""The last moments of a connection that was told why it must go, and of a server that takes no more of them.

Closing a socket on which the peer still sends resets it, and the reset overtakes the last words. So our side alone is
closed, and what still comes is discarded until the peer closes its side: bounded in bytes here, in number by
:class:`~cgos_server.net.limits.ConnectionCount`, in time by the owner (`LINGER_US`). Must not know: what was said.
"""

from __future__ import annotations

import asyncio
from typing import Final

from cgos_server.net.limits import ConnectionCount

LINGER_US: Final = 10_000_000
"""How long a closing connection may take to read its last words and to close its side."""

DISCARDED_MAX: Final = 8_388_608
"""Bytes that are discarded on one connection, in some milliseconds; what follows stays with the peer's system."""


def linger(owner: asyncio.Protocol, transport: asyncio.Transport, count: ConnectionCount, address: str) -> None:
    """Send what waits, then close our side and listen to the peer no more; where too many linger, close at once.

    May be called again.

    :param owner: the transport's protocol; from now on only its `connection_lost` is called
    :param address: under which `count` has the connection
    """
    if transport.is_closing() or transport.get_protocol() is not owner:
        return
    if not count.linger(address):
        transport.close()
        return
    transport.set_protocol(_Lingering(owner, transport, count, address))
    end_writing(transport)


def end_writing(transport: asyncio.Transport) -> None:
    """Close our side after what waits. May be called again."""
    try:
        transport.write_eof()
    except OSError:  # a reset that asyncio has not reported yet
        transport.abort()


class _Lingering(asyncio.Protocol):
    __slots__ = ("_address", "_count", "_left", "_owner", "_transport")

    def __init__(
        self, owner: asyncio.Protocol, transport: asyncio.Transport, count: ConnectionCount, address: str
    ) -> None:
        self._owner = owner
        self._transport = transport
        self._count = count
        self._address = address
        self._left = DISCARDED_MAX

    def data_received(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left <= 0:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        self._count.lingered(self._address)
        self._owner.connection_lost(exc)


def accept_no_more(server: asyncio.Server) -> None:
    """Take no new connection, and close the sockets in the next turn of the loop.

    Whoever was accepted in this turn has a connection by then. asyncio makes it one turn after it has accepted it, and
    drops it without a word where the server is closed in between.
    """
    loop = asyncio.get_running_loop()
    for sock in server.sockets:
        loop.remove_reader(sock.fileno())
    loop.call_soon(server.close)
