"""The way back: what is taken back leaves the event as it was, and what was paired before is still found so."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import better_wins, by_lot, entrants, finish, play, play_round, without_ids, won_by

from cgos_protocol.errors import Refused
from cgos_server.tournaments.amending import amend
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    NO_CONTEST,
    VOID,
    WHITE_WINS,
    Entrant,
    Event,
    Game,
    Request,
)
from cgos_server.tournaments.event import (
    begin,
    correct,
    enter,
    forbid,
    game_by_id,
    open_games,
    rejoin,
    request_bye,
    withdraw,
)
from cgos_server.tournaments.recheck import Recheck, recheck
from cgos_server.tournaments.tournament import from_json, is_over, next_round, ready_games, system_of, to_json
from cgos_server.tournaments.undoing import cancel_bye, lift, strike, take_back_round

SYSTEMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("swiss", {}),
    ("tcec", {}),
    ("dutch", {}),
    ("round-robin", {"double": True}),
    ("cup", {"third_place": True}),
    ("double-elimination", {}),
    ("bubble", {"active_size": 3, "min_matches": 2, "unpark_below": 1, "games_per_match": 1}),
)
RESULTS = (WHITE_WINS, BLACK_WINS, DRAWN, WHITE_WINS, BLACK_WINS)


def _event(word: str, options: dict[str, Any], size: int, seed: int) -> Event:
    return Event(system=word, entrants=entrants([2000.0 - 10 * at for at in range(size)]), options=options, seed=seed)


def _state(event: Event) -> Event:
    """All but the record of changes, and ids, which are never given twice."""
    return replace(event, changes=(), rounds=without_ids(event.rounds))


def _differences(event: Event) -> list[Recheck]:
    """Rounds that would not be paired so. In a knock-out colors, and so replays, may be of the results before."""
    checks = [check for check in recheck(event) if not check.agrees]
    if not system_of(event).rounds_follow:
        return checks
    return [check for check in checks if check.missing or check.refusal or check.byes != check.recorded_byes]


@settings(max_examples=40)
@given(case=st.sampled_from(SYSTEMS), size=st.integers(4, 7), rounds=st.integers(0, 3), seed=st.integers(0, 9_999))
def test_what_is_taken_back_leaves_the_event_as_it_was(
    case: tuple[str, dict[str, Any]], size: int, rounds: int, seed: int
) -> None:
    event = play(_event(*case, size, seed), by_lot(seed), rounds)
    undone = [
        lift(forbid(event, 1, 2), 2, 1),
        rejoin(withdraw(event, 3), 3),
        cancel_bye(request_bye(event, Request(2, len(event.rounds) + 1, 1)), 2, len(event.rounds) + 1),
        strike(enter(event, Entrant(id=size + 1, name="late")), size + 1),
    ]
    if not is_over(event):
        paired = next_round(event)
        if paired.number > len(event.rounds):
            begun = begin(event, paired)
            undone += [take_back_round(begun), take_back_round(finish(begun, better_wins), with_results=True)]
    games = [game for round_ in event.rounds for game in round_.games]
    if games and not system_of(event).rounds_follow:
        game = random.Random(seed).choice(games)
        undone.append(correct(correct(event, game.id, NO_CONTEST), game.id, game.result))
    for again in undone:
        assert _state(again) == _state(event)
        assert from_json(to_json(again)) == again
        assert is_over(event) or without_ids([next_round(again)]) == without_ids([next_round(event)])


@settings(max_examples=80)
@given(
    case=st.sampled_from(SYSTEMS[:6]),
    size=st.integers(4, 8),
    seed=st.integers(0, 9_999),
    changes=st.lists(st.tuples(st.sampled_from("pppppwrfleucc"), st.integers(0, 99)), min_size=1, max_size=12),
)
def test_every_round_is_found_as_it_was_paired_whatever_changes(
    case: tuple[str, dict[str, Any]], size: int, seed: int, changes: list[tuple[str, int]]
) -> None:
    event = _event(*case, size, seed)
    rng = random.Random(seed)
    for what, which in changes:
        first, second = 1 + which % size, 1 + (which // 7 + 1 + which) % size
        try:
            if what == "p":
                event = play_round(event, lambda _game: rng.choice(RESULTS))
            elif what == "w":
                event = withdraw(event, first)
            elif what == "r":
                event = rejoin(event, first)
            elif what == "f":
                event = forbid(event, first, second)
            elif what == "l":
                event = lift(event, first, second)
            elif what == "e":
                event = request_bye(event, Request(first, len(event.rounds) + 1))
            elif what == "u":
                event = take_back_round(event, with_results=True)
            elif not system_of(event).rounds_follow:
                games = [game for round_ in event.rounds for game in round_.games]
                if games:
                    event = amend(event, rng.choice(games).id, rng.choice(RESULTS), with_results=True).event
        except Refused:
            continue
        ids = [game.id for round_ in event.rounds for game in round_.games]
        assert len(set(ids)) == len(ids)
        assert from_json(to_json(event)) == event
        assert _differences(event) == []


@settings(max_examples=60)
@given(word=st.sampled_from(["cup", "double-elimination"]), size=st.integers(2, 9), seed=st.integers(0, 9_999))
def test_what_a_corrected_result_leaves_is_as_if_it_had_been_so(word: str, size: int, seed: int) -> None:
    event = play(_event(word, {}, size, seed), by_lot(seed, draws=0.2))
    rng = random.Random(seed)
    for _ in range(3):
        game = rng.choice([game for round_ in event.rounds for game in round_.games])
        event = amend(event, game.id, rng.choice(RESULTS), with_results=True).event
        assert not system_of(event).stale(event).games
        event = play(event, by_lot(rng.randrange(999)))
        assert is_over(event)
        assert _differences(event) == []


def test_a_corrected_semifinal_takes_the_final_back() -> None:
    event = play_round(play_round(_event("cup", {}, 4, 1), better_wins), better_wins)
    semifinal = next(game for game in event.rounds[0].games if 1 in game.pair)
    final = event.rounds[1].games[0]
    upset = won_by(semifinal, next(id_ for id_ in semifinal.pair if id_ != 1))
    with pytest.raises(Refused, match=rf"game {final.id} \(.*, round 2\): paired by the present result of game"):
        amend(event, semifinal.id, upset)
    amended = amend(event, semifinal.id, upset, with_results=True)
    assert [placed.game for placed in amended.taken_back] == [final]
    assert len(amended.event.rounds) == 1
    again = begin(amended.event, next_round(amended.event))
    assert set(again.rounds[1].games[0].pair) == {2, 4}
    assert again.rounds[1].games[0].id > final.id, "an id is never given twice"
    paired = begin(
        play_round(_event("cup", {}, 4, 1), better_wins), next_round(play_round(_event("cup", {}, 4, 1), better_wins))
    )
    assert [taken_back.game.pair for taken_back in amend(paired, semifinal.id, upset).taken_back] == [(1, 2)]


def test_a_swiss_stays_as_it_was_paired() -> None:
    event = play(_event("swiss", {}, 6, 3), by_lot(3), 3)
    first = event.rounds[0].games[0]
    other = BLACK_WINS if first.result == WHITE_WINS else WHITE_WINS
    amended = amend(event, first.id, other)
    assert amended.taken_back == ()
    assert amended.event.rounds[1:] == event.rounds[1:]
    assert all(check.agrees for check in recheck(amended.event))


def test_a_pair_forbidden_later_has_met_by_the_rules() -> None:
    event = play(_event("swiss", {}, 4, 1), better_wins, 1)
    met = event.rounds[0].games[0].pair
    event = forbid(event, *met)
    assert event.changes[-1].round == 2
    assert all(check.agrees for check in recheck(event))


def test_a_void_game_of_a_swiss_is_played_again_before_the_next_round() -> None:
    def void_first(game: Game) -> Any:
        return VOID if 1 in game.pair else better_wins(game)

    event = play_round(_event("swiss", {}, 4, 1), void_first)
    assert not is_over(event)
    (again,) = ready_games(event)
    assert (again.number, [game.pair for game in again.games]) == (
        1,
        [next(g.pair for g in event.rounds[0].games if 1 in g.pair)],
    )
    event = play(event, better_wins, 2)
    assert [len(round_.games) for round_ in event.rounds] == [3, 2]
    assert all(check.agrees for check in recheck(event))
    # A result after all: its replay is needless.
    first = next(game for game in event.rounds[0].games if game.result == VOID)
    replay = event.rounds[0].games[-1]
    with pytest.raises(Refused, match=f"game {replay.id} "):
        amend(event, first.id, WHITE_WINS)
    amended = amend(event, first.id, WHITE_WINS, with_results=True)
    assert [taken_back.game.id for taken_back in amended.taken_back] == [replay.id]
    # For good: nothing is played again.
    decided = amend(play_round(_event("swiss", {}, 4, 1), void_first), first.id, NO_CONTEST).event
    assert next_round(decided).number == 2


def test_refusals() -> None:
    event = _event("swiss", {}, 4, 1)
    for undo, words in (
        (lambda: take_back_round(event), "No round has begun"),
        (lambda: lift(event, 1, 2), "bot-1 and bot-2 may meet already"),
        (lambda: cancel_bye(event, 1, 1), "bot-1 has asked for no bye in round 1"),
        (lambda: cancel_bye(play_round(event, better_wins), 1, 1), "Round 1 has begun"),
        (lambda: take_back_round(play_round(event, better_wins)), r"Round 1 has games with results \(.*, and 1 more\)"),
        (lambda: strike(play_round(event, better_wins), 1), "bot-1 is in round 1"),
    ):
        with pytest.raises(Refused, match=words):
            undo()


def test_the_unbeaten_do_not_wait_for_those_with_one_loss() -> None:
    event = play_round(_event("double-elimination", {}, 8, 1), better_wins)
    event = begin(event, next_round(event))
    unbeaten = set(event.rounds[1].explanation.details["unbeaten"])
    for _, game in open_games(event):
        if set(game.pair) <= unbeaten:
            event = correct(event, game.id, better_wins(game))
    (ahead,) = ready_games(event)
    assert (ahead.number, [game.pair for game in ahead.games]) == (3, [(1, 2)])
    event = begin(event, ahead)
    assert ready_games(event) == ()
    assert all(check.agrees for check in recheck(event))
    event = play(finish(event, better_wins), better_wins)
    assert all(check.agrees for check in recheck(event))
    assert game_by_id(event, event.rounds[2].games[0].id).round == 3
    whole = play(_event("double-elimination", {}, 8, 1), better_wins)
    assert [{game.pair for game in round_.games} for round_ in event.rounds] == [
        {game.pair for game in round_.games} for round_ in whole.rounds
    ]
