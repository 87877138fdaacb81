"""The header of the PROXY protocol: written by hand from its specification, cut anywhere, and any bytes at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.net.proxies.header import ABSENT, HEADER_MAX, SIGNATURE, Broken, Header, may_begin, read

MAGIC = "0d0a0d0a 000d0a51 5549540a "
V4 = "cb007107 c0000201 d431 1a99"
"""From 203.0.113.7, port 54321, to 192.0.2.1, port 6809."""
V6 = "20010db8 00000000 00000000 00000007 20010db8 00000000 00000000 00000001 d431 1a99"
MAPPED = "00000000 00000000 0000ffff cb007107 00000000 00000000 0000ffff c0000201 d431 1a99"

GOLDEN = [
    # (header, bytes, source)
    ("21 11 000c" + V4, 28, "203.0.113.7"),
    ("21 21 0024" + V6, 52, "2001:db8::7"),
    ("21 21 0024" + MAPPED, 52, "203.0.113.7"),
    ("20 00 0000", 16, None),
    ("20 11 000c" + V4, 28, None),
    ("20 f7 0003" + "aabbcc", 19, None),
    ("21 00 0000", 16, None),
    ("21 00 0004" + "01020304", 20, None),
    ("21 01 0000", 16, None),
    ("21 10 000c" + V4, 28, None),
    ("21 12 000c" + V4, 28, None),
    ("21 22 0024" + V6, 52, None),
    ("21 31 00d8" + "2f" * 216, 232, None),
    ("21 32 00d8" + "2f" * 216, 232, None),
    # With what may follow the addresses: the protocol that is spoken (ALPN), and a checksum.
    ("21 11 0019" + V4 + "01 0003 616263 03 0004 00000000", 41, "203.0.113.7"),
    ("21 11 0208" + V4 + "04 01f9" + "00" * 505, HEADER_MAX, "203.0.113.7"),
]

BROKEN = [
    ("11 11 000c", "version 1"),
    ("31 11 000c", "version 3"),
    ("22 11 000c", "command 2"),
    ("2f 11 000c", "command 15"),
    ("21 41 000c", "family 4"),
    ("21 13 000c", "transport 3"),
    ("21 f1 000c", "family 15"),
    ("21 11 000b", "11 bytes for addresses that need 12"),
    ("21 21 0023", "35 bytes for addresses that need 36"),
    ("21 31 00d7", "215 bytes for addresses that need 216"),
    ("21 11 0209", "has 537 bytes; at most 536"),
    ("20 00 ffff", "has 65551 bytes"),
]


def octets(text: str) -> bytes:
    return bytes.fromhex(MAGIC + text)


@pytest.mark.parametrize(("text", "length", "source"), GOLDEN)
def test_a_header_is_read_as_the_specification_has_it(text: str, length: int, source: str | None) -> None:
    data = octets(text)
    assert len(data) == length
    assert read(data) == Header(length, source)
    assert read(bytearray(data) + b"e1 client\n") == Header(length, source), "what follows is somebody else's"


@pytest.mark.parametrize(("text", "length", "source"), GOLDEN)
def test_a_header_may_come_in_any_pieces(text: str, length: int, source: str | None) -> None:
    data = octets(text)
    for cut in range(length):
        assert may_begin(data[:cut])
        assert read(data[:cut]) is None


@pytest.mark.parametrize(("text", "why"), BROKEN)
def test_a_header_that_nobody_may_send_is_refused_before_it_is_complete(text: str, why: str) -> None:
    fault = read(octets(text))
    assert isinstance(fault, Broken)
    assert why in fault.why
    assert fault.why.endswith(".")


@pytest.mark.parametrize(
    "said",
    [b"e1 client\n", b"v1 viewer\n", b"GET / HTTP/1.1\r\n", b"\x16\x03\x01", b"PROXY TCP4 ", b"\r\n\r\nQUIT", b"\n"],
)
def test_what_else_a_connection_begins_with_is_no_header(said: bytes) -> None:
    assert not may_begin(said)
    assert read(said) is ABSENT


@given(st.binary(max_size=600))
def test_any_bytes_are_a_header_or_not(data: bytes) -> None:
    found = read(data)
    assert found is ABSENT or SIGNATURE.startswith(data[:12])


@given(st.binary(max_size=600), st.integers(0, 700))
def test_any_bytes_after_the_signature_have_one_reading_however_they_come(rest: bytes, cut: int) -> None:
    data = SIGNATURE + rest
    whole, part = read(data), read(data[:cut])
    if isinstance(part, Broken):
        assert isinstance(whole, Broken)
    elif part is not None:
        assert whole == part
    if isinstance(whole, Header):
        assert 16 <= whole.length <= min(len(data), HEADER_MAX)
    if whole is None:
        assert len(data) < HEADER_MAX
