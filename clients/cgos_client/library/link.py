"""One WebSocket connection with deadlines on everything that waits for the peer.

What a server does wrong comes back as an error with a sentence. Must not know: what messages mean, when to connect
again.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from pathlib import Path
from typing import NamedTuple

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as open_websocket
from websockets.exceptions import (
    ConnectionClosed,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
    WebSocketException,
)
from websockets.typing import Subprotocol

from cgos_client.addresses import Address
from cgos_client.errors import CannotConnect, ConnectionLost
from cgos_client.version import __version__

wire = logging.getLogger("cgos_client.wire")
"""Every transport writes what passes over it here, at DEBUG, and never a secret."""

CONNECT_SECONDS = 30.0
WRITE_SECONDS = 30.0
CLOSE_SECONDS = 2.0
PING_SECONDS = 20.0
"""A peer that answers no ping for so long is gone."""
MESSAGE_LIMIT = 16 << 20
SHOWN = 2_000
"""Characters of a frame that the log shows."""

_PAGES = ". Is this the address of its pages? Its page /connect has the one for bots, such as ws://HOST:6868"


class Endpoint(NamedTuple):
    """Where to connect to, and in which protocol.

    :ivar ca_file: certificates to trust in place of the system's, PEM
    """

    address: Address
    subprotocol: str
    ca_file: Path | None = None


class Link:
    """One open connection."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def read(self) -> str | bytes:
        """The next frame; pings that stay unanswered end the waiting. Raises ConnectionLost."""
        try:
            frame = await self._socket.recv()
        except (ConnectionClosed, OSError) as error:
            raise ConnectionLost(_how_it_closed(error)) from None
        wire.debug("server: %s", _shown(frame))
        return frame

    async def read_text(self) -> str:
        """As :meth:`read`, where nothing but text may come."""
        frame = await self.read()
        if isinstance(frame, bytes):
            raise ConnectionLost("the server sent a binary frame, where lines are text")
        return frame

    async def write(self, frame: str | bytes, shown: str | None = None) -> None:
        """Send a frame; `shown` is what the log says in its place. Raises ConnectionLost."""
        wire.debug("client: %s", _shown(frame) if shown is None else shown)
        try:
            async with asyncio.timeout(WRITE_SECONDS):
                await self._socket.send(frame)
        except TimeoutError:
            raise ConnectionLost(f"the server read nothing for {WRITE_SECONDS:.0f} s") from None
        except (ConnectionClosed, OSError) as error:
            raise ConnectionLost(_how_it_closed(error)) from None

    async def close(self) -> None:
        """End the connection in order, by force where that takes more than `CLOSE_SECONDS`."""
        await self._socket.close()


def trust(endpoint: Endpoint) -> ssl.SSLContext | None:
    """What TLS connections are checked against; None where the address has none. Raises CannotConnect."""
    if not endpoint.address.secure:
        return None
    try:
        return ssl.create_default_context(cafile=None if endpoint.ca_file is None else str(endpoint.ca_file))
    except (OSError, ssl.SSLError) as error:
        reason = error.strerror if isinstance(error, FileNotFoundError) else error
        raise CannotConnect(
            f"the certificates in {endpoint.ca_file} cannot be read ({reason})", code="ca-file"
        ) from None


def no_tls(where: str, error: ssl.SSLError) -> CannotConnect:
    """Why there is no TLS connection."""
    if isinstance(error, ssl.SSLCertVerificationError):
        words = f"the certificate of {where} is not trusted ({error.verify_message})"
        return CannotConnect(f"{words}: a server with a certificate of its own needs --ca-file", code="certificate")
    return CannotConnect(f"{where}: no TLS connection ({error.reason or error})", code="tls")


async def open_link(endpoint: Endpoint) -> Link:
    """A connection, which is the caller's to close. Raises CannotConnect."""
    socket = await _open(endpoint)
    if socket.subprotocol != endpoint.subprotocol:
        await socket.close()
        raise CannotConnect(
            f"{endpoint.address} does not speak {endpoint.subprotocol}: is it the WebSocket port of such a server?",
            code="no-protocol",
            is_misdirected=True,
        )
    return Link(socket)


async def _open(endpoint: Endpoint) -> ClientConnection:
    address, proxy = endpoint.address, endpoint.address.proxy
    context = trust(endpoint)
    server, remedy = (f"{address}, through {proxy},", f"; {proxy.remedy}") if proxy else (str(address), "")
    try:
        return await open_websocket(
            address.url,
            ssl=context,
            subprotocols=[Subprotocol(endpoint.subprotocol)],
            compression=None,
            user_agent_header=f"cgos-client {__version__}",
            open_timeout=CONNECT_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            max_size=MESSAGE_LIMIT,
        )
    except ImportError as error:
        if proxy is None:
            raise
        raise CannotConnect(f"{proxy} cannot be used: {error}{remedy}", code="proxy") from None
    except InvalidProxy as error:
        raise CannotConnect(f"{proxy} is no address of a proxy: {error.msg}{remedy}", code="proxy") from None
    except TimeoutError:
        raise CannotConnect(f"{server} did not answer within {CONNECT_SECONDS:.0f} s") from None
    except ssl.SSLError as error:
        raise no_tls(server, error) from None
    except OSError as error:
        first = f"{proxy} before {address}" if proxy else address  # no connection goes anywhere else
        raise CannotConnect(f"{first} cannot be reached ({error.strerror or error}){remedy}") from None
    except ProxyError as error:
        raise CannotConnect(f"{proxy} does not lead to {address} ({error}){remedy}") from None
    except InvalidStatus as error:
        status, wait = error.response.status_code, error.response.headers.get("Retry-After", "")
        is_page = status < 300 or status in (404, 405)
        raise CannotConnect(
            f"{server} answered with HTTP status {status} instead of a WebSocket{_PAGES if is_page else ''}",
            code="http-status",
            retry_after=float(wait) if wait.isdecimal() else None,
            is_misdirected=is_page,
        ) from None
    except InvalidURI as error:  # it leads to https://...
        sentence = f"{server} does not speak WebSocket ({error}){_PAGES}"
        raise CannotConnect(sentence, code="no-protocol", is_misdirected=True) from None
    except (WebSocketException, EOFError) as error:
        raise CannotConnect(f"{server} does not speak WebSocket ({error})", code="no-protocol") from None


def _how_it_closed(error: Exception) -> str:
    if not isinstance(error, ConnectionClosed):
        return f"the connection broke ({error})"
    how = "the connection broke" if error.rcvd is None else "the server closed the connection"
    close = error.rcvd or error.sent
    if close is None:
        return how
    return f"{how} ({close.code}: {close.reason})" if close.reason else f"{how} ({close.code})"


def _shown(frame: str | bytes) -> str:
    text = frame if isinstance(frame, str) else repr(frame)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
