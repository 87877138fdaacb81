"""Who an address of the Internet is to limits. Must not know: what is limited, sockets."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network


def party(address: str) -> str:
    """Who an address is to limits: itself, or of IPv6 its /64, which is one customer's (RFC 6177 gives a site that much
    and more). What is no address is cut to 64 characters."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address[:64]
    if not isinstance(parsed, IPv6Address):
        return address
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))


def neighborhood(address: str) -> str:
    """The network that an address lies in, as far as one holder may easily have all of it: of IPv4 its /24, of IPv6 its
    /48 (the usual assignment to a site, RFC 6177). What is no address is cut to 64 characters."""
    try:
        parsed = ip_address(party(address))
    except ValueError:
        return address[:64]
    return str(ip_network((parsed, 48 if isinstance(parsed, IPv6Address) else 24), strict=False))
