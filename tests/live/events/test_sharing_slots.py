"""Two events and the other games of a venue share the slots of bots: the game that has been due longest comes first."""

from __future__ import annotations

from collections import Counter

from support.live.event_room import EventRoom
from support.live.house import House, S

from cgos_server.service.holds import Hold
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import Phase


async def wide_room(slots: dict[str, int]) -> EventRoom:
    """A room of bots with these slots."""
    room = EventRoom(await House().open())
    for name, number in slots.items():
        await room.house.check_in(name, number)
    await room.director.open()
    return room


def games_of(room: EventRoom, name: str) -> int:
    return sum(name in {side.name for side in game.sides} for game in room.running)


async def test_an_entrant_with_several_slots_plays_several_games_of_events_at_once() -> None:
    room = await wide_room({"anna": 2, "bert": 1, "carl": 1, "dora": 1})
    await room.hold("anna", "bert", name="E1")
    await room.hold("anna", "carl", name="E2")
    await room.hold("anna", "dora", name="E3")
    assert room.playing() == {frozenset({"anna", "bert"}), frozenset({"anna", "carl"})}
    assert Hold.PLAYING in room.holds("anna")
    assert room.holds("dora") == {Hold.EVENT}
    await room.end(room.game_of("anna", "carl"), "anna")
    assert room.playing() == {frozenset({"anna", "bert"}), frozenset({"anna", "dora"})}


async def test_one_slot_waits_for_the_event_and_the_others_are_for_other_games() -> None:
    room = await wide_room({"anna": 3, "bert": 1, "carl": 3})
    await room.hold("bert", "carl", name="E1")
    await room.hold("anna", "bert", name="E2")
    for _ in range(3):
        room.house.time.advance(20 * S)
        await room.house.run_pass()
        await room.look()
    assert games_of(room, "anna") == 2
    assert room.holds("anna") == {Hold.EVENT}
    await room.end(room.game_of("bert", "carl"), "carl")
    assert frozenset({"anna", "bert"}) in room.playing()


async def test_the_game_that_has_been_due_longest_comes_first_whatever_event_it_is_of() -> None:
    room = await wide_room({"anna": 1, "bert": 1, "carl": 1, "dora": 1})
    await room.hold("bert", "dora", name="E0")
    room.house.time.advance(S)
    await room.hold("anna", "bert", name="E2")
    room.house.time.advance(S)
    await room.hold("anna", "carl", name="E1")
    assert room.playing() == {frozenset({"bert", "dora"})}, "Anna's slot waits for Bert, who plays"
    assert room.holds("carl") == {Hold.EVENT}
    await room.end(room.game_of("bert", "dora"), "bert")
    assert room.playing() == {frozenset({"anna", "bert"})}
    await room.end(room.game_of("anna", "bert"), "bert")
    assert room.playing() == {frozenset({"anna", "carl"})}


async def test_between_its_games_an_entrant_plays_others_unless_the_event_says_otherwise() -> None:
    room = await wide_room({"anna": 1, "bert": 1, "carl": 1, "dora": 1})
    await room.hold("anna", "bert", "carl", name="E1", system="swiss", rounds=2)
    (game,) = room.running
    idle = ({"anna", "bert", "carl"} - {side.name for side in game.sides}).pop()
    await room.house.run_pass()
    assert frozenset({idle, "dora"}) in room.playing()
    room.say(log.Cancelled(reason="The next one is stricter."), "E1")
    for one in room.running:
        await room.end(one, one.sides[0].name)
    await room.hold("anna", "bert", "carl", name="E2", system="swiss", rounds=2, ladder=False)
    room.house.time.advance(20 * S)
    await room.house.run_pass()
    assert games_of(room, "dora") == 0


async def test_a_slot_that_waits_for_an_event_is_not_taken_in_another_venue() -> None:
    house = await House().open()
    other = await House(beside=house).open()
    room = EventRoom(house, other)
    await house.check_in("anna", 1, None, (), other)
    await house.check_in("bert", 1)
    await house.check_in("carl", 1)
    await other.check_in("dora", 1)
    await room.director.open()
    await room.hold("bert", "carl", name="E1")
    await room.hold("anna", "bert", name="E2")
    await other.run_pass()
    assert room.playing() == {frozenset({"bert", "carl"})}
    assert room.holds("anna", other) == {Hold.EVENT}
    await room.end(room.game_of("bert", "carl"), "bert")
    assert room.playing() == {frozenset({"anna", "bert"})}


async def test_two_events_of_two_venues_share_a_bot() -> None:
    house = await House().open()
    other = await House(beside=house).open()
    room = EventRoom(house, other)
    await house.check_in("anna", 1, None, (), other)
    await house.check_in("bert", 1)
    await other.check_in("carl", 1)
    await room.director.open()
    await room.hold("anna", "bert", name="E1")
    await room.hold("anna", "carl", name="E2", venue=other.venue.name)
    assert room.playing() == {frozenset({"anna", "bert"})}
    await room.end(room.game_of("anna", "bert"), "bert")
    assert room.playing() == {frozenset({"anna", "carl"})}


async def test_two_events_and_other_games_never_take_more_than_the_slots() -> None:
    slots = {"anna": 2, "bert": 1, "carl": 3, "dora": 1, "emil": 2, "fred": 1}
    room = await wide_room(slots)
    await room.hold("anna", "bert", "carl", "dora", "emil", name="E1")
    await room.hold("anna", "carl", "dora", "emil", name="E2", system="double-elimination")
    ended: Counter[str] = Counter()
    while Phase.RUNNING in {room.state(event).phase for event in ("E1", "E2")}:
        room.house.time.advance(S)
        await room.house.run_pass()
        for name, most in slots.items():
            assert games_of(room, name) <= most
        game = room.running[sum(ended.values()) % len(room.running)]
        ended.update(side.name for side in game.sides)
        assert sum(ended.values()) < 400
        await room.end(game, min(side.name for side in game.sides))
    assert ended["fred"], "outsiders play too"
    assert room.ranking("E1")[0] == (1, "anna")
    assert room.ranking("E2")[0] == (1, "anna")


async def test_who_owes_ready_gets_its_game_when_it_has_said_it() -> None:
    room = await EventRoom.open("anna", "bert", "carl")
    await room.hold("anna", "bert", options={"double": True})
    (game,) = room.running
    game.move(game.referee.to_play, "resign", None, room.house.time.received())
    await room.look()
    assert room.running == []
    room.house.live.lobby.ready(room.house.live.roster.players[room.version("anna")])
    await room.look()
    await room.house.run_pass()
    assert room.running == [], "Anna is kept for her game against Bert"
    room.ready()
    await room.house.run_pass()
    assert room.running == [], "and so is he"
    await room.look()
    assert room.playing() == {frozenset({"anna", "bert"})}


async def test_who_would_wait_for_a_whole_game_plays_another_one_meanwhile() -> None:
    room = await wide_room({"anna": 1, "bert": 1, "carl": 1, "dora": 1})
    await room.hold("anna", "bert", name="E0")
    (game,) = room.running
    game.move(game.referee.to_play, "E5", None, room.house.time.received())
    await room.look(50)
    await room.end(game, "anna")
    await room.hold("bert", "dora", name="E1")
    await room.look(5)
    await room.hold("anna", "bert", name="E2")
    assert room.holds("anna") == set(), "games last 50 s, and Bert's began 5 s ago"
    await room.look(15)
    assert room.holds("anna") == {Hold.EVENT}, "by now it is worth the wait"
    await room.end(room.game_of("bert", "dora"), "bert")
    assert room.playing() == {frozenset({"anna", "bert"})}
