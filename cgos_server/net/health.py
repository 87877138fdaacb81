"""The listener for those who watch over the server: is it alive, is it ready, its metrics; and how it serves HTTP.

Runs in the game process's own loop: if `/livez` answers, that loop turns. Must not know what the probes look at, nor
what the metrics mean.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping

import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

Probe = Callable[[], tuple[bool, str]]
"""Answers at once: (is it well, a sentence in plain words). Called in the event loop."""

GRACE_S = 2
"""Time that requests under way get when the listener stops."""

MAX_CONNECTIONS = 200
"""Beyond this a listener answers 503."""

_NO_STORE = {"Cache-Control": "no-store"}


class HttpListener:
    """An ASGI application on a bound socket, inside the running loop. Takes over the socket.

    For a task group: ``group.create_task(listener.run())``, later ``listener.stop()``.
    """

    def __init__(self, app: ASGIApp, sock: socket.socket) -> None:
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
            limit_concurrency=MAX_CONNECTIONS,
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


def health_app(probes: Mapping[str, Probe], registry: CollectorRegistry) -> Starlette:
    """``/livez``, ``/readyz`` (503 with the reasons while any probe fails; ``?verbose`` lists all) and ``/metrics``."""

    async def livez(_request: Request) -> Response:
        return PlainTextResponse("alive\n", headers=_NO_STORE)

    async def readyz(request: Request) -> Response:
        answers = [(name, *probe()) for name, probe in probes.items()]
        well = all(ok for _, ok, _ in answers)
        lines = ["ready" if well else "not ready"]
        verbose = "verbose" in request.query_params
        lines += [
            f"{name}: {text}" if not ok else f"{name}: ok, {text}" for name, ok, text in answers if verbose or not ok
        ]
        return PlainTextResponse("\n".join(lines) + "\n", 200 if well else 503, _NO_STORE)

    async def metrics(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"Content-Type": content_type, **_NO_STORE})

    return Starlette(routes=[Route("/livez", livez), Route("/readyz", readyz), Route("/metrics", metrics)])
