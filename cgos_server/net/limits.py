"""How many connections there may be, in all and from one address, and open files for them; what happens without files.

Must not know: what connections say; failed sign-ins are counted by :mod:`cgos_server.service.people.accounts`.
"""

from __future__ import annotations

import asyncio
import errno
import functools
import resource
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import structlog

from cgos_protocol.errors import Code, Invalid
from cgos_server.core.addresses import party

log = structlog.get_logger(__name__)

LINGERING_MAX = 256
"""Connections that were closed and may still read why. They are open files, and counted apart, so that whoever has
them closed on purpose takes no room from others."""

SPARE_FILES = 256 + LINGERING_MAX
"""Open files besides bots' connections: those that linger, the database, pages, health, pipes."""

MINUTE_US = 60_000_000

ACCEPT_PAUSE_S: Final = 0.25
"""Pause of a listener after it could not accept a connection."""

_REPORT_EVERY_S: Final = 60.0
_EXHAUSTED: Final = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))
"""Errors of `accept` that leave the connection in the queue, so that the listener stays readable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SocketLimits:
    """Bounds on what peers may use up.

    :ivar connections: open connections on all bots' ports together
    :ivar connections_per_address: of these, from one address
    :ivar login_timeout_us: time from connecting to a complete sign-in
    :ivar outbox: bytes that may wait for a peer that reads slowly, before it is dropped
    :ivar ignored_per_minute: lines that mean nothing in their state, before the connection is closed
    """

    connections: int
    connections_per_address: int
    login_timeout_us: int
    outbox: int
    ignored_per_minute: int


def room_for(connections: int, *, listeners: int, least: int = 1) -> int:
    """Raise this process's limit of open files as far as `connections` need it; how many of them there is room for.

    At the limit itself nothing opens any more, a database that must be opened anew included.

    :param listeners: sockets that listen
    :param least: connections without which the process is of no use
    :raises Invalid: where there is no room for `least`
    """
    others = SPARE_FILES + listeners
    wanted = connections + others
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < wanted:  # unlimited is negative
        soft = wanted if hard < 0 else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if 0 <= soft < others + least:
        raise Invalid(
            Code.OPEN_FILES,
            f"The system lets this process open {soft} files, and it needs {others + least} at least: {listeners} to "
            f"listen, {least} for connections, {SPARE_FILES} for the database and other files. {connections} "
            f"connections need {wanted}. Allow more: LimitNOFILE= of the systemd unit, --ulimit nofile= of a "
            "container, ulimit -n in a shell.",
        )
    return connections if soft < 0 else min(connections, soft - others)


class AcceptingLoop(asyncio.SelectorEventLoop):
    """An event loop whose listeners pause while the system has no file for another connection.

    asyncio alone repeats a failed `accept` as often as the backlog is long, with a traceback and a timer each time.
    """

    _failures = 0
    _is_reporting = False

    def _accept_connection(self, factory: Callable[[], asyncio.BaseProtocol], sock: socket.socket, *more: Any) -> None:
        attempt = _Attempt(sock)
        super()._accept_connection(factory, attempt, *more)  # type: ignore[misc]
        if attempt.failure is not None:
            self.remove_reader(sock)
            accept = functools.partial(self._accept_connection, factory, sock, *more)
            self.call_later(ACCEPT_PAUSE_S, self._accept_again, sock, accept)
            self._failures += 1
            if not self._is_reporting:
                self._report(attempt.failure)

    def _accept_again(self, sock: socket.socket, accept: Callable[[], None]) -> None:
        if sock.fileno() >= 0:  # not closed meanwhile
            self.add_reader(sock, accept)

    def _report(self, failure: OSError) -> None:
        """Log the failures since the last report, and do so again in a minute if there are more by then."""
        self._is_reporting = self._failures > 0
        if self._is_reporting:
            log.error("cannot accept connections: they wait", why=failure.strerror, failures=self._failures)
            self._failures = 0
            self.call_later(_REPORT_EVERY_S, self._report, failure)


class _Attempt:
    """A listening socket for one round of asyncio's `accept`, which ends at the first lack of resources."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.failure: OSError | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        try:
            return self._sock.accept()
        except OSError as error:
            if error.errno not in _EXHAUSTED:
                raise
            self.failure = error
            raise BlockingIOError from error


class ConnectionCount:
    """Counts open connections. Of IPv6 a whole /64 is one address.

    :param per_address: of `connections` in all
    """

    def __init__(self, connections: int, per_address: int) -> None:
        self._connections = connections
        self._per_address = per_address
        self._by_address: Counter[str] = Counter()
        self._lingering = 0
        self.open = 0

    def enter(self, address: str) -> str | None:
        """Count one more. None, or the sentence why it may not stay; it must call :meth:`leave` either way."""
        self.open += 1
        who = party(address)
        self._by_address[who] += 1
        if self.open > self._connections:
            return f"This server holds its {self._connections} connections already. Please try again later."
        if self._by_address[who] > self._per_address:
            return f"There are {self._per_address} connections from {address} already. Close some of them first."
        return None

    def leave(self, address: str) -> None:
        """A counted connection is gone."""
        self.open -= 1
        who = party(address)
        self._by_address[who] -= 1
        if not self._by_address[who]:
            del self._by_address[who]

    def linger(self, address: str) -> bool:
        """A counted connection was closed and may still read why: count it apart, until :meth:`lingered`. False where
        too many do."""
        if self._lingering >= LINGERING_MAX:
            return False
        self._lingering += 1
        self.leave(address)
        return True

    def lingered(self, address: str) -> None:
        """One that lingered is lost: it is counted among the others again, for its :meth:`leave`."""
        self._lingering -= 1
        self.enter(address)


class RateLimiter:
    """Counts events of one connection, such as lines that mean nothing, and says when a minute has too many."""

    __slots__ = ("_count", "_limit", "_since")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._count = self._since = 0

    def exhausted(self, now: int, more: int = 1) -> bool:
        """Count `more` at `now` (microseconds); True where it is too many."""
        if now - self._since > MINUTE_US:
            self._since, self._count = now, 0
        self._count += more
        return self._count > self._limit
