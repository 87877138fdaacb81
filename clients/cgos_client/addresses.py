"""Where a server is and which of its protocols is spoken there, as people write it.

``HOST:PORT``, ``tcp://`` and ``cgos://`` are CGOS lines over TCP, ``cgoss://`` the same inside TLS; ``ws://`` and
``wss://`` are ``cgos.v2``, or with `lines` the CGOS lines in text frames, for one venue whose name is the path.
Must not know: sockets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

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

    @property
    def proxy(self) -> Proxy | None:
        """The proxy that the library websockets uses for this address; None if it uses none."""
        schemes = ("wss", "socks", "https") if self.secure else ("ws", "socks", "https", "http")
        return None if self.over_tcp else proxy_before(self.host, self.port, schemes)

    def __str__(self) -> str:
        return self.url if self.scheme != "tcp" else self.url.removeprefix("tcp://")


class Proxy(NamedTuple):
    """A proxy that this computer's settings put before a server.

    :ivar url: as it is set, without name and password
    :ivar source: where it is set: a variable of the environment, or the settings of the system
    :ivar remedy: how to go without it
    """

    url: str
    source: str
    remedy: str

    def __str__(self) -> str:
        return f"the proxy {self.url} (from {self.source})"


def proxy_before(host: str, port: int, schemes: Sequence[str]) -> Proxy | None:
    """Return the proxy that libraries use on the way to a server; None where they go straight.

    :param schemes: whose proxies are used, the first that is set
    """
    if proxy_bypass(f"{host}:{port}"):
        return None
    settings = getproxies()
    scheme = next((scheme for scheme in schemes if settings.get(scheme)), None)
    if scheme is None:
        return None
    names = sorted((name for name in os.environ if name.lower() == f"{scheme}_proxy"), reverse=True)
    name = next((name for name in names if os.environ[name] == settings[scheme]), "")
    url = re.sub(r"(^|//)[^/]*@", r"\1", settings[scheme])
    remedy = f"to go without it, {f'unset {name}' if name else 'change them'}, or add {host} to no_proxy"
    return Proxy(url, name or "the system's settings", remedy)


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
