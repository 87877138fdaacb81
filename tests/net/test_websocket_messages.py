"""What arrives on a WebSocket connection: messages and their bounds, compression, frames of any kind."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.websocket import SIGN_IN, S, WsDesk
from websockets.frames import Frame, Opcode

from cgos_protocol.games.base import Color

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
    assert desk.server.calls == [("move", 3, 1, "e5", None)]
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
    assert desk.server.calls == [("available", "paused")]
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
    assert desk.server.calls == [("left", False)]


def test_a_flood_of_pings_is_answered_up_to_a_bound() -> None:
    client = WsDesk().signed_in()
    ping = Frame(Opcode.PING, b"").serialize(mask=True)
    client.raw(ping * 50_000)
    assert client.close_code == 1008
    assert len(client.transport.written) < 10_000


def test_nothing_more_is_written_to_a_connection_that_broke(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = WsDesk()
    client = desk.signed_in()
    transport = client.transport
    written: list[bytes] = []

    def fail(data: bytes) -> None:
        assert not transport.closing, "written after the send had failed"
        written.append(data)
        transport.closing = True  # the loss is told in a later turn of the loop

    monkeypatch.setattr(transport, "write", fail)
    client.raw(Frame(Opcode.PING, b"").serialize(mask=True) * 10)
    assert len(written) == 1
    transport.lose(ConnectionResetError())
    assert desk.server.calls == [("left", False)]


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
        client.transport.protocol.data_received(data[at : at + chunk])
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
