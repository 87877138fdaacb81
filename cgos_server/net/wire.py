"""What a line dialogue asks of the connection under it, be it plain TCP or WebSocket text frames.

Must not know: what the lines mean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from cgos_protocol.ids import ConnectionId
from cgos_protocol.lines.viewer import MatchLines
from cgos_protocol.session import Gallery, Reach, Reception
from cgos_server.net.forwarded import Network
from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import CloseReason, Metrics
from cgos_server.observability.transcripts import Transcripts

log = structlog.get_logger(__name__)

ANSWER_US = 5_000_000
"""How long a peer may take to show that it is still there, when somebody else signs in under its name."""
_LOOK_S = 0.1
"""Between two looks whether it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSockets:
    """What all connections of bots and watchers share, on whatever port.

    :ivar new_id: numbers connections
    :ivar proxies: whose word on where a peer comes from is believed
    :ivar transcripts: takes down what is said; None where nothing is kept
    :ivar open: holds the connections while they stand
    """

    time: Timekeeper
    limits: SocketLimits
    count: ConnectionCount
    metrics: Metrics
    new_id: Callable[[], ConnectionId]
    proxies: tuple[Network, ...] = ()
    transcripts: Transcripts | None = None
    open: set[Ending] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionContext:
    """What all line dialogues of one venue share. `matches` is its viewers' list."""

    sockets: BotSockets
    reception: Reception
    gallery: Gallery
    venue: str = ""
    matches: MatchLines = field(default_factory=MatchLines)


class Wire(Reach, Protocol):
    """One connection. Nothing here raises or waits, except `reaches_peer`."""

    def write(self, data: bytes) -> None:
        """Send whole lines. What does not fit is the end of the connection."""

    def close(self, reason: CloseReason) -> None:
        """Send what waits, then close."""

    def flush(self) -> None:
        """Hand over at once what was received and is held back for a line end."""


class Ending(Protocol):
    """A connection, as the server's own ending sees it."""

    def shut(self) -> None:
        """The server stops: close without a word of blame."""

    def cut(self) -> None:
        """Close now, whatever the peer has not read yet."""


def blame(connection: Reach, metrics: Metrics, code: str) -> None:
    """Log and count that a connection is closed for a fault of its own."""
    log.info("connection closed for its own fault", connection=connection.id, address=connection.address, code=code)
    metrics.refused(code)


async def answered(reach: Reach, time: Timekeeper, look: Callable[[], bool]) -> bool:
    """True as soon as `look` finds the peer's answer to what was just sent; False where the connection is gone, or
    nothing came in time."""
    since = time.now()
    while reach.alive:
        if look():
            return True
        if time.now() - since >= ANSWER_US:
            break
        await asyncio.sleep(_LOOK_S)
    return False
