"""Events that follow others on the live server, and a server that is killed in between."""

from __future__ import annotations

from support.live.event_room import EventRoom

from cgos_server.storage.writing import records as rows
from cgos_server.tournaments.base import BLACK_WINS, WHITE_WINS
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import Times
from cgos_server.tournaments.running.state import Phase

WEEK_MS = 7 * 86_400_000


async def shared(room: EventRoom) -> None:
    """anna and bert each win one of their two games."""
    await room.hold("anna", "bert", options={"double": True}, playoff=True)
    await room.end(room.game_of("anna", "bert"), "anna")
    await room.end(room.game_of("anna", "bert"), "bert")


async def test_a_shared_first_place_is_played_for_at_once() -> None:
    room = await EventRoom.open("anna", "bert")
    await shared(room)
    assert room.state().phase is Phase.OVER
    assert room.state("E-playoff").phase is Phase.RUNNING
    assert room.playing() == {frozenset({"anna", "bert"})}
    await room.play_on("E-playoff")
    assert room.state().won_playoff == (room.seat("anna"),)


async def test_a_playoff_goes_on_after_the_server_was_killed_and_decides_once() -> None:
    room = await EventRoom.open("anna", "bert")
    await shared(room)
    await room.end(room.game_of("anna", "bert"), "bert")
    await room.restart("anna", "bert")
    ((_, game),) = room.state("E-playoff").open_games
    bert_has_black = room.names(room.state("E-playoff"), game)[0] == "bert"
    result = BLACK_WINS if bert_has_black else WHITE_WINS
    room.say(log.Ruled(game=game.id, result=result, reason="It was won when the power failed."), "E-playoff")
    await room.look()
    assert room.state().won_playoff == (room.seat("bert"),)
    await room.restart("anna", "bert")
    await room.look()
    kinds = [row.kind for row in room.house.store.of(rows.EventLogged) if row.event_id == 1]
    assert kinds.count("followed") == 1
    assert kinds.count("decided") == 1


async def test_the_next_of_a_series_is_announced_once_however_often_the_server_starts() -> None:
    room = await EventRoom.open("anna", "bert")
    starts_at = room.house.time.wall_ms() + 3_600_000
    await room.hold("anna", "bert", name="Weekly", times=Times(starts_at=starts_at, every_days=7))
    await room.restart("anna", "bert")
    await room.look()
    names = [row.name for row in room.house.store.of(rows.EventAdded)]
    assert names == ["Weekly", "Weekly-2"]
    following = room.state("Weekly-2")
    assert following.phase is Phase.ENTRY, "as the first one was opened by hand"
    assert following.settings.times.starts_at == starts_at + WEEK_MS
    room.say(log.Cancelled(reason="Holidays."), "Weekly-2")
    assert room.state("Weekly-3").settings.times.starts_at == starts_at + 2 * WEEK_MS
