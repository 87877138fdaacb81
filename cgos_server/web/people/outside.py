"""Sends one message by HTTP to an address that a stranger chose, without becoming that stranger's way into our network.

The name is resolved here, every address that it has is judged, and the connection goes to the very address that was
judged: nobody resolves it again (DNS rebinding; Jackson, Barth, Bortz, Shao and Boneh, 2007). Redirects are not
followed. Must not know: what is sent, and why.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Address, IPv6Address
from typing import Final, NamedTuple

import h11

from cgos_protocol.errors import Code, Invalid, NotFound, Refused
from cgos_server.presentation.settings import Networks
from cgos_server.service.people.webhook_urls import Target, target

LIMIT_S: Final = 5.0
"""From the first look at the name to the answer's status."""

ANSWER_MAX: Final = 4096
"""Bytes of an answer that are read."""

_ADDRESSES_TRIED = 3
_LOOKUPS = 8
_SPECIAL: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "2001::/23",
        "3fff::/20",
        "5f00::/16",
        "64:ff9b::/96",
        "64:ff9b:1::/48",
    )
)
"""Networks for special uses (IANA's registries, RFC 6890), on which versions of Python differ, and those where IPv6
reaches IPv4 (RFC 6052, RFC 8215)."""

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Connect = Callable[..., Awaitable[tuple[asyncio.StreamReader, asyncio.StreamWriter]]]


class Answered(NamedTuple):
    """What came back: the status, and the beginning of the body."""

    status: int
    body: bytes


def forbidden(address: IPv4Address | IPv6Address, permitted: Networks) -> bool:
    """Whether nothing is sent there: all that is not of the open Internet, unless the configuration permits it."""
    if any(address in network for network in permitted):
        return False
    if isinstance(address, IPv6Address) and (
        address.scope_id is not None
        or address.ipv4_mapped is not None
        or address.sixtofour is not None
        or address.teredo is not None
        or address.is_site_local
    ):
        return True
    if any(address in network for network in _SPECIAL):
        return True
    return not address.is_global or address.is_multicast or address.is_reserved or address.is_unspecified


class Resolver:
    """Looks names up in threads of its own: a name whose servers never answer keeps a thread for half a minute, and
    the pages need the common ones."""

    def __init__(self, threads: int = _LOOKUPS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="names")

    async def __call__(self, host: str, port: int) -> list[str]:
        """The addresses of a name. Raises OSError, UnicodeError."""
        look = functools.partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        entries = await asyncio.get_running_loop().run_in_executor(self._pool, look)
        return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


class Outside:
    """The way out.

    :param permitted: networks where messages may go although they are not of the open Internet
    :param resolver: name and port -> addresses
    :param connect: as :func:`asyncio.open_connection`
    """

    def __init__(
        self,
        permitted: Networks = (),
        resolver: Resolve | None = None,
        connect: Connect = asyncio.open_connection,
        limit_s: float = LIMIT_S,
    ) -> None:
        self._permitted = permitted
        self._resolve = resolver or Resolver()
        self._connect = connect
        self._limit_s = limit_s
        self._trust: ssl.SSLContext | None = None

    async def permit(self, url: str) -> None:
        """Raises Refused where it is plain now that nothing will be sent to `url`. Where its name leads later is judged
        before every message; a name that leads nowhere just now may be one whose servers rest."""
        to = target(url)
        try:
            async with asyncio.timeout(self._limit_s):
                addresses = await self._resolved(to)
        except (TimeoutError, Refused):
            return
        self._judge(to, addresses)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answered:
        """Send it once. Raises Refused with the sentence that says why it did not arrive."""
        to = target(url)
        try:
            async with asyncio.timeout(self._limit_s):
                return await self._post(to, headers, body)
        except TimeoutError as error:
            raise Invalid(Code.TOO_SLOW, f"{to.host} did not answer within {self._limit_s:g} s.") from error
        except (h11.RemoteProtocolError, h11.LocalProtocolError) as error:
            raise NotFound(Code.NO_HTTP, f"{to.host} does not answer in HTTP.") from error
        except ssl.SSLError as error:
            raise NotFound(Code.NO_TRUST, f"The TLS certificate of {to.host} cannot be trusted.") from error
        except OSError as error:
            raise Invalid(Code.NOT_REACHED, f"{to.host} cannot be reached.") from error
        except ValueError as error:  # a name that TLS, or the resolver, cannot write
            raise Invalid(Code.URL, f"{to.host} is no name of a host.") from error

    async def _post(self, to: Target, headers: Mapping[str, str], body: bytes) -> Answered:
        reader, writer = await self._reach(to, await self._addresses(to))
        try:
            return await _exchange(to, reader, writer=writer, headers=headers, body=body)
        finally:
            # Nothing more is wanted of the peer, not even a polite end of TLS.
            transport = writer.transport
            transport.abort()
            with contextlib.suppress(OSError, ssl.SSLError):
                await writer.wait_closed()

    async def _addresses(self, to: Target) -> list[str]:
        addresses = await self._resolved(to)
        self._judge(to, addresses)
        return [str(address) for address in addresses[:_ADDRESSES_TRIED]]

    async def _resolved(self, to: Target) -> list[IPv4Address | IPv6Address]:
        """At least one address. Raises Refused (``unknown-host``)."""
        try:
            addresses = [ipaddress.ip_address(text) for text in await self._resolve(to.host, to.port)]
        except (OSError, UnicodeError, ValueError) as error:
            raise NotFound(Code.UNKNOWN_HOST, f"There is no host {to.host}.") from error
        if not addresses:
            raise NotFound(Code.UNKNOWN_HOST, f"There is no host {to.host}.")
        return addresses

    def _judge(self, to: Target, addresses: Sequence[IPv4Address | IPv6Address]) -> None:
        """Raises Refused (``forbidden-address``)."""
        # One forbidden address is enough: a name that means both has no honest use.
        if any(forbidden(address, self._permitted) for address in addresses):
            raise Invalid(
                Code.FORBIDDEN_ADDRESS,
                f"{to.host} is in a private network, where this server sends nothing. The operator can permit networks "
                "with web.webhooks_to.",
            )

    async def _reach(self, to: Target, addresses: Sequence[str]) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        secure = {"ssl": await self._trusted(), "server_hostname": to.host} if to.secure else {}
        for at, address in enumerate(addresses):
            try:
                return await self._connect(address, to.port, limit=16_384, **secure)
            except ssl.SSLError:
                raise
            except OSError:
                if at + 1 == len(addresses):
                    raise
        raise OSError("no address")

    async def _trusted(self) -> ssl.SSLContext:
        """Whose certificates count. Read once, in a thread: it takes some hundredths of a second."""
        if self._trust is None:
            self._trust = await asyncio.to_thread(ssl.create_default_context)
        return self._trust


async def _exchange(
    to: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, headers: Mapping[str, str], body: bytes
) -> Answered:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=16_384)
    given = {"Host": to.authority, **headers, "Content-Length": str(len(body)), "Connection": "close"}
    request = h11.Request(method="POST", target=to.path, headers=list(given.items()))
    parts = (connection.send(request), connection.send(h11.Data(data=body)), connection.send(h11.EndOfMessage()))
    writer.write(b"".join(part for part in parts if part))
    await writer.drain()
    status, received = 0, bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(ANSWER_MAX))
        elif isinstance(event, h11.Response):
            status = event.status_code
        elif isinstance(event, h11.Data):
            received += event.data
        elif not isinstance(event, h11.InformationalResponse):
            break
        if len(received) >= ANSWER_MAX:
            break
    return Answered(status, bytes(received[:ANSWER_MAX]))
