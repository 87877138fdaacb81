"""Rulings in an event that the operator ended as it stood: it goes on only where the ruling asks for games."""

from __future__ import annotations

import pytest
from support.tournaments.held_events import HeldEvent

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, VOID, WHITE_WINS, Result
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import Phase, after

NAMES = ("Ann-1", "Bob-1", "Cid-1", "Dan-1")


def ended_early(system: str = "swiss", **settings: object) -> HeldEvent:
    """After one of more rounds, and while it was paused."""
    held = HeldEvent(EventSettings(name="E", venue="9x9", system=system, **settings))  # type: ignore[arg-type]
    held.start(NAMES)
    for _, game in list(held.state.open_games):
        held.say(log.Ended(game=game.id, result=WHITE_WINS))
    held.say(log.Paused(reason="Rain."))
    held.say(log.Finished(reason="It rains all day."), "operator")
    return held


@pytest.mark.parametrize("rounds", [None, 3])
def test_another_result_pairs_no_further_round(rounds: int | None) -> None:
    held = ended_early(rounds=rounds)
    held.say(log.Ruled(game=1, result=BLACK_WINS, reason="A bug."), "operator")
    held.advance()
    assert held.state.phase is Phase.OVER
    assert len(held.state.event.rounds) == 1


@pytest.mark.parametrize("result", [VOID, None])
def test_a_game_that_is_to_be_played_again_is_though_the_event_was_paused_when_it_ended(
    result: Result | None,
) -> None:
    held = ended_early(rounds=3)
    assert held.state.paused is None
    held.say(log.Ruled(game=1, result=result, reason="A bug."), "operator")
    held.advance()
    assert held.state.phase is Phase.RUNNING
    assert len(held.state.due_games) == 1
    assert len(held.state.event.rounds) == 1


def test_a_cup_that_was_ended_early_goes_on_where_matches_are_taken_back() -> None:
    held = HeldEvent(EventSettings(name="E", venue="9x9", system="cup"))
    held.start(NAMES)
    held.play_round(lambda _: WHITE_WINS)
    final = next(game for number, game in held.state.open_games if number == 2)
    held.say(log.Ended(game=final.id, result=WHITE_WINS))
    held.advance()
    assert held.state.phase is Phase.OVER
    held.say(log.Ruled(game=1, result=BLACK_WINS, reason="A bug.", with_results=True), "operator")
    held.advance()
    assert held.state.phase is Phase.RUNNING
    assert len(held.state.due_games) == 1


def played_out() -> HeldEvent:
    held = HeldEvent(EventSettings(name="E", venue="9x9", system="swiss", rounds=2))
    held.start(NAMES)
    for _ in range(2):
        held.play_round(lambda _: WHITE_WINS)
    assert held.state.phase is Phase.OVER
    return held


@pytest.mark.parametrize("minutes", [0, 10, 11])
def test_the_last_round_can_be_taken_back_for_ten_minutes_after_the_end(minutes: int) -> None:
    held = played_out()
    assert held.state.ended_at is not None
    back = log.TakenBack(reason="Two sides were swapped.", with_results=True)
    entry = log.LogEntry(held.state.seq + 1, held.state.ended_at + 60_000 * minutes, "operator", back)
    if minutes > 10:
        with pytest.raises(Refused, match="its last round could be taken back for ten minutes after the end"):
            after(held.state, entry)
        return
    state = after(held.state, entry)
    assert (state.phase, state.ended_at, len(state.event.rounds)) == (Phase.RUNNING, None, 1)
    with pytest.raises(Refused, match="Say that they are to be taken back too"):
        after(held.state, entry._replace(said=log.TakenBack(reason="Swapped.")))


def test_of_a_cancelled_event_no_round_is_taken_back() -> None:
    held = HeldEvent(EventSettings(name="E", venue="9x9", system="swiss", rounds=2))
    held.start(NAMES)
    held.say(log.Cancelled(reason="Rain."), "operator")
    with pytest.raises(Refused, match="nothing of it can be changed"):
        held.say(log.TakenBack(reason="Swapped.", with_results=True), "operator")
