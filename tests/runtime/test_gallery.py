"""Spectators of one venue: what they are told and when, slow ones, many of them, games of the archive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import pytest
from support.house import House
from support.simulated import SimulatedTime

from cgos_server.core.clock import ClockState, TimeControl, TimeSystem
from cgos_server.core.facts import BotArrived, BotLeft, Fact, GameEnded, GameStarted
from cgos_server.core.games.base import Color, Ruleset
from cgos_server.core.referee import encode, terms_of
from cgos_server.core.venue import Venue
from cgos_server.errors import StoreError
from cgos_server.protocol.session import GameOver, ListedGame, ShownGame, Turn
from cgos_server.runtime import gallery as module
from cgos_server.runtime.bus import Bus
from cgos_server.runtime.gallery import Gallery
from cgos_server.storage.store import StoredGame, StoredMove

S = 1_000_000
VENUE = Venue(1, "9x9", Ruleset(), TimeControl(TimeSystem.ABSOLUTE, main=60 * S), 243, 60 * S)


class Spectator:
    """Writes down what it is told. `room` is how many tellings it still takes; None is any number."""

    def __init__(self) -> None:
        self.room: int | None = None
        self.told: list[tuple[Any, ...]] = []

    @property
    def has_room(self) -> bool:
        return self.room is None or self.room > 0

    def _note(self, *entry: Any) -> None:
        assert self.has_room, "told without room"
        if self.room is not None:
            self.room -= 1
        self.told.append(entry)

    def listed(self, games: Sequence[ListedGame], missed: int) -> None:
        self._note("listed", [(game.game, game.result) for game in games], missed)

    def facts(self, facts: Sequence[Fact]) -> None:
        self._note("facts", list(facts))

    def shown(self, game: int, shown: ShownGame | None, since: int) -> None:
        if shown is None:
            self._note("none", game)
        else:
            result = shown.over.result if shown.over is not None else None
            self._note("shown", game, [move for move, _ in shown.setup.moves], result, since)

    def moved(self, game: int, turns: Sequence[Turn]) -> None:
        self._note("moved", game, [turn.move for turn in turns])

    def ended(self, game: int, over: GameOver) -> None:
        self._note("ended", game, over.result)

    def heard(self) -> list[tuple[Any, ...]]:
        """What it was told since the last time."""
        told, self.told = self.told, []
        return told

    def facts_heard(self) -> list[Fact]:
        return [fact for entry in self.heard() if entry[0] == "facts" for fact in entry[1]]


class Archive:
    """A store of games that have ended. It can be made to wait."""

    def __init__(self) -> None:
        self.stored: dict[int, StoredGame] = {}
        self.gate = asyncio.Event()
        self.gate.set()
        self.reading = self.most = self.asked = 0
        self.broken = False

    async def recent_games(self, venue_id: int, limit: int) -> list[StoredGame]:
        return [game for game in self.stored.values() if game.venue_id == venue_id][-limit:]

    async def game(self, game_id: int) -> StoredGame | None:
        self.asked += 1
        self.reading += 1
        self.most = max(self.most, self.reading)
        await self.gate.wait()
        self.reading -= 1
        if self.broken:
            raise StoreError("no disk")
        return self.stored.get(game_id)


class FakeGame:
    """As much of a live game as a gallery looks at."""

    def __init__(self, number: int) -> None:
        self.id = number
        self.over: GameOver | None = None
        self.started_at = 1_700_000_000_000
        self.moves: list[str] = []
        self.sides = tuple(
            type("Side", (), {"version": n, "name": name, "label": "1800?"}) for n, name in enumerate(("Alpha", "Beta"))
        )

    @property
    def ply(self) -> int:
        return len(self.moves)

    def setup(self) -> Any:
        return type("Setup", (), {"moves": tuple((move, 60_000) for move in self.moves)})

    def turns(self, since: int) -> list[Turn]:
        return [
            Turn(ply, Color((ply - 1) % 2), self.moves[ply - 1], 60_000, 60_000, 0, False)
            for ply in range(since + 1, self.ply + 1)
        ]

    def finish(self, result: str = "B+Resign") -> None:
        self.over = GameOver("2023-11-14", result, Color.BLACK, "resignation", "", self.ply)


class Room:
    """A gallery with everything that it needs."""

    def __init__(self) -> None:
        self.time = SimulatedTime()
        self.store = Archive()
        self.bus = Bus(lambda error: pytest.fail(repr(error)))
        self.games: dict[int, FakeGame] = {}
        self.tasks: list[asyncio.Task[None]] = []
        self.gallery = Gallery(
            VENUE, self.store, self.bus, self.time, self.games.values, self.games.get, self.spawn,  # type: ignore[arg-type]
        )  # fmt: skip

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def settle(self) -> None:
        """Everything that can be read is read, everything that can be told is told."""
        for _ in range(6):
            await asyncio.sleep(0)
            await self.gallery.turn()

    async def enter(self, everything: bool = True) -> Spectator:
        spectator = Spectator()
        self.gallery.enter(spectator, everything)
        await self.gallery.turn()
        return spectator

    def start(self, number: int) -> FakeGame:
        game = self.games[number] = FakeGame(number)
        self.bus.publish(GameStarted("9x9", number, "Alpha", "Beta", 1_700_000_000.0, "1800?", "1800?"))
        return game

    def end(self, number: int, result: str = "B+Resign") -> None:
        game = self.games[number]
        game.finish(result)
        self.bus.publish(GameEnded("9x9", number, result, "resignation", 1_700_000_100.0))
        del self.games[number]


@pytest.fixture
async def room() -> Room:
    room = Room()
    await room.gallery.open()
    return room


def stored(number: int, moves: str = "D4 E5", result: str | None = "W+Resign", venue: int = 1) -> StoredGame:
    clock = ClockState(50 * S)
    return StoredGame(
        number, venue, 1, 2, "Alpha", "Beta", "1800?", "1750", encode(terms_of(VENUE)), "", 1_700_000_000_000,
        tuple(StoredMove(move, clock) for move in moves.split()), result, "", 1_700_000_100_000, 2, 2, 1, "resignation",
    )  # fmt: skip


# -- the venue


async def test_a_picture_first_and_then_the_facts(room: Room) -> None:
    room.start(5)
    spectator = await room.enter()
    assert spectator.heard() == [("listed", [(5, None)], 0)]
    room.start(6)
    room.end(5)
    room.bus.publish(BotArrived("9x9", "Gamma"))
    room.bus.publish(BotArrived("13x13", "Delta"))
    await room.gallery.turn()
    ((word, facts),) = spectator.heard()
    assert word == "facts"
    assert [type(fact) for fact in facts] == [GameStarted, GameEnded, BotArrived]
    await room.gallery.turn()
    assert spectator.heard() == []


async def test_the_picture_holds_the_past_the_last_forty_and_the_running_games() -> None:
    room = Room()
    for number in range(1, 51):
        room.store.stored[number] = stored(number)
    room.store.stored[60] = stored(60, venue=2)
    room.games[70] = FakeGame(70)  # restored after a restart: no fact tells of it
    await room.gallery.open()
    assert [game.game for game in room.gallery.picture()] == [*range(11, 51), 70]
    assert all(game.black == "Alpha" and game.size == 9 for game in room.gallery.picture())
    room.start(71)
    room.end(70, "Draw")
    picture = [(game.game, game.result) for game in room.gallery.picture()]
    assert picture == [*((number, "W+Resign") for number in range(12, 51)), (70, "Draw"), (71, None)]


async def test_nothing_is_told_within_the_call_that_asks(room: Room) -> None:
    spectator = Spectator()
    room.start(5)
    room.gallery.enter(spectator, everything=True)
    room.gallery.observe(spectator, 5, 0)
    assert spectator.heard() == []
    await room.gallery.turn()
    assert [entry[0] for entry in spectator.heard()] == ["listed", "shown"]


async def test_who_watches_single_games_hears_nothing_of_the_venue(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.start(5)
    await room.gallery.turn()
    assert spectator.heard() == []


async def test_facts_can_be_turned_off_and_on(room: Room) -> None:
    spectator = await room.enter()
    room.gallery.ignore(spectator, None)
    room.start(5)
    await room.gallery.turn()
    room.gallery.enter(spectator, everything=True)
    await room.gallery.turn()
    assert spectator.heard() == [("listed", [], 0), ("listed", [(5, None)], 0)]


async def test_whoever_has_left_hears_nothing_and_may_leave_twice(room: Room) -> None:
    spectator = await room.enter()
    assert room.gallery.spectators == 1
    room.gallery.leave(spectator)
    room.gallery.leave(spectator)
    room.gallery.ignore(spectator, None)
    room.start(5)
    await room.gallery.turn()
    assert spectator.heard() == [("listed", [], 0)]
    assert room.gallery.spectators == 0


async def test_equal_spectators_are_not_one(room: Room) -> None:
    class Value(Spectator):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None  # type: ignore[assignment]

    first, second = Value(), Value()
    room.gallery.enter(first, everything=True)
    room.gallery.enter(second, everything=True)
    room.gallery.leave(first)
    await room.gallery.turn()
    assert (first.heard(), second.heard()) == ([], [("listed", [], 0)])


async def test_a_spectator_that_fails_is_dropped_alone(room: Room) -> None:
    bad, good = await room.enter(), await room.enter()
    bad.facts = None  # type: ignore[method-assign, assignment]
    room.start(5)
    await room.gallery.turn()
    assert room.gallery.spectators == 1
    assert len(good.facts_heard()) == 1


# -- one game


async def test_a_running_game_move_by_move(room: Room) -> None:
    spectator = await room.enter(everything=False)
    game = room.start(5)
    game.moves += ["D4", "E5"]
    assert room.gallery.observe(spectator, 5, 0) is None
    await room.gallery.turn()
    game.moves.append("C3")
    await room.gallery.turn()
    game.moves += ["PASS", "PASS"]
    room.end(5, "B+3.0")
    await room.settle()
    assert spectator.heard() == [
        ("shown", 5, ["D4", "E5"], None, 0),
        ("moved", 5, ["C3"]),
        ("moved", 5, ["PASS", "PASS"]),
        ("ended", 5, "B+3.0"),
    ]


async def test_the_moves_of_a_game_come_before_the_news_of_its_end(room: Room) -> None:
    spectator = await room.enter()
    game = room.start(5)
    room.gallery.observe(spectator, 5, 0)
    await room.gallery.turn()
    spectator.heard()
    game.moves.append("D4")
    room.end(5)
    await room.gallery.turn()
    assert [entry[0] for entry in spectator.heard()] == ["moved", "ended", "facts"]


@pytest.mark.parametrize(("since", "told"), [(1, 1), (2, 2), (99, 2), (-3, 0)])
async def test_a_game_from_a_move_on(room: Room, since: int, told: int) -> None:
    spectator = await room.enter(everything=False)
    game = room.start(5)
    game.moves += ["D4", "E5"]
    room.gallery.observe(spectator, 5, since)
    await room.gallery.turn()
    game.moves.append("C3")
    await room.gallery.turn()
    assert spectator.heard() == [("shown", 5, ["D4", "E5"], None, told), ("moved", 5, ["C3"])]


async def test_a_game_that_ends_before_it_was_shown(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.start(5)
    room.gallery.observe(spectator, 5, 0)
    room.end(5)
    await room.settle()
    assert spectator.heard() == [("shown", 5, [], "B+Resign", 0)]


async def test_a_game_is_shown_once_a_turn_however_often_it_is_asked_for(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.start(5)
    for _ in range(1000):
        assert room.gallery.observe(spectator, 5, 0) is None
    await room.settle()
    assert spectator.heard() == [("shown", 5, [], None, 0)]


async def test_a_game_can_be_ignored(room: Room) -> None:
    spectator = await room.enter(everything=False)
    game = room.start(5)
    room.gallery.observe(spectator, 5, 0)
    await room.gallery.turn()
    room.gallery.ignore(spectator, 5)
    game.moves.append("D4")
    room.end(5)
    await room.gallery.turn()
    assert [entry[0] for entry in spectator.heard()] == ["shown"]


async def test_there_is_a_limit_to_what_one_watches(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.store.gate.clear()
    for number in range(1, module.WATCHED_MAX):
        room.start(number)
        assert room.gallery.observe(spectator, number, 0) is None
    assert room.gallery.observe(spectator, 1000, 0) is None  # one of the archive
    refused = room.gallery.observe(spectator, 1001, 0)
    assert refused is not None
    assert refused.startswith("You watch 64 games at once")
    assert room.gallery.observe(spectator, 5, 0) is None  # not one more
    room.end(5)
    room.store.gate.set()
    await room.settle()
    assert room.gallery.observe(spectator, 1001, 0) is None


# -- the archive


async def test_a_game_of_the_archive(room: Room) -> None:
    room.store.stored[3] = stored(3)
    spectator = await room.enter(everything=False)
    assert room.gallery.observe(spectator, 3, 1) is None
    await room.settle()
    assert spectator.heard() == [("shown", 3, ["D4", "E5"], "W+Resign", 1)]


@pytest.mark.parametrize(
    "game", [None, stored(3, venue=2), stored(3, result=None), stored(3)._replace(terms="nonsense")],
    ids=["unknown", "other venue", "unfinished", "unreadable"],
)  # fmt: skip
async def test_no_such_game(room: Room, game: StoredGame | None) -> None:
    if game is not None:
        room.store.stored[3] = game
    spectator = await room.enter(everything=False)
    room.gallery.observe(spectator, 3, 0)
    await room.settle()
    assert spectator.heard() == [("none", 3)]


async def test_a_database_that_does_not_answer(room: Room) -> None:
    room.store.broken = True
    spectator = await room.enter(everything=False)
    room.gallery.observe(spectator, 3, 0)
    await room.settle()
    assert spectator.heard() == [("none", 3)]
    room.store.broken = False
    room.store.stored[4] = stored(4)
    room.gallery.observe(spectator, 4, 0)
    await room.settle()
    assert spectator.heard() == [("shown", 4, ["D4", "E5"], "W+Resign", 0)]


async def test_the_archive_is_asked_for_one_game_at_a_time_and_by_few_at_once(room: Room) -> None:
    for number in range(1, 31):
        room.store.stored[number] = stored(number)
    room.store.gate.clear()
    spectators = [await room.enter(everything=False) for _ in range(10)]
    for spectator in spectators:
        for number in range(1, 31):
            assert room.gallery.observe(spectator, number, 0) is None
    await room.settle()
    assert room.store.reading == module.READS
    room.store.gate.set()
    for _ in range(40):
        await room.settle()
    assert room.store.most == module.READS
    for spectator in spectators:
        assert [entry[:2] for entry in spectator.heard()] == [("shown", number) for number in range(1, 31)]


async def test_whoever_does_not_read_has_no_more_games_looked_up(room: Room) -> None:
    for number in range(1, 31):
        room.store.stored[number] = stored(number)
    spectator = await room.enter(everything=False)
    spectator.room = 0
    for number in range(1, 31):
        room.gallery.observe(spectator, number, 0)
    await room.settle()
    assert room.store.asked == 1
    spectator.room = None
    for _ in range(10):
        await room.settle()
    assert room.store.asked == 30


async def test_whoever_leaves_is_not_looked_up_for(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.store.gate.clear()
    for number in range(1, 31):
        room.gallery.observe(spectator, number, 0)
    await room.settle()
    room.gallery.leave(spectator)
    room.store.gate.set()
    await asyncio.gather(*room.tasks)
    assert room.store.asked == 1
    assert spectator.heard() == []


async def test_a_game_that_begins_while_it_is_looked_up_is_followed(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.store.gate.clear()
    room.gallery.observe(spectator, 5, 0)
    await room.settle()
    game = room.start(5)
    room.store.gate.set()
    await room.settle()
    game.moves.append("D4")
    await room.settle()
    assert spectator.heard() == [("shown", 5, [], None, 0), ("moved", 5, ["D4"])]


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


# -- real games


async def test_with_real_games_of_a_venue() -> None:
    house = await House().open()
    live = house.live
    gallery = Gallery(
        house.venue, house.store, live.desk.bus, house.time, live.lobby.games, live.lobby.game, house.spawn,
    )  # type: ignore[arg-type]  # fmt: skip
    await gallery.open()
    spectator = Spectator()
    gallery.enter(spectator, everything=True)
    await gallery.turn()
    await house.arrive("Alpha", "Beta")
    await house.act()
    (game,) = live.lobby.games()
    assert gallery.observe(spectator, game.id, 0) is None
    await gallery.turn()
    house.time.advance(0)
    for move in ("D4", "E5", "PASS", "PASS"):
        game.move(game.referee.to_play, move, None, house.time.received())
        await gallery.turn()
    kinds = [
        entry[0] if entry[0] != "facts" else [type(fact).__name__ for fact in entry[1]] for entry in spectator.told
    ]
    assert kinds == [
        "listed", "shown", ["BotArrived", "BotArrived", "GameStarted"], "moved", "moved", "moved", "moved", "ended",
        ["GameEnded", "RatingChanged", "RatingChanged"],
    ]  # fmt: skip
    assert spectator.told[-2] == ("ended", game.id, "W+7.0")
    assert [listed.result for listed in gallery.picture()] == ["W+7.0"]


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
    room.gallery = Gallery(
        replace(VENUE, delay=30 * S), room.store, room.bus, room.time, room.games.values, room.games.get, room.spawn,  # type: ignore[arg-type]
    )  # fmt: skip
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
