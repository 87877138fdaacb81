"""The web process: serves the pages on an inherited socket until the pipe that it inherited closes.

Started by the game process, which holds the pipe's other end: whatever ends that process closes the pipe. Reads the
database with connections that cannot write. Must not know: the live server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import structlog
import uvicorn

from cgos_server.observability import logs
from cgos_server.storage.history import History
from cgos_server.web.application import create_app
from cgos_server.web.settings import Arguments, parse

NICENESS = 5
"""On a crowded machine games come first."""

GRACE_S = 2
"""Time that requests under way get at the end."""

MAX_CONNECTIONS = 500
"""Visitors beyond this are answered 503."""

_PIPE_CHUNK = 65_536


class PageServer(uvicorn.Server):
    """uvicorn, ended by our pipe or by SIGTERM; its own handlers would raise the signal again at the end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def leave(self) -> None:
        """Accept nothing new and let requests under way end."""
        self.should_exit = True


async def serve(given: Arguments, database: Path) -> None:
    """Serve until the pipe closes or SIGTERM comes."""
    loop = asyncio.get_running_loop()
    sock = socket.socket(fileno=given.listen_fd)
    async with History(database) as history:
        config = uvicorn.Config(
            create_app(history, given.settings),
            http="h11",
            ws="none",
            lifespan="off",
            log_config=None,
            # uvicorn warns of whatever strangers send; only its errors speak of us.
            log_level="error",
            access_log=False,
            server_header=False,
            limit_concurrency=MAX_CONNECTIONS,
            timeout_graceful_shutdown=GRACE_S,
        )
        server = PageServer(config)
        loop.add_signal_handler(signal.SIGTERM, server.leave)
        loop.add_reader(given.pipe_fd, _piped, given.pipe_fd, server)
        try:
            await server.serve([sock])
        finally:
            loop.remove_reader(given.pipe_fd)
            loop.remove_signal_handler(signal.SIGTERM)


def _piped(pipe: int, server: PageServer) -> None:
    """Something came through the pipe, which so far carries nothing but its own end."""
    if not os.read(pipe, _PIPE_CHUNK):
        server.leave()


def main() -> None:
    given = parse(sys.argv[1:])
    logs.configure(given.log_format, given.log_level, sys.stderr)
    os.nice(NICENESS)
    asyncio.run(serve(given, given.data / "cgos.sqlite"))
    structlog.get_logger().info("the web process ends")


if __name__ == "__main__":
    main()
