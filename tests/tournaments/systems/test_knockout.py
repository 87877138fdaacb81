"""How a match ends, who has White in it, folding with backtracking against trying everything."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tournaments.events import NO_SHOW, entrants

from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Entrant,
    Event,
    Game,
    Result,
    Round,
)
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.systems.knockout import Match, colors, folded, games_of, match, placed

Pairs = list[tuple[int, int]]


def _games(*results: Result | None) -> list[Game]:
    """Games of 1 (White first) and 2, with colors swapped after each draw."""
    white, black, games = 1, 2, []
    for result in results:
        games.append(Game(black=black, white=white, result=result))
        if result == DRAWN:
            white, black = black, white
    return games


def test_a_match_that_has_not_begun() -> None:
    state = match([], 1, 2, 2)
    assert state == Match()
    assert not state.is_decided


def test_the_winner_of_a_game_wins_the_match() -> None:
    assert match(_games(WHITE_WINS), 2, 1, 2) == Match(winner=1, losers=(2,))
    assert match(_games(BLACK_WINS), 2, 1, 2) == Match(winner=2, losers=(1,))
    assert match(_games(Result(2, 0, "forfeit")), 1, 2, 2) == Match(winner=2, losers=(1,))
    assert match(_games(Result(0, 1)), 2, 1, 2) == Match(winner=1, losers=(2,))


def test_a_game_without_a_result_is_waited_for() -> None:
    assert match(_games(DRAWN, None), 1, 2, 2) == Match(is_open=True)


@pytest.mark.parametrize("replays", [0, 1, 2])
def test_draws_are_replayed_with_colors_swapped(replays: int) -> None:
    for draws in range(1, replays + 1):
        state = match(_games(*[DRAWN] * draws), 2, 1, replays)
        assert not state.is_decided
        assert state.again is not None
        assert (state.again.white, state.again.black) == ((2, 1) if draws % 2 else (1, 2))
        assert f"replay {draws} of {replays}" in state.again.reason
    assert match(_games(*[DRAWN] * (replays + 1)), 2, 1, replays) == Match(winner=2, losers=(1,))


def test_void_games_count_for_nothing() -> None:
    state = match(_games(DRAWN, VOID, VOID), 1, 2, 1)
    assert state.again is not None
    assert (state.again.white, state.again.black) == (2, 1)
    assert match(_games(DRAWN, VOID, VOID, DRAWN), 1, 2, 1) == Match(winner=1, losers=(2,))


def test_both_lose_where_nobody_gets_a_point() -> None:
    assert match(_games(NO_SHOW), 1, 2, 2) == Match(losers=(1, 2))
    assert match(_games(Result(0, 0)), 1, 2, 2) == Match(losers=(1, 2))


def _after(*games: Game) -> Event:
    rounds = tuple(Round(number=number, games=(game,)) for number, game in enumerate(games, 1))
    return Event(system="cup", entrants=entrants([None] * 4), rounds=rounds)


def test_who_had_white_less_often_has_white() -> None:
    known = ledger(_after(Game(black=3, white=1, result=WHITE_WINS)))
    for board in (1, 2):
        assert colors(known, 1, 2, board)[:2] == (2, 1)
        assert colors(known, 2, 1, board)[:2] == (2, 1)
        assert colors(known, 3, 2, board)[:2] == (3, 2)


def test_forfeits_have_no_colors() -> None:
    known = ledger(_after(Game(black=3, white=1, result=Result(0, 2, "forfeit"))))
    assert colors(known, 1, 2, 1)[:2] == (2, 1)
    assert colors(known, 1, 2, 2)[:2] == (1, 2)


def test_colors_change_where_counts_are_equal() -> None:
    known = ledger(
        _after(
            Game(black=3, white=1, result=DRAWN),
            Game(black=1, white=4, result=DRAWN),
            Game(black=4, white=2, result=DRAWN),
            Game(black=2, white=3, result=DRAWN),
        )
    )
    # 1 and 2 had White, then Black; 3 had Black, then White.
    for board in (1, 2):
        assert colors(known, 1, 3, board)[:2] == (1, 3)
        assert colors(known, 3, 1, board)[:2] == (1, 3)
    assert colors(known, 1, 2, 1)[:2] == (2, 1)
    assert colors(known, 1, 2, 2)[:2] == (1, 2)


def test_who_has_not_played_changes_with_who_has() -> None:
    known = ledger(_after(Game(black=3, white=1, result=DRAWN), Game(black=1, white=4, result=DRAWN)))
    for board in (1, 2):
        assert colors(known, 1, 2, board)[:2] == (1, 2)
        assert colors(known, 2, 1, board)[:2] == (1, 2)


def _tried(order: list[int], barred: set[tuple[int, int]]) -> Pairs | None:
    """The first from the top takes the last whom he may, unless the rest fails."""
    if not order:
        return []
    first = order[0]
    for other in reversed(order[1:]):
        if (min(first, other), max(first, other)) not in barred:
            rest = _tried([id_ for id_ in order[1:] if id_ != other], barred)
            if rest is not None:
                return [(first, other), *rest]
    return None


@settings(max_examples=150)
@given(data=st.data(), half=st.integers(0, 4))
def test_folding_is_the_first_pairing_of_a_search(data: st.DataObject, half: int) -> None:
    order = data.draw(st.permutations(range(1, 2 * half + 1)))
    pairs = list(combinations(range(1, 2 * half + 1), 2))
    barred = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    result = folded(order, barred)
    assert result == _tried(list(order), barred)


def test_folding_of_many_who_have_met_ends() -> None:
    # Two halves of 21 of which all have met across: chronological backtracking would take ages to see it.
    order = list(range(42))
    across = list(product(range(21), range(21, 42)))
    assert folded(order, across) is None
    within = [*combinations(range(21), 2), *combinations(range(21, 42), 2)]
    assert folded(order, within) == list(zip(range(21), range(41, 20, -1), strict=True))


def test_games_of_a_round_by_pair() -> None:
    event = Event(
        system="cup",
        entrants=entrants([None] * 4),
        rounds=(
            Round(
                number=1, games=(Game(black=1, white=2, result=DRAWN), Game(black=4, white=3), Game(black=2, white=1))
            ),
        ),
    )
    assert games_of(event, 1) == {
        (1, 2): [Game(black=1, white=2, result=DRAWN), Game(black=2, white=1)],
        (3, 4): [Game(black=4, white=3)],
    }
    assert games_of(event, 2) == {}


def test_tie_breakers_of_the_event_come_last() -> None:
    field = (
        Entrant(id=1, name="a", rating=1_000.0),
        Entrant(id=2, name="b", rating=2_000.0),
        Entrant(id=3, name="c", rating=1_500.0),
    )
    values: dict[str, dict[int, float | None]] = {"advanced": {1: 1, 2: 0, 3: 0}}
    plain = placed(Event(system="cup", entrants=field), ("advanced",), values)
    assert [(row.place, row.entrant) for row in plain.rows] == [(1, 1), (2, 2), (2, 3)]
    table = placed(Event(system="cup", entrants=field, tie_breakers=("points", "rating")), ("advanced",), values)
    assert table.order == ("advanced", "points", "rating")
    assert [(row.place, row.entrant, row.values) for row in table.rows] == [
        (1, 1, (1, 0.0, 1_000.0)),
        (2, 2, (0, 0.0, 2_000.0)),
        (3, 3, (0, 0.0, 1_500.0)),
    ]
