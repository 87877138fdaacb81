"""Serves an ASGI application over HTTP inside a running loop whose signals belong to somebody else.

Must not know: what is served.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

GRACE_S = 2
"""Time that requests under way get when the listener stops."""

MAX_CONNECTIONS = 200
"""Beyond this a listener answers 503."""


class HttpListener:
    """An ASGI application on a bound socket, inside the running loop. Takes over the socket.

    For a task group: ``group.create_task(listener.run())``, later ``listener.stop()``.
    """

    def __init__(self, app: ASGIApp, sock: socket.socket, max_connections: int = MAX_CONNECTIONS) -> None:
        config = uvicorn.Config(
            _cancellable(app),
            http="h11",
            ws="none",
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
            await asyncio.sleep(0)  # the connections learn that they are lost
            unfinished = list(server.server_state.tasks)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

    def stop(self) -> None:
        """Accept nothing new, let requests under way end within `GRACE_S`, then let :meth:`run` return."""
        self._server.should_exit = True


class _Server(uvicorn.Server):
    """uvicorn in somebody else's process: signals are not its business, and it ends without a word."""

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
