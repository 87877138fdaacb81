"""A proxy that can swallow what goes through it: on its way from a node to PostgreSQL. Loopback only, in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading


class Dam(threading.Thread):
    """One a node, before one port.

    While it is shut nothing gets through in either direction and nobody is told; what was held back is delivered when
    it opens, so that old writes arrive late.
    """

    def __init__(self, target: int) -> None:
        super().__init__(name="dam", daemon=True)
        self._target = target
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self._loop = asyncio.new_event_loop()
        self._ended: asyncio.Event | None = None
        self._open: asyncio.Event | None = None
        self._begun = threading.Event()

    def __enter__(self) -> Dam:
        self.start()
        self._begun.wait(5)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._ended is not None
        self._loop.call_soon_threadsafe(self._ended.set)
        self.join(10)

    def shut(self) -> None:
        """Hold everything back from now on."""
        assert self._open is not None
        self._loop.call_soon_threadsafe(self._open.clear)

    def open(self) -> None:
        """Let everything through."""
        assert self._open is not None
        self._loop.call_soon_threadsafe(self._open.set)

    def run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._ended, self._open = asyncio.Event(), asyncio.Event()
        self._open.set()
        server = await asyncio.start_server(self._accept, sock=self._socket)
        self._begun.set()
        await self._ended.wait()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        far = None
        with contextlib.suppress(OSError, asyncio.CancelledError):
            assert self._open is not None
            await self._open.wait()
            far_reader, far = await asyncio.open_connection("127.0.0.1", self._target)
            await asyncio.wait(
                [asyncio.create_task(self._carry(*pair)) for pair in ((reader, far), (far_reader, near))],
                return_when=asyncio.FIRST_COMPLETED,
            )
        for writer in (near, far):
            if writer is not None:
                writer.transport.abort()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert self._open is not None
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                await self._open.wait()
                writer.write(data)
                await writer.drain()
