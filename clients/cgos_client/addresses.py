"""Where a server is and which of its protocols is spoken there, as people write it.

``HOST:PORT``, ``tcp://`` and ``cgos://`` are CGOS lines over TCP, ``cgoss://`` the same inside TLS; ``ws://`` and
``wss://`` are ``cgos.v2``, or with `lines` the CGOS lines in text frames, for one venue whose name is the path.
Must not know: sockets.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from cgos_client.settings import BadSetting

DEFAULT_PORTS = {"tcp": 6809, "cgoss": 6810, "ws": 6868, "wss": 443}


class Address(NamedTuple):
    """A server's address.

    :ivar scheme: ``tcp``, ``cgoss``, ``ws`` or ``wss``
    :ivar path: what follows host and port, with its slash; empty for none
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def secure(self) -> bool:
        """True for TLS."""
        return self.scheme in ("cgoss", "wss")

    @property
    def over_tcp(self) -> bool:
        """True for CGOS lines without WebSocket."""
        return self.scheme in ("tcp", "cgoss")

    @property
    def venue(self) -> str:
        """The venue that the path names; empty for none."""
        return unquote(self.path.strip("/"))

    @property
    def url(self) -> str:
        """``ws://localhost:6868/9x9``."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"

    def __str__(self) -> str:
        return self.url if self.scheme != "tcp" else self.url.removeprefix("tcp://")


def server_address(text: str, place: str = "--server") -> Address:
    """The address that `text` means. Raises BadSetting, which names `place`."""
    if "://" not in text:
        host, _, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        host = host[1:-1] if bracketed else host
        if not host or (":" in host and not bracketed) or not port.isdecimal() or not 0 < int(port) < 65536:
            raise BadSetting(
                f"{place} {text!r} is not an address: write HOST:PORT, such as localhost:6809, or ws://HOST:PORT"
            )
        return Address("tcp", host, int(port))
    try:
        parts = urlsplit(text)
        port_number = parts.port
    except ValueError as error:
        raise BadSetting(f"{place} {text!r} is not an address: {error}") from None
    scheme = "tcp" if parts.scheme == "cgos" else parts.scheme
    if scheme not in DEFAULT_PORTS:
        raise BadSetting(f"{place} {text!r}: choose tcp://, cgos://, cgoss://, ws:// or wss://, or write HOST:PORT")
    if not parts.hostname:
        raise BadSetting(f"{place} {text!r} names no host: write {parts.scheme}://HOST:PORT")
    if parts.username is not None or parts.password is not None:
        raise BadSetting(f"{place} holds a name or password: the name goes into --name, the password into a file")
    path = parts.path if parts.path.strip("/") else ""
    address = Address(scheme, parts.hostname, port_number or DEFAULT_PORTS[scheme], path)
    if parts.query or parts.fragment or (address.over_tcp and path):
        raise BadSetting(f"{place} {text!r} has something after the port that is not understood")
    return address
