"""Opens the sockets that a server listens on, or says in one sentence why that cannot be.

Must not know: what is served on them.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Awaitable, Callable

from cgos_protocol.errors import Code, Invalid
from cgos_server.net.proxies.connection import Make, ProxyPort
from cgos_server.net.tls.connection import TlsPort

SEARCH = 100
"""Ports tried after a busy one."""

RETRY_S = 0.1

_BELOW_1024 = (
    " A port below 1024 needs a right, which AmbientCapabilities=CAP_NET_BIND_SERVICE in systemd's unit gives; or "
    "configure a higher one."
)


def bind(host: str, port: int, whose: str, *, next_free: bool = False, backlog: int = 128) -> socket.socket:
    """A TCP socket that listens already, so that nobody else can take its port; peers wait until it is served.

    :param host: an address or name; empty means every address, IPv4 and IPv6 where the machine has both
    :param port: 0 takes any free one
    :param whose: for the message
    :param next_free: where the port is busy, take the next free one after it
    :param backlog: connections that may wait
    :raises Refused: where nothing can be bound
    """
    for number in range(port, min(port + SEARCH if next_free and port else port + 1, 65_536)):
        try:
            return _listen(host, number, backlog)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            place = f"{host or 'all addresses'}:{number}"
            remedy = _BELOW_1024 if error.errno == errno.EACCES else ""
            raise Invalid(Code.BIND, f"Cannot listen on {place} for {whose}: {error.strerror}.{remedy}") from error
    raise Invalid(
        Code.PORT_BUSY,
        f"Port {port} for {whose} is in use by another program. Stop that program, or configure another port.",
    )


async def until_free(
    listen: Callable[[], socket.socket],
    patience_s: float,
    pause: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> socket.socket:
    """What `listen` returns, a call of :func:`bind`; while the port is busy it is tried again for `patience_s` seconds.

    :raises Refused: as :func:`bind` does
    """
    for _ in range(round(patience_s / RETRY_S)):
        try:
            return listen()
        except Invalid as refused:
            if refused.code is not Code.PORT_BUSY:
                raise
        await pause(RETRY_S)
    return listen()


def obstacle(host: str, port: int) -> OSError | None:
    """Why nobody could listen there now, None where one could. Nothing listens meanwhile, so that nobody who starts at
    the same time finds the port taken."""
    try:
        _bound(host, port).close()
    except OSError as error:
        return error
    return None


async def accept(
    make: Make, sock: socket.socket, backlog: int, tls: TlsPort | None, *, front: ProxyPort | None
) -> asyncio.Server:
    """Accept connections on a bound socket, which the server takes over.

    :param make: what is spoken on each, inside `tls` where there is one
    :param front: where proxies say in a header whom they bring
    """

    def spoken(source: str | None = None) -> asyncio.Protocol:
        return make(source) if tls is None else tls.connection(lambda: make(source), source)

    factory = spoken if front is None else lambda: front.connection(spoken)
    return await asyncio.get_running_loop().create_server(factory, sock=sock, backlog=backlog)


def _listen(host: str, port: int, backlog: int) -> socket.socket:
    sock = _bound(host, port)
    try:
        sock.listen(backlog)
    except OSError:
        sock.close()
        raise
    sock.setblocking(False)
    return sock


def _bound(host: str, port: int) -> socket.socket:
    if host:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
    elif socket.has_dualstack_ipv6():
        family = socket.AF_INET6
    else:
        family = socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1 if host else 0)
        sock.bind((host, port))
    except OSError:
        sock.close()
        raise
    return sock
