"""The listening sockets of this process: those that a program before it in this process has left open, and new ones.

A server that hands over keeps its sockets open across the exec, so that whoever connects meanwhile waits and is not
refused; an environment variable says which socket is which. Must not know: what is served, who decides to hand over.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import MutableMapping
from typing import Final

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_server.net.listening import bind

VARIABLE: Final = "CGOS_INHERITED"
"""Names the sockets to the program that takes over; it is taken out of the environment at once."""

BACKLOG: Final = 4096
"""Connections that may wait on each socket while nobody accepts."""

_FIRST = 3
"""Descriptors below are standard input, output and error."""


class Inheritance(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one program leaves to the next.

    :ivar sockets: the key of :func:`_key` -> descriptor
    :ivar version: of the program that left it
    :ivar since: when it stopped accepting, in seconds of the system's monotonic clock
    """

    sockets: dict[str, int]
    version: str
    since: float


class Ports:
    """All listening sockets of a server.

    :param left: what the program before has left; None where this one was started
    :ivar version: of the program before, empty where there was none
    """

    def __init__(self, left: Inheritance | None = None) -> None:
        self.version = "" if left is None else left.version
        self._since = 0.0 if left is None else left.since
        self._waiting = {} if left is None else {key: _listening(number) for key, number in left.sockets.items()}
        self._bound: dict[str, socket.socket] = {}
        self._kept: dict[str, int] = {}

    def bind(self, host: str, port: int, whose: str, *, next_free: bool, backlog: int) -> socket.socket:
        """As :func:`cgos_server.net.listening.bind`, or the socket that was left for it. Raises Refused."""
        key = _key(host, port, whose)
        sock = self._waiting.pop(key, None)
        if sock is None:
            self._give_way(port)
            sock = bind(host, port, whose, next_free=next_free, backlog=backlog)
        self._bound[key] = sock
        return sock

    def opened(self) -> float | None:
        """Everything listens: close what nobody took. Seconds in which nobody accepted; None where none was left."""
        for sock in self._waiting.values():
            sock.close()
        self._waiting.clear()
        return time.monotonic() - self._since if self.version else None

    def keep(self) -> None:
        """Keep all sockets open for the next program, whatever becomes of these objects: whoever accepts on one may
        close it."""
        for key, sock in self._bound.items():
            number = os.dup(sock.fileno())
            os.set_inheritable(number, True)
            sock.listen(BACKLOG)
            self._kept[key] = number

    def leave(self, version: str) -> Inheritance:
        """What was kept, for the next program; from now on peers wait.

        :param version: of this program
        """
        return Inheritance(sockets=self._kept, version=version, since=time.monotonic())

    def _give_way(self, port: int) -> None:
        """A socket left for another address of the same port is in the way of a new one."""
        for key, sock in list(self._waiting.items()):
            if port and sock.getsockname()[1] == port:
                self._waiting.pop(key).close()


def variable(inheritance: Inheritance) -> dict[str, str]:
    """What is added to the next program's environment."""
    return {VARIABLE: msgspec.json.encode(inheritance).decode()}


def inherited(environment: MutableMapping[str, str]) -> Ports:
    """The sockets that `environment` names, which says nothing of them any more.

    :raises Refused: (``inherited``) where it names something else than listening sockets
    """
    text = environment.pop(VARIABLE, None)
    if text is None:
        return Ports()
    try:
        return Ports(msgspec.json.decode(text, type=Inheritance))
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise _garbage(str(error)) from error


def _listening(number: int) -> socket.socket:
    """The listening socket behind a descriptor, which no child inherits. Raises Refused."""
    if number < _FIRST:
        raise _garbage(f"descriptor {number} is no socket of a server")
    try:
        sock = socket.socket(fileno=number)
    except (OSError, OverflowError) as error:
        raise _garbage(f"descriptor {number} is no socket") from error
    if not sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        sock.detach()
        raise _garbage(f"descriptor {number} does not listen")
    sock.set_inheritable(False)
    sock.setblocking(False)
    return sock


def _garbage(why: str) -> Invalid:
    return Invalid(
        Code.INHERITED,
        f"The environment variable {VARIABLE} does not name the sockets of a server that hands over: {why}. "
        "Remove it from the environment.",
    )


def _key(host: str, port: int, whose: str) -> str:
    """Which sockets are the same: those of one address, and where any port will do, of one user."""
    return f"{host}:{port}" if port else f"{host}:0 {whose}"
