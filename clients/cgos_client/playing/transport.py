"""A line connection with deadlines: what a peer does, or fails to do, comes back as a value and never as a surprise.

Here is TCP, with the deadlines that WebSocket has. Another transport is another :class:`Wire`. Must not know: what the
lines mean.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from contextlib import suppress
from typing import Protocol

from cgos_client.errors import CannotConnect, ConnectionLost
from cgos_client.library.link import CLOSE_SECONDS, CONNECT_SECONDS, WRITE_SECONDS, Endpoint, no_tls, trust, wire

LINE_LIMIT = 1 << 20


class Wire(Protocol):
    """What carries text. Reading and writing raise ConnectionLost, whose text is a phrase that says how it ended."""

    async def read_text(self) -> str:
        """Some text, one line or several, which may be blank. May be cancelled without losing any."""

    async def write(self, line: str, shown: str | None = None) -> None:
        """Send one line; `shown` is what the log says in its place."""

    async def close(self) -> None:
        """End the connection. Never raises."""


class Connection:
    """A connection that carries one message a line; blanks round it are ignored."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._lines: deque[str] = deque()
        self._lost: str | None = None

    @property
    def lost(self) -> str | None:
        """None while the connection works, then a phrase that says how it ended."""
        return None if self._lines else self._lost

    async def read(self, seconds: float) -> str | None:
        """The next line, stripped and never empty; None when the connection is lost or `seconds` have passed.

        May be cancelled without losing a line.
        """
        try:
            async with asyncio.timeout(seconds):
                while not self._lines and self._lost is None:
                    self._lines += filter(None, map(str.strip, (await self._wire.read_text()).split("\n")))
        except TimeoutError:
            return None
        except ConnectionLost as lost:
            self._lost = lost.text
        return self._lines.popleft() if self._lines else None

    async def send(self, line: str, *, secret: bool = False) -> None:
        """Send one line. A `secret` never reaches the log. A failure shows in :attr:`lost`, not as an exception."""
        if self._lost is not None:
            return
        try:
            await self._wire.write(line, "(secret)" if secret else None)
        except ConnectionLost as lost:
            self._lost = lost.text

    async def close(self) -> None:
        """End the connection. Never raises."""
        self._lost = self._lost or "closed by this client"
        self._lines.clear()
        await self._wire.close()


class TcpWire:
    """Lines over TCP, LF at each end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def read_text(self) -> str:
        try:
            line = (await self._reader.readuntil(b"\n")).decode("utf-8", "replace").strip()
        except asyncio.IncompleteReadError as end:
            if end.partial.strip():
                return end.partial.decode("utf-8", "replace")
            raise ConnectionLost("the server closed the connection") from None
        except asyncio.LimitOverrunError:
            raise ConnectionLost(f"the server sent a line of more than {LINE_LIMIT} bytes") from None
        except OSError as error:
            raise ConnectionLost(f"the connection broke ({error})") from None
        if line:
            wire.debug("server: %s", line)
        return line

    async def write(self, line: str, shown: str | None = None) -> None:
        wire.debug("client: %s", line if shown is None else shown)
        try:
            self._writer.write(line.encode() + b"\n")
            async with asyncio.timeout(WRITE_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            raise ConnectionLost(f"the server read nothing for {WRITE_SECONDS:.0f} s") from None
        except OSError as error:
            raise ConnectionLost(f"the connection broke ({error})") from None

    async def close(self) -> None:
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self._writer.transport.abort()


async def connect(host: str, port: int, endpoint: Endpoint | None = None) -> Connection:
    """Open a connection, with keep-alive so that a vanished server is noticed in half a minute.

    :param endpoint: whom TLS trusts, where its address has TLS
    :raises CannotConnect: where nobody answers, or with a certificate that is not trusted
    """
    context = None if endpoint is None else trust(endpoint)
    reader, writer = await open_tcp(host, port, CONNECT_SECONDS, context)
    _keep_alive(writer.get_extra_info("socket"))
    return Connection(TcpWire(reader, writer))


async def open_tcp(
    host: str, port: int, seconds: float, context: ssl.SSLContext | None = None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection that reads lines of at most `LINE_LIMIT` bytes. Raises CannotConnect after `seconds`.

    :param context: for TLS
    """
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.open_connection(host, port, limit=LINE_LIMIT, ssl=context)
    except TimeoutError:
        raise CannotConnect(f"{host}:{port} did not answer within {seconds:.0f} s") from None
    except ssl.SSLError as error:
        raise no_tls(f"{host}:{port}", error) from None
    except OSError as error:
        raise CannotConnect(f"{host}:{port} cannot be reached ({error.strerror or error})") from None


def _keep_alive(sock: socket.socket) -> None:
    with suppress(OSError):  # a hint to the kernel; where it is not taken, the idle deadline remains
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, option):
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
