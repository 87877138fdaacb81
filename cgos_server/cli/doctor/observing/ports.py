"""Whether somebody listens on the ports that a configuration names, and who.

Must not know: whose they should be.
"""

from __future__ import annotations

import errno

from cgos_server.cli.doctor.checks.ports import Port
from cgos_server.cli.doctor.observing import processes
from cgos_server.config.schema import Config
from cgos_server.net.listening import obstacle


def look(config: Config, *, standing_by: bool = False) -> list[Port]:
    """All ports with numbers of their own; of a node that stands by that of health alone."""
    health = ("health and metrics", "health.port", config.health.host, config.health.port)
    wanted = [health] if standing_by else [*_of_servers(config), health]
    return [_port(*each) for each in wanted if each[-1]]


def _of_servers(config: Config) -> list[tuple[str, str, str, int]]:
    """Whose, by which key, host and number."""
    wanted = [
        (f"venue {venue.name}", f"port of [[venue]] {venue.name}", config.listen.bots_host, venue.port)
        for venue in config.venue
    ]
    wanted += [
        (f"TLS of venue {venue.name}", f"tls_port of [[venue]] {venue.name}", config.listen.bots_host, venue.tls_port)
        for venue in config.venue
        if venue.tls_port is not None
    ]
    if config.websocket.enabled:
        wanted.append(("WebSocket", "websocket.port", config.websocket.host, config.websocket.port))
    if config.web.enabled:
        wanted.append(("pages", "web.port", config.web.host, config.web.port))
        if config.web.redirect_port is not None:
            wanted.append(("redirection to https", "web.redirect_port", config.web.host, config.web.redirect_port))
    return wanted


def _port(whose: str, key: str, host: str, number: int) -> Port:
    error = obstacle(host, number)
    forbidden = error is not None and error.errno == errno.EACCES
    busy = processes.is_listened_on(number) if forbidden else error is not None and error.errno == errno.EADDRINUSE
    return Port(
        whose=whose,
        key=key,
        host=host,
        number=number,
        problem="" if error is None or busy else str(error.strerror),
        forbidden=forbidden and not busy,
        busy=busy,
        holders=processes.listeners(number) if busy else {},
    )
