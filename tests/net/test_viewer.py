"""A viewer's connection: its lines, the gallery behind it, a thousand at once, floods, any bytes."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.live.house import House
from support.live.simulated import SimulatedTime
from support.net.wires import FakeWire, OtherEnd, context
from support.protocol.viewers import TkViewer

from cgos_protocol.facts import GameEnded, GameStarted
from cgos_protocol.lines.framing import Line
from cgos_protocol.session import ListedGame
from cgos_server.live.venue.gallery import LOG, Gallery
from cgos_server.net.lines import EngineLines
from cgos_server.net.tcp import BotConnection
from cgos_server.net.viewer import OBSERVED_PER_MINUTE
from cgos_server.net.wire import ConnectionContext
from cgos_server.observability.metrics import CloseReason

AT = 1_700_000_000.0


class FakeGallery:
    """Notes who comes and what is asked; may refuse to show."""

    size, komi2 = 9, 14

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.spectator: Any = None
        self.refusal: str | None = None

    def enter(self, spectator: Any, everything: bool) -> None:
        self.spectator = spectator
        self.calls.append(("enter", everything))

    def observe(self, spectator: Any, game: int, since: int) -> str | None:
        self.calls.append(("observe", game, since))
        return self.refusal

    def ignore(self, spectator: Any, game: int | None) -> None: ...

    def leave(self, spectator: Any) -> None:
        self.calls.append(("leave",))


class Talk:
    """One viewer on a fake wire."""

    def __init__(self, **limits: int) -> None:
        self.time = SimulatedTime()
        self.gallery = FakeGallery()
        self.context = context(self.time, self.gallery, **limits)
        self.wire = FakeWire()
        self.lines = EngineLines(_peer=self.wire, _context=self.context)
        self.lines.opened(None)
        self.say("v1 viewer")
        assert self.wire.lines() == ["protocol genmove_analyze"]

    def say(self, *lines: str) -> None:
        for line in lines:
            self.lines.receive(Line(line.encode(), self.time.received()))


def test_a_dialogue() -> None:
    talk = Talk()
    talk.say("observe 3", "banana", "", "observe", "observe 4")
    assert talk.gallery.calls == [("enter", True), ("observe", 3, 0), ("observe", 4, 0)]
    talk.gallery.spectator.listed([ListedGame(3, AT, 9, 14, "Alpha", "1800?", "Beta", "1750", None)], 0)
    talk.gallery.spectator.shown(4, None, 0)
    assert talk.wire.lines() == ["match 3 - - 9 7.0 Beta(1750) Alpha(1800?) -", "setup 4 ?"]


def test_several_facts_are_one_write() -> None:
    talk = Talk()
    talk.gallery.spectator.facts(
        [
            GameStarted(venue="9x9", game=n, black="Alpha", white="Beta", at=AT, black_label="1", white_label="2")
            for n in range(50)
        ]
    )
    assert len(talk.wire.writes) == 1
    assert len(talk.wire.lines()) == 50


def test_quit_closes() -> None:
    talk = Talk()
    talk.say("quit")
    assert talk.wire.closed is CloseReason.QUIT
    assert talk.gallery.calls[-1] == ("leave",)
    talk.lines.lost(True)


def test_signing_in_is_over_for_a_viewer() -> None:
    talk = Talk(login_timeout_us=1_000_000)
    talk.time.advance(100_000_000)
    assert talk.wire.closed is None


def test_a_lost_connection_leaves_the_gallery() -> None:
    talk = Talk()
    talk.lines.lost(False)
    assert talk.gallery.calls[-1] == ("leave",)


def test_what_the_gallery_refuses_is_said() -> None:
    talk = Talk()
    talk.gallery.refusal = "You watch too much."
    talk.say("observe 3")
    assert talk.wire.lines() == ["info You watch too much."]


@pytest.mark.parametrize("line", ["hello", "observe 3"])
def test_a_flood_is_closed(line: str) -> None:
    talk = Talk(ignored_per_minute=20)
    talk.gallery.refusal = "No."
    talk.say(*[line] * 20)
    assert talk.wire.closed is None
    talk.say(line, line, line)
    assert talk.wire.closed is CloseReason.VIOLATION
    assert [text for text in talk.wire.lines() if text != "info No."] == [
        "Error: You sent too many lines within a minute that could not be answered."
    ]
    assert ("leave",) in talk.gallery.calls


def test_odd_lines_now_and_then_are_forgiven() -> None:
    talk = Talk(ignored_per_minute=20)
    for _ in range(10):
        talk.say(*["hello"] * 20)
        talk.time.advance(61_000_000)
    assert talk.wire.closed is None


def test_asking_for_what_is_there_is_no_flood() -> None:
    talk = Talk(ignored_per_minute=20)
    talk.say(*["observe 3"] * 500)
    assert talk.wire.closed is None


def test_there_is_an_end_to_asking_for_what_is_there() -> None:
    talk = Talk()
    for _ in range(3):
        talk.say(*["observe 3"] * OBSERVED_PER_MINUTE)
        assert talk.wire.closed is None
        talk.time.advance(61_000_000)
    talk.say(*["observe 3"] * (OBSERVED_PER_MINUTE + 1))
    assert talk.wire.closed is CloseReason.VIOLATION
    assert talk.wire.lines()[-1].startswith("Error: ")


def test_a_large_picture_does_not_fill_a_small_outbox() -> None:
    talk = Talk(outbox=65_536)
    talk.wire.capacity = 32_768
    picture = [ListedGame(n, AT, 9, 14, "Alpha", "1800?", "Beta", "1750", None) for n in range(5000)]
    talk.gallery.spectator.listed(picture, 0)
    assert sum(map(len, talk.wire.writes)) < 65_536
    assert not talk.gallery.spectator.has_room
    while not talk.gallery.spectator.has_room:
        talk.wire.capacity = 32_768
        talk.time.advance(100_000)
    assert len(talk.wire.lines()) == 5000


# -- with the real gallery, on the transport of a TCP connection


class Transport(OtherEnd):
    """Takes bytes until `stuck`; then they wait, and too many are the end."""

    def __init__(self, protocol: BotConnection) -> None:
        super().__init__(protocol)
        self.written = bytearray()
        self.waiting = bytearray()
        self.stuck = self.closing = False
        self.high = 0
        self.calls = 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.high = high or 0

    def get_write_buffer_size(self) -> int:
        return len(self.waiting)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert not self.closing, "written after the close"
        self.calls += 1
        (self.waiting if self.stuck else self.written).extend(data)
        if len(self.waiting) > self.high:
            self.protocol.pause_writing()

    def unstick(self) -> None:
        self.stuck = False
        self.written += self.waiting
        self.waiting.clear()

    def is_closing(self) -> bool:
        return self.closing

    def write_eof(self) -> None:
        self.closing = True

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True

    def take(self) -> bytes:
        data = bytes(self.written)
        self.written.clear()
        return data


class Hall:
    """A venue with a real gallery and viewers on transport doubles."""

    def __init__(self, house: House) -> None:
        self.house = house
        live = house.live
        self.bus = live.context.bus
        self.gallery = Gallery(live.context, live.roster)

    @classmethod
    async def open(cls, **limits: int) -> Hall:
        hall = cls(await House().open())
        await hall.gallery.open()
        hall.context = context(hall.house.time, hall.gallery, hall.house.live.arrivals, **limits)
        return hall

    context: ConnectionContext

    def connect(self) -> tuple[BotConnection, Transport]:
        connection = BotConnection(self.context)
        transport = Transport(connection)
        connection.connection_made(transport)
        return connection, transport

    def viewer(self) -> tuple[BotConnection, Transport]:
        connection, transport = self.connect()
        connection.data_received(b"v1 test\n")
        assert transport.take() == b"protocol genmove_analyze\n"
        return connection, transport

    def start(self, numbers: range) -> None:
        for number in numbers:
            self.bus.publish(
                GameStarted(
                    venue="9x9",
                    game=number,
                    black="Alpha",
                    white="Beta",
                    at=AT,
                    black_label="1800?",
                    white_label="1750",
                )
            )

    def end(self, numbers: range) -> None:
        for number in numbers:
            self.bus.publish(
                GameEnded(
                    venue="9x9",
                    game=number,
                    result="W+Resign",
                    reason="resignation",
                    at=AT,
                    black_used_ms=1000,
                    white_used_ms=2000,
                )
            )


async def test_a_thousand_viewers_and_two_hundred_games_at_once_nobody_is_dropped() -> None:
    """The oldest server cut every viewer off at the start of a round with more than about ten games."""
    hall = await Hall.open()
    viewers = [hall.viewer() for _ in range(1000)]
    await hall.gallery.turn()
    slow_connection, slow = viewers[3]
    slow.take()
    slow.stuck = True
    slow.waiting += b"x" * (600 << 10)  # it has not read for long
    hall.start(range(200))
    await hall.gallery.turn()
    hall.end(range(100))
    await hall.gallery.turn()
    assert len(hall.context.sockets.open) == 1000
    assert not any(transport.closing for _, transport in viewers)
    texts = {bytes(transport.written) for _, transport in viewers if transport is not slow}
    assert len(texts) == 1
    fast = TkViewer()
    fast.hear(texts.pop().removeprefix(b"protocol genmove_analyze\n"))
    assert list(fast.listed.values()) == ["W+Resign"] * 100 + ["-"] * 100
    assert max(transport.calls for _, transport in viewers) <= 8
    assert slow.written == b""
    slow.waiting.clear()
    slow.unstick()
    await hall.gallery.turn()
    assert slow_connection.alive
    late = TkViewer()
    late.hear(slow.take())
    assert late.listed == fast.listed


async def test_a_viewer_that_was_passed_over_for_long_goes_on_with_what_is_now() -> None:
    hall = await Hall.open()
    _, transport = hall.viewer()
    hall.start(range(1, 4))
    await hall.gallery.turn()
    tk = TkViewer()
    tk.hear(transport.take())
    transport.stuck = True
    transport.waiting += b"x" * (600 << 10)
    hall.start(range(4, 4 + LOG))
    hall.end(range(2, 2 + LOG))
    await hall.gallery.turn()
    transport.waiting.clear()
    transport.unstick()
    await hall.gallery.turn()
    tk.hear(transport.take())
    assert tk.infos[-1].startswith(f"You read too slowly: {2 * LOG} events were skipped.")
    assert [game for game, result in tk.listed.items() if result == "-"] == ["1", str(LOG + 2), str(LOG + 3)]
    hall.end(range(1, 2))
    await hall.gallery.turn()
    tk.hear(transport.take())
    assert tk.listed["1"] == "W+Resign"


async def test_a_real_game_on_a_viewers_screen() -> None:
    hall = await Hall.open()
    connection, transport = hall.viewer()
    house = hall.house
    await house.arrive("Alpha", "Beta")
    await house.run_pass()
    (game,) = house.live.roster.games()
    house.time.advance(0)
    game.move(game.referee.to_play, "D4", None, house.time.received())
    connection.data_received(f"observe {game.id}\r\n".encode())
    await hall.gallery.turn()
    for move in ("E5", "C3", "PASS", "PASS"):
        game.move(game.referee.to_play, move, None, house.time.received())
        await hall.gallery.turn()
    tk = TkViewer()
    tk.hear(transport.take())
    assert tk.boards == {str(game.id): ["D4", "E5", "C3", "PASS", "PASS"]}
    assert tk.shown == tk.listed == {str(game.id): "W+6.0"}
    assert tk.used == {str(game.id): (0, 0)}


async def test_nothing_is_written_to_a_viewer_that_has_closed_its_side() -> None:
    hall = await Hall.open()
    connection, transport = hall.viewer()
    await hall.gallery.turn()
    transport.take()
    connection.eof_received()
    hall.start(range(50))
    await hall.gallery.turn()
    assert transport.take() == b""
    connection.connection_lost(None)
    assert hall.gallery.spectators == 0


PIECES = [
    b"\n", b"\r\n", b"quit\n", b"v1 x\n", b"e1 x\n", b"observe 1\n", b"observe", b" 2", b"observe 99\n", b" ", b"\0",
    b"\xff\n", b"observe x\n", b"ready\n",
]  # fmt: skip


@settings(deadline=None)
@given(pieces=st.lists(st.sampled_from(PIECES) | st.binary(max_size=20), max_size=30), seed=st.integers(0, 99))
def test_any_bytes_in_any_pieces_in_any_state(pieces: list[bytes], seed: int) -> None:
    async def talk() -> None:
        hall = await Hall.open()
        rng = random.Random(seed)
        transport = hall.viewer()[1]
        house = hall.house
        await house.arrive("Alpha", "Beta")
        await house.run_pass()
        house.time.advance(0)
        for number, piece in enumerate(pieces):
            if transport.closing:
                break
            cut = rng.randrange(len(piece) + 1)
            for part in (piece[:cut], piece[cut:]):
                if part and not transport.closing:
                    transport.protocol.data_received(part)
            if rng.random() < 0.3:
                hall.start(range(100 + number, 101 + number))
            if rng.random() < 0.3:
                hall.end(range(99 + number, 100 + number))
            if rng.random() < 0.3:
                house.time.advance(rng.randrange(3_000_000))
            for game in list(house.live.roster.games()):
                if rng.random() < 0.4:
                    game.move(game.referee.to_play, rng.choice(["D4", "E5", "PASS", "resign"]), None,
                              house.time.received())  # fmt: skip
            await hall.gallery.turn()
            await asyncio.sleep(0)
        await hall.gallery.turn()
        tk = TkViewer()
        for line in transport.take().splitlines(keepends=True):
            # Only a second `observe` of one game makes a second board; a person's viewer does not ask again.
            if line.startswith(b"setup"):
                tk.boards.pop(line.split()[1].decode(), None)
                tk.shown.pop(line.split()[1].decode(), None)
            tk.hear(line)
        transport.protocol.connection_lost(None)
        await asyncio.gather(*house.tasks)
        assert hall.gallery.spectators == 0

    asyncio.run(talk())
