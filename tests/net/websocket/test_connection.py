"""The life of a WebSocket connection on a transport double: pings, slow readers, closing."""

from __future__ import annotations

import gc

import pytest
from support.net.websocket import SETUP, SIGN_IN, S, WsDesk

from cgos_protocol.games.base import Color
from cgos_server.net.websocket.port import WsSettings

# -- pings


def test_the_way_to_the_client_is_measured_and_told_when_it_changes() -> None:
    desk = WsDesk()
    client = desk.signed_in()

    def latencies(us: int) -> list[float]:
        """Answer the next ping after `us`."""
        client.pongs = False
        desk.time.advance(20 * S)
        client.take()
        pongs = client.ws.data_to_send()
        assert len(pongs) == 1
        desk.time.advance(us - (desk.time.now() - client.connection._pinged_at))
        client.raw(pongs[0])
        return [message["round_trip_ms"] for message in client.listen()]

    assert latencies(21 * S) == [21_000.0]
    assert latencies(21 * S) == []
    assert latencies(22 * S) == []
    assert latencies(39 * S) == []
    (changed,) = latencies(39 * S)
    assert 26_000 < changed < 32_000


def test_who_does_not_answer_pings_is_lost() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    desk.time.advance(39 * S)
    assert not client.transport.aborted
    desk.time.advance(22 * S)
    assert client.transport.aborted
    client.transport.lose(ConnectionAbortedError())
    assert desk.server.calls == [("left", False)]


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
    assert desk.server.calls == [("left", False)]


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
    assert desk.server.calls == [("left", True)]
    assert desk.count.open == 0
    assert not desk.sockets.open


@pytest.mark.parametrize("answers", [True, False])
def test_who_answers_the_servers_close_has_read_all_before_it(answers: bool) -> None:
    """So a bot that is sent home knows how its last game ended."""
    desk = WsDesk()
    client = desk.signed_in()
    desk.server.sessions["9x9"].refused("drained", "Your last game is over.")
    if answers:
        assert client.close_code == 1000
    client.transport.lose()
    assert desk.server.calls == [("left", answers)]


def test_the_peer_is_gone_without_a_word() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.transport.lose(ConnectionResetError())
    assert desk.server.calls == [("left", False)]


def test_the_peer_half_closes() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.connection.eof_received()
    client.transport.lose()
    assert desk.server.calls == [("left", True)]


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


def test_who_breaks_a_rule_may_read_why_and_is_heard_no_more() -> None:
    desk = WsDesk()
    client = desk.signed_in()
    client.raw(b"\xff" * 10)
    assert client.close_code == 1002
    assert client.transport.eof
    assert desk.count.open == 0
    while client.transport.reading:
        client.raw(bytes(1 << 20))
    assert not client.transport.closing
    desk.time.advance(10 * S)
    assert client.transport.aborted
    client.transport.lose()
    assert desk.server.calls == [("left", False)]
    assert desk.count.open == 0


def test_the_answer_to_a_close_frame_is_looked_for_among_so_many_bytes() -> None:
    """Taking frames apart costs more than throwing them away."""
    desk = WsDesk()
    client = desk.signed_in()
    client.connection.shut()
    ping = b"\x89\x80abcd"
    client.raw(ping * ((1 << 18) // len(ping)))
    assert not client.transport.eof
    client.raw(ping)
    assert client.transport.eof
    assert client.transport.protocol is not client.connection


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
