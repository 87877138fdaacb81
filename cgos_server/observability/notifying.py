"""Tells whoever supervises this process how it is: systemd's protocol of readiness and watchdog.

A datagram of lines to the socket that ``NOTIFY_SOCKET`` names. Nothing here raises or waits: where nobody listens,
nothing is said. Must not know: what the server does.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Mapping
from typing import Final

SERVING: Final = "serving"
"""The status of a server that has nothing else to say."""


class Supervisor:
    """Who supervises this process.

    :param address: a Unix datagram socket: a path, or an abstract name after ``@``; empty: nobody supervises
    :ivar watchdog_s: seconds within which it wants to hear that we are alive; None where it does not
    """

    def __init__(self, address: str = "", watchdog_s: float | None = None) -> None:
        self.watchdog_s = watchdog_s
        self._address = "\0" + address[1:] if address.startswith("@") else address

    def ready(self, status: str) -> None:
        """Everything listens."""
        self._send("READY=1", f"STATUS={status}")

    def reloading(self, status: str) -> None:
        """The configuration is read again, or another program takes over; :meth:`ready` ends it."""
        self._send("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}", f"STATUS={status}")

    def stopping(self, status: str, within_s: float) -> None:
        """The server ends, which may take so long from now."""
        self._send("STOPPING=1", f"STATUS={status}", _extended(within_s))

    def busy(self, status: str, within_s: float) -> None:
        """A long start or takeover goes on; the next word comes within so many seconds."""
        self._send(f"STATUS={status}", _extended(within_s), "WATCHDOG=1")

    def alive(self) -> None:
        """The loop turns."""
        self._send("WATCHDOG=1")

    def _send(self, *lines: str) -> None:
        if not self._address:
            return
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            sock.sendto("\n".join(lines).encode(), self._address)


def supervisor(environment: Mapping[str, str]) -> Supervisor:
    """Whoever the environment of this process names; nobody where it names nobody."""
    microseconds = environment.get("WATCHDOG_USEC", "")
    meant = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    watched = meant and microseconds.isdecimal() and int(microseconds) > 0
    return Supervisor(environment.get("NOTIFY_SOCKET", ""), int(microseconds) / 1e6 if watched else None)


def _extended(seconds: float) -> str:
    return f"EXTEND_TIMEOUT_USEC={round(seconds * 1e6)}"
