"""Everything of the game process that listens: the venues' ports, the WebSocket's, health and metrics; and their end.

Decides on which addresses, and which connections there may be. Must not know: what is said on a connection.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from typing import Final

import structlog
from prometheus_client import CollectorRegistry
from starlette.types import ASGIApp

from cgos_protocol.lines.words import error_line
from cgos_protocol.session import MultiVenueReception
from cgos_protocol.v2.render import venue_info
from cgos_server import __version__
from cgos_server.assembly.foundations import Foundations
from cgos_server.config.schema import Config
from cgos_server.config.values import us
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.live.venue.live_control import Addresses
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.net.health import Probe, Scrape, health_app
from cgos_server.net.http import NEEDS_TLS, HttpListener
from cgos_server.net.inheriting import Ports
from cgos_server.net.limits import ConnectionCount, SocketLimits, room_for
from cgos_server.net.lingering import accept_no_more
from cgos_server.net.proxies.connection import ProxyPort
from cgos_server.net.tcp import NO_TLS, listen
from cgos_server.net.tls.certificates import CertificateKeeper
from cgos_server.net.tls.connection import HANDSHAKE_S, TlsPort
from cgos_server.net.websocket.connection import listen_ws
from cgos_server.net.websocket.handshake import plain
from cgos_server.net.websocket.port import WsPort, WsSettings
from cgos_server.net.wire import BotSockets, ConnectionContext
from cgos_server.observability.transcripts import Transcripts

log = structlog.get_logger(__name__)


_ACCEPTING_TURNS: Final = 3
"""Turns of the loop after which whoever was accepted last has its connection."""

_OTHER_LISTENERS: Final = 6
"""Sockets that listen besides the venues': WebSocket, pages, their redirection, health, control, cluster control."""


class Listeners:
    """One a server.

    :param transcripts: takes down what is said; None where nothing is kept
    :param addresses: learns where they are
    :param keeper: has the certificate; None where nothing speaks TLS
    :ivar ws_port: where `cgos.v2` is spoken, 0 while nothing listens
    """

    def __init__(
        self,
        config: Config,
        base: Foundations,
        ports: Ports,
        *,
        transcripts: Transcripts | None,
        addresses: Addresses,
        keeper: CertificateKeeper | None,
    ) -> None:
        limits = _socket_limits(config)
        self.ws_port = 0
        self._addresses = addresses
        self._config = config
        self._ports = ports
        self._sockets = BotSockets(
            time=base.time,
            limits=limits,
            count=ConnectionCount(limits.connections, limits.connections_per_address),
            metrics=base.metrics,
            new_id=base.ids.connection,
            proxies=config.listen.proxies.parts,
            transcripts=transcripts,
        )
        self._servers: list[asyncio.Server] = []
        self._keeper = keeper
        self._incarnation = base.incarnation
        self._handshake_failed = base.metrics.tls_handshake_failed
        self._lines_tls, self._websocket_tls = self._tls_port(NO_TLS), self._tls_port(NEEDS_TLS)
        # The server speaks first on the lines, so it must know who comes; what a proxy of HTTP says is in the request.
        self._lines_front = self._proxy_port(lambda why: error_line(why).encode("ascii"), required=True)
        self._websocket_front = self._proxy_port(lambda why: plain(400, why).response, required=False)

    def _proxy_port(self, answer: Callable[[str], bytes], *, required: bool) -> ProxyPort | None:
        if not self._config.listen.proxy_protocol:
            return None
        return ProxyPort(self._sockets, required=required, answer=answer)

    def _tls_port(self, plain: bytes) -> TlsPort | None:
        if self._keeper is None:
            return None
        return TlsPort(
            self._keeper.context,
            self._sockets.count,
            failed=self._handshake_failed,
            handshake_s=min(HANDSHAKE_S, self._config.limits.login_timeout_s),
            proxies=self._sockets.proxies,
            plain=plain,
        )

    @property
    def open(self) -> int:
        """How many connections there are."""
        return self._sockets.count.open

    async def open_ports(
        self, venues: Mapping[str, LiveVenue], reception: MultiVenueReception, elsewhere: Elsewhere
    ) -> None:
        """Listen on every venue's port and on the WebSocket's. Raises Refused where a port cannot be had."""
        settings = self._config.listen
        contexts: dict[str, ConnectionContext] = {}
        for config in self._config.venue:
            venue = venues[config.name]
            sock = self.bind(settings.bots_host, config.port, f"venue {config.name}")
            context = ConnectionContext(
                sockets=self._sockets, reception=venue.arrivals, gallery=venue.gallery, venue=config.name
            )
            self._servers.append(await listen(context, sock, settings.backlog, front=self._lines_front))
            venue.port = sock.getsockname()[1]
            if config.tls_port is not None:
                sock = self.bind(settings.bots_host, config.tls_port, f"TLS of venue {config.name}")
                encrypted = await listen(context, sock, settings.backlog, self._lines_tls, front=self._lines_front)
                self._servers.append(encrypted)
                venue.tls_port = sock.getsockname()[1]
            contexts[config.name] = context
        if self._config.websocket.enabled:
            self._servers.append(await self._open_websocket(venues, contexts, reception, elsewhere))

    async def _open_websocket(
        self,
        venues: Mapping[str, LiveVenue],
        contexts: Mapping[str, ConnectionContext],
        reception: MultiVenueReception,
        elsewhere: Elsewhere,
    ) -> asyncio.Server:
        config = self._config.websocket
        port = WsPort(
            sockets=self._sockets,
            reception=reception,
            contexts=contexts,
            venues=tuple(
                venue_info(
                    name=live.venue.name,
                    rules=live.venue.rules,
                    time=live.venue.time,
                    rated=live.venue.rated,
                    cgos_port=venue.public_address.port or live.port,
                )
                for venue, live in zip(self._config.venue, venues.values(), strict=True)
            ),
            elsewhere=elsewhere.where,
            server=self._config.server.name,
            software=f"cgos-server {__version__}",
            incarnation=self._incarnation,
            settings=WsSettings(
                compression=config.compression,
                max_message_bytes=config.max_message_bytes,
                ping=us(config.ping_s),
                pong_timeout=us(config.pong_timeout_s),
            ),
        )
        sock = self.bind(config.host, config.port, "the WebSocket port")
        self._addresses.websocket = url_of(sock, config.host, "wss" if config.tls else "ws")
        self.ws_port = sock.getsockname()[1]
        tls = self._websocket_tls if config.tls else None
        return await listen_ws(port, sock, self._config.listen.backlog, tls, front=self._websocket_front)

    def health(self, probes: Mapping[str, Probe], registry: CollectorRegistry, web_metrics: Scrape) -> HttpListener:
        """Where health and metrics are told.

        :param web_metrics: asks for those of the process that serves the pages
        """
        settings = self._config.health
        sock = self.bind(settings.host, settings.port, "health and metrics")
        self._addresses.health = url_of(sock, settings.host, "https" if settings.tls else "http")
        return self.http(health_app(probes, registry, web_metrics), sock, tls=settings.tls)

    def http(self, app: ASGIApp, sock: socket.socket, *, tls: bool) -> HttpListener:
        """An application in this process, by TLS or without."""
        context = self._keeper.context if tls and self._keeper is not None else None
        return HttpListener(app, sock, context=context, failed=self._handshake_failed)

    def bind(self, host: str, port: int, whose: str) -> socket.socket:
        """A socket on that port, or on the next free one where the configuration says so. Raises Refused."""
        settings = self._config.listen
        return self._ports.bind(host, port, whose, next_free=settings.next_free_port, backlog=settings.backlog)

    def close(self) -> None:
        """Take no new connection."""
        for server in self._servers:
            accept_no_more(server)

    async def cut(self) -> None:
        """End all connections: all are gone when this returns, so that the store hears of it while it is open."""
        for _ in range(_ACCEPTING_TURNS):
            await asyncio.sleep(0)
        for unknown in (self._lines_front, self._websocket_front, self._lines_tls, self._websocket_tls):
            if unknown is not None:
                unknown.cut()
        for connection in list(self._sockets.open):
            connection.shut()
        await asyncio.sleep(0)
        for connection in list(self._sockets.open):
            connection.cut()
        await asyncio.sleep(0)


def url_of(sock: socket.socket, host: str, scheme: str = "http") -> str:
    """The address of a bound socket, as people on this machine type it."""
    shown = host if host not in ("", "0.0.0.0", "::") else "localhost"
    shown = f"[{shown}]" if ":" in shown else shown
    return f"{scheme}://{shown}:{sock.getsockname()[1]}"


def connection_room(config: Config) -> int:
    """For how many bots' connections the system leaves room. Raises Invalid where not even one game per venue fits."""
    return room_for(config.limits.connections, listeners=count_listeners(config), least=2 * len(config.venue))


def count_listeners(config: Config) -> int:
    """How many sockets listen at most."""
    return sum(1 if venue.tls_port is None else 2 for venue in config.venue) + _OTHER_LISTENERS


def _socket_limits(config: Config) -> SocketLimits:
    limits = config.limits
    room = connection_room(config)
    if room < limits.connections:
        log.warning(
            "the system's limit of open files leaves room for fewer connections than configured",
            configured=limits.connections,
            room=room,
        )
    return SocketLimits(
        connections=room,
        connections_per_address=limits.connections_per_address,
        login_timeout_us=us(limits.login_timeout_s),
        outbox=limits.outbox_bytes,
        ignored_per_minute=limits.ignored_lines_per_minute,
    )
