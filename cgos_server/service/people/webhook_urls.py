"""Which addresses a webhook may have, as they are written: read once when one is made, and again before each message.

Must not know: where a name leads, which networks are private.
"""

from __future__ import annotations

from typing import Final, NamedTuple
from urllib.parse import urlsplit

from cgos_protocol.errors import Code, Invalid, Refused

URL_MAX: Final = 500
"""Characters of an address."""


class Target(NamedTuple):
    """Where a message goes. `host` without brackets, `path` with the query."""

    secure: bool
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"


def target(url: str) -> Target:
    """Raises Refused (``url``) where nothing is sent to such an address. Ports: 80, 443 and from 1024 on (our choice:
    below are services that take commands line by line)."""
    if len(url) > URL_MAX or any(not "!" <= character <= "~" for character in url):
        raise _bad(f"has at most {URL_MAX} printable ASCII characters without blanks")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _bad("looks like https://example.org/told: this one cannot be read") from error
    if parts.scheme not in ("http", "https"):
        raise _bad("begins with https:// or http://")
    if "@" in parts.netloc:
        raise _bad("names no user and no password: use the secret to know our messages")
    if not parts.hostname:
        raise _bad("names a host")
    if parts.fragment:
        raise _bad("has no part after '#': it would not be sent")
    secure = parts.scheme == "https"
    port = port if port is not None else 443 if secure else 80
    if port not in (80, 443) and port < 1024:
        raise _bad(f"has the port 80, 443 or one from 1024 on, not {port}")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(secure, parts.hostname, port, path)


def _bad(what: str) -> Refused:
    return Invalid(Code.URL, f"The address of a webhook {what}.")
