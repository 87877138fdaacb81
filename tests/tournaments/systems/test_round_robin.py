"""Round robin: the tables, colors, who is missing."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.vectors import parametrize
from support.tournaments.events import better_wins, by_lot, entrants, finish, play, play_round

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, NO_CONTEST, WHITE_WINS, Entrant, Event, Game, Request, Result
from cgos_server.tournaments.event import begin, enter, forbid, request_bye, withdraw
from cgos_server.tournaments.systems.round_robin import berger, circle, rounds_for
from cgos_server.tournaments.tournament import is_over, lots, next_round, ready_games, standings, system_of

BERGER_6 = ("1-6 2-5 3-4", "6-4 5-3 1-2", "2-6 3-1 4-5", "6-5 1-4 2-3", "3-6 4-2 5-1")
BERGER_10 = (
    "1-10 2-9 3-8 4-7 5-6",
    "10-6 7-5 8-4 9-3 1-2",
    "2-10 3-1 4-9 5-8 6-7",
    "10-7 8-6 9-5 1-4 2-3",
    "3-10 4-2 5-1 6-9 7-8",
    "10-8 9-7 1-6 2-5 3-4",
    "4-10 5-3 6-2 7-1 8-9",
    "10-9 1-8 2-7 3-6 4-5",
    "5-10 6-4 7-3 8-2 9-1",
)
"""FIDE Handbook, White first."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "round_robin_10", named=lambda case: f"{case['n']} players")


def _event(n: int, **options: Any) -> Event:
    return Event(system="round-robin", entrants=entrants([None] * n), options=options)


@pytest.mark.parametrize("colors", ["literal", "balanced"])
def test_vectors(case: dict[str, Any], colors: str) -> None:
    n = case["n"]
    event = _event(n, colors=colors)
    balance: Counter[int] = Counter()
    for expected in case["rounds"]:
        paired = next_round(event)
        assert paired.number == expected["round"]
        for row in ("upper", "lower"):
            ids = [None if seat == case["dummy_seat"] else seat for seat in expected[row]]
            assert paired.explanation.details[row] == ids
        assert [[game.black, game.white] for game in paired.games] == expected[f"color_{colors}_black_white"]
        free = [] if expected["free"] is None else [expected["free"]]
        assert [bye.entrant for bye in paired.byes] == free
        for game in paired.games:
            balance.update({game.black: 1, game.white: -1})
        event = finish(begin(event, paired), better_wins)
    assert is_over(event)
    assert {str(id_): balance[id_] for id_ in range(1, n + 1)} == case[f"black_minus_white_{colors}"]


@pytest.mark.parametrize(("seats", "table"), [(6, BERGER_6), (10, BERGER_10)])
def test_the_berger_tables(seats: int, table: tuple[str, ...]) -> None:
    for number, row in enumerate(table, 1):
        boards = berger(seats, number)
        assert [f"{board.first}-{board.second}" for board in boards] == row.split()
        assert all(board.first_is_white for board in boards)


@given(half=st.integers(1, 14))
def test_numbers_of_a_berger_round_add_up_to_the_same(half: int) -> None:
    seats = 2 * half
    for number in range(1, seats):
        sums = {sum(board.numbers) % (seats - 1) for board in berger(seats, number) if seats not in board.numbers}
        assert sums <= {(number + 1) % (seats - 1)} if seats > 2 else not sums


@pytest.mark.parametrize("table", [circle, berger])
@given(half=st.integers(1, 14))
def test_a_table_has_every_pair_once(table: Any, half: int) -> None:
    rounds = [table(2 * half, number) for number in range(1, 2 * half)]
    for boards in rounds:
        assert sorted(at for board in boards for at in board.numbers) == list(range(1, 2 * half + 1))
    pairs = sorted(tuple(sorted(board.numbers)) for boards in rounds for board in boards)
    assert pairs == list(combinations(range(1, 2 * half + 1), 2))


@pytest.mark.parametrize("options", [{}, {"table": "berger"}, {"colors": "literal"}], ids=str)
@pytest.mark.parametrize("double", [False, True])
@given(n=st.integers(2, 11), seed=st.integers(0, 1_000))
def test_everybody_meets_everybody(options: dict[str, Any], double: bool, n: int, seed: int) -> None:
    event = play(_event(n, double=double, **options), by_lot(seed))
    cycles = 2 if double else 1
    assert len(event.rounds) == cycles * rounds_for(n) == system_of(event).length(event)
    met: Counter[tuple[int, int]] = Counter()
    byes: Counter[int] = Counter()
    whites: Counter[int] = Counter()
    for round_ in event.rounds:
        busy = [id_ for game in round_.games for id_ in game.pair] + [bye.entrant for bye in round_.byes]
        assert sorted(busy) == list(range(1, n + 1))
        met.update((game.white, game.black) for game in round_.games)
        byes.update(bye.entrant for bye in round_.byes)
        whites.update(game.white for game in round_.games)
    for pair in combinations(range(1, n + 1), 2):
        both = sorted((met[pair], met[pair[::-1]]))
        assert both == ([1, 1] if double else [0, 1])
    assert all(byes[id_] == cycles * (n % 2) for id_ in range(1, n + 1))
    most = {"balanced": 1 + n % 2, "berger": 1 - n % 2, "literal": 4}[
        "berger" if options.get("table") else options.get("colors", "balanced")
    ]
    if not double:
        assert all(abs(n - 1 - 2 * whites[id_]) <= most for id_ in range(1, n + 1))
    with pytest.raises(Refused, match="over after"):
        next_round(event)


def test_berger_tables_have_their_own_colors() -> None:
    with pytest.raises(Refused, match="Leave out colors, or choose table=circle"):
        next_round(_event(4, table="berger", colors="literal"))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few(n: int) -> None:
    event = _event(n)
    with pytest.raises(Refused, match="at least two entrants"):
        next_round(event)
    assert is_over(event)
    assert ready_games(event) == ()
    assert len(standings(event).rows) == n


def test_whoever_leaves_before_the_start_has_no_number() -> None:
    event = play(withdraw(_event(5), 1), better_wins)
    assert len(event.rounds) == 3
    assert not any(1 in game.pair for round_ in event.rounds for game in round_.games)
    assert not any(round_.byes for round_ in event.rounds)


@pytest.mark.parametrize("n", [6, 7])
def test_opponents_of_who_has_withdrawn_have_free_rounds(n: int) -> None:
    event = _event(n)
    before = play(event, better_wins)
    event = withdraw(play(event, better_wins, 2), 2)
    missed = 0
    for planned in before.rounds[2:]:
        paired = next_round(event)
        theirs = [game for game in planned.games if 2 in game.pair]
        assert [(game.white, game.black) for game in paired.games] == [
            (game.white, game.black) for game in planned.games if 2 not in game.pair
        ]
        free = {bye.entrant for bye in planned.byes if bye.entrant != 2}
        free |= {id_ for game in theirs for id_ in game.pair if id_ != 2}
        assert {bye.entrant for bye in paired.byes} == free
        assert {bye.points for bye in paired.byes} <= {event.bye_points}
        assert ("bot-2 is not there" in paired.explanation.summary) == bool(theirs)
        missed += len(theirs)
        event = finish(begin(event, paired), better_wins)
    assert missed
    assert is_over(event)


@pytest.mark.parametrize("points", [0, 1, 2])
def test_a_bye_asked_for_frees_the_opponent_too(points: int) -> None:
    plain = next_round(_event(4))
    event = request_bye(_event(4), Request(1, 1, points))
    paired = next_round(event)
    opponent = next(sum(game.pair) - 1 for game in plain.games if 1 in game.pair)
    assert [(bye.entrant, bye.points, bye.requested) for bye in paired.byes] == [
        (opponent, 2, False),
        (1, points, True),
    ]
    rest = play(finish(begin(event, paired), better_wins), better_wins)
    assert len(rest.rounds) == 3
    assert sum(1 in game.pair for round_ in rest.rounds for game in round_.games) == 2


def test_the_first_to_come_late_takes_the_free_seat() -> None:
    event = play(_event(5), better_wins, 2)
    had_free = [bye.entrant for round_ in event.rounds for bye in round_.byes]
    event = enter(enter(event, Entrant(id=6, name="late")), Entrant(id=7, name="later"))
    for _ in range(3):
        paired = next_round(event)
        assert sorted(id_ for game in paired.games for id_ in game.pair) == [1, 2, 3, 4, 5, 6]
        assert not paired.byes
        assert "later entered after the start and is not paired" in paired.explanation.summary
        event = finish(begin(event, paired), better_wins)
    met = [sum(game.pair) - 6 for round_ in event.rounds for game in round_.games if 6 in game.pair]
    assert sorted([*met, *had_free]) == [1, 2, 3, 4, 5]
    assert is_over(event)
    assert [row.entrant for row in standings(event).rows][-1] == 7


def test_a_seat_stays_taken_when_its_late_owner_leaves() -> None:
    event = play_round(enter(play(_event(5), better_wins, 2), Entrant(id=6, name="late")), better_wins)
    event = enter(withdraw(event, 6), Entrant(id=7, name="later"))
    paired = next_round(event)
    assert not any(7 in game.pair for game in paired.games)
    assert len(paired.byes) == 1


def test_nobody_comes_late_to_an_even_field() -> None:
    event = enter(play(_event(4), better_wins, 1), Entrant(id=5, name="late"))
    paired = next_round(event)
    assert sorted(id_ for game in paired.games for id_ in game.pair) == [1, 2, 3, 4]
    assert "late entered after the start" in paired.explanation.summary


def test_two_who_must_not_meet() -> None:
    event = _event(4)
    first = {game.pair for game in next_round(event).games}
    event = play(event, better_wins, 1)
    for pair in combinations(range(1, 5), 2):
        barred = forbid(event, *pair)
        if pair in first:
            assert next_round(barred) == next_round(event)
        else:
            with pytest.raises(
                Refused, match=f"bot-{pair[0]} and bot-{pair[1]}, who would meet in round [23], must not"
            ):
                next_round(barred)
            assert next_round(withdraw(barred, pair[0])).games


def test_two_who_must_not_meet_again() -> None:
    event = play(_event(4, double=True), better_wins, 3)
    with pytest.raises(Refused, match="would meet in round 4"):
        next_round(forbid(event, *next_round(event).games[0].pair))


def test_a_game_without_contest_is_not_played_again() -> None:
    event = play(_event(4), lambda _game: NO_CONTEST)
    assert len(event.rounds) == 3
    assert [row.place for row in standings(event).rows] == [1, 1, 1, 1]


def test_three_who_beat_each_other_share_a_place() -> None:
    winners = {(1, 2): 1, (2, 3): 2, (1, 3): 3}

    def rule(game: Game) -> Result:
        return WHITE_WINS if winners.get(game.pair, min(game.pair)) == game.white else BLACK_WINS

    table = standings(play(_event(4), rule))
    assert [(row.place, row.entrant) for row in table.rows] == [(1, 1), (1, 2), (1, 3), (4, 4)]


def test_no_more_rounds_than_planned() -> None:
    event = Event(system="round-robin", entrants=entrants([None] * 6), planned=2)
    event = play(event, better_wins)
    assert len(event.rounds) == 2


def test_nothing_is_ready_while_games_are_open() -> None:
    event = _event(4)
    (part,) = ready_games(event)
    assert part == next_round(event) == system_of(event).pair(event, lots(event))
    event = begin(event, part)
    assert ready_games(event) == ()
    with pytest.raises(Refused, match="without a result"):
        next_round(event)
