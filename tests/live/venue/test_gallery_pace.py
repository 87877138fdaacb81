"""When spectators are told: slow ones, many of them, a venue with a delay."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.live.gallery_room import VENUE, FakeGame, Room, S, Spectator
from support.live.simulated import SimulatedTime

from cgos_protocol.facts import BotArrived, BotLeft, Fact, GameStarted
from cgos_server.live.venue import gallery as module

# -- slow ones, many of them


async def test_a_slow_spectator_is_passed_over_and_goes_on_where_it_was(room: Room) -> None:
    spectator = await room.enter()
    spectator.heard()
    spectator.room = 0
    for number in range(300):
        room.start(number)
    await room.settle()
    spectator.room = None
    await room.settle()
    assert [fact.game for fact in spectator.facts_heard() if isinstance(fact, GameStarted)] == list(range(300))


async def test_when_the_log_has_gone_on_a_picture_says_how_much_was_missed(room: Room) -> None:
    spectator = await room.enter()
    game = room.start(5)
    room.gallery.observe(spectator, 5, 0)
    await room.gallery.turn()
    spectator.heard()
    spectator.room = 0
    game.moves += ["D4", "E5"]
    for _ in range(module.LOG):
        room.bus.publish(BotArrived("9x9", "Gamma"))
        room.bus.publish(BotLeft("9x9", "Gamma"))
    await room.settle()
    room.start(6)
    spectator.room = None
    await room.settle()
    assert spectator.heard() == [
        ("listed", [(5, None), (6, None)], 2 * module.LOG + 1),
        ("shown", 5, ["D4", "E5"], None, 0),
    ]
    room.end(6)
    game.moves.append("C3")
    await room.settle()
    assert [entry[0] for entry in spectator.heard()] == ["moved", "facts"]


async def test_whoever_had_no_room_for_long_gets_a_picture_too(room: Room) -> None:
    spectator = await room.enter()
    spectator.heard()
    spectator.room = 0
    room.start(5)
    await room.gallery.turn()
    room.time.advance(module.PATIENCE_US + 1)
    spectator.room = None
    await room.settle()
    assert spectator.heard() == [("listed", [(5, None)], 1)]


async def test_room_for_one_telling_at_a_time(room: Room) -> None:
    spectator = Spectator()
    spectator.room = 1
    game = room.start(5)
    room.gallery.enter(spectator, everything=True)
    room.gallery.observe(spectator, 5, 0)
    await room.settle()
    assert [entry[0] for entry in spectator.heard()] == ["listed"]
    spectator.room = 1
    await room.settle()
    assert [entry[0] for entry in spectator.heard()] == ["shown"]
    game.moves.append("D4")
    room.start(6)
    spectator.room = 1
    await room.settle()
    assert [entry[0] for entry in spectator.heard()] == ["moved"]
    spectator.room = 1
    await room.settle()
    assert [entry[0] for entry in spectator.heard()] == ["facts"]


async def test_a_thousand_spectators_and_two_hundred_games_at_once(room: Room) -> None:
    """All hear all of it, in slices between which others get their turn; a slow one catches up."""
    spectators = [await room.enter() for _ in range(1000)]
    for spectator in spectators:
        spectator.heard()
    slow = spectators[500]
    slow.room = 0
    for number in range(200):
        room.start(number)
    turns_of_others = 0
    done = False

    async def others() -> None:
        nonlocal turns_of_others
        while not done:
            turns_of_others += 1
            await asyncio.sleep(0)

    task = asyncio.get_running_loop().create_task(others())
    await room.gallery.turn()
    done = True
    await task
    assert turns_of_others >= 1000 // module.SLICE
    assert slow.heard() == []
    expected = list(range(200))
    for spectator in spectators:
        if spectator is not slow:
            assert [fact.game for fact in spectator.facts_heard()] == expected  # type: ignore[attr-defined]
    slow.room = None
    await room.gallery.turn()
    assert [fact.game for fact in slow.facts_heard()] == expected  # type: ignore[attr-defined]
    assert room.gallery.spectators == 1000


async def test_a_slice_ends_in_time_too(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each telling takes long, others get their turn after each."""
    time = room.time

    class Laborious(Spectator):
        def facts(self, facts: Sequence[Fact]) -> None:
            time.stall(module.SLICE_US + 1)
            super().facts(facts)

    spectators = [Laborious() for _ in range(10)]
    for spectator in spectators:
        room.gallery.enter(spectator, everything=True)
    await room.gallery.turn()
    room.start(1)
    turns = 0
    original: Callable[..., Any] = asyncio.sleep

    async def counted(delay: float) -> None:
        nonlocal turns
        turns += 1
        await original(delay)

    monkeypatch.setattr(module.asyncio, "sleep", counted)
    await room.gallery.turn()
    assert turns == 10


# -- a venue with a delay


class TimedGame(FakeGame):
    """A game that knows when its moves were received."""

    def __init__(self, number: int, time: SimulatedTime) -> None:
        super().__init__(number)
        self.time = time
        self.instants: list[int] = []

    def play(self, *moves: str) -> None:
        self.moves += moves
        self.instants += [self.time.now()] * len(moves)

    def played_by(self, instant: int) -> int:
        return self.ply if self.over is not None else sum(at <= instant for at in self.instants)

    def setup(self, ply: int | None = None) -> Any:
        return type("Setup", (), {"moves": tuple((move, 60_000) for move in self.moves[:ply])})


@pytest.fixture
async def slow_room() -> Room:
    """Moves are told to others 30 s later."""
    room = Room()
    room.gallery = room.new_gallery(replace(VENUE, delay=30 * S))
    await room.gallery.open()
    return room


async def test_moves_of_a_running_game_are_told_after_the_delay(slow_room: Room) -> None:
    room = slow_room
    game = room.games[7] = TimedGame(7, room.time)
    game.play("A1", "A2")
    room.time.advance(20 * S)
    game.play("A3")
    early = Spectator()
    room.gallery.observe(early, 7, 0)
    await room.settle()
    assert early.heard() == [("shown", 7, [], None, 0)]
    room.time.advance(10 * S - 1)
    await room.settle()
    assert early.heard() == []
    room.time.advance(1)
    await room.settle()
    assert early.heard() == [("moved", 7, ["A1", "A2"])]
    # Who comes now, or comes again and says that it knows more, sees no more than the others.
    for since in (0, 2, 3, 99):
        late = Spectator()
        room.gallery.observe(late, 7, since)
        await room.settle()
        assert late.heard() == [("shown", 7, ["A1", "A2"], None, min(since, 2))]
    room.gallery.observe(early, 7, 3)
    await room.settle()
    assert early.heard() == [("shown", 7, ["A1", "A2"], None, 2)]
    room.time.advance(20 * S)
    await room.settle()
    assert early.heard() == [("moved", 7, ["A3"])]


async def test_the_end_of_a_game_shows_all(slow_room: Room) -> None:
    room = slow_room
    game = room.games[7] = TimedGame(7, room.time)
    spectator = Spectator()
    room.gallery.observe(spectator, 7, 0)
    await room.settle()
    game.play("A1", "A2", "A3")
    await room.settle()
    assert spectator.heard() == [("shown", 7, [], None, 0)]
    room.end(7)
    await room.settle()
    assert spectator.heard() == [("moved", 7, ["A1", "A2", "A3"]), ("ended", 7, "B+Resign")]
