"""``cgos.v2`` on one connection: frames to typed messages for its session, and the session's messages to frames.

Floods of useless messages and slow sign-ins are dealt with here, at the cost of the offender alone. Must not know: what
the messages mean, sockets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec
from websockets.frames import CloseCode

from cgos_protocol.errors import Code
from cgos_protocol.session import PeerRelay
from cgos_protocol.v2 import messages as ws
from cgos_protocol.v2.encoding import Codec, Malformed
from cgos_protocol.v2.session import Ending, RoundTrip, Stage, WsSession
from cgos_server.net.limits import RateLimiter
from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.net.websocket.port import Connection, WsPort
from cgos_server.net.wire import BotSockets, blame
from cgos_server.observability.metrics import CloseReason
from cgos_server.observability.transcript_files import MASK
from cgos_server.observability.transcripts import TranscriptRecorder

SIGN_IN_MAX: Final = 65_536
"""Longest message in bytes before the sign-in has succeeded."""

_READ_AT_ONCE: Final = frozenset((ws.Over, ws.Error))
"""After these the bot's author may want to read what was said."""

_REASONS: Final[Mapping[Ending, CloseReason]] = {
    Ending.REFUSED: CloseReason.REFUSED,
    Ending.DISMISSED: CloseReason.DISMISSED,
    Ending.DRAINED: CloseReason.QUIT,
}


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class BotDialogue(PeerRelay[Connection]):
    """One dialogue. A :class:`~cgos_server.net.websocket.port.Dialogue`, and the
    :class:`~cgos_protocol.v2.places.Peer` of its session."""

    _port: WsPort
    _codec: Codec
    _session: WsSession = field(init=False)
    _sockets: BotSockets = field(init=False)
    _time: Timekeeper = field(init=False)
    _useless: RateLimiter = field(init=False)
    _recorder: TranscriptRecorder | None = field(init=False)
    _round: RoundTrip = field(default_factory=RoundTrip, init=False)
    _sign_in_timer: Handle | None = field(default=None, init=False)
    _wasted: int = field(default=0, init=False)
    _orderly: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        port, sockets = self._port, self._port.sockets
        self._session = WsSession(_context=port.sessions, _peer=self, _analysis=self._codec.analysis, _close=self._end)
        self._sockets = sockets
        self._time = sockets.time
        self._useless = RateLimiter(sockets.limits.ignored_per_minute)
        self._recorder = None if sockets.transcripts is None else sockets.transcripts.recorder(self._peer.id)

    # -- what the connection says

    @property
    def may_lag(self) -> bool:
        return not self._session.plays

    @property
    def message_max(self) -> int | None:
        return None if self._session.stage is Stage.IN else SIGN_IN_MAX

    def opened(self) -> None:
        port, time = self._port, self._time
        self.send(
            ws.Welcome(
                server=port.server,
                software=port.software,
                protocol=ws.VERSION,
                at=time.wall_ms() / 1000,
                venues=list(port.venues),
                incarnation=port.incarnation,
            )
        )
        self._sign_in_timer = time.call_at(
            time.now() + self._sockets.limits.login_timeout_us, self._sign_in_took_too_long
        )

    def message(self, data: bytes, binary: bool, received: int) -> None:
        codec, session = self._codec, self._session
        if binary is not codec.binary:
            kinds = ("text", "binary")
            words = f"{codec.subprotocol} is spoken in {kinds[codec.binary]} frames, this one was {kinds[binary]}."
            self.violated("wrong-frame", words, CloseCode.UNSUPPORTED_DATA)
            return
        if len(data) > SIGN_IN_MAX and session.stage is not Stage.IN:
            words = f"Before the sign-in a message has at most {SIGN_IN_MAX} bytes."
            self.violated(Code.TOO_LARGE, words, CloseCode.MESSAGE_TOO_BIG)
            return
        message = codec.decode(data)
        recorder = self._recorder
        if recorder is not None:
            if recorder.bot and type(message) is ws.Move:
                recorder.heard_message(data, received, binary)
            else:
                self._take_down(recorder, data, message, received)
        if isinstance(message, Malformed):
            if message.fatal:
                self.violated(message.code, message.text, CloseCode.INVALID_DATA)
                return
            session.wasted += 1
            error: ws.Error | None = ws.Error(code=message.code, text=message.text)
        else:
            error = session.receive(message, received)
        if error is not None:
            self._sockets.metrics.line_ignored()
            self.send(error)
            if error.fatal:
                self._close_for_fault(error.code, error.text)
                return
        if self._sign_in_timer is not None and session.settled:
            self._sign_in_timer.cancel()
            self._sign_in_timer = None
        if session.wasted != self._wasted:
            self._count(received)

    def _take_down(
        self, recorder: TranscriptRecorder, data: bytes, message: ws.ClientMessage | Malformed, received: int
    ) -> None:
        """What came, for the bot's owner; without what is secret."""
        binary = self._codec.binary
        if isinstance(message, ws.SignIn):
            recorder.secrets(message.secret, message.new_secret)
            new = None if message.new_secret is None else MASK
            data = msgspec.json.encode(msgspec.structs.replace(message, secret=MASK, new_secret=new))
            binary = False
        elif isinstance(message, Malformed) and (recorder.unnamed or binary or b"\\" in data):
            # Perhaps a sign-in gone wrong; and no secret is found behind an encoding that cannot be read.
            data, binary = b"(%d bytes that are no message)" % len(data), False
        if self._is_recorded(recorder):
            recorder.heard_message(data, received, binary)

    def _is_recorded(self, recorder: TranscriptRecorder) -> bool:
        """True where the transcript has what is said now: not of a connection that only watches."""
        session = self._session
        if recorder.unnamed:
            bot = session.bot
            if bot is None:
                return session.plays or not session.settled
            recorder.named(*bot)
        return True

    def violated(self, code: str, sentence: str, close_code: int | None = None) -> None:
        if self._peer.alive:
            self.send(ws.Error(code=code, text=sentence, fatal=True))
            self._close_for_fault(code, sentence, close_code)

    def round_trip(self, us: int) -> None:
        sample = self._round.sample(us)
        if sample is not None:
            self.send(ws.Latency(sample))

    def ended(self) -> None:
        self._orderly = True

    def lost(self, clean: bool) -> None:
        if self._sign_in_timer is not None:
            self._sign_in_timer.cancel()
        self._session.lost(self._orderly and clean)
        self._recorder = None
        del self._session  # they hold each other, and what lives long is out of the collector's sight

    # -- limits

    def _count(self, now: int) -> None:
        """Errors, repetitions and changes of mind: what no bot needs often."""
        more = self._session.wasted - self._wasted
        self._wasted += more
        if self._useless.exhausted(now, more):
            limit = self._sockets.limits.ignored_per_minute
            self.violated("flood", f"You sent more than {limit} messages of no use within a minute.")

    def _sign_in_took_too_long(self) -> None:
        self._sign_in_timer = None
        seconds = self._sockets.limits.login_timeout_us // 1_000_000
        self.violated("login-timeout", f"You neither signed in nor asked to watch within {seconds} seconds.")

    def _close_for_fault(self, code: str, text: str, close_code: int | None = None) -> None:
        connection = self._peer
        blame(connection, self._sockets.metrics, code)
        connection.close(CloseReason.VIOLATION, text, close_code)

    # -- what the session asks (Peer)

    def wall(self) -> float:
        return self._time.wall_ms() / 1000

    def send(self, *messages: ws.ServerMessage) -> None:
        codec = self._codec
        binary = codec.binary
        payloads = list(map(codec.encode, messages))
        recorder = self._recorder
        if recorder is not None and (recorder.bot or self._is_recorded(recorder)):
            now = self._time.now()
            for payload in payloads:
                recorder.said_message(payload, now, binary)
            if type(messages[-1]) in _READ_AT_ONCE:
                recorder.soon = True
        self._peer.send(payloads, binary)

    def _end(self, ending: Ending) -> None:
        self._peer.close(_REASONS[ending], ending.value)
