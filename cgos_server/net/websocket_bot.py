"""``cgos.v2`` on one connection: frames to typed messages for its session, and the session's messages to frames.

Floods of useless messages and slow sign-ins are dealt with here, at the cost of the offender alone. Must not know: what
the messages mean, sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import structlog
from websockets.frames import CloseCode

from cgos_server.net.loop import Handle
from cgos_server.net.websocket_port import Connection, WsPort
from cgos_server.observability.metrics import CloseReason
from cgos_server.protocol import ws_messages as ws
from cgos_server.protocol.ws_encoding import Codec, Malformed
from cgos_server.protocol.ws_session import Ending, House, RoundTrip, Stage, WsSession

log = structlog.get_logger(__name__)

SIGN_IN_MAX: Final = 65_536
"""Longest message in bytes before the sign-in has succeeded."""

_MINUTE_US = 60_000_000

_REASONS: Final[Mapping[Ending, CloseReason]] = {
    Ending.REFUSED: CloseReason.REFUSED,
    Ending.DISMISSED: CloseReason.DISMISSED,
    Ending.DRAINED: CloseReason.QUIT,
}


class BotDialogue:
    """One dialogue. A :class:`~cgos_server.net.websocket_port.Dialogue`, and the
    :class:`~cgos_server.protocol.ws_places.Peer` of its session."""

    __slots__ = ("_codec", "_connection", "_port", "_round", "_session", "_sign_in_timer", "_wasted", "_wasted_since")

    def __init__(self, port: WsPort, connection: Connection, codec: Codec) -> None:
        self._port = port
        self._connection = connection
        self._codec = codec
        self._round = RoundTrip()
        self._session = WsSession(port.house, self, codec.analysis, self._end)
        self._sign_in_timer: Handle | None = None
        self._wasted = self._wasted_since = 0

    # -- what the connection says

    @property
    def may_lag(self) -> bool:
        return not self._session.plays

    @property
    def message_max(self) -> int | None:
        return None if self._session.stage is Stage.IN else SIGN_IN_MAX

    def opened(self) -> None:
        port = self._port
        time = port.time
        self.send(
            ws.Welcome(
                server=port.server,
                software=port.software,
                protocol=ws.VERSION,
                at=time.wall_ms() / 1000,
                venues=list(port.venues),
            )
        )
        self._sign_in_timer = time.call_at(time.now() + port.limits.login_timeout_us, self._sign_in_took_too_long)

    def message(self, data: bytes, binary: bool, received: int) -> None:
        codec, session = self._codec, self._session
        if binary is not codec.binary:
            kinds = ("text", "binary")
            words = f"{codec.subprotocol} is spoken in {kinds[codec.binary]} frames, this one was {kinds[binary]}."
            self._fatal("wrong-frame", words, CloseCode.UNSUPPORTED_DATA)
            return
        if len(data) > SIGN_IN_MAX and session.stage is not Stage.IN:
            words = f"Before the sign-in a message has at most {SIGN_IN_MAX} bytes."
            self._fatal("too-large", words, CloseCode.MESSAGE_TOO_BIG)
            return
        message = codec.decode(data)
        if isinstance(message, Malformed):
            if message.fatal:
                self._fatal(message.code, message.text, CloseCode.INVALID_DATA)
                return
            session.wasted += 1
            error: ws.Error | None = ws.Error(message.code, message.text)
        else:
            error = session.receive(message, received)
        if error is not None:
            self.send(error)
            if error.fatal:
                self._close_for_fault(error.code, error.text)
                return
        if self._sign_in_timer is not None and session.settled:
            self._sign_in_timer.cancel()
            self._sign_in_timer = None
        if session.wasted != self._wasted:
            self._count(received)

    def round_trip(self, us: int) -> None:
        told = self._round.sample(us)
        if told is not None:
            self.send(ws.Latency(told))

    def ended(self) -> None:
        """Said again when the connection is lost."""

    def lost(self, clean: bool) -> None:
        if self._sign_in_timer is not None:
            self._sign_in_timer.cancel()
        self._session.lost(clean)

    # -- limits
