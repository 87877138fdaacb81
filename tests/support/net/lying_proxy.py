"""A TCP proxy that changes lines on their way, to see whether a conformance kit notices."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

Change = Callable[[str], list[str]]
"""A line without its end -> the lines that arrive in its place, with theirs."""


def as_it_is(line: str) -> list[str]:
    """No change."""
    return [line + "\n"]


@contextlib.asynccontextmanager
async def lying_proxy(target: int, to_client: Change = as_it_is, to_server: Change = as_it_is) -> AsyncIterator[int]:
    """A port behind which the server at `target` is.

    :param said: what becomes of the server's lines
    :param asked: what becomes of the client's lines; bytes without a line end go through as they are
    """
    writers: list[asyncio.StreamWriter] = []

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, change: Change) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.readline():
                if data.endswith(b"\n"):
                    lines = change(data[:-1].decode("latin-1"))
                    data = "".join(lines).encode("latin-1")
                writer.write(data)
                await writer.drain()
        writer.close()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far = await asyncio.open_connection("127.0.0.1", target, limit=1 << 22)
        writers.extend((writer, far))
        await asyncio.gather(carry(reader, far, to_server), carry(far_reader, writer, to_client))

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1 << 22)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in writers:
            writer.close()
        await server.wait_closed()
