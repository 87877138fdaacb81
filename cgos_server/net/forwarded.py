"""Which networks an address lies in, and where a request that came through proxies came from.

Only what a proxy of ours wrote is believed: everything further left in ``X-Forwarded-For`` may have been made up by the
client. Must not know: HTTP, what is asked for.
"""

from __future__ import annotations

import re
from asyncio import BaseTransport
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_address
from typing import Final

Network = IPv4Network | IPv6Network

_PORT: Final = re.compile(r"\[([0-9a-fA-F:.]+)\](?::\d+)?|([0-9.]+):\d+")


def origin(peer: str, values: Iterable[str], proxies: tuple[Network, ...]) -> str:
    """The last address that is no proxy itself, starting from the peer's.

    :param values: of all ``X-Forwarded-For`` headers in their order: some proxies add a header of their own below the
        client's
    """
    client = bare(peer)
    entries = [entry.strip() for value in values for entry in value.split(",")]
    for entry in reversed(entries):
        if not is_among(client, proxies):
            break
        match = _PORT.fullmatch(entry)
        try:
            ip_address(address := (match[1] or match[2]) if match else entry)
        except ValueError:
            break
        client = bare(address)
    return client


def peer_of(transport: BaseTransport) -> str:
    """The address at a connection's other end, ``unknown`` where the system does not say."""
    peer = transport.get_extra_info("peername")
    return str(peer[0]).removeprefix("::ffff:") if peer else "unknown"


def bare(address: str) -> str:
    """The IPv4 address where `address` is one mapped into IPv6, as a socket for both reports it."""
    try:
        return str(getattr(ip_address(address), "ipv4_mapped", None) or address)
    except ValueError:
        return address


def is_among(address: str, networks: tuple[Network, ...]) -> bool:
    """True where `address` lies in one of `networks`; False for what is no address."""
    if not networks:
        return False
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return any(parsed in network for network in networks)


def comes_from(address: str, networks: tuple[Network, ...], proxies: tuple[Network, ...]) -> bool:
    """True where `address` lies in one of `networks` and is no proxy's, behind which anybody may be."""
    return is_among(address, networks) and not is_among(address, proxies)
