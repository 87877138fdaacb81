"""A connection of the WebSocket port: bytes from the socket to messages, messages to the socket.

The protocol is the sans-I/O part of the library `websockets`, driven by an asyncio Protocol: no task and no queue for a
connection, and the exact time at which a message was received. Handshake, slow readers, dead peers, floods of frames
and closing are dealt with here, each at the cost of the offender alone. Must not know: what the messages mean.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

import structlog
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from cgos_server.net import websocket_handshake as handshake
from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.net.tcp import Network, is_among, watch_for_death
from cgos_server.net.wire import ANSWER_US, Door
from cgos_server.observability.metrics import CloseReason, Metrics
from cgos_server.protocol.session import Concierge
from cgos_server.protocol.ws_messages import VenueInfo

log = structlog.get_logger(__name__)

FRAGMENTS_MAX: Final = 64
"""Frames of one message."""

CONTROLS_PER_MINUTE: Final = 600
"""Pings and pongs that nobody asked for, before the connection is closed."""

_SLICE = 4_096
"""Bytes that are taken apart before anybody looks whether the peer is to be heard any further."""
_HANDSHAKE_REFUSED_US = 5_000_000
"""How long one that may not stay has for its request, to which the answer is that it may not stay."""
_FLUSH_US = 10_000_000
"""How long a closing connection may take to read its last message and to close its side."""
_LOOK_S = 0.1
"""Between two looks whether the peer has answered."""
_BUCKETS = 50
"""Shares of the connections that are pinged at the same moment."""
_REASON_MAX = 120
"""Bytes of the words in a close frame (the protocol has room for 123)."""
_MINUTE_US = 60_000_000

_CODES: Final[Mapping[CloseReason, CloseCode]] = {
    CloseReason.QUIT: CloseCode.NORMAL_CLOSURE,
    CloseReason.PEER: CloseCode.NORMAL_CLOSURE,
    CloseReason.SHUTDOWN: CloseCode.GOING_AWAY,
}
"""All others are violations of some policy."""


@dataclass(frozen=True, slots=True)
class WsSettings:
    """What an operator chooses.

    :ivar compression: whether permessage-deflate is offered
    :ivar max_message_bytes: longest message of a client
    :ivar ping: microseconds between two pings
    :ivar pong_timeout: microseconds after a ping without its pong: the connection is lost
    """

    compression: bool = False
    max_message_bytes: int = 262_144
    ping: int = 20_000_000
    pong_timeout: int = 40_000_000


class Dialogue(Protocol):
    """What is spoken on a connection. Nothing here raises."""

    @property
    def may_lag(self) -> bool:
        """True where a peer that does not read may stay, since what it is told is bounded otherwise."""

    def opened(self) -> None:
        """The handshake is done."""

    def message(self, data: bytes, binary: bool, received: int) -> None:
        """The next message, received at `received` (microseconds, loop's clock)."""

    def round_trip(self, us: int) -> None:
        """A ping came back after so long."""

    def ended(self) -> None:
        """The peer closes in order."""

    def lost(self, clean: bool) -> None:
        """The connection is gone; `clean` where no error ended it."""


@dataclass(frozen=True, slots=True)
class WsPort:
    """What all connections of the WebSocket port share.

    :ivar doors: by venue; for the line dialogue, and for the venues' galleries
    :ivar venues: as `welcome` lists them
    :ivar server: what the server calls itself; `software` is the program and its version
    :ivar open: holds the connections while they stand
    """

    concierge: Concierge
    doors: Mapping[str, Door]
    venues: tuple[VenueInfo, ...]
    server: str
    software: str
    time: Timekeeper
    limits: SocketLimits
    count: ConnectionCount
    metrics: Metrics
    new_id: Callable[[], int]
    proxies: tuple[Network, ...] = ()
    settings: WsSettings = WsSettings()
    open: set[WsConnection] = field(default_factory=set)
