"""CGOS lines in WebSocket text frames (``cgos.v1``): for bots behind proxies. Another transport beside TCP.

Must not know: what the lines mean.
"""

from __future__ import annotations

from cgos_client.errors import ConnectionLost
from cgos_client.library.link import Endpoint, Link, open_link
from cgos_client.playing.transport import Connection

SUBPROTOCOL = "cgos.v1"


class FrameWire:
    """A :class:`~cgos_client.playing.transport.Wire` over WebSocket. A frame holds one line or several."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.write = link.write
        self.close = link.close

    async def read(self) -> str:
        frame = await self._link.read()
        if isinstance(frame, bytes):
            raise ConnectionLost("the server sent a binary frame, where lines are text")
        return frame


async def connect_frames(endpoint: Endpoint) -> Connection:
    """Open a connection. Raises CannotConnect."""
    return Connection(FrameWire(await open_link(endpoint)))
