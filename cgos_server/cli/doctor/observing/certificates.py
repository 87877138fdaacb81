"""What certificate an address shows to whoever connects.

Must not know: how long is long enough.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from typing import Final
from urllib.parse import urlsplit

from cgos_server.cli.doctor.checks.certificates import Certificate
from cgos_server.config.schema import Config

CONNECT_S: Final = 5.0
_SECURE: Final = ("https", "wss")


def public_addresses(config: Config) -> list[str]:
    """The addresses of pages and WebSocket that are to be secure ones, as they are configured."""
    urls = [config.web.public_url] if config.web.enabled else []
    urls += [str(config.websocket.public_url)] if config.websocket.enabled else []
    return list(dict.fromkeys(url for url in urls if urlsplit(url).scheme in _SECURE))


def shown_by(url: str) -> Certificate:
    """What `url` shows, judged as a browser does; by whatever certificates this system trusts."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    context = ssl.create_default_context()
    try:
        with (
            socket.create_connection((host, parts.port or 443), CONNECT_S) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        return Certificate(where=url, refused=error.verify_message.rstrip("."))
    except ssl.SSLError as error:
        return Certificate(where=url, refused=f"there is no TLS ({error.reason})")
    except OSError as error:
        return Certificate(where=url, unreachable=error.strerror or str(error))
    until = None
    with contextlib.suppress(KeyError, ValueError):
        until = round(ssl.cert_time_to_seconds(str(shown["notAfter"])) * 1000)
    return Certificate(where=url, until_ms=until)
