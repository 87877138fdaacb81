"""A bot's connection on a transport double: any bytes, floods, slow readers, deadlines."""

from __future__ import annotations

import asyncio
import gc
import socket
import struct
from collections.abc import Callable
from dataclasses import replace
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry
from support.live.simulated import SimulatedTime
from support.net.wires import SocketEnd

from cgos_protocol.games.base import Color
from cgos_protocol.session import Credentials, GameOver, GameSetup, PlayerSession, Turn
from cgos_server.net.forwarded import comes_from
from cgos_server.net.limits import ConnectionCount, SocketLimits
from cgos_server.net.lingering import DISCARDED_MAX
from cgos_server.net.tcp import BotConnection, acknowledged, listen
from cgos_server.net.wire import BotSockets, ConnectionContext
from cgos_server.observability.metrics import Metrics

S = 1_000_000
GENEROUS = SocketLimits(
    connections=1000, connections_per_address=1000, login_timeout_us=60 * S, outbox=1 << 20, ignored_per_minute=300
)


class Transport(SocketEnd):
    """Takes bytes; can be told to be full, and to break."""

    def lose(self, error: Exception | None = None) -> None:
        self.ended = self.closing = True
        self.protocol.connection_lost(error)


class Everything:
    """Reception and seat at once: writes down what a connection tells the server."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.sessions: list[PlayerSession] = []

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        self.calls.append(("sign in", credentials.name, credentials.secret))
        self.sessions.append(session)

    def move(self, text: str, analysis: str | None, received: int) -> None:
        self.calls.append(("move", text, analysis, received))

    def ready(self) -> None:
        self.calls.append(("ready",))

    def left(self, orderly: bool) -> None:
        self.calls.append(("left", orderly))


class Nobody:
    """A gallery that shows nothing."""

    size, komi2 = 9, 14

    def enter(self, spectator: Any, everything: bool) -> None: ...

    def observe(self, spectator: Any, game: int, since: int) -> None: ...

    def ignore(self, spectator: Any, game: int | None) -> None: ...

    def leave(self, spectator: Any) -> None: ...


class Desk:
    def __init__(self, **limits: int) -> None:
        self.time = SimulatedTime()
        self.server = Everything()
        self.limits = replace(GENEROUS, **limits)
        self.metrics = Metrics(CollectorRegistry(), "test")
        self.count = ConnectionCount(self.limits.connections, self.limits.connections_per_address)
        self.numbers = iter(range(1, 10_000))
        self.sockets = BotSockets(
            time=self.time,
            limits=self.limits,
            count=self.count,
            metrics=self.metrics,
            new_id=lambda: next(self.numbers),
            proxies=(ip_network("192.0.2.200/29"),),
        )
        self.context = ConnectionContext(sockets=self.sockets, reception=self.server, gallery=Nobody())

    def connect(self, address: str = "192.0.2.1") -> tuple[BotConnection, Transport]:
        connection = BotConnection(self.context)
        transport = Transport(connection, address)
        connection.connection_made(transport)
        return connection, transport

    def signed_in(self) -> tuple[BotConnection, Transport]:
        connection, transport = self.connect()
        for line in (b"e1 test genmove_analyze\n", b"anna\n", b"secret\n"):
            connection.data_received(line)
        self.session.accepted(self.server, "anna")
        return connection, transport

    @property
    def session(self) -> Any:
        """The latest dialogue that asked to be let in: PlayerSession and Table."""
        return self.server.sessions[-1]


SETUP = GameSetup(3, 9, 14, 60_000, "anna", "1800?", "bert", "1800?")


def test_a_dialogue() -> None:
    desk = Desk()
    connection, transport = desk.signed_in()
    session = desk.session
    session.setup(SETUP, Color.BLACK)
    session.genmove(Color.BLACK, 60_000, 60_000)
    desk.time.advance(5)
    connection.data_received(b'e5 {"winrate": 0.5}\r\n')
    session.played(Turn(ply=2, color=Color.WHITE, move="D5", left_ms=59_000, other_left_ms=58_000, at=0, on=True))
    connection.data_received(b"resign\n")
    session.game_over(GameOver("2026-01-01", "W+Resign", Color.WHITE, "resignation", "", 2))
    connection.data_received(b"ready\n")
    assert transport.written.decode().splitlines() == [
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
        ("move", "e5", '{"winrate":0.5}', desk.time.received()),
        ("move", "resign", None, desk.time.received()),
        ("ready",),
    ]


def test_quit_closes_in_order() -> None:
    desk = Desk()
    connection, transport = desk.signed_in()
    connection.data_received(b"quit\n")
    assert transport.ended
    transport.lose()
    assert desk.server.calls[-1] == ("left", True)
    assert desk.count.open == 0


@pytest.mark.parametrize(("error", "orderly"), [(None, True), (ConnectionResetError(), False)])
def test_a_peers_close_is_orderly_and_a_reset_is_not(error: Exception | None, orderly: bool) -> None:
    desk = Desk()
    connection, transport = desk.signed_in()
    if orderly:
        connection.eof_received()
    transport.lose(error)
    assert desk.server.calls[-1] == ("left", orderly)


def test_a_peer_that_closed_its_side_and_does_not_read_is_cut_off() -> None:
    """Its name would stay taken for as long as its kernel keeps the connection."""
    desk = Desk()
    connection, transport = desk.signed_in()
    connection.eof_received()
    desk.time.advance(10 * S)
    assert transport.aborted


def test_who_does_not_sign_in_is_told_and_closed() -> None:
    desk = Desk(login_timeout_us=30 * S)
    _, transport = desk.connect()
    desk.time.advance(30 * S)
    assert b"Error: Signing in took longer than 30 seconds." in transport.written
    assert transport.ended
    desk.time.advance(10 * S)
    assert transport.aborted


def test_the_servers_own_time_is_not_the_bots_sign_in_time() -> None:
    desk = Desk(login_timeout_us=30 * S)
    connection, transport = desk.connect()
    for line in (b"e1 test\n", b"anna\n", b"secret\n"):
        connection.data_received(line)
    desk.time.advance(60 * S)
    assert not transport.ended


def test_a_slow_reader_is_dropped() -> None:
    desk = Desk(outbox=1000)
    connection, transport = desk.signed_in()
    assert transport.high == 1000
    connection.pause_writing()
    assert transport.aborted
    transport.lose()
    assert desk.server.calls[-1] == ("left", False)


def test_nothing_more_is_written_to_a_connection_that_broke() -> None:
    desk = Desk()
    connection, transport = desk.signed_in()
    written = transport.written
    transport.closing = True  # as when a send has failed; the loss is told in a later turn of the loop
    connection.data_received(b"hello\n" * 5)
    desk.session.info("Too late.")
    assert transport.written == written
    transport.lose(ConnectionResetError())
    assert desk.server.calls[-1] == ("left", False)


def test_a_flood_of_unasked_lines_is_answered_and_closed() -> None:
    desk = Desk(ignored_per_minute=20)
    connection, transport = desk.signed_in()
    connection.data_received(b"hello\n" * 20)
    assert not transport.ended
    connection.data_received(b"hello\n" * 5)
    assert transport.ended
    assert transport.written.count(b"Error:") == 1


def test_a_flooder_is_heard_no_more_and_may_read_why() -> None:
    """Its bytes are discarded up to a bound, for ten seconds; its place is free meanwhile."""
    desk = Desk(ignored_per_minute=5)
    connection, transport = desk.signed_in()
    connection.data_received(b"hello\n" * 10)
    assert transport.ended
    assert not transport.closing
    assert desk.count.open == 0
    desk.session.info("Too late.")  # is not written after the end
    desk.time.advance(1)
    assert desk.server.calls[-1] == ("left", False), "its place is free before the peer closes"
    for _ in range(DISCARDED_MAX // (1 << 18)):
        assert transport.reading
        transport.protocol.data_received(b"quit\n" + bytes((1 << 18) - 5))
    assert not transport.reading
    desk.time.advance(10 * S)
    assert transport.aborted
    transport.lose()
    assert desk.server.calls == [("sign in", "anna", "secret"), ("left", False)]
    assert desk.count.open == 0


def test_only_so_many_linger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgos_server.net.limits.LINGERING_MAX", 2)
    desk = Desk(login_timeout_us=S)
    transports = [desk.connect()[1] for _ in range(3)]
    desk.time.advance(S)
    assert [transport.closing for transport in transports] == [False, False, True]
    transports[0].lose()
    fourth = desk.connect()[1]
    desk.time.advance(S)
    assert not fourth.closing
    for transport in (*transports[1:], fourth):
        transport.lose()
    assert desk.count.open == 0


def test_a_reset_that_was_not_told_yet_is_no_error() -> None:
    desk = Desk(login_timeout_us=S)
    _, transport = desk.connect()

    def fail() -> None:
        raise OSError(107, "Transport endpoint is not connected")

    transport.write_eof = fail  # type: ignore[method-assign]
    desk.time.advance(S)
    assert transport.aborted


async def all_closed(desk: Desk) -> None:
    """Until the server's side of every connection is closed, too."""
    async with asyncio.timeout(10):
        while desk.sockets.open:  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def test_a_flooder_on_a_real_socket_reads_its_error() -> None:
    """Not before everything was sent. In a thread: a socket that blocks is what a simple client has."""
    desk = Desk(ignored_per_minute=5)

    def flood(address: tuple[str, int]) -> bytes:
        with socket.create_connection(address, 10) as peer:
            peer.sendall(b"e1 test\nanna\nsecret\n" + b"hello\n" * 1_000_000)
            return b"".join(iter(lambda: peer.recv(4096), b""))

    async with await listen(desk.context, socket.create_server(("127.0.0.1", 0)), 1) as server:
        heard = await asyncio.to_thread(flood, server.sockets[0].getsockname())
        await all_closed(desk)
    assert heard.splitlines()[-1].startswith(b"Error: ")


def test_unasked_lines_now_and_then_are_forgiven() -> None:
    desk = Desk(ignored_per_minute=20)
    connection, transport = desk.signed_in()
    for _ in range(10):
        connection.data_received(b"hello\n" * 20)
        desk.time.advance(61 * S)
    assert not transport.ended


def test_a_giant_line_is_answered_and_closed() -> None:
    desk = Desk()
    connection, transport = desk.connect()
    connection.data_received(b"e1 " + b"x" * 300_000)
    assert b"Error: " in transport.written
    assert transport.ended


def test_too_many_connections_from_one_address() -> None:
    desk = Desk(connections_per_address=2)
    for _ in range(2):
        assert not desk.connect()[1].ended
    third = desk.connect()[1]
    assert b"Error: There are 2 connections from 192.0.2.1 already." in third.written
    assert third.ended
    assert not desk.connect("192.0.2.9")[1].ended
    third.lose()
    assert desk.count.open == 3


def test_a_client_without_line_ends_is_understood() -> None:
    desk = Desk()
    connection, _ = desk.connect()
    for text, silence in ((b"e1 old client", 2 * S), (b"anna", S // 5), (b"secret", S // 5)):
        connection.data_received(text)
        desk.time.advance(silence)
    assert desk.server.calls == [("sign in", "anna", "secret")]


DIALOGUE = [b"e1 x\n", b"anna\n", b"secret\n"]


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, 6),
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                [b"\n", b"\r\n", b"quit\n", b"ready\n", b"e1\n", b"v1 x\n", b"e5\n", b"pass", b" ", b"\0", b"\xff\n"]
            ),
            st.text(max_size=20).map(str.encode),
        ),
        max_size=12,
    ),
)
def test_any_bytes_in_any_state_are_answered_ignored_or_closed(state: int, chunks: list[bytes]) -> None:
    """And another connection of the same server hears and says nothing of it."""
    desk = Desk(ignored_per_minute=5)
    _, bystander = desk.connect("192.0.2.77")
    before = bystander.written
    connection, transport = desk.connect()
    for line in DIALOGUE[: min(state, 3)]:
        connection.data_received(line)
    if state > 3:
        session = desk.session
        session.accepted(desk.server, "anna")
        session.setup(SETUP, Color.BLACK)
    if state > 4:
        session.genmove(Color.BLACK, 1000, 1000)
    if state > 5:
        session.game_over(GameOver("2026-01-01", "B+Time", Color.BLACK, "time", "", 7))
    for chunk in chunks:
        if transport.ended:
            break
        transport.protocol.data_received(chunk)
        desk.time.advance(1)
    desk.time.advance(3 * S)
    for line in transport.written.decode("ascii").split("\n")[:-1]:
        assert line
        assert not line.startswith(" ")
    if b"Error:" in transport.written:
        assert transport.ended
    transport.lose()
    assert not bystander.ended
    assert bystander.written == before
    assert desk.count.open == 1


def test_a_flag_takes_what_was_held_back_for_a_line_end() -> None:
    desk = Desk()
    connection, _ = desk.connect()
    for text, silence in ((b"e1 old client", 2 * S), (b"anna", S // 5), (b"secret", S // 5)):
        connection.data_received(text)
        desk.time.advance(silence)
    session = desk.session
    session.accepted(desk.server, "anna")
    session.setup(SETUP, Color.BLACK)
    session.genmove(Color.BLACK, 1000, 1000)
    desk.time.advance(S - 1)
    received = desk.time.received()
    connection.data_received(b"e5")
    desk.time.advance(1)
    session.hurry()
    assert desk.server.calls[-1] == ("move", "e5", None, received)
    desk.time.advance(S)
    assert [word for word, *_ in desk.server.calls].count("move") == 1


async def test_a_peer_answers_as_long_as_its_system_acknowledges(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    _, transport = desk.signed_in()
    answers = iter([False, False, True])
    monkeypatch.setattr("cgos_server.net.tcp.acknowledged", lambda _: next(answers))
    monkeypatch.setattr("cgos_server.net.wire._LOOK_S", 0)
    assert await desk.session.answers("Somebody else is at the context.")
    assert transport.written.endswith(b"info Somebody else is at the context.\n")


@pytest.mark.parametrize(("unread", "acked", "speaks"), [(0, False, True), (100, True, True), (0, None, False)])
async def test_a_peer_that_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, unread: int, acked: bool | None, speaks: bool
) -> None:
    """It does not acknowledge, or does not even take the words; where that cannot be asked, it says nothing."""
    desk = Desk()
    connection, transport = desk.signed_in()
    transport.unread = unread
    sleep = asyncio.sleep

    async def wait(_: float) -> None:
        desk.time.advance(S // 2)
        if speaks:
            connection.data_received(b"\n")
        await sleep(0)

    monkeypatch.setattr("cgos_server.net.tcp.acknowledged", lambda _: acked)
    monkeypatch.setattr("cgos_server.net.wire.asyncio.sleep", wait)
    before = desk.time.now()
    assert not await desk.session.answers("Somebody else is at the context.")
    assert desk.time.now() - before == 5 * S


def test_the_system_says_what_is_acknowledged() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sock:
        assert acknowledged(sock) in (True, None)
    assert acknowledged(None) is None


@pytest.mark.parametrize(("state", "unacked", "acked"), [(1, 0, True), (1, 2, False), (7, 0, False), (8, 0, False)])
def test_only_a_connection_that_stands_is_acknowledged(state: int, unacked: int, acked: bool) -> None:
    """A reset or a close leaves nothing unacknowledged either. Linux' states: 1 stands, 7 is closed, 8 was closed by
    the peer."""

    class Told:
        def getsockopt(self, level: int, option: int, size: int) -> bytes:
            info = bytes([state]) + bytes(23) + struct.pack("I", unacked) + bytes(200)
            return info[:size]

    assert acknowledged(Told()) is acked


def vanish(sock: socket.socket) -> None:
    """As a machine that starts anew: it says nothing now, and resets what comes later."""
    sock.setsockopt(socket.IPPROTO_TCP, 19, 1)  # TCP_REPAIR
    sock.close()


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


@pytest.mark.parametrize("go", [vanish, reset])
async def test_a_reset_is_no_answer(go: Callable[[socket.socket], None]) -> None:
    desk = Desk()
    async with await listen(desk.context, socket.create_server(("127.0.0.1", 0)), 1) as server:
        peer = socket.create_connection(server.sockets[0].getsockname())
        peer.sendall(b"e1 test\nanna\nsecret\n")
        while not desk.server.sessions:  # noqa: ASYNC110
            await asyncio.sleep(0)
        desk.session.accepted(desk.server, "anna")
        try:
            go(peer)
        except PermissionError:
            peer.close()
            pytest.skip("the system lets nobody vanish")
        assert not await desk.session.answers("Somebody else is at the context.")
        await all_closed(desk)
    assert desk.server.calls[-1] == ("left", False)


def test_who_comes_through_a_proxy_is_known() -> None:
    desk = Desk()
    assert desk.connect("192.0.2.201")[0].proxied
    assert not desk.connect("192.0.2.1")[0].proxied
    assert not desk.connect("unknown")[0].proxied


@pytest.mark.parametrize(
    ("address", "known"), [("127.0.0.1", True), ("127.0.0.2", False), ("10.0.0.7", False), ("unknown", False)]
)
def test_a_proxy_among_the_operators_addresses_lets_no_stranger_command(address: str, known: bool) -> None:
    """The address of a proxy is everybody's who comes through it."""
    assert comes_from(address, (ip_network("127.0.0.0/8"),), (ip_network("127.0.0.2/32"),)) is known


def test_a_lost_connection_leaves_nothing_for_the_garbage_collector() -> None:
    """What has lived long is out of the collector's sight, so that a ring would stay for ever."""
    desk = Desk()
    gc.collect()
    gc.disable()
    try:
        connection, transport = desk.signed_in()
        transport.lose()
        desk.server.sessions.clear()
        del connection, transport
        kinds = {"BotConnection", "EngineLines", "CgosPlayer"}
        assert not [thing for thing in gc.get_objects() if type(thing).__name__ in kinds]
    finally:
        gc.enable()
