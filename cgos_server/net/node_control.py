"""One line in, one line out between the nodes of a cluster: TLS, and both ends have the cluster's certificate and key.

Whoever has the key may give any command, as the user of the control socket may. Must not know: what the lines say.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from cgos_protocol.errors import Code, Invalid, OurFault, Unavailable
from cgos_server.net.conversations import ANSWER_MAX, ANSWER_S, REQUEST_MAX, Conversations, Handler, exchange

_CONNECT_S: Final = 5.0
_NO_CHECK_TIME: Final = 0x200000
"""X509_V_FLAG_NO_CHECK_TIME of OpenSSL: whoever has the key belongs to the cluster, also after the date in the
certificate, which nobody renews."""


def server_context(file: Path) -> ssl.SSLContext:
    """For the side that is connected to. Raises Refused where `file` cannot be used."""
    return _context(file, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))


def client_context(file: Path) -> ssl.SSLContext:
    """For the side that connects. Raises Refused where `file` cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # the certificate is the cluster's, whatever the node is called
    return _context(file, context)


def _context(file: Path, context: ssl.SSLContext) -> ssl.SSLContext:
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_cert_chain(file, password=_no_password)
        context.load_verify_locations(file)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = getattr(error, "strerror", None) or str(error)
        raise Invalid(
            Code.CERTIFICATE,
            f"{file} cannot be used as the key of the cluster ({why}). It is a PEM file with a certificate and its "
            "private key without a password: docs/cluster.md says how to make it.",
        ) from error
    context.verify_mode = ssl.CERT_REQUIRED
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | _NO_CHECK_TIME
    return context


def _no_password() -> bytes:
    raise ValueError("it is encrypted")


@contextlib.asynccontextmanager
async def serve(sock: socket.socket, context: ssl.SSLContext, handler: Handler) -> AsyncIterator[None]:
    """Answer the other nodes on a bound socket while the block runs; conversations under way are then broken off.

    :param handler: takes a request's line and gives the answer's, both without the line end; must not raise
    """
    async with Conversations(handler) as conversations:
        server = await asyncio.start_server(
            conversations.begin, sock=sock, limit=REQUEST_MAX, ssl=context, ssl_handshake_timeout=_CONNECT_S
        )
        try:
            yield
        finally:
            server.close()


async def call(address: str, context: ssl.SSLContext, request: bytes, timeout_s: float = ANSWER_S) -> bytes:
    """Send one line to the node at `address` (``host:port``); its answer.

    :raises Unavailable: (``no-server``) where nobody of the cluster answers there
    :raises OurFault: where it does not answer in time, or breaks off
    """
    host, _, port = address.rpartition(":")
    try:
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), ssl=context, limit=ANSWER_MAX)
    except (OSError, TimeoutError, ValueError) as error:
        why = str(error) or f"no answer within {_CONNECT_S:g} seconds"
        raise Unavailable(Code.NO_SERVER, f"The node at {address} cannot be reached: {why}.") from error
    try:
        async with asyncio.timeout(timeout_s):
            line = await exchange(reader, writer, request)
    except TimeoutError as error:
        raise OurFault(f"The node at {address} did not answer within {timeout_s:g} seconds.") from error
    except (OSError, ValueError) as error:
        raise OurFault(f"The talk with the node at {address} broke off: {error}.") from error
    if not line.endswith(b"\n"):
        raise OurFault(f"The node at {address} broke off before it had answered. Does it have the same key?")
    return line[:-1]
