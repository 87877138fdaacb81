"""The opening handshake of a WebSocket: who comes, what it speaks, where it wants to; accepted, or refused in words.

Works on the bytes of one HTTP request; the rules of WebSocket are the library's. Must not know: sockets, what is said
after the handshake.
"""

from __future__ import annotations

import http
import logging
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final

from websockets.exceptions import NegotiationError
from websockets.extensions import Extension
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

from cgos_protocol.v2.encoding import JSON, MSGPACK
from cgos_server.net.forwarded import Network, origin

HEAD_MAX: Final = 16_384
"""Longest request in bytes."""

LINES: Final = "cgos.v1"
"""Subprotocol of the CGOS line dialogue."""

TYPED: Final = (JSON.subprotocol, MSGPACK.subprotocol)
"""Subprotocols of the typed messages, in the server's order of preference."""

_END = b"\r\n\r\n"
_REQUEST_LINE = re.compile(rb"[A-Z]{1,20} \S+ HTTP/1\.[01]\r?")

_DEFLATE = (
    # Without takeover no connection keeps a window of its own between two messages.
    ServerPerMessageDeflateFactory(
        server_no_context_takeover=True,
        client_no_context_takeover=True,
        server_max_window_bits=12,
        client_max_window_bits=12,
        compress_settings={"memLevel": 5},
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A client that may stay. `response` is to be written first.

    :ivar venue: where :data:`LINES` is spoken, else empty
    """

    response: bytes
    subprotocol: str
    venue: str
    extensions: Sequence[Extension]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A client that may not. `code` is a stable word for logs and counters."""

    response: bytes
    code: str


def complete(head: bytes | bytearray) -> int:
    """Length of the request at the beginning of `head`, or 0 while it is not complete."""
    return head.find(_END) + len(_END) if _END in head else 0


def hopeless(head: bytes | bytearray) -> Rejected | None:
    """The answer to a beginning that will never be a request, None while it may become one."""
    if len(head) > HEAD_MAX:
        return plain(431, f"A request has at most {HEAD_MAX} bytes here.")
    line, end, _ = bytes(head).partition(b"\n")
    if _REQUEST_LINE.fullmatch(line) if end else line[:1].isupper():
        return None
    return plain(400, WHAT_THIS_IS)


def plain(status: int, sentence: str) -> Rejected:
    """An answer to what is no request, or came too late."""
    protocol = ServerProtocol(logger=_SILENT)
    return Rejected(_written(protocol, protocol.reject(status, f"{sentence}\n")), "handshake")


def opened(accepted: Accepted, max_message_bytes: int) -> ServerProtocol:
    """The connection after its handshake: a fresh one, since the one that read the request keeps it for ever."""
    protocol = ServerProtocol(state=State.OPEN, max_size=max_message_bytes, logger=_SILENT)
    protocol.extensions = list(accepted.extensions)
    return protocol


class Opening:
    """One complete request, to be answered once.

    :param venues: by name
    :param elsewhere: where another venue is played, as a sentence; None where that is not known
    """

    def __init__(
        self,
        head: bytes,
        venues: Collection[str],
        compression: bool,
        elsewhere: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self._venues = venues
        self._elsewhere = elsewhere
        self._protocol = ServerProtocol(
            extensions=_DEFLATE if compression else None,
            select_subprotocol=lambda _, offered: self._select(offered),
            logger=_SILENT,
        )
        self._protocol.receive_data(head)
        event = next(iter(self._protocol.events_received()), None)
        self._request = event if isinstance(event, Request) else None
        self._path = ""
        self._spoken: tuple[str, ...] = ()

    def address(self, peer: str, proxies: tuple[Network, ...]) -> str:
        """Where a request that came through the proxy `peer` came from."""
        values = [] if self._request is None else self._request.headers.get_all("X-Forwarded-For")
        return origin(peer, values, proxies)

    def answer(self, refusal: str | None) -> Accepted | Rejected:
        """The response. `refusal` is the sentence why the client may not stay, whatever it asks."""
        request, protocol, venues = self._request, self._protocol, self._venues
        if request is None:
            forget(protocol)
            return plain(400, WHAT_THIS_IS)
        self._path = request.path.partition("?")[0]
        venue = self._path[1:]
        line_venue = venue if venue in venues else ""
        if not venue and len(venues) == 1:
            line_venue = next(iter(venues))
        self._spoken = (*(() if venue else TYPED), *((LINES,) if line_venue else ()))
        response = protocol.accept(request)
        status = response.status_code
        code = "handshake"
        if status == http.HTTPStatus.UPGRADE_REQUIRED:
            response = protocol.reject(status, f"{WHAT_THIS_IS}\n")
            response.headers["Upgrade"] = "websocket"
        elif refusal is not None:
            response, code = protocol.reject(503, f"{refusal}\n"), "connections"
        elif venue and (where := self._elsewhere(venue)):
            response = protocol.reject(421, f"{where}\n")
        elif venue and not line_venue:
            response = protocol.reject(404, f"There is no venue {venue!r} here. The venues are: {', '.join(venues)}.\n")
        if response.status_code != http.HTTPStatus.SWITCHING_PROTOCOLS:
            return Rejected(_written(protocol, response), code)
        subprotocol, extensions = str(protocol.subprotocol), protocol.extensions
        venue = line_venue if subprotocol == LINES else ""
        return Accepted(
            response=_written(protocol, response), subprotocol=subprotocol, venue=venue, extensions=extensions
        )

    def _select(self, offered: Sequence[Subprotocol]) -> Subprotocol:
        for name in self._spoken:
            if name in offered:
                return Subprotocol(name)
        if not self._spoken:
            raise NegotiationError(f"there is nothing at {self._path}")
        more = "" if LINES in self._spoken else f"; {LINES} is spoken at /<venue>: {', '.join(self._venues)}"
        raise NegotiationError(f"at {self._path} offer one of the subprotocols {', '.join(self._spoken)}{more}")


WHAT_THIS_IS: Final = (
    f"This port speaks WebSocket: {TYPED[0]} and {TYPED[1]} at /, {LINES} at /<venue>. "
    "The CGOS line protocol without WebSocket has a port of its own in each venue."
)

_SILENT: Final = logging.Logger("cgos_server.websocket", logging.CRITICAL + 1)
"""What peers do wrong is counted and logged by the connection."""


def forget(protocol: ServerProtocol) -> None:
    """Done with. It and its parser hold each other, and a ring that the collector does not look at stays for ever."""
    vars(protocol).clear()


def _written(protocol: ServerProtocol, response: Response) -> bytes:
    protocol.send_response(response)
    written = b"".join(protocol.data_to_send())
    forget(protocol)
    return written
