"""A bot's TCP connection: bytes from the socket to the protocol, bytes of the protocol to the socket.

Deadlines, floods and slow readers are dealt with here, each at the cost of the offender alone. Must not know: what a
lobby or a game does with what the bot says.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from cgos_server.core.games.base import Color
from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.observability.metrics import CloseReason, Metrics
from cgos_server.protocol.cgos_player import CgosPlayer, Fatal, Ignored, Move, Quit, Ready, Reply, SignIn
from cgos_server.protocol.framing import Line, LineFramer
from cgos_server.protocol.session import Credentials, GameSetup, Reception, Seat

log = structlog.get_logger(__name__)

_FLUSH_US = 10_000_000
"""How long a closing connection may take to read its last line."""
_MINUTE_US = 60_000_000
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 15), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
_USER_TIMEOUT_MS = 30_000


@dataclass(frozen=True, slots=True)
class Port:
    """What all connections of one bots' port share."""

    reception: Reception
    time: Timekeeper
    limits: SocketLimits
    count: ConnectionCount
    metrics: Metrics
    new_id: Callable[[], int]
    open: set[BotConnection]


class BotConnection(asyncio.Protocol):
    """One connection, from accept to close. Implements :class:`~cgos_server.protocol.session.PlayerSession`."""

    __slots__ = (
        "_address",
        "_closed_for",
        "_framer",
        "_ignored",
        "_ignored_since",
        "_orderly",
        "_player",
        "_port",
        "_seat",
        "_sign_in_timer",
        "_silence",
        "_transport",
        "id",
    )  # fmt: skip

    def __init__(self, port: Port) -> None:
        self.id = port.new_id()
        self._port = port
        self._player = CgosPlayer()
        self._framer = LineFramer()
        self._transport: asyncio.Transport | None = None
        self._address = ""
        self._seat: Seat | None = None
        self._sign_in_timer: Handle | None = None
        self._silence: Handle | None = None
        self._ignored = 0
        self._ignored_since = 0
        self._orderly = False
        self._closed_for: CloseReason | None = None

    # -- asyncio

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        port = self._port
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self._address = str(peer[0]).removeprefix("::ffff:") if peer else "unknown"
        transport.set_write_buffer_limits(high=port.limits.outbox)
        _watch_for_death(transport.get_extra_info("socket"))
        port.metrics.connection_opened()
        port.open.add(self)
        refusal = port.count.enter(self._address)
        transport.write(self._player.greeting())
        if refusal is not None:
            port.metrics.refused("connections")
            self._dismiss(self._player.refused(refusal), CloseReason.REFUSED)
            return
        self._sign_in_timer = port.time.call_at(
            port.time.now() + port.limits.login_timeout_us, self._sign_in_took_too_long
        )

    def data_received(self, data: bytes) -> None:
        received = self._port.time.received()
        framer = self._framer
        for line in framer.feed(data, received):
            if self._closed_for is not None:
                return
            self._line(line)
        if framer.fault is not None:
            self._violation("long-line", self._player.refused(framer.fault))
        elif (silence := framer.silence_after()) is not None:
            if self._silence is not None:
                self._silence.cancel()
            self._silence = self._port.time.call_at(received + silence, self._fell_silent)

    def eof_received(self) -> None:
        self._orderly = True
        self._close(CloseReason.PEER)

    def pause_writing(self) -> None:
        """The outbox is full: this peer does not read. It is dropped; its game goes on under the clock."""
        self._closed_for = self._closed_for or CloseReason.SLOW
        log.info("slow reader dropped", connection=self.id, address=self._address)
        self.cut()

    def connection_lost(self, exc: Exception | None) -> None:
        port = self._port
        self._transport = None
        port.open.discard(self)
        port.count.leave(self._address)
        port.metrics.connection_closed(self._closed_for or CloseReason.LOST)
        for timer in (self._sign_in_timer, self._silence):
            if timer is not None:
                timer.cancel()
        seat, self._seat = self._seat, None
        if seat is not None:
            seat.left(self._orderly and exc is None)

    # -- what the bot says

    def _line(self, line: Line) -> None:
        event = self._player.receive(line.text)
        match event:
            case Move(text, analysis):
                if self._seat is not None:
                    self._seat.move(text, analysis, line.received)
            case Ready():
                if self._seat is not None:
                    self._seat.ready()
            case Ignored(why):
                self._was_ignored(why)
            case Reply(data):
                self._write(data)
            case SignIn(name, secret, new_secret, client, analysis):
                if self._sign_in_timer is not None:
                    self._sign_in_timer.cancel()  # from here on it is our time
                self._port.reception.sign_in(
                    self, Credentials(name, secret, new_secret, client, analysis, self._address)
                )
            case Quit():
                self._orderly = True
                self._close(CloseReason.QUIT)
            case Fatal(data, code):
                self._violation(code, data)

    def _fell_silent(self) -> None:
        line = self._framer.silence()
        if line is not None and self._closed_for is None:
            self._line(line)

    def _was_ignored(self, why: str) -> None:
        port = self._port
        port.metrics.line_ignored()
        now = port.time.now()
        if now - self._ignored_since > _MINUTE_US:
            self._ignored_since, self._ignored = now, 0
        self._ignored += 1
        if self._ignored > port.limits.ignored_per_minute:
            sentence = f"You sent {self._ignored} lines that nobody asked for within a minute."
            self._violation("flood", self._player.refused(sentence))
        else:
            log.debug("line ignored", connection=self.id, why=why)

    def _sign_in_took_too_long(self) -> None:
        seconds = self._port.limits.login_timeout_us // 1_000_000
        self._violation("login-timeout", self._player.refused(f"Signing in took longer than {seconds} seconds."))

    # -- what the server says (PlayerSession)

    @property
    def alive(self) -> bool:
        return self._transport is not None and self._closed_for is None

    def accepted(self, seat: Seat) -> None:
        self._seat = seat
        self._write(self._player.accepted())

    def refused(self, sentence: str) -> None:
        reason = CloseReason.REFUSED if self._seat is None else CloseReason.DISMISSED
        self._dismiss(self._player.refused(sentence), reason)

    def setup(self, setup: GameSetup) -> None:
        self._write(self._player.setup(setup))

    def genmove(self, color: Color, left_ms: int) -> None:
        self._write(self._player.genmove(color, left_ms))

    def played(self, color: Color, move: str, left_ms: int, then_left_ms: int | None) -> None:
        self._write(self._player.played(color, move, left_ms, then_left_ms))

    def game_over(self, date: str, result: str, detail: str) -> None:
        self._write(self._player.game_over(date, result, detail))

    def info(self, text: str) -> None:
        self._write(self._player.info(text))

    # -- closing

    def shut(self) -> None:
        """The server stops: close without a word of blame."""
        self._close(CloseReason.SHUTDOWN)

    def cut(self) -> None:
        """Close now, whatever the peer has not read yet."""
        if self._transport is not None:
            self._transport.abort()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and data:
            self._transport.write(data)

    def _violation(self, code: str, data: bytes) -> None:
        log.info("connection closed for its own fault", connection=self.id, address=self._address, code=code)
        self._port.metrics.refused(code)
        self._dismiss(data, CloseReason.VIOLATION)

    def _dismiss(self, data: bytes, reason: CloseReason) -> None:
        self._write(data)
        self._close(reason)

    def _close(self, reason: CloseReason) -> None:
        self._closed_for = self._closed_for or reason
        transport = self._transport
        if transport is not None and not transport.is_closing():
            transport.close()
            self._port.time.call_at(self._port.time.now() + _FLUSH_US, transport.abort)


def _watch_for_death(sock: Any) -> None:
    """Let the kernel find out within half a minute that a peer is gone: nobody else can sign in under its name."""
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, seconds in _KEEPALIVE:
        sock.setsockopt(socket.IPPROTO_TCP, option, seconds)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)


async def listen(port: Port, sock: socket.socket, backlog: int) -> asyncio.Server:
    """Accept bots on a bound socket, which the server takes over."""
    return await asyncio.get_running_loop().create_server(lambda: BotConnection(port), sock=sock, backlog=backlog)
