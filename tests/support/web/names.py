"""Names of hosts, without the network."""

from __future__ import annotations

import ipaddress


async def literals(host: str, port: int) -> list[str]:
    """Resolves addresses only: every name is unknown. Raises ValueError."""
    return [str(ipaddress.ip_address(host))]
