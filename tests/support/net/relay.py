"""A TCP relay on the loopback that cuts connections where a test wants it, or speaks TLS to the client."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress


class Relay:
    """Passes bytes between its clients and `port`.

    :param tls: what the clients speak; None: plain TCP
    :param cut_after: segments from the server after which a connection is cut, asked anew for each; None: never
    """

    def __init__(
        self, port: int, tls: ssl.SSLContext | None = None, cut_after: Callable[[], int | None] = lambda: None
    ) -> None:
        self._to = port
        self._tls = tls
        self._cut_after = cut_after
        self.opened = 0
        self.cuts = 0

    async def __aenter__(self) -> Relay:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self._tls)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.close()
            return
        limit = self._cut_after()
        ends = (writer, far_writer)
        with suppress(asyncio.CancelledError):
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._pass(reader, far_writer, None, ends))
                tasks.create_task(self._pass(far_reader, writer, limit, ends))

    async def _pass(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        limit: int | None,
        ends: tuple[asyncio.StreamWriter, ...],
    ) -> None:
        count = 0
        with suppress(OSError, ssl.SSLError):
            while data := await reader.read(1 << 16):
                count += 1
                if count == limit:
                    self.cuts += 1
                    break
                writer.write(data)
                await writer.drain()
        for end in ends:
            if count == limit:
                end.transport.abort()
            else:
                end.close()
