"""Addresses as people write them."""

from __future__ import annotations

import pytest

from cgos_client.addresses import Address, server_address
from cgos_client.settings import BadSetting


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("localhost:6809", Address("tcp", "localhost", 6809)),
        ("10.0.0.1:1", Address("tcp", "10.0.0.1", 1)),
        ("[2001:db8::1]:6819", Address("tcp", "2001:db8::1", 6819)),
        ("tcp://host:6813", Address("tcp", "host", 6813)),
        ("cgos://host:6813/", Address("tcp", "host", 6813)),
        ("cgos://host", Address("tcp", "host", 6809)),
        ("cgoss://host:6820", Address("cgoss", "host", 6820)),
        ("cgoss://host/", Address("cgoss", "host", 6810)),
        ("ws://host:1234", Address("ws", "host", 1234)),
        ("ws://host", Address("ws", "host", 6868)),
        ("wss://host/9x9", Address("wss", "host", 443, "/9x9")),
        ("ws://[::1]:6868/a%20b/", Address("ws", "::1", 6868, "/a%20b/")),
    ],
)
def test_addresses(text, address):
    assert server_address(text) == address
    assert server_address(str(address)) == address, "what is shown can be given again"


def test_parts():
    address = server_address("ws://[::1]:6868/a%20b/")
    assert address.venue == "a b"
    assert address.url == "ws://[::1]:6868/a%20b/"
    assert not address.secure
    assert server_address("wss://h").secure
    assert server_address("cgoss://h").secure
    assert server_address("cgoss://h").over_tcp


@pytest.mark.parametrize("text", ["localhost", "localhost:", ":6809", "host:0", "host:65536", "::1:6809", "h:x", ""])
def test_bad_addresses(text):
    with pytest.raises(BadSetting, match="HOST:PORT"):
        server_address(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("http://host", "choose tcp://, cgos://, cgoss://, ws:// or wss://"),
        ("ws://", "names no host"),
        ("ws://host:99999", "is not an address"),
        ("ws://host/?a=b", "something after the port"),
        ("tcp://host:1/9x9", "something after the port"),
        ("ws://me:word@host", "holds a name or password"),
    ],
)
def test_bad_urls(text, words):
    with pytest.raises(BadSetting, match=words) as caught:
        server_address(text, "bot 1.url")
    assert "bot 1.url" in str(caught.value)
    assert "word@" not in str(caught.value), "a secret is never shown"
