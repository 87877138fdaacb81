"""TLS between a TCP connection and whatever is spoken on it: to the socket a protocol, to the protocol a transport.

Bytes are decrypted in the turn of the loop in which they came, so a line counts as received when it would without TLS.
What `asyncio` has for this keeps a quarter of a megabyte for each connection, cannot close one side alone, and hands
over a connection only after its handshake, which nobody counts. Must not know: what is spoken.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from typing import Any, Final, Protocol

from cgos_server.net.forwarded import Network, is_among, peer_of
from cgos_server.net.lingering import DISCARDED_MAX, end_writing

HANDSHAKE_S: Final = 10.0
"""Time in which a handshake must be done."""

_READ: Final = 65_536
_PIECE: Final = 4_096
"""Bytes that are taken apart before anybody looks whether there was something in them."""
_RECORD: Final = 128
"""Bytes that a record may have besides what is said in it; every usual cipher takes fewer."""
_EMPTY_MAX: Final = 32_768
"""Bytes in which nothing is said, beyond those of records; one record that is on its way takes half of it. Changes of
keys (RFC 8446, 4.6.3) need 27 bytes each, and take the loop longer than a move."""
_HANDSHAKE: Final = 22
"""The first byte of every TLS connection: the type of its record (RFC 8446, 5.1)."""


class Admission(Protocol):
    """Who counts connections: :class:`cgos_server.net.limits.ConnectionCount`."""

    def enter(self, address: str) -> str | None:
        """Count one more; the sentence why it may not stay, or None."""

    def leave(self, address: str) -> None:
        """A counted one is gone."""


class TlsPort:
    """What all connections of one port share.

    :param context: for the next connection
    :param admission: counts connections until their handshake is done
    :param failed: called for each handshake that is not
    :param proxies: from which there may be any number
    :param plain: what a peer is answered that speaks no TLS, in clear
    """

    def __init__(
        self,
        context: Callable[[], ssl.SSLContext],
        admission: Admission,
        *,
        failed: Callable[[], None],
        handshake_s: float = HANDSHAKE_S,
        proxies: tuple[Network, ...] = (),
        plain: bytes = b"",
    ) -> None:
        self.context = context
        self.failed = failed
        self.plain = plain
        self.handshake_s = handshake_s
        self._admission = admission
        self._proxies = proxies
        self._shaking: dict[TlsConnection, str] = {}

    def connection(self, make: Callable[[], asyncio.Protocol], source: str | None = None) -> TlsConnection:
        """For a new socket; `make` gives what is spoken on it, once it is encrypted.

        :param source: where the peer comes from, if a proxy said it
        """
        return TlsConnection(self, make, source)

    def enter(self, connection: TlsConnection, address: str) -> bool:
        """A handshake begins; False where it may not."""
        self._shaking[connection] = address
        return self._admission.enter(address) is None or is_among(address, self._proxies)

    def leave(self, connection: TlsConnection) -> bool:
        """It is done, or will not be; False where that is known."""
        address = self._shaking.pop(connection, None)
        if address is None:
            return False
        self._admission.leave(address)
        return True

    def cut(self) -> None:
        """End all handshakes."""
        for connection in list(self._shaking):
            connection.abort()


class TlsConnection(asyncio.Transport, asyncio.Protocol):
    """One connection, from accept to close.

    As on any transport, nothing is delivered after :meth:`close`; here nothing is after :meth:`write_eof` either: what
    still comes is discarded.
    """

    __slots__ = (
        "_deadline",
        "_deaf",
        "_discarded",
        "_empty",
        "_error",
        "_incoming",
        "_make",
        "_outgoing",
        "_paused",
        "_port",
        "_protocol",
        "_raw",
        "_silent",
        "_source",
        "_tls",
    )

    def __init__(self, port: TlsPort, make: Callable[[], asyncio.Protocol], source: str | None = None) -> None:
        super().__init__()
        self._port = port
        self._source = source
        self._make = make
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = port.context().wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._raw: asyncio.Transport | None = None
        self._protocol: asyncio.Protocol | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._error: Exception | None = None
        self._paused = self._deaf = False
        self._silent = True
        self._discarded = self._empty = 0

    # -- what the socket says

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._raw = transport
        if self._port.enter(self, self._source or peer_of(transport)):
            self._deadline = asyncio.get_running_loop().call_later(self._port.handshake_s, self._too_late)
        else:
            self._shaken()
            transport.abort()

    def data_received(self, data: bytes) -> None:
        if self._silent:
            self._silent = False
            if data[0] != _HANDSHAKE and not self._deaf:
                self._answer_plainly()
                return
        for start in range(0, len(data), _PIECE):
            self._take(data[start : start + _PIECE])

    def eof_received(self) -> None:
        """A peer that closes its socket without a word of TLS is one that closes."""
        if self._protocol is not None and not self._deaf:
            self._protocol.eof_received()
        self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._shaken(done=self._silent)  # who only looks whether somebody listens fails at nothing
        protocol, self._protocol = self._protocol, None  # they hold each other
        self._deaf = True
        if protocol is not None:
            protocol.connection_lost(exc or self._error)

    def pause_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.pause_writing()

    def resume_writing(self) -> None:
        if self._protocol is not None:
            self._protocol.resume_writing()

    # -- TLS

    def _take(self, data: bytes) -> None:
        if self._deaf:
            self._discard(len(data))
            return
        self._incoming.write(data)
        if self._protocol is not None:
            self._empty += len(data)
            self._read()
        elif self._shake():
            self._read()

    def _answer_plainly(self) -> None:
        """Say to a peer that speaks no TLS that this is wanted, and wait for its close until the handshake's time is
        up."""
        self._deaf = True
        if self._raw is not None and not self._raw.is_closing():
            self._raw.write(self._port.plain)
            end_writing(self._raw)

    def _too_late(self) -> None:
        """The handshake's time is up. Who has not sent a byte may wait for a greeting."""
        raw = self._raw
        assert raw is not None
        if self._silent:
            self._shaken()
            raw.write(self._port.plain)
            raw.close()
        else:
            raw.abort()

    def _shake(self) -> bool:
        """Go on with the handshake; True once it is done."""
        raw = self._raw
        assert raw is not None
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return False
        except ssl.SSLError:
            self._flush()  # the alert that says why
            self._deaf = True
            raw.close()
            return False
        self._flush()
        if raw.is_closing():
            return False
        self._shaken(done=True)
        self._protocol = self._make()
        self._protocol.connection_made(self)
        return True

    def _shaken(self, done: bool = False) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if self._port.leave(self) and not done:
            self._port.failed()

    def _read(self) -> None:
        """Hand over what has come."""
        incoming, tls = self._incoming, self._tls
        while not (self._paused or self._deaf) and (incoming.pending or tls.pending()):
            try:
                data = tls.read(_READ)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLZeroReturnError:
                data = b""
            except ssl.SSLError as error:
                self._error = error
                self._flush()
                self.abort()
                return
            if not data:
                self.eof_received()
                return
            assert self._protocol is not None
            self._empty = max(0, self._empty - len(data) - _RECORD)
            self._protocol.data_received(data)
        self._flush()
        if self._empty > _EMPTY_MAX and not (self._paused or self._deaf):
            self._error = ssl.SSLError("too much in which nothing is said")
            self.abort()

    def _flush(self) -> None:
        if self._outgoing.pending and self._raw is not None and not self._raw.is_closing():
            self._raw.write(self._outgoing.read())

    def _end(self) -> None:
        """Say that nothing more will come, and hear nothing more."""
        if self._deaf:
            return
        self._deaf = True
        if self._protocol is not None:
            with contextlib.suppress(ssl.SSLError):  # that the peer has not said so yet
                self._tls.unwrap()
            self._flush()

    def _discard(self, size: int) -> None:
        self._discarded += size
        if self._discarded > DISCARDED_MAX and self._raw is not None:
            self._raw.pause_reading()

    # -- what is asked of a transport

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._deaf or not data:
            return
        left = memoryview(data)
        try:
            while left:
                left = left[self._tls.write(left) :]
        except ssl.SSLError as error:
            self._error = error
            self.abort()
            return
        self._flush()

    def write_eof(self) -> None:
        if self._raw is not None and not self._raw.is_closing():
            self._end()
            self._raw.write_eof()

    def can_write_eof(self) -> bool:
        return True

    def close(self) -> None:
        if self._raw is not None:
            self._end()
            self._raw.close()

    def abort(self) -> None:
        if self._raw is not None:
            self._deaf = True
            self._raw.abort()

    def is_closing(self) -> bool:
        return self._raw is None or self._raw.is_closing()

    def pause_reading(self) -> None:
        self._paused = True
        if self._raw is not None:
            self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._paused = False
        if self._raw is not None:
            self._raw.resume_reading()
            asyncio.get_running_loop().call_soon(self._read)

    def is_reading(self) -> bool:
        return not self._paused

    def get_write_buffer_size(self) -> int:
        return 0 if self._raw is None else self._raw.get_write_buffer_size()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if self._raw is not None:
            self._raw.set_write_buffer_limits(high, low)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return (0, 0) if self._raw is None else self._raw.get_write_buffer_limits()

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self._protocol is not None
        return self._protocol

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "ssl_object":
            return self._tls
        if name == "sslcontext":
            return self._tls.context
        return default if self._raw is None else self._raw.get_extra_info(name, default)
