"""Events that are over are let go of, and brought back where something of them is still to be decided."""

from __future__ import annotations

import asyncio
import weakref

import pytest
from structlog.testing import capture_logs
from support.live.event_room import EventRoom

from cgos_protocol.errors import Refused
from cgos_server.storage.writing import records as rows
from cgos_server.tournaments.base import BLACK_WINS, WHITE_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import Phase
from cgos_server.tournaments.running.succession import final_standings


async def over(room: EventRoom) -> None:
    """An event that anna has won."""
    await room.hold("anna", "bert")
    await room.play_on()


async def decided(room: EventRoom) -> None:
    """An event whose shared first place anna has won in a playoff of two games."""
    await room.hold("anna", "bert", options={"double": True}, playoff=True)
    await room.end(room.game_of("anna", "bert"), "anna")
    await room.end(room.game_of("anna", "bert"), "bert")
    await room.play_on("E-playoff")


def reversed_result(room: EventRoom, event: str, number: int, with_results: bool = False) -> log.Ruled:
    result = next(game.result for _, game in room.state(event).event.games if game.id == number)
    other = WHITE_WINS if result == BLACK_WINS else BLACK_WINS
    return log.Ruled(game=number, result=other, reason="A bug.", with_results=with_results)


def first(room: EventRoom) -> list[str]:
    return [row.name for row in final_standings(room.state()).rows if row.place == 1]


async def test_an_event_that_is_over_is_let_go_of() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    runner = weakref.ref(room.director.runner("E"))
    await room.play_on()
    await room.look()
    assert room.director.runners == {}
    assert runner() is None
    with pytest.raises(Refused, match="E is over, or was called off"):
        room.director.state("E")


async def test_a_ruling_brings_it_back_and_nothing_of_it_stays_after() -> None:
    room = await EventRoom.open("anna", "bert")
    await over(room)
    assert (await room.director.reopen("E")) == room.state()
    room.say(reversed_result(room, "E", 1))
    assert room.ranking()[0] == (1, "bert")
    await room.look()
    assert room.director.runners == {}


async def test_a_ruling_that_has_it_go_on_keeps_it_until_it_is_over_again() -> None:
    room = await EventRoom.open("anna", "bert")
    await over(room)
    await room.director.reopen("E")
    room.say(log.Ruled(game=1, result=None, reason="Play it again."))
    await room.look()
    assert room.director.state("E").phase is Phase.RUNNING
    await room.end(room.game_of("anna", "bert"), "bert")
    assert room.ranking()[0] == (1, "bert")
    assert room.director.runners == {}


async def test_two_who_want_it_back_at_once_have_the_same_one() -> None:
    room = await EventRoom.open("anna", "bert")
    await over(room)
    read = room.house.store.events_log  # type: ignore[attr-defined]

    async def slowly(event: int) -> object:
        await asyncio.sleep(0)
        return await read(event)

    room.house.store.events_log = slowly  # type: ignore[attr-defined]
    runners = []

    async def want() -> None:
        await room.director.reopen("E")
        runners.append(room.director.runner("E"))

    await asyncio.gather(want(), want())
    assert runners[0] is runners[1]


async def test_what_is_not_committed_yet_is_not_let_go_of() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert", start=False)
    room.house.store.holding = True
    room.say(log.Cancelled(reason="Rain."))
    room.director.look(room.house.spawn)
    assert "E" in room.director.runners
    room.house.store.release()
    await room.look()
    assert room.director.runners == {}


async def test_an_event_is_at_hand_while_its_playoff_is_held() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert", options={"double": True}, playoff=True)
    await room.end(room.game_of("anna", "bert"), "anna")
    await room.end(room.game_of("anna", "bert"), "bert")
    await room.look()
    assert set(room.director.runners) == {"E", "E-playoff"}
    await room.play_on("E-playoff")
    await room.look()
    assert first(room) == ["anna"]
    assert room.director.runners == {}


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_ruling_in_a_playoff_that_is_over_reaches_the_ranking_of_its_event(restarted: bool) -> None:
    room = await EventRoom.open("anna", "bert")
    await decided(room)
    if restarted:
        await room.restart("anna", "bert")
    for number in (1, 2):
        await room.director.reopen("E-playoff")
        room.say(reversed_result(room, "E-playoff", number), "E-playoff")
        await room.look()
        assert first(room) == (["anna", "bert"] if number == 1 else ["bert"])
    assert room.director.runners == {}


async def test_while_a_playoff_goes_on_again_nobody_has_won_it() -> None:
    room = await EventRoom.open("anna", "bert")
    await decided(room)
    await room.director.reopen("E-playoff")
    room.say(log.Ruled(game=1, result=None, reason="Play it again."), "E-playoff")
    assert first(room) == ["anna", "bert"]
    await room.look()
    await room.play_on("E-playoff")
    assert first(room) == ["anna"]
    await room.director.reopen("E-playoff")
    room.say(log.Ruled(game=1, result=None, reason="Once more."), "E-playoff")
    room.say(log.Cancelled(reason="Enough."), "E-playoff")
    assert first(room) == ["anna", "bert"]
    await room.look()
    assert room.director.runners == {}


async def test_an_event_that_is_called_off_is_no_fault_and_waits_for_its_games_to_end() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    games = list(room.running)
    with capture_logs() as lines:
        room.say(log.Cancelled(reason="Rain."))
        await room.look()
    assert [game.over is not None and game.over.reason for game in games] == ["abort", "abort"]
    assert not [line for line in lines if line["log_level"] == "error"]
    assert room.state().phase is Phase.CANCELLED
    assert room.director.runners == {}


@pytest.mark.parametrize("called_off", [False, True])
async def test_a_game_that_its_event_does_not_want_any_more_ends_after_a_restart(called_off: bool) -> None:
    """Where the server was killed between what the event said and the end of the game."""
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    (game,) = room.running
    store = room.house.store
    told = len(store.records)
    room.say(log.Cancelled(reason="Rain.") if called_off else log.TakenBack(reason="x", with_results=True))
    store.records[told:] = [
        record for record in store.records[told:] if isinstance(record, rows.EventLogged | rows.EventPhase)
    ]
    await room.restart("anna", "bert", restored=[game])
    room.director.look(room.house.spawn)
    await room.house.settle()
    (ended,) = store.of(rows.GameEnded)
    assert (ended.id, ended.reason) == (game.id, "abort")
