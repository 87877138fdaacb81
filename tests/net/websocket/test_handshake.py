"""The handshake of a WebSocket connection on a transport double: what is asked for, by whom, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.websocket import S, WsClient, WsDesk
from websockets.frames import Frame, Opcode


def body(client: WsClient) -> str:
    assert client.response is not None
    return bytes(client.response.body or b"").decode()


# -- handshake


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (("cgos.v2",), "cgos.v2"),
        (("cgos.v2.msgpack",), "cgos.v2.msgpack"),
        (("cgos.v2.msgpack", "cgos.v2"), "cgos.v2"),
        (("cgos.v3", "cgos.v2.msgpack"), "cgos.v2.msgpack"),
        (("cgos.v1", "cgos.v2.msgpack"), "cgos.v2.msgpack"),
    ],
)
def test_the_server_prefers_json_then_messagepack(offered: tuple[str, ...], chosen: str) -> None:
    client = WsDesk().connect(*offered)
    assert client.subprotocol == chosen
    (welcome,) = client.listen()
    assert welcome["type"] == "welcome"
    assert welcome["protocol"] == 2
    assert welcome["incarnation"] == "3fa9c01b"
    assert [venue["name"] for venue in welcome["venues"]] == ["9x9", "13x13"]
    assert welcome["venues"][0]["cgos_port"] == 6809


@pytest.mark.parametrize("offered", ["", "chat", "cgos.v1"])
def test_other_subprotocols_are_refused_with_the_names_of_ours(offered: str) -> None:
    desk = WsDesk()
    client = desk.connect(offered)
    assert client.response is not None
    assert client.response.status_code == 400
    if offered:
        assert "cgos.v2, cgos.v2.msgpack" in body(client)
        assert "cgos.v1 is spoken at /<venue>: 9x9, 13x13" in body(client)
    assert client.transport.eof
    client.transport.lose()
    assert desk.count.open == 0


def test_lines_are_spoken_at_a_venues_path_and_at_the_root_of_a_single_venue() -> None:
    assert WsDesk().connect("cgos.v1", path="/13x13").lines() == ["protocol genmove_analyze"]
    assert WsDesk(["9x9"]).connect("cgos.v1").lines() == ["protocol genmove_analyze"]
    assert WsDesk(["9x9"]).connect("cgos.v1", "cgos.v2").subprotocol == "cgos.v2"
    assert WsDesk().connect("cgos.v1", "cgos.v2", path="/9x9?x=1").subprotocol == "cgos.v1"


def test_an_unknown_venue_is_not_found() -> None:
    client = WsDesk().connect("cgos.v1", path="/7x7")
    assert client.response is not None
    assert client.response.status_code == 404
    assert "9x9, 13x13" in body(client)


def test_a_venue_of_another_group_is_refused_with_its_node() -> None:
    where = {"large": "The venue large is in the group large: node b at b.example plays it. Go there."}
    client = WsDesk(elsewhere=where.get).connect("cgos.v1", path="/large")
    assert client.response is not None
    assert client.response.status_code == 421
    assert body(client) == f"{where['large']}\n"
    assert WsDesk(elsewhere=where.get).connect("cgos.v1", path="/9x9").subprotocol == "cgos.v1"


def test_typed_messages_are_not_spoken_at_a_venues_path() -> None:
    client = WsDesk().connect("cgos.v2", path="/9x9")
    assert client.response is not None
    assert client.response.status_code == 400
    assert "cgos.v1" in body(client)


def test_a_browser_that_looks_in_is_told_what_this_is() -> None:
    connection, transport = WsDesk().raw()
    connection.data_received(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    answer = transport.take()
    assert answer.startswith(b"HTTP/1.1 426 ")
    assert b"Upgrade: websocket" in answer
    assert b"This port speaks WebSocket: cgos.v2" in answer
    assert transport.eof


@pytest.mark.parametrize(
    "data",
    [b"e1 my client\n", b"\x16\x03\x01\x02\x00\x01", b"GET /\n", b"GET / HTTP/2.0\r\n", b"\r\n\r\n", b"x\r\n\r\n"],
)
def test_what_is_no_request_is_answered_at_once(data: bytes) -> None:
    connection, transport = WsDesk().raw()
    connection.data_received(data)
    assert transport.written.startswith(b"HTTP/1.1 400 ")
    assert b"This port speaks WebSocket" in transport.written
    assert transport.eof


def test_a_request_that_never_ends_is_bounded() -> None:
    connection, transport = WsDesk().raw()
    connection.data_received(b"GET / HTTP/1.1\r\n")
    for _ in range(20):
        connection.data_received(b"X-Header: " + b"x" * 1000 + b"\r\n")
    assert transport.written.startswith(b"HTTP/1.1 431 ")
    assert transport.eof


def test_who_does_not_ask_is_closed() -> None:
    desk = WsDesk(login_timeout_us=30 * S)
    connection, transport = desk.raw()
    connection.data_received(b"GET / HT")
    desk.time.advance(30 * S)
    assert transport.written.startswith(b"HTTP/1.1 408 ")
    desk.time.advance(10 * S)
    assert transport.aborted


def test_too_many_connections_from_one_address() -> None:
    desk = WsDesk(connections_per_address=2)
    first, _ = desk.connect(), desk.connect()
    third = desk.connect()
    assert third.response is not None
    assert third.response.status_code == 503
    assert "There are 2 connections from 192.0.2.1 already." in body(third)
    _, silent = desk.raw()
    desk.time.advance(5 * S)
    assert silent.written.startswith(b"HTTP/1.1 503 ")
    third.transport.lose()
    silent.lose()
    first.leave()
    assert desk.connect().subprotocol == "cgos.v2"


@pytest.mark.parametrize(
    ("forwarded", "address"),
    [
        ("198.51.100.7", "198.51.100.7"),
        ("203.0.113.9, 198.51.100.7", "198.51.100.7"),
        ("198.51.100.7, 192.0.2.201", "198.51.100.7"),
        ("198.51.100.7:4711", "198.51.100.7"),
        ("[2001:db8::7]:4711", "2001:db8::7"),
        ("::ffff:198.51.100.7", "198.51.100.7"),
        ("nonsense", "192.0.2.202"),
        ("192.0.2.203, 192.0.2.201", "192.0.2.203"),
        ("", "192.0.2.202"),
    ],
)
def test_a_configured_proxy_is_believed(forwarded: str, address: str) -> None:
    desk = WsDesk(connections_per_address=1)
    client = desk.connect(address="192.0.2.202", headers={"X-Forwarded-For": forwarded})
    assert client.connection.address == address
    assert client.connection.proxied
    second = desk.connect(address="192.0.2.202", headers={"X-Forwarded-For": forwarded})
    assert second.subprotocol is None, "limits count by the bot's own address"
    other = desk.connect(address="192.0.2.202", headers={"X-Forwarded-For": "198.51.100.8"})
    assert other.subprotocol == "cgos.v2"
    for peer in (client, second, other):
        peer.transport.lose()
    assert desk.count.open == 0


@pytest.mark.parametrize(
    ("source", "address"),
    [("198.51.100.7", "198.51.100.7"), ("192.0.2.201", "203.0.113.9")],
)
def test_what_stands_before_the_request_goes_before_what_it_says(source: str, address: str) -> None:
    """Where it names another proxy, that one's word in the request counts."""
    desk = WsDesk(connections_per_address=1)
    arguments: Any = {"address": "192.0.2.202", "source": source, "headers": {"X-Forwarded-For": "203.0.113.9"}}
    client, second = desk.connect(**arguments), desk.connect(**arguments)
    assert (client.connection.address, client.connection.proxied) == (address, True)
    assert second.subprotocol is None, "limits count by the bot's own address"
    for peer in (client, second):
        peer.transport.lose()
    assert desk.count.open == 0


def test_nobody_else_is_believed() -> None:
    client = WsDesk().connect(headers={"X-Forwarded-For": "198.51.100.7"})
    assert client.connection.address == "192.0.2.1"
    assert not client.connection.proxied


def test_a_request_in_pieces_with_a_message_right_behind_it() -> None:
    desk = WsDesk()
    connection, transport = desk.raw()
    head = (
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Protocol: cgos.v2\r\n\r\n"
    )
    frame = Frame(Opcode.TEXT, b'{"type":"ready"}').serialize(mask=True)
    data = head + frame
    for at in range(0, len(data), 7):
        connection.data_received(data[at : at + 7])
    assert transport.written.startswith(b"HTTP/1.1 101 ")
    assert b'"code":"not-signed-in"' in transport.written


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300), st.integers(1, 100))
def test_any_bytes_in_place_of_a_handshake(data: bytes, chunk: int) -> None:
    desk = WsDesk()
    connection, transport = desk.raw()
    for at in range(0, len(data), chunk):
        connection.data_received(data[at : at + chunk])
    if transport.written:
        assert transport.written.startswith(b"HTTP/1.1 4")
        assert transport.eof
    desk.time.advance(80 * S)
    assert transport.aborted
    transport.lose()
    assert desk.count.open == 0
