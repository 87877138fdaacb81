"""Connections that come at a certain turn of the event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable


async def accepted_in_the_turn_before(end: Callable[[], object], address: tuple[str, int]) -> socket.socket:
    """A connection to `address`, which the running loop serves. It is accepted in the turn before the one that calls
    `end`, and made after `end`: asyncio drops it where `end` closes the server."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[socket.socket] = loop.create_future()

    def connect() -> None:
        # The next turn schedules the end, then accepts; the one after it ends, then makes the connection.
        peer = socket.create_connection(address, 5)
        loop.call_soon(lambda: loop.call_soon(finish, peer))

    def finish(peer: socket.socket) -> None:
        end()
        ended.set_result(peer)

    loop.call_soon(connect)
    return await ended
