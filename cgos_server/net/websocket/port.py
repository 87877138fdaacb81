"""What the connections of the WebSocket port share, and what a connection and its dialogue ask of each other.

Must not know: sockets, what the messages mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from cgos_protocol.ids import ConnectionId
from cgos_protocol.session import MultiVenueReception, Reach
from cgos_protocol.v2.messages import VenueInfo
from cgos_protocol.v2.session import SessionContext
from cgos_server.net.loop import Timekeeper
from cgos_server.net.wire import BotSockets, ConnectionContext
from cgos_server.observability.metrics import CloseReason

_BUCKETS = 50
"""Shares of the connections that are pinged at the same moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
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
        """True where a peer that does not read may stay, because what is sent to it has a bound of its own."""

    @property
    def message_max(self) -> int | None:
        """Longest message in bytes as things stand, where that is less than the port's limit."""

    def opened(self) -> None:
        """The handshake is done."""

    def message(self, data: bytes, binary: bool, received: int) -> None:
        """The next message, received at `received` (microseconds, loop's clock)."""

    def violated(self, code: str, sentence: str, close_code: int | None = None) -> None:
        """The peer broke a rule: say so, then close."""

    def round_trip(self, us: int) -> None:
        """A ping came back after so long."""

    def ended(self) -> None:
        """The peer closes in order."""

    def lost(self, clean: bool) -> None:
        """The connection is gone; `clean` where no error ended it."""


class Connection(Reach, Protocol):
    """A connection, as its dialogue sees it. Nothing here raises or waits, except `reaches_peer`."""

    def send(self, payloads: Iterable[bytes], binary: bool) -> None:
        """Send each as one message, all in one go. Does nothing where the connection is being closed."""

    def close(self, reason: CloseReason, words: str = "", code: int | None = None) -> None:
        """Send what waits, then close; `words` and `code` go into the close frame."""


class Pinged(Protocol):
    """What a heart beats for."""

    @property
    def id(self) -> ConnectionId: ...

    def beat(self) -> None:
        """Called once in every interval."""


class Heart:
    """One timer for all connections: each is beaten once an interval, and not all at once."""

    __slots__ = ("_at", "_buckets", "_interval", "_members", "_time")

    def __init__(self, time: Timekeeper, interval: int) -> None:
        self._time = time
        self._interval = max(1, interval // _BUCKETS)
        self._buckets: list[set[Pinged]] = [set() for _ in range(_BUCKETS)]
        self._members = 0
        self._at = -1

    def join(self, member: Pinged) -> None:
        """Beat for `member` from now on."""
        self._buckets[member.id % _BUCKETS].add(member)
        self._members += 1
        if self._at < 0:
            self._at = 0
            self._wait()

    def leave(self, member: Pinged) -> None:
        """`member` is gone; it must have joined."""
        self._buckets[member.id % _BUCKETS].remove(member)
        self._members -= 1

    def _wait(self) -> None:
        self._time.call_at(self._time.now() + self._interval, self._tick)

    def _tick(self) -> None:
        if not self._members:
            self._at = -1
            return
        self._at = (self._at + 1) % _BUCKETS
        self._wait()
        for member in list(self._buckets[self._at]):
            member.beat()


@dataclass(frozen=True, slots=True, kw_only=True)
class WsPort:
    """What all connections of the port share.

    :ivar contexts: by venue; for the line dialogue, and for the venues' galleries
    :ivar venues: as `welcome` lists them, in its order
    :ivar server: what the server calls itself; `software` is the program with its version
    :ivar incarnation: names this copy of the database, as `welcome` says
    :ivar elsewhere: where a venue is played that is not here, as a sentence; None where that is not known
    """

    sockets: BotSockets
    reception: MultiVenueReception
    contexts: Mapping[str, ConnectionContext]
    venues: tuple[VenueInfo, ...]
    server: str
    software: str
    incarnation: str = ""
    settings: WsSettings = WsSettings()
    elsewhere: Callable[[str], str | None] = lambda _: None
    heart: Heart = field(init=False)
    sessions: SessionContext = field(init=False)

    def __post_init__(self) -> None:
        galleries = {name: context.gallery for name, context in self.contexts.items()}
        object.__setattr__(self, "sessions", SessionContext(self.reception, galleries, self.sockets.new_id))
        object.__setattr__(self, "heart", Heart(self.sockets.time, self.settings.ping))
