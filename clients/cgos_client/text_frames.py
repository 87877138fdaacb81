"""CGOS lines in WebSocket text frames (``cgos.v1``): for bots behind proxies. Another transport beside TCP.

Must not know: what the lines mean.
"""

from __future__ import annotations

import asyncio
from collections import deque

from cgos_client.errors import ConnectionLost
from cgos_client.link import Link, Place, open_link

SUBPROTOCOL = "cgos.v1"


class FrameConnection:
    """A :class:`~cgos_client.transport.Connection` over WebSocket. A frame holds one line or several."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._lines: deque[str] = deque()
        self._lost: str | None = None

    @property
    def lost(self) -> str | None:
        return self._lost if not self._lines else None

    async def read(self, seconds: float) -> str | None:
        try:
            async with asyncio.timeout(seconds):
                while not self._lines and self._lost is None:
                    frame = await self._link.read()
                    if isinstance(frame, bytes):
                        self._lost = "the server sent a binary frame, where lines are text"
                        break
                    self._lines.extend(line for text in frame.split("\n") if (line := text.strip()))
        except TimeoutError:
            return None
        except ConnectionLost as lost:
            self._lost = lost.text
        return self._lines.popleft() if self._lines else None

    async def send(self, line: str, *, secret: bool = False) -> None:
        if self._lost is not None:
            return
        try:
            await self._link.write(line, "(secret)" if secret else None)
        except ConnectionLost as lost:
            self._lost = lost.text

    async def close(self) -> None:
        self._lost = self._lost or "closed by this client"
        self._lines.clear()
        await self._link.close()


async def connect_frames(place: Place) -> FrameConnection:
    """Open a connection. Raises CannotConnect."""
    return FrameConnection(await open_link(place))
