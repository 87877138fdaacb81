"""The header with which a proxy begins a connection, saying where it comes from: the PROXY protocol, version 2.

Source: "The PROXY protocol", versions 1 & 2, Willy Tarreau, HAProxy Technologies, 2020, section 2.2. Bytes in, values
out; nothing here raises. Must not know: sockets, which proxies there are, what is spoken after the header.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Final, NamedTuple

from cgos_server.net.forwarded import bare

SIGNATURE: Final = b"\r\n\r\n\0\r\nQUIT\n"
"""The first twelve bytes. No request of HTTP, no TLS and no client of the CGOS lines begins with them."""

HEADER_MAX: Final = 536
"""Longest header in bytes: what the smallest segment of TCP over IPv4 has room for."""

_FIXED: Final = 16
"""Bytes before the addresses: signature, version and command, family and transport, length of the rest."""
_VERSION: Final = 2
_LOCAL, _PROXY = 0, 1
_STREAM: Final = 1
_ADDRESSES: Final = (0, 12, 36, 216)
"""Bytes of both addresses with their ports, by family: unspecified, IPv4, IPv6, Unix."""
_INET, _INET6 = 1, 2
_TRANSPORT_MAX: Final = 2


class Header(NamedTuple):
    """A complete header.

    :ivar length: its bytes; what is spoken begins after them
    :ivar source: the address from which the proxy's client came; None where the connection is the proxy's own, or it
        does not say
    """

    length: int
    source: str | None


class Broken(NamedTuple):
    """What is no header and will never be one. `why` is a sentence."""

    why: str


ABSENT: Final = Broken(
    "A connection from a proxy begins with the header of the PROXY protocol, version 2 (in HAProxy send-proxy-v2); "
    "this one does not."
)


def may_begin(data: bytes | bytearray) -> bool:
    """False where `data` is not the beginning of a header."""
    return SIGNATURE.startswith(data[: len(SIGNATURE)])


def read(data: bytes | bytearray) -> Header | Broken | None:
    """The header at the beginning of `data`, or what is wrong with it as soon as that can be seen; None while more
    must come."""
    if not may_begin(data):
        return ABSENT
    fault = _fault(data)
    if fault is not None:
        return Broken(fault)
    if len(data) < _FIXED:
        return None
    length = _FIXED + int.from_bytes(data[14:_FIXED])
    return Header(length, _source(data)) if len(data) >= length else None


def _fault(data: bytes | bytearray) -> str | None:
    if len(data) > 12:
        version, command = data[12] >> 4, data[12] & 15
        if version != _VERSION:
            return f"The header is of version {version} of the PROXY protocol; version 2 is understood here."
        if command > _PROXY:
            return f"The header has the command {command}; there are 0 (LOCAL) and 1 (PROXY)."
    if len(data) > 13:
        family, transport = data[13] >> 4, data[13] & 15
        # Of a connection of the proxy's own the family is ignored, whatever it is.
        if data[12] & 15 != _LOCAL and (family >= len(_ADDRESSES) or transport > _TRANSPORT_MAX):
            return f"The header has addresses of the unknown family {family} with transport {transport}."
    if len(data) >= _FIXED:
        rest = int.from_bytes(data[14:_FIXED])
        if _FIXED + rest > HEADER_MAX:
            return f"The header has {_FIXED + rest} bytes; at most {HEADER_MAX} are taken."
        if data[12] & 15 == _PROXY and rest < _ADDRESSES[data[13] >> 4]:
            return f"The header has {rest} bytes for addresses that need {_ADDRESSES[data[13] >> 4]}."
    return None


def _source(data: bytes | bytearray) -> str | None:
    """Of a complete header without fault. Whatever follows the addresses is skipped."""
    family, transport = data[13] >> 4, data[13] & 15
    if data[12] & 15 == _LOCAL or transport != _STREAM:
        return None
    if family == _INET:
        return str(IPv4Address(bytes(data[16:20])))
    if family == _INET6:
        return bare(str(IPv6Address(bytes(data[16:32]))))
    return None
