"""Whom a server behind proxies takes its visitors for."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgos_server.net.forwarded import bare, is_among, origin

PROXIES = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "values", "expected"),
    [
        ("198.51.100.1", ["192.0.2.9"], "198.51.100.1"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["192.0.2.9"], "192.0.2.9"),
        ("10.0.0.1", ["203.0.113.5, 192.0.2.9"], "192.0.2.9"),
        ("10.0.0.1", ["203.0.113.5", "192.0.2.9"], "192.0.2.9"),
        ("10.0.0.1", ["203.0.113.5, 192.0.2.9, 10.9.9.9"], "192.0.2.9"),
        ("10.0.0.1", ["203.0.113.5", "192.0.2.9", "10.9.9.9, fd00::7"], "192.0.2.9"),
        ("10.0.0.1", ["192.0.2.9:5555"], "192.0.2.9"),
        ("10.0.0.1", ["[2001:db8::9]:5555"], "2001:db8::9"),
        ("10.0.0.1", ["::ffff:192.0.2.9"], "192.0.2.9"),
        ("::ffff:10.0.0.1", ["192.0.2.9"], "192.0.2.9"),
        ("10.0.0.1", ["203.0.113.5, unknown"], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.5, "], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.5, <script>, 10.0.0.2"], "10.0.0.2"),
    ],
)
def test_only_what_a_proxy_wrote_is_believed(peer: str, values: list[str], expected: str) -> None:
    assert origin(peer, values, PROXIES) == expected


@given(st.ip_addresses(), st.lists(st.text(max_size=20) | st.ip_addresses().map(str)))
def test_nobody_hides_behind_words_of_his_own(peer: object, words: list[str]) -> None:
    """Whatever the client says itself, a proxy adds the truth behind it."""
    truth = bare(str(peer))
    assume(not is_among(truth, PROXIES))
    assert origin("10.0.0.1", [*words, truth], PROXIES) == truth
