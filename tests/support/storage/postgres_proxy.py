"""A TCP proxy between a writer and PostgreSQL that cuts a connection where a test wants it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from enum import Enum


class Cut(Enum):
    """What is done with a message from the client."""

    BEFORE = "the connection is cut, and the server never hears of it"
    AFTER = "the server gets it; its answer is thrown away and the connection is cut"
    DUMB = "neither this nor anything after it goes through, and nobody is told"


class Proxy:
    """Forwards to PostgreSQL at `port`. What the client sends in one go counts as one message.

    :ivar port: where it listens
    :ivar happened: how often something was cut
    """

    def __init__(self, port: int) -> None:
        self.port = 0
        self.happened = 0
        self._target = port
        self._left = 0
        self._how: Cut | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    def cut(self, how: Cut, message: int) -> None:
        """Do that to the message with this number, counted from 1 from now on."""
        self._how, self._left = how, message

    async def serve(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        server, requests = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {answers, requests}
        try:
            async with asyncio.TaskGroup() as group:
                muted = asyncio.Event()
                back = group.create_task(self._back(server, answers, muted))
                await self._forth(client, requests, muted, server)
                back.cancel()
        except* (OSError, _Cut):
            pass
        finally:
            for writer in (answers, requests):
                self._writers.discard(writer)
                writer.transport.abort()

    async def _forth(
        self, client: asyncio.StreamReader, requests: asyncio.StreamWriter, muted: asyncio.Event, server: object
    ) -> None:
        while data := await client.read(1 << 20):
            how = self._due()
            if how is Cut.BEFORE:
                raise _Cut
            if how is Cut.DUMB:
                await asyncio.Event().wait()
            if how is Cut.AFTER:
                muted.set()
            requests.write(data)

    def _due(self) -> Cut | None:
        if self._how is None:
            return None
        self._left -= 1
        if self._left:
            return None
        how, self._how = self._how, None
        self.happened += 1
        return how

    async def _back(self, server: asyncio.StreamReader, answers: asyncio.StreamWriter, muted: asyncio.Event) -> None:
        while data := await server.read(1 << 20):
            if muted.is_set():
                raise _Cut
            answers.write(data)
        raise _Cut

    def close(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


class _Cut(Exception):
    pass


@contextlib.asynccontextmanager
async def proxy(port: int) -> AsyncIterator[Proxy]:
    """A proxy that listens on a free port of loopback, gone at the end of the block."""
    between = Proxy(port)
    listening = await asyncio.start_server(between.serve, "127.0.0.1", 0)
    between.port = listening.sockets[0].getsockname()[1]
    try:
        yield between
    finally:
        listening.close()
        between.close()
        await asyncio.sleep(0.05)  # the connections' tasks end
