"""Serves an ASGI application over HTTP inside a running loop whose signals belong to somebody else.

Whoever holds a connection and says nothing on it, or does not take its answer, loses it: connections are counted, and
would be gone for all others. What is no HTTP is answered once, where no answer has begun, and ends the connection; the
log does not hear of it. Must not know: what is served, which proxies there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, cast

import h11
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from cgos_server.net.limits import ConnectionCount
from cgos_server.net.lingering import accept_no_more
from cgos_server.net.tls.connection import TlsPort

GRACE_S = 2
"""Time that requests under way get when the listener stops."""

FIRST_S = 0.25
"""Time in which a peer that has asked nothing yet may do so when the listener stops: it may have connected just now."""

MAX_CONNECTIONS = 200
"""Beyond this a listener answers 503."""

HANDSHAKES = 256
"""Handshakes of TLS at once; whoever comes beyond them is cut off."""

HANDSHAKES_PER_ADDRESS = 64

HEAD_S = 10.0
"""Time in which a request's head must come, from the connection or from its first byte on."""

STALLED_S = 45.0
"""Time in which a reader must take something of what it is sent; above all deadlines of single answers."""

_WORDS: Final = b"This port speaks TLS: begin the address with https:// or wss://.\n"
NEEDS_TLS: Final = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_WORDS), _WORDS)
)
"""To a request without TLS where TLS is spoken."""

_LENGTHS = frozenset((b"content-length", b"transfer-encoding"))
"""Headers that say where a request ends (RFC 9112, 6.1: who sends both may be smuggling a second request in)."""


class HttpListener:
    """An ASGI application on a bound socket, inside the running loop. Takes over the socket.

    For a task group: ``group.create_task(listener.run())``, later ``listener.stop()``.

    :param context: for the next connection, where TLS is spoken
    :param failed: called for each handshake of TLS that comes to nothing
    """

    def __init__(
        self,
        app: ASGIApp,
        sock: socket.socket,
        max_connections: int = MAX_CONNECTIONS,
        *,
        context: Callable[[], ssl.SSLContext] | None = None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        handshakes = ConnectionCount(HANDSHAKES, HANDSHAKES_PER_ADDRESS)
        self._tls = None if context is None else TlsPort(context, handshakes, failed=failed, plain=NEEDS_TLS)
        config = uvicorn.Config(
            _cancellable(app),
            http=cast(type[asyncio.Protocol], self._connection),
            ws="none",
            # Whom to believe where a visitor comes from is the application's to say, and no environment variable's.
            proxy_headers=False,
            lifespan="off",
            interface="asgi3",
            log_config=None,
            # uvicorn warns of whatever strangers send; only its errors speak of us.
            log_level="error",
            access_log=False,
            server_header=False,
            limit_concurrency=max_connections,
            timeout_keep_alive=10,
        )
        self._server = _Server(config)
        self._sock = sock

    async def run(self) -> None:
        """Serve until :meth:`stop`. When cancelled, cuts all connections and requests."""
        server = self._server
        try:
            await server.serve([self._sock])
        finally:
            for listening in server.servers:
                listening.close()
            self._sock.close()
            for connection in list(server.server_state.connections):
                connection.transport.abort()
            if self._tls is not None:
                self._tls.cut()
            await asyncio.sleep(0)  # the connections learn that they are lost
            unfinished = list(server.server_state.tasks)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

    def stop(self) -> None:
        """Accept nothing new, let requests under way end within `GRACE_S`, then let :meth:`run` return."""
        for listening in self._server.servers:
            accept_no_more(listening)  # without delay: the next server may wait for the port
        self._server.should_exit = True

    def _connection(self, **arguments: Any) -> asyncio.Protocol:
        if self._tls is None:
            return _Connection(**arguments)
        return self._tls.connection(partial(_Connection, **arguments))


class _Strict(h11.Connection):
    """Refuses a request whose end two readers may see at two places."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request) and {name for name, _ in event.headers} >= _LENGTHS:
            raise h11.RemoteProtocolError("a request has Content-Length or Transfer-Encoding, not both")
        return event


class _Connection(H11Protocol):
    """One connection, which ends where the peer keeps us waiting or does not speak HTTP."""

    _head: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _ending = False

    def __init__(self, config: uvicorn.Config, *arguments: Any, **more: Any) -> None:
        super().__init__(config, *arguments, **more)
        self.conn = _Strict(h11.SERVER)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._forget_head()
        elif self._head is None:
            self._expect_head()
        if self._ending and self.cycle is not None:
            self.cycle.keep_alive = False

    def send_400_response(self, msg: str) -> None:
        """The request under way, if any, counts as left by its client: nothing more can be said to it."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        with contextlib.suppress(h11.LocalProtocolError):  # an answer has begun, or may have no body
            super().send_400_response(msg)
        self.transport.close()

    def shutdown(self) -> None:
        if self.transport.is_closing():
            return
        if self.cycle is None and not self._ending:
            self._ending = True
            self.loop.call_later(FIRST_S, self.shutdown)
        else:
            super().shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_head()
        self._taken()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taken()
        self._stalled = self.loop.call_later(STALLED_S, self.transport.abort)

    def resume_writing(self) -> None:
        self._taken()
        super().resume_writing()

    def _expect_head(self) -> None:
        self._head = self.loop.call_later(HEAD_S, self.transport.abort)

    def _forget_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _taken(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None


class _Server(uvicorn.Server):
    """uvicorn in a process that handles signals itself: it installs no handlers and logs no ending."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.servers = []

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what is idle and wait for the rest, at most `GRACE_S`."""
        for listening in [*self.servers, *(sockets or ())]:
            listening.close()
        connections = self.server_state.connections
        for connection in list(connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE_S):
                while connections:  # noqa: ASYNC110 - uvicorn offers the set and no event
                    await asyncio.sleep(0.02)


def _cancellable(app: ASGIApp) -> ASGIApp:
    """Keeps uvicorn from reporting a request that we cut ourselves as a failure of the application."""

    async def cut_quietly(scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await app(scope, receive, send)

    return cut_quietly
