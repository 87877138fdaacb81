"""A connection of the WebSocket port: bytes from the socket to messages, messages to the socket.

The protocol is the sans-I/O part of the library `websockets`, driven by an asyncio Protocol: no task and no queue for a
connection, and the exact time at which a message was received. Handshake, pings, readers that lag, floods of frames
and closing are dealt with here, each at the cost of the offender alone. Must not know: what the messages mean.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Mapping
from typing import Final

import structlog
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol

from cgos_protocol.errors import Code
from cgos_protocol.v2.encoding import JSON, MSGPACK
from cgos_server.net.bot_socket import BotSocket
from cgos_server.net.limits import RateLimiter
from cgos_server.net.lingering import LINGER_US, end_writing, linger
from cgos_server.net.listening import accept
from cgos_server.net.loop import Handle
from cgos_server.net.proxies.connection import ProxyPort
from cgos_server.net.tls.connection import TlsPort
from cgos_server.net.websocket.bot import BotDialogue
from cgos_server.net.websocket.handshake import LINES, Opening, Rejected, complete, forget, hopeless, opened, plain
from cgos_server.net.websocket.lines import LineFrames
from cgos_server.net.websocket.port import Dialogue, WsPort
from cgos_server.net.wire import answered, blame
from cgos_server.observability.metrics import CloseReason

log = structlog.get_logger(__name__)

# What each message asks for, bound once: Python 3.11 looks a member up through its enum's metaclass.
_OPEN: Final = State.OPEN
_TEXT: Final = Opcode.TEXT
_BINARY: Final = Opcode.BINARY

FRAGMENTS_MAX: Final = 64
"""Frames of one message."""

CONTROLS_PER_MINUTE: Final = 600
"""Pings, and pongs without a ping, before the connection is closed."""

_SLICE = 4_096
"""Bytes that are taken apart before anybody looks whether the peer is to be heard any further."""
_FRAME_HEAD = 14
"""Bytes before a frame's payload, at most."""
_REFUSED_US = 5_000_000
"""How long one that may not stay has for its request, which is answered by saying so."""
_ANSWER_MAX = 262_144
"""Bytes in which the answer to our close frame is looked for; more is thrown away, which costs less."""
_REASON_MAX = 120
"""Bytes of words in a close frame; the protocol has room for 123."""

_CODES: Final[Mapping[CloseReason, CloseCode]] = {
    CloseReason.QUIT: CloseCode.NORMAL_CLOSURE,
    CloseReason.PEER: CloseCode.NORMAL_CLOSURE,
    CloseReason.SHUTDOWN: CloseCode.GOING_AWAY,
}
"""Close codes; everything else is a violation of some policy."""


class WsConnection(BotSocket):
    """One connection of the WebSocket port."""

    __slots__ = (
        "_after_close",
        "_controls",
        "_deadline",
        "_dialogue",
        "_head",
        "_parts",
        "_pending",
        "_ping",
        "_pinged_at",
        "_port",
        "_refusal",
        "_ws",
    )

    def __init__(self, port: WsPort, source: str | None = None) -> None:
        super().__init__(port.sockets, source)
        self._port = port
        self._refusal: str | None = None
        self._deadline: Handle | None = None
        self._head: bytearray | None = bytearray()
        self._ws: ServerProtocol | None = None
        self._dialogue: Dialogue | None = None
        self._parts: list[bytes] | None = None
        self._controls = RateLimiter(CONTROLS_PER_MINUTE)
        self._after_close = self._pending = self._ping = self._pinged_at = 0

    # -- asyncio

    def _opened(self, refusal: str | None) -> None:
        # Through a proxy come many: who it is, is known after the request.
        self._refusal = None if self.proxied else refusal
        limit = self._sockets.limits.login_timeout_us if self._refusal is None else _REFUSED_US
        self._deadline = self._time.call_at(self.heard_at + limit, self._no_request)

    def data_received(self, data: bytes) -> None:
        received = self.heard_at = self._time.received()
        if self._ws is None:
            data = self._shake(data)
        for start in range(0, len(data), _SLICE):
            part = data[start : start + _SLICE]
            if self._closed_for is not None and self._heard_enough(len(part)):
                self._hang_up()
                return
            self._feed(part, received)

    def _heard_enough(self, more: int) -> bool:
        """True where a closing connection is not listened to any more."""
        self._after_close += more
        return self._closed_for is CloseReason.VIOLATION or self._after_close > _ANSWER_MAX

    def eof_received(self) -> None:
        ws = self._ws
        if ws is not None:
            ws.receive_eof()
        if self._closed_for is None:
            self._closed_for = CloseReason.PEER
            if self._dialogue is not None:
                self._dialogue.ended()

    def pause_writing(self) -> None:
        if self._dialogue is None or not self._dialogue.may_lag:
            super().pause_writing()

    def _lost(self, clean: bool) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        dialogue, self._dialogue = self._dialogue, None
        if dialogue is not None:
            self._port.heart.leave(self)
            dialogue.lost(clean)
        ws, self._ws = self._ws, None
        if ws is not None:
            forget(ws)

    # -- the handshake

    def _shake(self, data: bytes) -> bytes:
        """Take the request; what came after it."""
        head = self._head
        if head is None or self._closed_for is not None:
            return b""
        head += data
        length = complete(head)
        if not length:
            rejected = hopeless(head)
            if rejected is not None:
                self._reject(rejected)
            return b""
        port, count = self._port, self._sockets.count
        rest = bytes(head[length:])
        self._head = None
        opening = Opening(bytes(head[:length]), port.contexts, port.settings.compression, port.elsewhere)
        if self.proxied:
            count.leave(self.address)
            self.address = opening.address(self.address, self._sockets.proxies)
            self._refusal = count.enter(self.address)
        answer = opening.answer(self._refusal)
        if isinstance(answer, Rejected):
            self._reject(answer)
            return b""
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._transport is not None:
            self._transport.write(answer.response)
        self._ws = opened(answer, port.settings.max_message_bytes)
        if answer.subprotocol == LINES:
            self._dialogue = LineFrames(port.contexts[answer.venue], self)
        else:
            self._dialogue = BotDialogue(
                _peer=self, _port=port, _codec=MSGPACK if answer.subprotocol == MSGPACK.subprotocol else JSON
            )
        port.heart.join(self)
        self._dialogue.opened()
        return rest

    def _reject(self, rejected: Rejected) -> None:
        self._head = None
        self._closed_for = CloseReason.REFUSED
        self._sockets.metrics.refused(rejected.code)
        log.info("handshake refused", connection=self.id, address=self.address, code=rejected.code)
        transport = self._transport
        if transport is not None:
            transport.write(rejected.response)
        self._hang_up()

    def _no_request(self) -> None:
        self._deadline = None
        if self._ws is None and self._closed_for is None:
            if self._refusal is not None:
                self._reject(plain(503, self._refusal))
            else:
                self._reject(plain(408, "The request took too long."))

    # -- frames

    def _feed(self, data: bytes, received: int) -> None:
        ws = self._ws
        if ws is None:
            return
        ws.receive_data(data)
        frames = ws.events_received()
        if frames:
            self._pending = 0
            for frame in frames:
                assert isinstance(frame, Frame)
                self._frame(frame, received)
        elif self._closed_for is None:
            self._pending += len(data)
            self._check_size(self._pending - _FRAME_HEAD)
        writes = ws.data_to_send()
        if writes:
            self._write(writes)
        if ws.state is not _OPEN and self._closed_for is None:
            self._ended_by_peer(ws)
        elif ws.close_rcvd is not None and self._dialogue is not None:
            self._dialogue.ended()  # it answered our close, so it has read all that came before

    def _frame(self, frame: Frame, received: int) -> None:
        dialogue = self._dialogue
        if self._closed_for is not None or dialogue is None:
            return
        opcode = frame.opcode
        if opcode is _TEXT or opcode is _BINARY:
            if frame.fin:
                dialogue.message(bytes(frame.data), opcode is _BINARY, received)
            else:
                self._parts = [b"B" if opcode is _BINARY else b"T", bytes(frame.data)]
        elif opcode is Opcode.CONT:
            self._continued(dialogue, frame, received)
        elif opcode is Opcode.PONG and bytes(frame.data) == self._ping_payload() and self._pinged_at:
            pinged_at, self._pinged_at = self._pinged_at, 0
            dialogue.round_trip(max(0, received - pinged_at))
        elif opcode is not Opcode.CLOSE:
            self._control(received)

    def _continued(self, dialogue: Dialogue, frame: Frame, received: int) -> None:
        parts = self._parts
        if parts is None:
            return  # the library has refused it already
        parts.append(bytes(frame.data))
        if frame.fin:
            self._parts = None
            dialogue.message(b"".join(parts[1:]), parts[0] == b"B", received)
        elif len(parts) > FRAGMENTS_MAX:
            self._violated("fragments", f"A message has at most {FRAGMENTS_MAX} frames.")
        else:
            self._check_size(sum(map(len, parts)))

    def _control(self, now: int) -> None:
        if self._controls.exhausted(now):
            self._violated("flood", f"More than {CONTROLS_PER_MINUTE} pings within a minute.")

    def _check_size(self, size: int) -> None:
        limit = None if self._dialogue is None else self._dialogue.message_max
        if limit is not None and size > limit:
            self._violated(Code.TOO_LARGE, f"A message has at most {limit} bytes here.", CloseCode.MESSAGE_TOO_BIG)

    def _ended_by_peer(self, ws: ServerProtocol) -> None:
        """The peer closes in order, or what it sent is no WebSocket."""
        if ws.close_rcvd is not None and ws.parser_exc is None:
            self._closed_for = CloseReason.PEER
            if self._dialogue is not None:
                self._dialogue.ended()
        else:
            self._closed_for = CloseReason.VIOLATION
            blame(self, self._sockets.metrics, "frame")
            self._hang_up()
            return
        self._give_up_later()

    # -- pings

    def beat(self) -> None:
        """Ping, or find out that the last ping was never answered."""
        time, transport = self._time, self._transport
        if self._closed_for is not None or transport is None or transport.is_closing():
            return
        if not self._pinged_at:
            self._send_ping()
            return
        deadline = self._pinged_at + self._port.settings.pong_timeout
        # The pong may lie in the socket of a server that was busy.
        if time.now() >= deadline and time.polled_since(deadline):
            log.info("pings are not answered", connection=self.id, address=self.address)
            self.cut()

    def _send_ping(self) -> None:
        ws = self._ws
        if ws is not None and ws.state is _OPEN:
            self._ping += 1
            self._pinged_at = self._time.now()
            ws.send_ping(self._ping_payload())
            self._write(ws.data_to_send())

    def _ping_payload(self) -> bytes:
        return b"%d" % self._ping

    async def reaches_peer(self) -> bool:
        """See :class:`~cgos_server.net.websocket.port.Connection`."""
        if not self._pinged_at:
            self._send_ping()
        ping = self._ping
        return await answered(self, self._time, lambda: not self._pinged_at or self._ping != ping)

    # -- what the dialogue asks

    def send(self, payloads: Iterable[bytes], binary: bool) -> None:
        """See :class:`~cgos_server.net.websocket.port.Connection`."""
        ws = self._ws
        if ws is None or ws.state is not _OPEN:
            return
        send = ws.send_binary if binary else ws.send_text
        for payload in payloads:
            send(payload)
        self._write(ws.data_to_send())

    def close(self, reason: CloseReason, words: str = "", code: int | None = None) -> None:
        """See :class:`~cgos_server.net.websocket.port.Connection`."""
        if self._closed_for is not None:
            return
        self._closed_for = reason
        ws = self._ws
        if ws is None:
            self._hang_up()
            return
        if ws.state is _OPEN:
            text = words.encode()[:_REASON_MAX].decode(errors="ignore")
            ws.send_close(code or _CODES.get(reason, CloseCode.POLICY_VIOLATION), text)
        self._write(ws.data_to_send())
        if reason is CloseReason.VIOLATION:
            self._hang_up()  # nothing more is read, so its answer is not waited for
        else:
            self._give_up_later()

    # -- closing

    def shut(self) -> None:
        self.close(CloseReason.SHUTDOWN, "The server stops. Please come back.")

    def _violated(self, code: str, sentence: str, close_code: int | None = None) -> None:
        if self._dialogue is not None and self._closed_for is None:
            self._dialogue.violated(code, sentence, close_code)

    def _write(self, writes: list[bytes]) -> None:
        transport = self._transport
        if transport is None:
            return
        for data in writes:
            if transport.is_closing():
                return  # a send has failed; whatever is written now would fill the log with warnings
            if data:
                transport.write(data)
            else:
                end_writing(transport)
        if self._closed_for is None and transport.get_write_buffer_size() > 4 * self._sockets.limits.outbox:
            self._closed_for = CloseReason.SLOW
            self.cut()

    def _hang_up(self) -> None:
        """Nothing more is written or read; what was written may still be read."""
        transport = self._transport
        if transport is not None:
            linger(self, transport, self._sockets.count, self.address)
            self._give_up_later()

    def _give_up_later(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self._time.call_at(self._time.now() + LINGER_US, self.cut)


async def listen_ws(
    port: WsPort, sock: socket.socket, backlog: int, tls: TlsPort | None = None, *, front: ProxyPort | None = None
) -> asyncio.Server:
    """Accept connections on a bound socket, which the server takes over; inside `tls`, behind `front` where given."""
    return await accept(lambda source: WsConnection(port, source), sock, backlog, tls, front=front)
