"""The CGOS line dialogue in WebSocket text frames."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.net.websocket import SETUP, S, Seated, WsClient, WsDesk

from cgos_protocol.games.base import Color
from cgos_protocol.session import GameOver, Turn


def signed_in(desk: WsDesk) -> WsClient:
    client = desk.connect("cgos.v1", path="/9x9")
    for line in ("e1 test genmove_analyze", "anna", "secret"):
        client.send(line)
    session = desk.server.line_sessions[-1]
    session.accepted(Seated(desk.server.calls), "anna")
    return client


def test_a_dialogue() -> None:
    desk = WsDesk()
    client = signed_in(desk)
    table = desk.server.line_sessions[-1].table(3)
    table.setup(SETUP, Color.BLACK)
    table.genmove(Color.BLACK, 60_000, 60_000)
    client.send('e5 {"winrate": 0.5}\r\n')
    table.played(Turn(ply=2, color=Color.WHITE, move="D5", left_ms=59_000, other_left_ms=58_000, at=0, on=True))
    client.send("resign")
    table.game_over(GameOver("2026-01-01", "W+Resign", Color.WHITE, "resignation", "", 2))
    client.send("ready\n")
    assert client.lines() == [
        "protocol genmove_analyze",
        "username",
        "password",
        "setup 3 9 7.0 60000 bert(1800?) anna(1800?)",
        "genmove b 60000",
        "play w D5 59000",
        "genmove b 58000",
        "gameover 2026-01-01 W+Resign ",
    ]
    assert desk.server.calls == [
        ("sign in", "anna", "secret"),
        ("line", "e5", '{"winrate":0.5}', desk.time.received()),
        ("line", "resign", None, desk.time.received()),
        ("ready",),
    ]


@pytest.mark.parametrize(
    "frames", [["e1 x\nanna\nsecret\n"], ["e1 x\nanna", "secret"], ["e1 x\r\n", "anna\r\nsecret\r\n"]]
)
def test_a_frame_may_hold_several_lines_and_its_end_ends_a_line(frames: list[str]) -> None:
    desk = WsDesk()
    client = desk.connect("cgos.v1", path="/9x9")
    for frame in frames:
        client.send(frame)
    assert desk.server.calls == [("sign in", "anna", "secret")]


def test_quit_closes_in_order() -> None:
    desk = WsDesk()
    client = signed_in(desk)
    client.send("quit")
    assert client.close_code == 1000
    client.take()
    client.transport.lose()
    assert desk.server.calls[-1] == ("left", True)


def test_who_does_not_sign_in_is_told_and_closed() -> None:
    desk = WsDesk(login_timeout_us=30 * S)
    client = desk.connect("cgos.v1", path="/9x9")
    client.lines()
    desk.time.advance(30 * S)
    assert "Error: Signing in took longer than 30 seconds." in client.lines()
    assert client.close_code == 1008


def test_a_refusal_is_one_line_and_a_close() -> None:
    desk = WsDesk()
    client = desk.connect("cgos.v1", path="/9x9")
    client.send("hello")
    assert client.lines()[-1].startswith("Error: ")
    assert client.close_code == 1008


def test_binary_frames_and_floods_are_refused_in_words() -> None:
    for data in (b"e1 x\n", "\n" * 2000, "e1 " + "x" * 260_000, "hello\n" * 900):
        client = WsDesk(ignored_per_minute=50).connect("cgos.v1", path="/9x9")
        client.send(data)
        assert client.lines()[-1].startswith("Error: ")
        assert client.close_code == 1008


def test_a_player_that_does_not_read_is_dropped() -> None:
    desk = WsDesk(outbox=1000)
    client = signed_in(desk)
    client.connection.pause_writing()
    assert client.transport.aborted
    client.transport.lose()
    assert desk.server.calls[-1] == ("left", False)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 4),
    st.lists(
        st.one_of(
            st.text(max_size=40),
            st.sampled_from(["", "\n", "quit", "ready", "e1", "v1 x", "e5", "pass {}", "a\nb\nc", "\0", "é"]),
        ),
        max_size=12,
    ),
)
def test_any_text_in_any_state(state: int, frames: list[str]) -> None:
    desk = WsDesk(ignored_per_minute=5)
    client = signed_in(desk) if state else desk.connect("cgos.v1", path="/9x9")
    if state:
        table = desk.server.line_sessions[-1].table(3)
        if state > 1:
            table.setup(SETUP, Color.BLACK)
        if state > 2:
            table.genmove(Color.BLACK, 1000, 1000)
        if state > 3:
            table.game_over(GameOver("2026-01-01", "B+Time", Color.BLACK, "time", "", 0))
    for frame in frames:
        client.send(frame)
    for line in client.lines():
        assert line
        assert not line.startswith(" ")
    assert client.close_code in (None, 1000, 1008)
    client.transport.lose()
    assert desk.count.open == 0
