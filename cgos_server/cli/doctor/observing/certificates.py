"""What certificate an address shows to whoever connects, and the server's own in its files.

Must not know: how long is long enough.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from cgos_server.cli.doctor.checks.certificates import Certificate, OwnCertificate
from cgos_server.config.schema import Config
from cgos_server.net.tls.certificates import TlsFiles, read_certificate

CONNECT_S: Final = 5.0
_SECURE: Final = ("https", "wss")


def public_addresses(config: Config) -> list[str]:
    """The addresses of pages and WebSocket that are to be secure ones, as they are configured."""
    urls = [config.web.public_url] if config.web.enabled else []
    urls += [str(config.websocket.public_url)] if config.websocket.enabled else []
    return list(dict.fromkeys(url for url in urls if urlsplit(url).scheme in _SECURE))


def own_hosts(config: Config) -> list[str]:
    """The hosts in the addresses at which this server itself speaks TLS, as they are configured."""
    urls = [config.web.public_url] if config.web.enabled and config.web.tls else []
    urls += [str(config.websocket.public_url)] if config.websocket.enabled and config.websocket.tls else []
    urls += [f"//{venue.public_tls_address}" for venue in config.venue if venue.tls_port is not None]
    return list(dict.fromkeys(host for url in urls if (host := urlsplit(url).hostname)))


def own(files: TlsFiles) -> OwnCertificate:
    """Raises Refused where it cannot be used."""
    certificate = read_certificate(files)
    return OwnCertificate(
        where=files.certificate,
        key=files.key,
        key_mode=Path(files.key).stat().st_mode & 0o777,
        names=certificate.names,
        from_ms=certificate.begins_at * 1000,
        until_ms=certificate.expires_at * 1000,
    )


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
