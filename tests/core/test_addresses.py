"""Who an address is to limits."""

from __future__ import annotations

import pytest

from cgos_server.core.addresses import neighborhood, party


@pytest.mark.parametrize(
    ("address", "who", "near"),
    [
        ("192.0.2.77", "192.0.2.77", "192.0.2.0/24"),
        ("::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1::/48"),
        ("no address" * 10, ("no address" * 10)[:64], ("no address" * 10)[:64]),
        ("", "", ""),
    ],
)
def test_whose_an_address_is_and_where_it_lies(address: str, who: str, near: str) -> None:
    assert (party(address), neighborhood(address)) == (who, near)
