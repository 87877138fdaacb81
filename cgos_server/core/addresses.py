"""Who an address of the Internet is to limits. Must not know: what is limited, sockets."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def party(address: str) -> str:
    """Who an address is to limits: itself, or of IPv6 its /64, which is one customer's (RFC 6177 gives a site that much
    and more). What is no address is cut to 64 characters."""
    try:
        found = ip_address(address)
    except ValueError:
        return address[:64]
    if not isinstance(found, IPv6Address):
        return address
    return str(found.ipv4_mapped or IPv6Address(int(found) >> 64 << 64))
