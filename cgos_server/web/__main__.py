"""The web process: serves the pages on an inherited socket until the pipe that it inherited closes.

Started by the game process, which holds the pipe's other end: whatever ends that process closes the pipe. Until then
facts come through it, and through a socket beside it questions for the metrics of this process. Reads the database with
connections that cannot write, and acts only by asking at the control socket. Must not know: the live server.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial

import structlog

from cgos_server.net import collector, control_socket
from cgos_server.net.http import HttpListener
from cgos_server.net.limits import room_for
from cgos_server.observability import logs
from cgos_server.storage.location import Location
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app
from cgos_server.web.around.limiting import STREAMS_OF_ALL
from cgos_server.web.around.response_cache import REMEMBER_S
from cgos_server.web.command_line import Arguments, database_of, parse
from cgos_server.web.live.fact_reader import FactReader
from cgos_server.web.scrape_answers import answer_scrapes

log = structlog.get_logger(__name__)

NICENESS = 5
"""On a crowded machine games come first."""

THREADS_HAND_OVER_S = 0.001
"""So long a thread that computes for a page holds up the loop at a time."""

PAGES = 500
"""Visitors besides the live streams; whoever comes beyond both is answered 503."""

_PIPE_CHUNK = 65_536


async def serve(given: Arguments, database: Location) -> None:
    """Serve until the pipe closes or SIGTERM comes."""
    loop = asyncio.get_running_loop()
    sock = socket.socket(fileno=given.listen_fd)
    wanted = PAGES + STREAMS_OF_ALL * given.settings.streams_per_address
    room = room_for(wanted)
    if room < wanted:
        log.warning(
            "the system's limit of open files leaves room for fewer visitors than configured",
            configured=wanted,
            room=room,
        )
    async with History(database) as history, asyncio.TaskGroup() as group:
        call = partial(control_socket.call, given.data)
        app = create_app(history, given.settings, call=call, data=given.data, remember_s=REMEMBER_S)
        listener = HttpListener(app, sock, room)
        inflow = FactReader(app.heard)
        collector.calm()

        def stop() -> None:
            app.stop()
            listener.stop()

        loop.add_signal_handler(signal.SIGTERM, stop)
        os.set_blocking(given.pipe_fd, False)
        loop.add_reader(given.pipe_fd, lambda: _piped(given.pipe_fd, inflow, stop))
        works = [
            group.create_task(app.run()),
            group.create_task(answer_scrapes(given.scrape_fd, app.metrics.registry)),
        ]
        try:
            await listener.run()
        finally:
            for work in works:
                work.cancel()
            loop.remove_reader(given.pipe_fd)
            loop.remove_signal_handler(signal.SIGTERM)


def _piped(pipe: int, inflow: FactReader, stop: Callable[[], None]) -> None:
    """Something came through the pipe: facts, or its end."""
    try:
        data = os.read(pipe, _PIPE_CHUNK)
    except BlockingIOError:
        return
    if data:
        inflow.feed(data)
    else:
        asyncio.get_running_loop().remove_reader(pipe)  # or it would be said again and again while requests end
        stop()


def main() -> None:
    """Serve as the arguments and the environment say."""
    given = parse(sys.argv[1:])
    logs.configure(given.log_format, given.log_level, sys.stderr)
    os.nice(NICENESS)
    sys.setswitchinterval(THREADS_HAND_OVER_S)
    asyncio.run(serve(given, database_of(given.data, os.environ)))
    log.info("the web process ends")


if __name__ == "__main__":
    main()
