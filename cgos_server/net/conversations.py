"""One line asked, one line answered, then the connection is closed: both ends of it, over any stream.

Must not know: what the lines say, who may connect.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Final

Handler = Callable[[bytes], Awaitable[bytes]]
"""Takes a request's line and gives the answer's, both without the line end; does not raise."""

REQUEST_MAX: Final = 1 << 20
ANSWER_MAX: Final = 64 << 20
"""Bytes of a line."""

READ_S: Final = 5.0
ANSWER_S: Final = 30.0


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> bytes:
    """Send one line and read one, to its end or to where the peer broke off; the connection is closed then."""
    try:
        writer.write(request + b"\n")
        await writer.drain()
        return await reader.readline()
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


class Conversations:
    """Those that a server has; at the end of its block those under way are broken off.

    :param handler: takes a request's line and gives the answer's, both without the line end; must not raise
    """

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._peers: set[asyncio.Task[None]] = set()

    async def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Have one, of one request."""
        task = asyncio.current_task()
        assert task is not None
        self._peers.add(task)
        try:
            await _converse(reader, writer, self._handler)
        except asyncio.CancelledError:
            pass  # the server ends; asyncio's streams would complain of a cancelled handler
        finally:
            self._peers.discard(task)
            writer.transport.abort()

    async def __aenter__(self) -> Conversations:
        return self

    async def __aexit__(self, *_exception: object) -> None:
        for peer in self._peers:
            peer.cancel()
        await asyncio.gather(*self._peers, return_exceptions=True)


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler) -> None:
    """One request and its answer. A peer that is late, sends too much or goes away is dropped."""
    try:
        async with asyncio.timeout(READ_S):
            line = await reader.readline()
    except (TimeoutError, ValueError, ConnectionError):
        return
    if not line.endswith(b"\n"):
        return
    try:
        async with asyncio.timeout(ANSWER_S):
            writer.write(await handler(line.rstrip(b"\r\n")) + b"\n")
            writer.close()
            await writer.wait_closed()  # the kernel has everything then
    except (TimeoutError, ConnectionError):
        return
