"""WebSocket connections on a transport double: handshake, frames, pings, limits, closing."""

from __future__ import annotations

import gc
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.websocket import SETUP, S, WsClient, WsDesk
from websockets.frames import Frame, Opcode

from cgos_server.core.games.base import Color
from cgos_server.net.websocket_port import WsSettings

SIGN_IN = {"type": "sign_in", "bot": "anna", "secret": "secret", "venues": ["9x9"]}


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
    for each in (client, second, other):
        each.transport.lose()
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


# -- messages and their bounds


def test_the_time_of_receipt_is_that_of_the_last_byte() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    table = desk.server.sessions["9x9"].table(3)
    client.ws.send_text(b'{"type":"move","game":3,"ply":1,"move":"e5"}')
    (data,) = client.ws.data_to_send()
    client.raw(data[:10])
    desk.time.advance(3 * S)
    client.raw(data[10:])
    assert desk.server.told == [("move", 3, 1, "e5", None)]
    assert desk.server.seats["9x9"].received == desk.time.received()
    assert table is desk.server.sessions["9x9"].table(3)


def test_a_message_in_fragments_with_a_ping_between() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.ws.send_text(b'{"type":', fin=False)
    client.ws.send_ping(b"?")
    client.ws.send_continuation(b'"pau', fin=False)
    client.ws.send_continuation(b'se"}', fin=True)
    client.raw(b"".join(client.ws.data_to_send()))
    assert desk.server.told == [("available", "paused")]
    assert [frame.opcode for frame in client.take()] == [Opcode.PONG]


def test_too_many_fragments() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.ws.send_text(b"{", fin=False)
    for _ in range(100):
        client.ws.send_continuation(b"", fin=False)
    client.raw(b"".join(client.ws.data_to_send()))
    assert client.close_code == 1008
    assert client.transport.eof


@pytest.mark.parametrize("fragmented", [False, True])
def test_a_giant_message_is_refused_before_it_is_there(fragmented: bool) -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.ws.send_text(b"x" * 300_000, fin=not fragmented)
    (data,) = client.ws.data_to_send()
    client.raw(data[:5_000])
    assert client.close_code == 1009
    assert client.transport.eof


@pytest.mark.parametrize("fragmented", [False, True])
def test_before_the_sign_in_messages_are_shorter(fragmented: bool) -> None:
    desk = WsDesk()
    client = desk.connect()
    if fragmented:
        client.ws.send_text(b"x" * 30_000, fin=False)
        client.ws.send_continuation(b"x" * 30_000, fin=False)
        client.ws.send_continuation(b"x" * 30_000, fin=False)
    else:
        client.ws.send_text(b"x" * 100_000)
    client.raw(b"".join(client.ws.data_to_send())[:91_000])
    assert client.close_code == 1009


def test_a_sign_in_that_is_too_long_is_told_so() -> None:
    client = WsDesk().connect()
    client.listen()
    client.say(**SIGN_IN, parameters={"x": "y" * 70_000})
    (error,) = client.listen()
    assert (error["code"], error["fatal"]) == ("too-large", True)
    assert client.close_code == 1009


@pytest.mark.parametrize(("subprotocol", "data"), [("cgos.v2", b"{}"), ("cgos.v2.msgpack", "{}")])
def test_the_wrong_kind_of_frame(subprotocol: str, data: str | bytes) -> None:
    client = WsDesk().connect(subprotocol)
    client.listen()
    client.send(data)
    (error,) = client.listen()
    assert (error["code"], error["fatal"]) == ("wrong-frame", True)
    assert client.close_code == 1003


def test_text_that_is_no_utf8_ends_the_connection_as_websocket_says() -> None:
    client = WsDesk().connect()
    client.listen()
    client.send(b'{"type":"watch_venue","venue":"\xff"}', binary=False)
    (error,) = client.listen()
    assert (error["code"], error["fatal"]) == ("utf-8", True)
    assert client.close_code == 1007


def test_frames_against_the_protocol_end_the_connection() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.raw(Frame(Opcode.TEXT, b"{}").serialize(mask=False))
    assert client.close_code == 1002
    assert client.transport.eof
    client.transport.lose()
    assert desk.server.told == [("left", False)]


def test_a_flood_of_pings_is_answered_up_to_a_bound() -> None:
    client = WsDesk().signed_in()
    ping = Frame(Opcode.PING, b"").serialize(mask=True)
    client.raw(ping * 50_000)
    assert client.close_code == 1008
    assert len(client.transport.written) < 10_000


def test_a_flood_of_empty_messages_is_answered_up_to_a_bound() -> None:
    client = WsDesk(ignored_per_minute=20).signed_in()
    client.raw(Frame(Opcode.TEXT, b"").serialize(mask=True) * 30_000)
    errors = client.listen()
    assert len(errors) <= 22
    assert (errors[-1]["code"], errors[-1]["fatal"]) == ("flood", True)
    assert client.close_code == 1008


def test_useless_messages_now_and_then_are_forgiven() -> None:
    desk = WsDesk(ignored_per_minute=20, login_timeout_us=10_000 * S)
    client = desk.connect()
    client.listen()
    for _ in range(10):
        for _ in range(20):
            client.say(type="ready")
        heard = []
        for _ in range(7):
            heard += client.listen()
            desk.time.advance(10 * S)
        assert {error["code"] for error in heard if error["type"] == "error"} == {"not-signed-in"}
    assert client.close_code is None


# -- compression


def test_compression_is_off_unless_configured() -> None:
    client = WsDesk().connect(compression=True)
    assert client.response is not None
    assert "Sec-WebSocket-Extensions" not in client.response.headers


def test_compressed_messages_both_ways() -> None:
    desk = WsDesk(compression=True)
    client = desk.connect(compression=True)
    assert client.response is not None
    assert "permessage-deflate" in client.response.headers["Sec-WebSocket-Extensions"]
    for _ in range(3):
        client.say(type="ready", note="x" * 1000)
    assert [message["type"] for message in client.listen()] == ["welcome", "error", "error", "error"]


def test_a_compression_bomb_is_bounded() -> None:
    desk = WsDesk(compression=True)
    client = desk.connect(compression=True)
    client.ws.send_text(b"x" * 10_000_000)
    (data,) = client.ws.data_to_send()
    assert len(data) < 65_536
    client.raw(data)
    assert client.close_code == 1009


def test_nonsense_in_a_compressed_frame() -> None:
    client = WsDesk(compression=True).connect(compression=True)
    garbage = bytes(reversed(zlib.compress(b"hello")))
    client.raw(serialized(Frame(Opcode.TEXT, garbage, rsv1=True), True))
    assert client.close_code == 1002


# -- pings


def test_the_way_to_the_client_is_measured_and_told_when_it_changes() -> None:
    desk = WsDesk()
    client = desk.signed_in()

    def told(us: int) -> list[float]:
        """Answer the next ping after `us`."""
        client.pongs = False
        desk.time.advance(20 * S)
        client.take()
        pongs = client.ws.data_to_send()
        assert len(pongs) == 1
        desk.time.advance(us - (desk.time.now() - client.connection._pinged_at))
        client.raw(pongs[0])
        return [message["round_trip_ms"] for message in client.listen()]

    assert told(21 * S) == [21_000.0]
    assert told(21 * S) == []
    assert told(22 * S) == []
    assert told(39 * S) == []
    (changed,) = told(39 * S)
    assert 26_000 < changed < 32_000


def test_who_does_not_answer_pings_is_lost() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    desk.time.advance(39 * S)
    assert not client.transport.aborted
    desk.time.advance(22 * S)
    assert client.transport.aborted
    client.transport.lose(ConnectionAbortedError())
    assert desk.server.told == [("left", False)]


def test_a_pong_that_lies_in_the_socket_of_a_busy_server_counts() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    desk.time.advance(20 * S)
    desk.time.stall(300 * S)
    client.connection.beat()
    assert not client.transport.aborted
    client.listen()
    desk.time.advance(30 * S)
    assert not client.transport.aborted


def test_ten_connections_are_not_all_pinged_at_once() -> None:
    desk = WsDesk(settings=WsSettings(ping=50 * S))
    clients = [desk.connect() for _ in range(10)]
    for client in clients:
        client.take()
    pinged = []
    for _ in range(50):
        desk.time.advance(S)
        pinged.append(sum(bool(client.transport.take()) for client in clients))
    assert sum(pinged) == 10
    assert max(pinged) == 1


# -- slow readers


def test_a_player_that_does_not_read_is_dropped() -> None:
    desk = WsDesk(outbox=1000)
    client = desk.signed_in()
    assert client.transport.high == 1000
    client.connection.pause_writing()
    assert client.transport.aborted
    client.transport.lose()
    assert desk.server.told == [("left", False)]


def test_a_watcher_that_does_not_read_stays_and_is_skipped() -> None:
    desk = WsDesk(outbox=1000)
    client = desk.connect()
    client.say(type="watch_venue", venue="9x9")
    (spectator,) = desk.halls["9x9"].spectators
    assert spectator.has_room
    client.transport.unread = 501
    assert not spectator.has_room
    client.transport.unread = 1001
    client.connection.pause_writing()
    assert not client.transport.aborted
    client.transport.unread = 4001
    spectator.listed([], 0)
    assert client.transport.aborted, "what is written in spite of that is bounded as well"


# -- closing


def test_the_peer_closes_in_order() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.leave()
    assert client.close_code == 1000
    assert desk.server.told == [("left", True)]
    assert desk.count.open == 0
    assert not desk.port.open


@pytest.mark.parametrize("answers", [True, False])
def test_who_answers_the_servers_close_has_read_all_before_it(answers: bool) -> None:
    """So a bot that is sent home knows how its last game ended."""
    desk = WsDesk()
    client = desk.signed_in()
    desk.server.sessions["9x9"].refused("drained", "Your last game is over.")
    if answers:
        assert client.close_code == 1000
    client.transport.lose()
    assert desk.server.told == [("left", answers)]


def test_the_peer_is_gone_without_a_word() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.transport.lose(ConnectionResetError())
    assert desk.server.told == [("left", False)]


def test_the_peer_half_closes() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.connection.eof_received()
    client.transport.lose()
    assert desk.server.told == [("left", True)]


def test_the_server_stops() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.connection.shut()
    assert client.close_code == 1001
    assert not client.transport.closing, "it waits for the answer"
    client.take()
    assert client.transport.eof
    desk.time.advance(10 * S)
    assert client.transport.aborted


def test_a_stopping_server_lets_go_of_who_is_still_shaking_hands() -> None:
    connection, transport = WsDesk().raw()
    connection.shut()
    assert transport.eof
    connection.cut()
    assert transport.aborted


def test_who_neither_signs_in_nor_watches_is_told_and_closed() -> None:
    desk = WsDesk(login_timeout_us=30 * S)
    idle, watching, signing = desk.connect(), desk.connect(), desk.connect()
    watching.say(type="watch_game", venue="9x9", game=4)
    signing.say(**SIGN_IN)
    for client in (idle, watching, signing):
        client.listen()
    desk.time.advance(31 * S)
    assert [(error["code"], error["fatal"]) for error in idle.listen() if error["type"] == "error"] == [
        ("login-timeout", True)
    ]
    assert idle.close_code == 1008
    assert watching.close_code is None
    assert signing.close_code is None


@pytest.mark.parametrize("subprotocol", ["cgos.v2", "cgos.v1"])
def test_a_lost_connection_leaves_nothing_for_the_garbage_collector(subprotocol: str) -> None:
    """What has lived long is out of the collector's sight, so that a ring would stay for ever."""
    desk = WsDesk(["9x9"])
    gc.collect()
    gc.disable()
    try:
        if subprotocol == "cgos.v2":
            client = desk.signed_in()
            client.say(type="watch_game", venue="9x9", game=4)
            table = desk.server.sessions["9x9"].table(3)
            table.setup(SETUP, Color.BLACK)
            del table
        else:
            client = desk.connect(subprotocol)
            client.send("e1 x\nanna\nsecret")
        connection = client.connection
        parts = [connection._ws, connection._dialogue, getattr(connection._dialogue, "_session", None)]
        kinds = {type(part).__name__ for part in (connection, *parts) if part is not None}
        assert len(kinds) >= 3
        client.transport.lose()
        desk.server.sessions.clear()
        desk.server.line_sessions.clear()
        desk.halls["9x9"].spectators.clear()
        del client, connection, parts
        assert not [thing for thing in gc.get_objects() if type(thing).__name__ in kinds]
    finally:
        gc.enable()


# -- anything at all

FRAMES = st.builds(
    Frame,
    st.sampled_from(Opcode),
    st.one_of(
        st.binary(max_size=200),
        st.sampled_from([b"", b"{}", b'{"type":"ready"}', b"\x03\xe8bye", b"\x00", b"\xff" * 130, b"{" * 50]),
    ),
    st.booleans(),
    st.booleans(),
)


def serialized(frame: Frame, mask: bool) -> bytes:
    """Also what the library would not send."""
    head = bytes([frame.fin << 7 | frame.rsv1 << 6 | frame.opcode])
    length = len(frame.data)
    size = bytes([mask << 7 | length]) if length < 126 else bytes([mask << 7 | 126]) + length.to_bytes(2, "big")
    return head + size + (b"\0\0\0\0" if mask else b"") + bytes(frame.data)


def said_goodbye(data: bytes) -> bool:
    """There may be a close frame of the client's own in it, whose code is repeated."""
    return b"\x88" in data


@settings(max_examples=300, deadline=None)
@given(
    state=st.integers(0, 3),
    subprotocol=st.sampled_from(["cgos.v2", "cgos.v2.msgpack", "cgos.v1"]),
    compression=st.booleans(),
    frames=st.lists(st.one_of(FRAMES.map(lambda frame: serialized(frame, True)), st.binary(max_size=60)), max_size=12),
    chunk=st.integers(1, 50),
)
def test_any_frames_in_any_chunks_in_any_state(
    state: int, subprotocol: str, compression: bool, frames: list[bytes], chunk: int
) -> None:
    """Never an exception; typed errors; close codes that exist; and a bystander hears nothing of it."""
    desk = WsDesk(["9x9"], compression=compression, ignored_per_minute=5)
    bystander = desk.signed_in()
    client = desk.connect(subprotocol, compression=compression)
    if subprotocol != "cgos.v1" and state:
        client.say(**SIGN_IN)
        if state > 1:
            desk.server.admit()
            table = desk.server.sessions["9x9"].table(3)
            if state > 2:
                table.genmove(Color.BLACK, 1000, 1000)
    data = b"".join(frames)
    for at in range(0, len(data), chunk):
        if client.transport.closing:
            break
        client.connection.data_received(data[at : at + chunk])
        desk.time.advance(1)
    if subprotocol == "cgos.v1":
        for line in client.lines():
            assert line
    else:
        for message in client.messages():
            assert message is not None
    assert client.close_code in (None, 1000, 1002, 1003, 1007, 1008, 1009) or said_goodbye(data)
    desk.time.advance(11 * S)
    if client.close_code is not None:
        assert client.transport.eof
        assert client.transport.aborted
    client.transport.lose()
    assert bystander.listen() == []
    assert bystander.close_code is None
    assert desk.count.open == 1


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
