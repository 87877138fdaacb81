"""The web process: serves the pages on an inherited socket until the pipe that it inherited closes.

Started by the game process, or by `cgos-server web`, which holds the pipe's other end: whatever ends that process
closes the pipe. Until then facts come through it (in a cluster through the database), and through a socket beside it
questions for the metrics of this process. Reads the database with connections that cannot write, and acts only by
asking at the control socket, or the nodes of the cluster. Must not know: the live server.
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

from cgos_protocol.errors import Refused
from cgos_server.net import collector, control_socket
from cgos_server.net.http import HttpListener
from cgos_server.net.limits import AcceptingLoop, room_for
from cgos_server.net.tls.certificates import CertificateKeeper
from cgos_server.observability import logs
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing.causes import Cause, cause_of
from cgos_server.web.application import create_app
from cgos_server.web.around.limiting import STREAMS_OF_ALL
from cgos_server.web.around.redirecting import redirecting
from cgos_server.web.around.response_cache import REMEMBER_S
from cgos_server.web.cluster import ClusterServer
from cgos_server.web.command_line import Arguments, database_of, parse
from cgos_server.web.live.fact_reader import FactReader
from cgos_server.web.scrape_answers import answer_scrapes
from cgos_server.web.server import OneServer, Server
from cgos_server.web.site import Work

log = structlog.get_logger(__name__)

NICENESS = 5
"""On a crowded machine games come first."""

THREADS_HAND_OVER_S = 0.001
"""So long a thread that computes for a page holds up the loop at a time."""

PAGES = 500
"""Visitors besides the live streams; whoever comes beyond both is answered 503."""

_PIPE_CHUNK = 65_536


async def serve(given: Arguments, database: Location, keeper: CertificateKeeper | None = None) -> None:
    """Serve until the pipe closes or SIGTERM comes; by TLS where `keeper` has a certificate for it."""
    loop = asyncio.get_running_loop()
    sock = socket.socket(fileno=given.listen_fd)
    wanted = PAGES + STREAMS_OF_ALL * given.settings.streams_per_address
    room = room_for(wanted, listeners=1 if given.redirect_fd is None else 2)
    if room < wanted:
        log.warning(
            "the system's limit of open files leaves room for fewer visitors than configured",
            configured=wanted,
            room=room,
        )
    async with History(database) as history, asyncio.TaskGroup() as group:
        server = _server(given, database)
        app = create_app(history, given.settings, server=server, remember_s=REMEMBER_S)
        listener = HttpListener(app, sock, room, context=None if keeper is None else keeper.context)
        works: list[Work] = [app.run, lambda: server.hear(app.heard), *([] if keeper is None else [keeper.run])]
        listeners = [listener]
        if given.redirect_fd is not None:
            plain = redirecting(given.settings.public_url, sock.getsockname()[1])
            listeners.append(HttpListener(plain, socket.socket(fileno=given.redirect_fd)))
        inflow = FactReader(app.heard)
        collector.calm()

        def stop() -> None:
            app.stop()
            for each in listeners:
                each.stop()

        loop.add_signal_handler(signal.SIGTERM, stop)
        os.set_blocking(given.pipe_fd, False)
        loop.add_reader(given.pipe_fd, lambda: _piped(given.pipe_fd, inflow, stop))
        scrapes = answer_scrapes(given.scrape_fd, app.metrics.registry)
        tasks = [group.create_task(work) for work in (*(each() for each in works), scrapes)]
        try:
            async with asyncio.TaskGroup() as serving:
                for each in listeners:
                    serving.create_task(each.run())
        finally:
            for task in tasks:
                task.cancel()
            loop.remove_reader(given.pipe_fd)
            loop.remove_signal_handler(signal.SIGTERM)


def _server(given: Arguments, database: Location) -> Server:
    """Whoever plays. Raises Refused where the cluster's key cannot be used."""
    call = partial(control_socket.call, given.data)
    if given.cluster is None or not isinstance(database, PostgresUrl):
        return OneServer(call, given.data)
    own = (call, given.data) if given.cluster.node else None
    return ClusterServer(database, given.cluster, days=given.settings.transcript_days, own=own)


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
    try:
        keeper = None if given.tls is None else CertificateKeeper(given.tls)
        with asyncio.Runner(loop_factory=AcceptingLoop) as runner:
            runner.run(serve(given, database_of(given.data, os.environ), keeper))
    except Refused as refusal:
        log.error("no pages", why=refusal.sentence)
        sys.exit(1)
    except Exception as error:
        if cause_of(error) is not Cause.MEMORY:
            raise
        log.error("no pages", why=Cause.MEMORY.value)
        sys.exit(1)
    log.info("the web process ends")


if __name__ == "__main__":
    main()
