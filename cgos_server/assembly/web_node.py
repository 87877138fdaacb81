"""`cgos-server web`: the pages of a cluster by themselves, on any machine.

Keeps a web process alive, as a server does, and says over HTTP how it is. Stops on SIGTERM, and when the database has
another schema than this program. Must not know: what pages show, who plays.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
from prometheus_client import CollectorRegistry

from cgos_protocol.errors import Code, Conflict, Refused, StoreError
from cgos_server import __version__
from cgos_server.assembly.database import make_data
from cgos_server.assembly.health import open_health
from cgos_server.assembly.launching import Launch, stay_watched
from cgos_server.assembly.listeners import url_of
from cgos_server.assembly.pages import of_cluster, web_process, web_settings
from cgos_server.config.schema import Config
from cgos_server.live.processes.scrape_channel import ScrapeChannel
from cgos_server.live.processes.web_process import WebProcess
from cgos_server.net.health import health_app
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics, roles
from cgos_server.storage import schema
from cgos_server.storage.location import PostgresUrl

if TYPE_CHECKING:
    from cgos_server.web.site import Work

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 5.0
"""Between two looks whether the database answers and is of this program's schema."""

_LOOK_S: Final = 10.0


class WebNode:
    """One process.

    :param logs: what was counted while logging was set up
    :param started: called with the address of the pages and that of health and metrics, once pages are served
    :raises Refused: where the configuration is not that of a cluster
    """

    def __init__(self, config: Config, launch: Launch, logs: LogCounts, started: Callable[[str, str], None]) -> None:
        if config.server.database is None:
            raise Conflict(
                Code.NO_CLUSTER,
                "These pages are those of a cluster, whose database is in PostgreSQL: set server.database. A server "
                "that is alone serves its own pages: `cgos-server serve`.",
            )
        self._config = config
        self._database: PostgresUrl = config.server.database
        self._launch = launch
        self._logs = logs
        self._started = started
        self._stop = asyncio.Event()
        self._why = "the database was not asked yet"
        self._scrapes = ScrapeChannel()
        self._process: WebProcess | None = None
        self._bound: list[socket.socket] = []

    async def run(self) -> None:
        """Serve until SIGTERM or SIGINT. Raises Refused where a port or the certificate cannot be had, or the schema
        is another program's."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop.set)
        make_data(self._config.server.data)
        registry = CollectorRegistry()
        metrics = Metrics(registry, __version__)
        metrics.watch(ready=self._ready, log_events=self._logs.by_level, cluster_role=lambda: roles("web"))
        app = health_app({"database": self._database_answers, "pages": self._pages_run}, registry, self._scrapes.ask)
        health = open_health(self._config, self._launch.ports, app)
        pages, address = self._pages(metrics.web_restarted)
        self._process = pages
        works: list[Work] = [*health.works, partial(stay_watched, self._launch.supervisor, lambda: True)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(work()) for work in works]
                await self._serve(group, pages, partial(self._started, address, health.address))
                health.listener.stop()
                for task in tasks:
                    task.cancel()
        except* Refused as refusals:
            raise refusals.exceptions[0] from None
        finally:
            for sock in self._bound:
                sock.close()

    async def _serve(self, group: asyncio.TaskGroup, pages: WebProcess, started: Callable[[], None]) -> None:
        """Until this process is to end: whenever the database could be asked once, there are pages."""
        serving: asyncio.Task[None] | None = None
        while not self._stop.is_set():
            await self._look()
            if serving is None and not self._why:
                serving = group.create_task(pages.run())
                started()
            self._launch.supervisor.ready(f"not ready: {self._why}" if self._why else "serving pages")
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_EVERY_S):
                    await self._stop.wait()
        pages.stop()
        if serving is not None:
            await serving

    async def _look(self) -> None:
        """Whether the database answers. Raises Refused where it is of another schema: this program cannot read it."""
        before = self._why
        try:
            async with asyncio.timeout(_LOOK_S):
                await asyncio.to_thread(schema.check, self._database)
        except (StoreError, TimeoutError) as error:
            self._why = str(error).rstrip(".") or f"PostgreSQL did not answer within {_LOOK_S:g} s"
        else:
            self._why = ""
        if self._why != before:
            (log.warning if self._why else log.info)("the database", answers=not self._why, why=self._why)

    def _database_answers(self) -> tuple[bool, str]:
        return not self._why, self._why or "it answers"

    def _pages_run(self) -> tuple[bool, str]:
        running = self._process is not None and self._process.pid is not None
        return running, "their process runs" if running else "their process does not run"

    def _ready(self) -> bool:
        return self._database_answers()[0] and self._pages_run()[0]

    def _pages(self, restarted: Callable[[], None]) -> tuple[WebProcess, str]:
        """The web process, which does not run yet, and the address of the pages."""
        config, settings = self._config, self._config.web
        sock = self._bind(settings.host, settings.port, "the pages")
        sockets = {"--listen-fd": sock}
        if settings.redirect_port is not None:
            sockets["--redirect-fd"] = self._bind(settings.host, settings.redirect_port, "the redirection")
        name = f"cgos-server web, {config.cluster.node or socket.gethostname()}"
        process = web_process(
            config,
            web_settings(config, config.websocket.port if config.websocket.enabled else 0, {}),
            sockets,
            cluster=of_cluster(config, name),
            restarted=restarted,
            facts=None,
            scrapes=self._scrapes,
        )
        return process, url_of(sock, settings.host, "https" if settings.tls else "http")

    def _bind(self, host: str, port: int, whose: str) -> socket.socket:
        listen = self._config.listen
        sock = self._launch.ports.bind(host, port, whose, next_free=listen.next_free_port, backlog=listen.backlog)
        self._bound.append(sock)
        return sock
