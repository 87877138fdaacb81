"""The web process: serves the pages on an inherited socket until the pipe that it inherited closes.

Started by the game process, which holds the pipe's other end: whatever ends that process closes the pipe. Reads the
database with connections that cannot write. Must not know: the live server.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys

import structlog

from cgos_server.net.http import HttpListener
from cgos_server.observability import logs
from cgos_server.storage.history import History
from cgos_server.storage.location import Location
from cgos_server.web.application import create_app
from cgos_server.web.settings import Arguments, database_of, parse

NICENESS = 5
"""On a crowded machine games come first."""

MAX_CONNECTIONS = 500
"""Visitors beyond this are answered 503."""

_PIPE_CHUNK = 65_536


async def serve(given: Arguments, database: Location) -> None:
    """Serve until the pipe closes or SIGTERM comes."""
    loop = asyncio.get_running_loop()
    sock = socket.socket(fileno=given.listen_fd)
    async with History(database) as history:
        listener = HttpListener(create_app(history, given.settings), sock, MAX_CONNECTIONS)
        loop.add_signal_handler(signal.SIGTERM, listener.stop)
        loop.add_reader(given.pipe_fd, _piped, given.pipe_fd, listener)
        try:
            await listener.run()
        finally:
            loop.remove_reader(given.pipe_fd)
            loop.remove_signal_handler(signal.SIGTERM)


def _piped(pipe: int, listener: HttpListener) -> None:
    """Something came through the pipe, which so far carries nothing but its own end."""
    if not os.read(pipe, _PIPE_CHUNK):
        listener.stop()


def main() -> None:
    given = parse(sys.argv[1:])
    logs.configure(given.log_format, given.log_level, sys.stderr)
    os.nice(NICENESS)
    asyncio.run(serve(given, database_of(given.data, os.environ)))
    structlog.get_logger().info("the web process ends")


if __name__ == "__main__":
    main()
