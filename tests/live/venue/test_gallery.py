"""Spectators of one venue: what they are told of it and of single games, games of the archive."""

from __future__ import annotations

import asyncio

import pytest
from support.live.gallery_room import FakeGame, Room, Spectator, stored
from support.live.house import House

from cgos_protocol.facts import BotArrived, GameEnded, GameStarted
from cgos_server.live.venue import gallery as module
from cgos_server.live.venue.gallery import Gallery
from cgos_server.storage.reading.stored import StoredGame

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


@pytest.mark.parametrize(("since", "start"), [(1, 1), (2, 2), (99, 2), (-3, 0)])
async def test_a_game_from_a_move_on(room: Room, since: int, start: int) -> None:
    spectator = await room.enter(everything=False)
    game = room.start(5)
    game.moves += ["D4", "E5"]
    room.gallery.observe(spectator, 5, since)
    await room.gallery.turn()
    game.moves.append("C3")
    await room.gallery.turn()
    assert spectator.heard() == [("shown", 5, ["D4", "E5"], None, start), ("moved", 5, ["C3"])]


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
    assert room.store.reads == 1
    spectator.room = None
    for _ in range(10):
        await room.settle()
    assert room.store.reads == 30


async def test_whoever_leaves_is_not_looked_up_for(room: Room) -> None:
    spectator = await room.enter(everything=False)
    room.store.gate.clear()
    for number in range(1, 31):
        room.gallery.observe(spectator, number, 0)
    await room.settle()
    room.gallery.leave(spectator)
    room.store.gate.set()
    await asyncio.gather(*room.tasks)
    assert room.store.reads == 1
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


# -- real games


async def test_with_real_games_of_a_venue() -> None:
    house = await House().open()
    live = house.live
    gallery = Gallery(live.context, live.roster)
    await gallery.open()
    spectator = Spectator()
    gallery.enter(spectator, everything=True)
    await gallery.turn()
    await house.arrive("Alpha", "Beta")
    await house.run_pass()
    (game,) = live.roster.games()
    assert gallery.observe(spectator, game.id, 0) is None
    await gallery.turn()
    house.time.advance(0)
    for move in ("D4", "E5", "PASS", "PASS"):
        game.move(game.referee.to_play, move, None, house.time.received())
        await gallery.turn()
    kinds = [
        entry[0] if entry[0] != "facts" else [type(fact).__name__ for fact in entry[1]] for entry in spectator.entries
    ]
    assert kinds == [
        "listed", "shown", ["BotArrived", "BotArrived", "GameStarted"], "moved", "moved", "moved", "moved", "ended",
        ["GameEnded", "RatingChanged", "RatingChanged"],
    ]  # fmt: skip
    assert spectator.entries[-2] == ("ended", game.id, "W+7.0")
    assert [listed.result for listed in gallery.picture()] == ["W+7.0"]
