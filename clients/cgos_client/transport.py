"""A line connection with deadlines: what a peer does, or fails to do, comes back as a value and never as a surprise.

Nothing here knows what the lines mean. Another transport is another class with the methods of :class:`Connection`.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from typing import Protocol

from cgos_client.errors import CannotConnect

log = logging.getLogger("cgos_client.wire")
"""Every transport writes what passes over it here, at DEBUG, and never a secret."""

LINE_LIMIT = 1 << 20
CONNECT_SECONDS = 30.0
WRITE_SECONDS = 30.0
CLOSE_SECONDS = 2.0


class Connection(Protocol):
    """A connection that carries one message a line."""

    @property
    def lost(self) -> str | None:
        """None while the connection works, then a phrase that says how it ended."""

    async def read(self, seconds: float) -> str | None:
        """The next line, stripped and never empty; None when the connection is lost or `seconds` have passed.

        May be cancelled without losing a line.
        """

    async def send(self, line: str, *, secret: bool = False) -> None:
        """Send one line. A `secret` never reaches the log. A failure shows in :attr:`lost`, not as an exception."""

    async def close(self) -> None:
        """End the connection. Never raises."""


class TcpConnection:
    """One TCP connection, LF at each end of line, CR and blanks ignored."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._lost: str | None = None

    @property
    def lost(self) -> str | None:
        return self._lost

    async def read(self, seconds: float) -> str | None:
        if self._lost is not None:
            return None
        try:
            async with asyncio.timeout(seconds):
                while True:
                    raw = await self._reader.readuntil(b"\n")
                    line = raw.decode("utf-8", "replace").strip()
                    if line:
                        log.debug("server: %s", line)
                        return line
        except TimeoutError:
            return None
        except asyncio.IncompleteReadError as end:
            self._lost = "the server closed the connection"
            return end.partial.decode("utf-8", "replace").strip() or None
        except asyncio.LimitOverrunError:
            self._lost = f"the server sent a line of more than {LINE_LIMIT} bytes"
        except OSError as error:
            self._lost = f"the connection broke ({error})"
        return None

    async def send(self, line: str, *, secret: bool = False) -> None:
        if self._lost is not None:
            return
        log.debug("client: %s", "(secret)" if secret else line)
        try:
            self._writer.write(line.encode() + b"\n")
            async with asyncio.timeout(WRITE_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            self._lost = f"the server read nothing for {WRITE_SECONDS:.0f} s"
        except OSError as error:
            self._lost = f"the connection broke ({error})"

    async def close(self) -> None:
        if self._lost is None:
            self._lost = "closed by this client"
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self._writer.transport.abort()


async def connect(host: str, port: int) -> TcpConnection:
    """Open a connection, with keep-alive so that a vanished server is noticed in half a minute.

    Raises CannotConnect.
    """
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            reader, writer = await asyncio.open_connection(host, port, limit=LINE_LIMIT)
    except TimeoutError:
        raise CannotConnect(f"{host}:{port} did not answer within {CONNECT_SECONDS:.0f} s") from None
    except OSError as error:
        raise CannotConnect(f"{host}:{port} cannot be reached ({error.strerror or error})") from None
    _keep_alive(writer.get_extra_info("socket"))
    return TcpConnection(reader, writer)


def _keep_alive(sock: socket.socket) -> None:
    with suppress(OSError):  # a hint to the kernel; where it is not taken, the idle deadline remains
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
