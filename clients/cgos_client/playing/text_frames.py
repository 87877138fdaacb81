"""CGOS lines in WebSocket text frames (``cgos.v1``): for bots behind proxies. Another transport beside TCP.

Must not know: what the lines mean.
"""

from __future__ import annotations

from cgos_client.library.link import Endpoint, open_link
from cgos_client.playing.transport import Connection

SUBPROTOCOL = "cgos.v1"


async def connect_frames(endpoint: Endpoint) -> Connection:
    """Open a connection; a frame holds one line or several. Raises CannotConnect."""
    return Connection(await open_link(endpoint))
