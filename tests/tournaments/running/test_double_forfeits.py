"""Games that neither side came to: what each system makes of one, as docs/tournaments.md states it."""

from __future__ import annotations

import random

import pytest
from support.tournaments.live_events import LiveEvent, settings_of

from cgos_server.tournaments.base import WHITE_WINS, Game, OptionValue, Result
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import Phase
from cgos_server.tournaments.running.steps import BOTH_FORFEIT
from cgos_server.tournaments.tournament import standings

SWISS = ("accelrat", "swiss", "mcmahon", "godraw", "epm", "weighted", "tcec", "mwm", "round-robin")


def started(system: str, entrants: int, options: dict[str, OptionValue] | None = None) -> LiveEvent:
    live = LiveEvent(settings_of(system, 1, options), random.Random(1))
    live.start(entrants)
    return live


def end(live: LiveEvent, game: Game, result: Result) -> None:
    live.say(log.Ended(game=game.id, result=result))
    live.advance()


@pytest.mark.parametrize("system", SWISS)
def test_in_systems_by_rounds_it_stands_and_the_two_have_met(system: str) -> None:
    live = started(system, 6)
    games = [game for _, game in live.state.open_games]
    for game in games:
        end(live, game, BOTH_FORFEIT if game is games[0] else WHITE_WINS)
    lines = ledger(live.state.event).lines
    for id_ in games[0].pair:
        first = lines[id_].entries[0]
        assert (first.kind, lines[id_].score) == ("forfeit", 0)
        assert (lines[id_].whites, lines[id_].blacks) == (0, 0)
    assert games[0].pair not in {game.pair for number, game in live.state.event.games if number == 2}


def test_in_a_cup_both_are_out_and_who_waits_for_the_winner_advances() -> None:
    live = started("cup", 4)
    first, second = (game for _, game in live.state.open_games)
    end(live, first, BOTH_FORFEIT)
    end(live, second, WHITE_WINS)
    assert live.state.phase is Phase.OVER
    table = standings(live.state.event)
    assert table.rows[0].entrant == second.white
    assert table.remark == ""


def test_in_the_final_of_a_cup_nobody_wins_and_standings_say_so() -> None:
    live = started("cup", 4, {"third_place": True})
    for _, game in live.state.open_games:
        end(live, game, WHITE_WINS)
    for _, game in live.state.open_games:
        end(live, game, BOTH_FORFEIT)
    assert live.state.phase is Phase.OVER
    assert standings(live.state.event).remark.startswith("There is no winner")
    assert [row.values for row in standings(live.state.event).rows] == [
        (1.0, None),
        (1.0, None),
        (0.0, 0.0),
        (0.0, 0.0),
    ]


def test_in_double_elimination_both_have_a_loss_more_and_the_final_can_end_without_a_winner() -> None:
    live = started("double-elimination", 4)
    for _ in range(20):
        if live.state.phase is not Phase.RUNNING:
            break
        for _, game in live.state.open_games:
            end(live, game, BOTH_FORFEIT)
    assert live.state.phase is Phase.OVER
    table = standings(live.state.event)
    losses = [row.values[table.order.index("losses")] for row in table.rows]
    assert losses == [2.0, 2.0, 2.0, 2.0]
    assert table.remark.startswith("There is no winner")


def test_in_a_bubble_a_match_without_points_has_been_played() -> None:
    live = started("bubble", 3)
    for _, game in live.state.open_games:
        end(live, game, BOTH_FORFEIT)
    while live.state.phase is Phase.RUNNING:
        for _, game in live.state.open_games:
            end(live, game, WHITE_WINS)
    table = standings(live.state.event)
    assert sorted(row.entrant for row in table.rows) == [1, 2, 3]
    pairs = [game.pair for _, game in live.state.event.games]
    assert max(pairs.count(pair) for pair in pairs) == 2, "no match came again"
