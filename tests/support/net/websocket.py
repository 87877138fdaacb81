"""The WebSocket port without sockets: a transport double, a client without I/O, and who lets it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import msgspec
from prometheus_client import CollectorRegistry
from websockets.client import ClientProtocol
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.event_news import EventWish
from cgos_protocol.games.base import Ruleset
from cgos_protocol.question_news import QuestionWish, StopWish
from cgos_protocol.session import (
    Availability,
    Credentials,
    Fault,
    GameSetup,
    Known,
    Limits,
    MultiVenueReception,
    PlayerSession,
    Spectator,
    Wish,
)
from cgos_protocol.v2.messages import ServerMessage
from cgos_protocol.v2.render import venue_info
from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.websocket.connection import WsConnection
from cgos_server.net.websocket.port import WsPort, WsSettings
from cgos_server.net.wire import BotSockets, ConnectionContext
from cgos_server.observability.metrics import Metrics
from support.live.simulated import SimulatedTime
from support.net.wires import OtherEnd

S = 1_000_000
GENEROUS = SocketLimits(
    connections=1000, connections_per_address=1000, login_timeout_us=60 * S, outbox=1 << 20, ignored_per_minute=120
)
SETUP = GameSetup(3, 9, 14, 60_000, "anna", "1800?", "bert", "1800?", (), (60_000, 60_000), "9x9")
SIGN_IN: dict[str, Any] = {"type": "sign_in", "bot": "anna", "secret": "secret", "venues": ["9x9"]}


class Transport(OtherEnd):
    """Takes bytes; can be told to be full."""

    def __init__(self, protocol: WsConnection, address: str = "192.0.2.1") -> None:
        super().__init__(protocol, address)
        self.written = bytearray()
        self.unread = 0
        self.eof = False
        self.closing = False
        self.aborted = False
        self.gone = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closing, "written after the close"
        assert not self.eof, "written after the end"
        self.written += data

    def write_eof(self) -> None:
        self.eof = True

    def get_write_buffer_size(self) -> int:
        return self.unread

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = self.aborted = True

    def lose(self, error: Exception | None = None) -> None:
        if not self.gone:
            self.closing = self.gone = True
            self.protocol.connection_lost(error)

    def take(self) -> bytes:
        """What was written since."""
        written = bytes(self.written)
        self.written.clear()
        return written


class Seated:
    """A seat that writes down what it hears. Moves are answered with `fault`."""

    def __init__(self, entries: list[tuple[Any, ...]]) -> None:
        self.calls = entries
        self.fault: Fault | None = None

    def move(self, text: str, analysis: str | None, received: int) -> None:
        self.calls.append(("line", text, analysis, received))

    def play(self, game: int, ply: int, text: str, analysis: str | None, received: int) -> Fault | None:
        self.calls.append(("move", game, ply, text, analysis))
        self.received = received
        return self.fault

    def ready(self) -> None:
        self.calls.append(("ready",))

    def seen(self, game: int) -> None:
        self.calls.append(("seen", game))

    def available(self, availability: Availability) -> None:
        self.calls.append(("available", availability.value))

    def limit(self, limits: Limits) -> None:
        self.calls.append(("limit", limits))

    def sync(self, known: Sequence[Known]) -> None:
        self.calls.append(("sync", tuple(known)))

    def event(self, wish: EventWish, event: str) -> None:
        self.calls.append((wish.value, event))

    def question(self, wish: QuestionWish | StopWish) -> None:
        self.calls.append(("question", wish))

    def left(self, orderly: bool) -> None:
        self.calls.append(("left", orderly))


class Hall:
    """A gallery that writes down what it hears."""

    size, komi2 = 9, 14
    refusal: str | None = None

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.spectators: list[Spectator] = []

    def enter(self, spectator: Spectator, everything: bool) -> None:
        self.calls.append(("enter", everything))
        self.spectators.append(spectator)

    def observe(self, spectator: Spectator, game: int, since: int) -> str | None:
        self.calls.append(("observe", game, since))
        return self.refusal

    def ignore(self, spectator: Spectator, game: int | None) -> None:
        self.calls.append(("ignore", game))

    def leave(self, spectator: Spectator) -> None:
        self.calls.append(("leave",))


class Frontdesk:
    """Concierge, and reception of line bots: everybody waits until a test lets it in."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.sessions: dict[str, PlayerSession] = {}
        self.line_sessions: list[PlayerSession] = []
        self.credentials: Credentials | None = None
        self.wish: Wish | None = None
        self.seats: dict[str, Seated] = {}

    def sign_in(self, sessions: Any, credentials: Credentials, wish: Wish | None = None) -> None:
        self.calls.append(("sign in", credentials.name, credentials.secret))
        self.credentials = credentials
        self.wish = wish
        if isinstance(sessions, Mapping):
            self.sessions = dict(sessions)
        else:
            self.line_sessions.append(sessions)

    def admit(self, name: str = "anna") -> None:
        """Everybody who waits is in."""
        for venue, session in self.sessions.items():
            seat = self.seats[venue] = Seated(self.calls)
            session.accepted(seat, name)


class WsDesk:
    """One WebSocket port in simulated time."""

    def __init__(
        self,
        venues: Sequence[str] = ("9x9", "13x13"),
        compression: bool = False,
        concierge: MultiVenueReception | None = None,
        settings: WsSettings | None = None,
        elsewhere: Callable[[str], str | None] = lambda _: None,
        time: SimulatedTime | None = None,
        **limits: int,
    ) -> None:
        self.time = time or SimulatedTime()
        self.server = Frontdesk()
        self.halls = {name: Hall() for name in venues}
        self.limits = replace(GENEROUS, **limits)
        self.metrics = Metrics(CollectorRegistry(), "test")
        self.count = ConnectionCount(self.limits.connections, self.limits.connections_per_address)
        self.numbers = iter(range(1, 1_000_000))
        self.sockets = BotSockets(
            time=self.time,
            limits=self.limits,
            count=self.count,
            metrics=self.metrics,
            new_id=lambda: next(self.numbers),
            proxies=(ip_network("192.0.2.200/29"),),
        )
        control = TimeControl(system=TimeSystem.ABSOLUTE, main=60 * S)
        self.port = WsPort(
            sockets=self.sockets,
            reception=concierge or self.server,
            contexts={
                name: ConnectionContext(sockets=self.sockets, reception=self.server, gallery=hall)
                for name, hall in self.halls.items()
            },
            venues=tuple(
                venue_info(name=name, rules=Ruleset(), time=control, rated=True, cgos_port=6809) for name in venues
            ),
            server="Test server",
            software="cgos-server 0",
            incarnation="3fa9c01b",
            settings=settings or WsSettings(compression=compression),
            elsewhere=elsewhere,
        )

    def raw(self, address: str = "192.0.2.1", source: str | None = None) -> tuple[WsConnection, Transport]:
        """A connection on which nothing was said but where it comes from, in a header before it."""
        connection = WsConnection(self.port, source)
        transport = Transport(connection, address)
        connection.connection_made(transport)
        return connection, transport

    def connect(
        self,
        *subprotocols: str,
        path: str = "/",
        address: str = "192.0.2.1",
        headers: Mapping[str, str] | None = None,
        compression: bool = False,
        source: str | None = None,
    ) -> WsClient:
        """A client after its handshake, however that ended."""
        connection, transport = self.raw(address, source)
        return WsClient(self, connection, transport, path, subprotocols or ("cgos.v2",), headers or {}, compression)

    def signed_in(self, *subprotocols: str, venues: Sequence[str] = ("9x9",), slots: int = 1) -> WsClient:
        client = self.connect(*subprotocols)
        client.say(**SIGN_IN | {"venues": list(venues), "slots": slots})
        self.server.admit()
        self.server.calls.clear()
        client.listen()
        return client


class WsClient:
    """The other end, and the network between.

    :ivar response: what the handshake brought
    :ivar subprotocol: what was chosen, None where the handshake failed
    """

    def __init__(
        self,
        desk: WsDesk,
        connection: WsConnection,
        transport: Transport,
        path: str,
        subprotocols: Sequence[str],
        headers: Mapping[str, str],
        compression: bool,
    ) -> None:
        self.desk = desk
        self.connection = connection
        self.transport = transport
        extensions = [ClientPerMessageDeflateFactory()] if compression else None
        self.ws = ClientProtocol(
            parse_uri(f"ws://server.example{path}"),
            subprotocols=list(subprotocols) if subprotocols != ("",) else None,  # type: ignore[arg-type]
            extensions=extensions,
            max_size=None,
        )
        request = self.ws.connect()
        for key, value in headers.items():
            request.headers[key] = value
        self.ws.send_request(request)
        self._hand_over()
        self.ws.receive_data(transport.take())
        self.pongs = True
        response = self.ws.events_received()
        self.response = response[0] if response and isinstance(response[0], Response) else None
        self.frames: list[Frame] = [event for event in response[1:] if isinstance(event, Frame)]
        self.subprotocol = self.ws.subprotocol if self.ws.state is State.OPEN else None

    def _hand_over(self, chunk: int = 1 << 20) -> None:
        for data in self.ws.data_to_send():
            for start in range(0, len(data), chunk):
                if not self.transport.closing:
                    self.transport.protocol.data_received(data[start : start + chunk])

    def send(self, data: bytes | str, binary: bool | None = None, chunk: int = 1 << 20) -> None:
        """One message."""
        if self.ws.state is not State.OPEN:
            return
        raw = data.encode() if isinstance(data, str) else data
        if isinstance(data, bytes) if binary is None else binary:
            self.ws.send_binary(raw)
        else:
            self.ws.send_text(raw)
        self._hand_over(chunk)

    def say(self, **message: Any) -> None:
        """One typed message."""
        if self.subprotocol == "cgos.v2.msgpack":
            self.send(msgspec.msgpack.encode(message))
        else:
            self.send(msgspec.json.encode(message).decode())

    def raw(self, data: bytes) -> None:
        """Any bytes at all."""
        self.transport.protocol.data_received(data)

    def take(self) -> list[Frame]:
        """Frames that came since."""
        if self.ws.state is State.OPEN or self.ws.state is State.CLOSING:
            data = self.transport.take()
            if data:
                self.ws.receive_data(data)
            if self.pongs:
                self._hand_over()
            self.frames += [event for event in self.ws.events_received() if isinstance(event, Frame)]
        frames, self.frames = self.frames, []
        return frames

    def messages(self) -> list[ServerMessage]:
        """Typed messages that came since, strictly decoded."""
        messages: list[ServerMessage] = []
        for frame in self.take():
            if frame.opcode is Opcode.TEXT:
                messages.append(msgspec.json.decode(frame.data, type=ServerMessage))
            elif frame.opcode is Opcode.BINARY:
                messages.append(msgspec.msgpack.decode(frame.data, type=ServerMessage))
        return messages

    def listen(self) -> list[dict[str, Any]]:
        """The same as plain values."""
        return [msgspec.to_builtins(message) for message in self.messages()]

    def lines(self) -> list[str]:
        """The lines that came since (cgos.v1)."""
        text = b"".join(bytes(frame.data) for frame in self.take() if frame.opcode is Opcode.TEXT).decode("ascii")
        return text.splitlines()

    @property
    def close_code(self) -> int | None:
        """The code of the server's close frame, None while there is none."""
        self.frames += self.take()
        return None if self.ws.close_rcvd is None else self.ws.close_rcvd.code

    def leave(self) -> None:
        """Close in order."""
        self.ws.send_close(1000)
        self._hand_over()
        self.take()
        if not self.transport.gone:
            self.transport.protocol.eof_received()
        self.transport.lose()
