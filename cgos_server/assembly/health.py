"""Health and metrics of a process that plays nothing: where they are told, by TLS or without.

Must not know: what is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from starlette.types import ASGIApp

from cgos_server.assembly.listeners import url_of
from cgos_server.config.schema import Config
from cgos_server.net.http import HttpListener
from cgos_server.net.inheriting import Ports
from cgos_server.net.tls.certificates import CertificateKeeper

if TYPE_CHECKING:
    from cgos_server.web.site import Work


class Health(NamedTuple):
    """The listener; `works` run as long as it is to answer.

    :ivar address: for people
    """

    listener: HttpListener
    works: Sequence[Work]
    address: str


def open_health(config: Config, ports: Ports, app: ASGIApp) -> Health:
    """Listen for whoever asks `app`. Raises Refused where the port or the certificate cannot be had."""
    settings, listen = config.health, config.listen
    files = config.tls.files if settings.tls else None
    keeper = None if files is None else CertificateKeeper(files)
    sock = ports.bind(
        settings.host,
        settings.port,
        "health and metrics",
        next_free=listen.next_free_port,
        backlog=listen.backlog,
    )
    listener = HttpListener(app, sock, context=None if keeper is None else keeper.context)
    works = [listener.run] if keeper is None else [listener.run, keeper.run]
    return Health(listener, works, url_of(sock, settings.host, "https" if settings.tls else "http"))
