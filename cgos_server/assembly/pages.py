"""The pages: in a process of their own, in this one, or nowhere. Must not know: what they show."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import VenueId
from cgos_server.assembly.foundations import Foundations
from cgos_server.assembly.listeners import Listeners, url_of
from cgos_server.config.schema import Config, VenueConfig
from cgos_server.config.venues import venue_value
from cgos_server.core.venue import Venue
from cgos_server.live.processes.fact_pipe import KINDS, FactPipe
from cgos_server.live.processes.scrape_channel import ScrapeChannel
from cgos_server.live.processes.web_process import WebProcess
from cgos_server.live.venue.live_control import Addresses
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.net.http import HttpListener
from cgos_server.net.listening import until_free
from cgos_server.observability.exposition import Form, rendered
from cgos_server.observability.web_metrics import WebMetrics
from cgos_server.presentation.settings import VenueSettings, WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.command_line import Cluster, command, environment

if TYPE_CHECKING:
    from cgos_server.service.commands.registry import Call
    from cgos_server.web.site import Work

PORT_PATIENCE_S: Final = 5.0
"""How long the web process of a server that was just killed may keep the port of the pages."""


class Pages:
    """The pages of one server; of a node those of all venues of its cluster.

    :param config: with the venues of all groups
    :param addresses: learns where they are
    """

    def __init__(self, config: Config, base: Foundations, addresses: Addresses) -> None:
        self._config = config
        self._base = base
        self._addresses = addresses
        self._listeners: list[WebProcess | HttpListener] = []
        self._gone = asyncio.Event()
        self._scrapes = ScrapeChannel()
        self._inline: WebMetrics | None = None

    async def open(
        self, stack: AsyncExitStack, listeners: Listeners, venues: Mapping[str, LiveVenue], answer: Call
    ) -> list[Work]:
        """Listen, and say what is to run for it. Raises Refused where the port cannot be had.

        :param answer: answers requests as the control socket does
        """
        settings = self._config.web
        if settings.mode == "off":
            return []
        sock = await until_free(lambda: listeners.bind(settings.host, settings.port, "the pages"), PORT_PATIENCE_S)
        self._addresses.web = url_of(sock, settings.host, "https" if settings.tls else "http")
        redirect = await self._redirect(listeners)
        places = {name: Where(live.venue, live.port, live.tls_port) for name, live in venues.items()}
        shown = web_settings(self._config, listeners.ws_port, places)
        if settings.mode == "inline":
            return await self._open_inline(stack, listeners, sock=sock, redirect=redirect, shown=shown, answer=answer)
        node = self._config.cluster.node
        process = web_process(
            self._config,
            shown,
            {"--listen-fd": sock} | ({} if redirect is None else {"--redirect-fd": redirect}),
            cluster=of_cluster(self._config, f"cgos-server serve, pages of {node}", node) if node else None,
            restarted=self._base.metrics.web_restarted,
            facts=None if node else self._facts(),
            scrapes=self._scrapes,
        )
        self._listeners.append(process)
        return [self._until_gone]

    def _facts(self) -> FactPipe:
        return FactPipe(self._base.bus, self._base.time, dropped=self._base.metrics.facts_dropped)

    async def _open_inline(
        self,
        stack: AsyncExitStack,
        listeners: Listeners,
        *,
        sock: socket.socket,
        redirect: socket.socket | None,
        shown: WebSettings,
        answer: Call,
    ) -> list[Work]:
        """In this process. The pages are loaded here: a server whose pages have their own process starts without."""
        from cgos_server.web.application import create_app
        from cgos_server.web.around.redirecting import redirecting
        from cgos_server.web.around.response_cache import REMEMBER_S
        from cgos_server.web.server import OneServer

        server = self._config.server
        history = await stack.enter_async_context(History(server.location))
        pages = create_app(history, shown, server=OneServer(answer, server.data), remember_s=REMEMBER_S)
        self._inline = pages.metrics
        for kind in KINDS:
            self._base.bus.subscribe(kind, pages.heard)
        self._listeners.append(listeners.http(pages, sock, tls=self._config.web.tls))
        if redirect is not None:
            https = redirecting(shown.public_url, sock.getsockname()[1])
            self._listeners.append(HttpListener(https, redirect))
        return [self._until_gone, pages.run]

    async def metrics(self, form: Form) -> bytes:
        """What the process that serves them counts, for a scraper. Raises Refused where nobody serves them, or that
        process does not answer."""
        if self._config.web.mode == "off":
            raise NotFound(
                Code.NO_PLACE, "This server shows no pages (web.mode is off): there is nothing to scrape here."
            )
        if self._inline is not None:
            return rendered(self._inline.registry, form)
        return await self._scrapes.ask(form)

    def stop(self) -> None:
        """End them."""
        for listener in self._listeners:
            listener.stop()

    async def _redirect(self, listeners: Listeners) -> socket.socket | None:
        """The socket that leads to https, where there is one."""
        settings = self._config.web
        port = settings.redirect_port
        if port is None:
            return None
        return await until_free(lambda: listeners.bind(settings.host, port, "the redirection"), PORT_PATIENCE_S)

    async def end(self) -> None:
        """End them, and wait until they have: what is asked of them is answered first."""
        if self._listeners:
            self.stop()
            await self._gone.wait()

    async def _until_gone(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for listener in self._listeners:
                    group.create_task(listener.run())
        finally:
            self._gone.set()


class Where(NamedTuple):
    """A venue, and where bots reach it; 0 for no port."""

    venue: Venue
    port: int
    tls_port: int


def web_settings(config: Config, ws_port: int, places: Mapping[str, Where]) -> WebSettings:
    """What pages know of the configuration. `places`: venues that are open in this process, by name; of all others it
    is believed that they are where the configuration says."""
    settings = config.web
    return WebSettings(
        server_name=config.server.name,
        venues={venue.name: _venue(venue, places.get(venue.name) or _configured(venue)) for venue in config.venue},
        bots_host=config.listen.bots_host,
        registration=config.server.registration.value,
        websocket=ws_port,
        websocket_tls=config.websocket.tls,
        websocket_url=str(config.websocket.public_url),
        public_url=settings.public_url.rstrip("/"),
        hsts_s=round(settings.hsts_days * 86_400),
        proxies=tuple(map(str, settings.proxies.parts)),
        accounts=settings.accounts,
        requests_per_minute=settings.requests_per_minute,
        streams_per_address=settings.streams_per_address,
        exports_at_once=settings.exports_at_once,
        webhooks_to=tuple(map(str, settings.webhooks_to.parts)),
        transcript_days=config.transcripts.days,
        several_groups=len(config.groups) > 1,
        questions_share=config.questions.share,
    )


def web_process(
    config: Config,
    shown: WebSettings,
    sockets: Mapping[str, socket.socket],
    *,
    cluster: Cluster | None,
    restarted: Callable[[], None],
    facts: FactPipe | None,
    scrapes: ScrapeChannel,
) -> WebProcess:
    """The process that serves pages, which does not run yet.

    :param sockets: see :class:`WebProcess`
    :param cluster: None where the server is alone
    :param facts: None where it hears them otherwise
    """
    server = config.server
    return WebProcess(
        command(
            server.data,
            shown,
            log_format=server.log_format,
            log_level=server.log_level,
            tls=config.tls.files if config.web.tls else None,
            cluster=cluster,
        ),
        sockets,
        environment(server.database),
        restarted=restarted,
        pipe_user=facts,
        scraper=scrapes,
    )


def of_cluster(config: Config, name: str, node: str = "") -> Cluster:
    """How a web process finds the others. `name`: its own, `node`: whose it is."""
    key = config.cluster.key
    return Cluster(name=name, node=node, key="" if key is None else str(key), ttl_s=config.cluster.ttl_s)


def _configured(venue: VenueConfig) -> Where:
    return Where(venue_value(venue, VenueId(0)), venue.port, venue.tls_port or 0)


def _venue(config: VenueConfig, where: Where) -> VenueSettings:
    return msgspec.structs.replace(
        VenueSettings.of(where.venue, where.port),
        public_address=str(config.public_address),
        tls_port=where.tls_port,
        public_tls_address=str(config.public_tls_address),
    )
