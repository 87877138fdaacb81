"""Answers the game process that asks for this process's metrics, through the socket that both hold.

The other end is :mod:`cgos_server.live.processes.scrape_channel`, which says what goes over it. Must not know: what
the metrics are.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Final

from prometheus_client import CollectorRegistry

from cgos_server.observability.exposition import Form, rendered

HEAD: Final = 4
"""Bytes of an answer's length, big-endian."""


async def answer_scrapes(descriptor: int, registry: CollectorRegistry) -> None:
    """Answer until the other end closes. Takes over the socket `descriptor`."""
    reader, writer = await asyncio.open_unix_connection(sock=socket.socket(fileno=descriptor))
    try:
        while byte := await reader.read(1):
            body = rendered(registry, Form(byte))
            writer.write(len(body).to_bytes(HEAD, "big") + body)
            await writer.drain()
    except ConnectionError:
        pass  # the game process is gone, and this one goes too
    finally:
        writer.close()
