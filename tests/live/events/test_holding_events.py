"""What happens to events on the live server: bots that vanish, come late or withdraw, games that are void, rulings."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs
from support.live.event_room import GRACE_S, EventRoom
from support.live.house import S

from cgos_protocol.errors import Refused
from cgos_server.live.events.runner import EventRunner
from cgos_server.service.holds import Hold
from cgos_server.storage.writing import records as rows
from cgos_server.tournaments.base import BLACK_WINS, LOSS, VOID, WHITE_WINS, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import Limits, Play
from cgos_server.tournaments.running.state import Phase
from cgos_server.tournaments.running.steps import BOTH_FORFEIT


def forfeits(result: Result | None) -> bool:
    return result is not None and result.how == "forfeit"


async def test_an_event_of_four_is_played_to_its_end() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    assert len(room.running) == 2
    await room.play_on()
    assert room.state().phase is Phase.OVER
    assert room.ranking() == [(1, "anna"), (2, "bert"), (3, "carl"), (4, "dora")]
    assert len(room.house.store.of(rows.EventGame)) == 6


async def test_who_vanishes_forfeits_after_the_grace_and_plays_again_when_it_is_back() -> None:
    room = await EventRoom.open("anna", "bert", "carl")
    await room.hold("anna", "bert", system="round-robin", options={"double": True})
    game = room.game_of("anna", "bert")
    room.leave("bert")
    await room.end(game, "anna")
    assert room.state().due_games
    await room.look(GRACE_S - 2)
    assert room.state().due_games
    await room.look(3)
    (_, first), (_, second) = room.state().event.games
    assert not forfeits(first.result)
    assert forfeits(second.result)
    assert room.ranking() == [(1, "anna"), (2, "bert")]


async def test_who_comes_within_the_grace_plays() -> None:
    room = await EventRoom.open("anna")
    room.version("bert")
    await room.hold("anna", "bert")
    await room.look(GRACE_S - 2)
    await room.house.arrive("bert")
    assert Hold.EVENT in room.holds("bert")
    await room.look()
    assert room.playing() == {frozenset({"anna", "bert"})}


async def test_the_grace_does_not_run_while_nobody_could_play() -> None:
    room = await EventRoom.open("anna")
    await room.hold("anna", "bert")
    await room.look(GRACE_S - 5)
    holds = room.house.live.matchmaker.holds
    holds.add(Hold.VENUE_PAUSED)
    await room.look(10 * GRACE_S)
    holds.discard(Hold.VENUE_PAUSED)
    await room.look(GRACE_S - 5)
    room.say(log.Paused(reason="lunch"))
    await room.look(10 * GRACE_S)
    room.say(log.Resumed())
    await room.look(GRACE_S - 5)
    assert room.state().due_games
    await room.look(10)
    assert forfeits(room.results()[frozenset({"anna", "bert"})])


async def test_after_a_restart_everybody_has_the_whole_grace() -> None:
    room = await EventRoom.open("anna")
    await room.hold("anna", "bert")
    await room.look(GRACE_S - 5)
    await room.restart("anna")
    await room.look(GRACE_S - 5)
    assert room.state().due_games
    await room.look(10)
    assert room.ranking() == [(1, "anna"), (2, "bert")]


@pytest.mark.parametrize("hold", [Hold.PAUSED, Hold.SUSPENDED, Hold.RESTING, Hold.OUT_OF_HOURS, Hold.OWES_READY])
async def test_who_is_there_and_takes_no_game_is_away(hold: Hold) -> None:
    room = await EventRoom.open("anna", "bert")
    room.house.live.roster.players[room.version("bert")].put(hold)
    await room.hold("anna", "bert")
    await room.look(GRACE_S - 1)
    assert room.state().due_games
    await room.look(2)
    assert forfeits(room.results()[frozenset({"anna", "bert"})])
    assert room.ranking()[0] == (1, "anna")


async def test_its_opponent_waits_a_moment_for_who_is_away_and_plays_others_then() -> None:
    room = await EventRoom.open("anna", "bert", "carl")
    room.leave("bert")
    await room.hold("anna", "bert")
    await room.house.run_pass()
    assert room.playing() == set()
    await room.look(20)
    await room.house.run_pass()
    assert room.playing() == {frozenset({"anna", "carl"})}


async def test_who_withdraws_in_mid_round_forfeits_the_game_that_runs_and_those_that_are_due() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    (game,) = (game for game in room.running if "bert" in {side.name for side in game.sides})
    opponent = next(side.name for side in game.sides if side.name != "bert")
    await room.look(1)
    room.say(log.Withdrawn(entrant=room.seat("bert"), reason="broken"))
    await room.look()
    assert forfeits(room.results()[frozenset({"bert", opponent})])
    assert game.over is not None
    assert game.over.reason == "abort", "nobody has moved, so that nobody's rating moves"
    await room.play_on()
    games = [set(room.names(room.state(), game)) for _, game in room.state().event.games]
    assert [names for names in games if "bert" in names] == [{"bert", opponent}]
    assert room.ranking()[-1][1] == "bert"


async def test_who_withdraws_after_its_first_moves_has_lost_a_game_that_was_played() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    (game,) = room.running
    game.move(game.referee.to_play, "E5", None, room.house.time.received())
    room.say(log.Withdrawn(entrant=room.seat("bert")))
    await room.look()
    result = room.results()[frozenset({"anna", "bert"})]
    assert result in (BLACK_WINS, WHITE_WINS)


async def test_a_void_game_is_played_again() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    game = room.running[0]
    pair = {side.name for side in game.sides}
    game.abort("The operator tests something.")
    room.ready()
    await room.look()
    again = room.game_of(*pair)
    assert again.id != game.id
    assert VOID in {played.result for _, played in room.state().event.games}
    await room.play_on()
    assert room.ranking() == [(1, "anna"), (2, "bert"), (3, "carl"), (4, "dora")]


async def test_who_makes_no_first_move_has_not_come() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    (game,) = room.running
    idle, other = (side.name for side in game.sides)
    room.house.time.advance(61 * S)
    await room.look()
    assert room.ranking() == [(1, other), (2, idle)]
    assert forfeits(room.results()[frozenset({"anna", "bert"})])


async def test_moves_that_a_game_began_with_do_not_count_as_played() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert", rated=False, play=Play(first_moves=("E5", "C3", "G7")))
    (game,) = room.running
    assert game.ply == 3
    room.say(log.Withdrawn(entrant=room.seat("bert")))
    await room.look()
    assert forfeits(room.results()[frozenset({"anna", "bert"})])


@pytest.mark.parametrize("moved", [False, True])
async def test_an_end_that_the_event_did_not_hear_of_is_written_after_a_restart(moved: bool) -> None:
    """As a game's end and what its event says of it are two commits, the server can be killed in between."""
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    (game,) = room.running
    black, white = (side.name for side in game.sides)
    if moved:
        await room.end(game, white)
    else:
        room.house.time.advance(61 * S)
    store = room.house.store
    (ended,) = (record for record in store.of(rows.EventLogged) if record.kind == "ended")
    del store.records[store.records.index(ended) :]
    await room.restart()
    await room.look()
    assert forfeits(room.results()[frozenset({"anna", "bert"})]) is not moved
    assert room.ranking() == [(1, white), (2, black)]
    assert room.state().phase is Phase.OVER


async def test_a_beginning_whose_commit_is_lost_never_was() -> None:
    room = await EventRoom.open("anna", "bert")
    room.house.store.holding = False
    await room.hold("anna", "bert", start=False)
    room.say(log.Closed(ratings={}))
    room.say(log.Started())
    room.director.look(room.house.spawn)
    await room.house.settle()
    room.house.store.holding = True
    room.director.look(room.house.spawn)
    assert room.house.store.held
    assert room.running == []
    room.house.store.held.clear()
    room.house.store.holding = False
    await room.restart("anna", "bert")
    await room.look()
    assert len(room.running) == 1
    assert len(room.house.store.of(rows.EventGame)) == 1


async def test_an_operator_rules_a_result_and_the_game_that_runs_ends_without_one() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    game = room.running[0]
    (number,) = (number for number, played in room.state().played_as.items() if played == game.id)
    room.say(log.Ruled(game=number, result=BLACK_WINS, reason="White cheated."))
    assert game.over is not None
    assert game.over.reason == "abort"
    await room.look()
    assert BLACK_WINS in room.results().values()


async def test_a_game_that_is_to_be_played_again_is() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    game = room.running[0]
    pair = {side.name for side in game.sides}
    await room.end(game, max(pair))
    (number,) = (number for number, played in room.state().played_as.items() if played == game.id)
    room.say(log.Ruled(game=number, result=None, reason="A wrong komi."))
    await room.look()
    again = room.game_of(*pair)
    assert room.state().played_as[number] == again.id != game.id
    await room.restart("anna", "bert", "carl", "dora")
    assert number in room.state().open, "the end of the first one is not taken for that of the second"


async def test_a_round_that_is_taken_back_is_paired_again_and_its_games_end() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora", system="swiss", rounds=2)
    first = list(room.running)
    room.say(log.TakenBack(reason="A wrong order."))
    assert [game.over is not None and game.over.reason for game in first] == ["abort", "abort"]
    room.ready()
    await room.look()
    assert len(room.running) == 2
    assert room.state().event.rounds[0].number == 1
    await room.play_on()
    assert len(room.state().event.rounds) == 2


async def test_the_last_round_of_an_event_that_is_over_is_played_again() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora", system="swiss", rounds=1)
    await room.play_on()
    assert (await room.director.reopen("E")).phase is Phase.OVER
    room.say(log.TakenBack(reason="A wrong order.", with_results=True))
    room.ready()
    await room.look()
    assert room.state().phase is Phase.RUNNING
    assert len(room.running) == 2
    await room.play_on()
    assert (await room.director.reopen("E")).phase is Phase.OVER


async def test_a_corrected_semifinal_takes_the_final_back() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora", system="cup")
    semifinals = list(room.running)
    for game in semifinals:
        await room.end(game, min(side.name for side in game.sides))
    (final,) = room.running
    loser = max(side.name for side in semifinals[0].sides)
    (number,) = (number for number, played in room.state().played_as.items() if played == semifinals[0].id)
    lost_by_black = room.state().event.rounds[0].games
    result = next(game.result for game in lost_by_black if game.id == number)
    room.say(log.Ruled(game=number, result=WHITE_WINS if result == BLACK_WINS else BLACK_WINS, reason="A bug."))
    assert final.over is not None
    assert final.over.reason == "abort"
    room.ready()
    await room.look()
    (again,) = room.running
    assert loser in {side.name for side in again.sides}
    await room.end(again, loser)
    assert room.state().phase is Phase.OVER
    assert room.ranking()[0] == (1, loser)


async def test_a_final_that_both_forfeit_ends_the_cup_without_a_winner() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora", system="cup")
    for game in list(room.running):
        await room.look()
        winner = min(side.name for side in game.sides)
        await room.end(game, winner)
    (final,) = room.running
    for side in final.sides:
        room.leave(side.name)
    final.abort("A power cut.")
    await room.look(2 * GRACE_S)
    assert room.state().phase is Phase.OVER
    (_, last) = list(room.state().event.games)[-1]
    assert last.result == BOTH_FORFEIT == Result(LOSS, LOSS, "forfeit")
    assert [place for place, _ in room.ranking()] == [1, 1, 3, 3]


async def test_an_owner_enters_as_many_as_the_limit_allows_and_is_told_which() -> None:
    room = await EventRoom.open("anna", "bert", "carl")
    room.owners = {"anna": 7, "bert": 7, "carl": 8}
    await room.hold(start=False, limits=Limits(per_owner=1))
    room.enter("anna", by_operator=False)
    with pytest.raises(Refused, match="takes 1 version of one owner, and anna entered"):
        room.enter("bert", by_operator=False)
    room.enter("carl", by_operator=False)
    room.say(log.Withdrawn(entrant=room.seat("anna")))
    room.enter("bert", by_operator=False)
    assert [seat.name for seat in room.state().there] == ["carl", "bert"]


async def test_nothing_begins_while_the_event_is_paused_or_the_server_stops() -> None:
    room = await EventRoom.open("anna", "bert")
    room.house.live.matchmaker.holds.add(Hold.STOPPING)
    await room.hold("anna", "bert")
    assert room.running == []
    room.house.live.matchmaker.holds.clear()
    room.say(log.Paused(reason="lunch"))
    await room.look(2)
    assert room.running == []
    room.say(log.Resumed())
    await room.look()
    assert len(room.running) == 1


async def test_a_fault_of_ours_pauses_the_event() -> None:
    room = await EventRoom.open("anna", "bert")
    room.pairer.fault = ValueError("no such thing")
    await room.hold("anna", "bert")
    assert room.state().paused == "The server failed: no such thing"
    room.pairer.fault = None
    room.say(log.Resumed())
    await room.look()
    assert len(room.running) == 1


async def test_a_fault_before_the_start_is_logged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert", start=False)

    def fail(*_: object, **_named: object) -> None:
        raise ValueError("no such thing")

    with capture_logs() as logs:
        monkeypatch.setattr(EventRunner, "advance", fail)
        await room.look(3)
    assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["our fault in an event"]
    monkeypatch.undo()
    await room.start()
    assert len(room.running) == 1


async def test_an_event_that_is_cancelled_ends_its_games() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    (game,) = room.running
    room.say(log.Cancelled(reason="Nobody looks."))
    assert game.over is not None
    assert game.over.reason == "abort"
    await room.restart("anna", "bert")
    with pytest.raises(Refused, match="E is over, or was called off"):
        room.director.state("E")
    assert (await room.director.reopen("E")).phase is Phase.CANCELLED


async def test_a_result_is_ruled_after_the_end_and_after_a_restart() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert", system="cup")
    await room.play_on()
    assert room.ranking()[0] == (1, "anna")
    await room.restart("anna", "bert")
    await room.director.reopen("E")
    (_, game) = next(iter(room.state().event.games))
    result = WHITE_WINS if game.result == BLACK_WINS else BLACK_WINS
    room.say(log.Ruled(game=game.id, result=result, reason="A bug."))
    assert room.ranking()[0] == (1, "bert")
    assert room.state().phase is Phase.OVER
    room.say(log.Ruled(game=game.id, result=None, reason="Play it again."))
    await room.look()
    assert room.state().phase is Phase.RUNNING
    assert room.playing() == {frozenset({"anna", "bert"})}


async def test_an_event_has_its_name_alone() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    await room.play_on()
    await room.restart()
    with pytest.raises(Refused, match="Take another name"):
        await room.hold("anna", "bert")


async def test_while_it_is_paused_games_end_and_who_withdraws_loses_its_own() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert", "carl", "dora")
    room.say(log.Paused(reason="lunch"))
    (of_bert,) = (game for game in room.running if "bert" in {side.name for side in game.sides})
    (other,) = (game for game in room.running if game is not of_bert)
    room.say(log.Withdrawn(entrant=room.seat("bert"), reason="broken"))
    await room.end(other, min(side.name for side in other.sides))
    await room.look(3 * GRACE_S)
    assert room.running == []
    assert len(room.state().event.rounds) == 1
    assert not room.state().open_games
    room.say(log.Resumed())
    await room.look()
    assert len(room.state().event.rounds) == 2
    assert "bert" not in {side.name for game in room.running for side in game.sides}


async def test_an_event_whose_log_cannot_be_read_waits_and_the_others_go_on() -> None:
    room = await EventRoom.open("anna", "bert", "carl", "dora")
    await room.hold("anna", "bert")
    await room.hold("carl", "dora", name="Other")
    broken = next(record for record in room.house.store.of(rows.EventLogged) if "anna" in record.body)
    at = room.house.store.records.index(broken)
    room.house.store.records[at] = broken._replace(body=broken.body.replace("{", "", 1))
    with capture_logs() as logs:
        await room.restart("anna", "bert", "carl", "dora")
    assert [entry["tournament"] for entry in logs if entry["log_level"] == "error"] == ["E"]
    with pytest.raises(Refused, match="E waits: its log cannot be read"):
        room.say(log.Paused(reason="lunch"))
    with pytest.raises(Refused, match="E waits: its log cannot be read"):
        await room.director.reopen("E")
    assert room.say(log.Paused(reason="lunch"), "Other").paused == "lunch"


async def test_an_event_whose_venue_is_configured_no_more_waits_for_it() -> None:
    room = await EventRoom.open("anna", "bert")
    await room.hold("anna", "bert")
    configured = room.house.venue.name
    log_before = len(room.house.store.of(rows.EventLogged))
    director = room.director_of({})
    await director.open()
    director.look(room.house.spawn)
    for ask in (lambda: director.state("E"), lambda: director.say("E", log.Cancelled(reason="x"), "operator")):
        with pytest.raises(Refused, match=f"E waits: its venue {configured} is not configured"):
            ask()
    with pytest.raises(Refused, match="E waits"):
        await director.reopen("E")
    assert len(room.house.store.of(rows.EventLogged)) == log_before
    await room.restart("anna", "bert")
    assert room.director.state("E").phase is Phase.RUNNING


async def test_nothing_is_forfeited_while_the_server_drains() -> None:
    room = await EventRoom.open("anna", "bert", "carl")
    await room.hold("anna", "bert", "carl")
    (game,) = room.running
    room.house.live.matchmaker.holds.add(Hold.STOPPING)
    room.leave("carl")
    await room.end(game, min(side.name for side in game.sides))
    await room.look(3 * GRACE_S)
    assert room.running == []
    assert not any(forfeits(result) for result in room.results().values())
    assert room.state().phase is Phase.RUNNING
