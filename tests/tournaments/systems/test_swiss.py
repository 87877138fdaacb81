"""Swiss by groups of points: order, methods, byes, and what a single unbeaten winner needs."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import better_wins, by_lot, entrants, finish, play

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import DRAWN, Entrant, Event, Request, Result, Round
from cgos_server.tournaments.event import begin, forbid, request_bye, withdraw
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.pairing.groups import METHODS
from cgos_server.tournaments.tournament import is_over, next_round, standings

EIGHT = entrants([2400.0, 2300.0, 2200.0, 2100.0, 2000.0, 1900.0, 1800.0, 1700.0])


def pairs(round_: Round) -> list[tuple[int, int]]:
    return sorted(game.pair for game in round_.games)


def swiss(field: tuple[Entrant, ...] = EIGHT, **options: Any) -> Event:
    return Event(system="swiss", entrants=field, options=options, seed=5)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("folding", [(1, 8), (2, 7), (3, 6), (4, 5)]),
        ("double-folding", [(1, 4), (2, 3), (5, 8), (6, 7)]),
        ("translation", [(1, 5), (2, 6), (3, 7), (4, 8)]),
        ("adjacent", [(1, 2), (3, 4), (5, 6), (7, 8)]),
    ],
)
def test_the_first_round_pairs_by_rating(method: str, expected: list[tuple[int, int]]) -> None:
    assert pairs(next_round(swiss(method=method))) == expected
    assert pairs(next_round(swiss(method="random", first_round=method))) == expected
    upside_down = tuple(replace(entrant, id=9 - entrant.id) for entrant in EIGHT)
    turned = sorted((9 - b, 9 - a) for a, b in expected)
    assert pairs(next_round(swiss(upside_down, method=method))) == turned


def test_the_method_of_the_first_round_is_of_that_round_alone() -> None:
    event = play(swiss(method="folding", first_round="adjacent"), better_wins, 1)
    assert pairs(next_round(event)) == [(1, 7), (2, 8), (3, 5), (4, 6)]


def test_equal_points_meet_and_the_middle_one_floats() -> None:
    event = play(swiss(entrants([2000.0 - 10 * k for k in range(6)]), within="initial"), better_wins, 1)
    round_ = next_round(event)  # 1, 2, 3 have won; 2 floats to the middle of 4, 5, 6
    assert round_.explanation.details["groups"] == [[1, 2, 3], [4, 5, 6]]
    assert round_.explanation.details["points"] == [1.0, 0.0]
    assert round_.explanation.details["floats"] == [[2, 4, 1]]  # he has met 5
    assert pairs(round_) == [(1, 3), (2, 4), (5, 6)]
    assert "1 point each, by folding" in next(game.reason for game in round_.games if game.pair == (1, 3))


def test_groups_are_in_the_order_of_standings_unless_told_otherwise() -> None:
    def rule(game: Any) -> Result:
        return Result(2, 0) if (game.white > game.black) != (game.pair == (1, 8)) else Result(0, 2)

    event = play(swiss(), rule, 2)  # 8 beats 1 in the first round
    places = {row.entrant: row.place for row in standings(event).rows}
    by_place = next_round(event).explanation.details["groups"]
    by_id = next_round(replace(event, options={"within": "initial"})).explanation.details["groups"]
    assert [sorted(group) for group in by_place] == by_id
    assert by_place == [sorted(group, key=lambda id_: (places[id_], id_)) for group in by_id]
    assert by_place != by_id


def order_of(event: Event) -> list[int]:
    details: list[int] = next_round(event).explanation.details["groups"][0]
    return details


def test_without_ratings_a_lot_decides_once_for_the_whole_event() -> None:
    nameless = swiss(entrants([None] * 8), within="initial")
    orders = {tuple(order_of(replace(nameless, seed=seed))) for seed in range(6)}
    assert len(orders) > 3
    order = order_of(nameless)
    shuffled = replace(nameless, entrants=tuple(random.Random(3).sample(nameless.entrants, 8)))
    assert order_of(shuffled) == order
    drawn = finish(begin(nameless, next_round(nameless)), lambda _: Result(1, 1))
    assert order_of(drawn) == order
    assert order_of(swiss(initial_order="lot")) != [1, 2, 3, 4, 5, 6, 7, 8]
    some = swiss(entrants([None, 2000.0, None, 2100.0]))
    assert order_of(some)[:2] == [4, 2]


@settings(max_examples=25)
@given(size=st.integers(2, 24), method=st.sampled_from(METHODS), seed=st.integers(0, 10_000))
def test_without_draws_one_unbeaten_winner_is_left(size: int, method: str, seed: int) -> None:
    ratings = random.Random(seed).sample(range(1000, 3000), size)
    event = Event(system="swiss", entrants=entrants(list(map(float, ratings))), options={"method": method}, seed=seed)
    rounds = math.ceil(math.log2(size))
    event = play(replace(event, planned=rounds), by_lot(seed, draws=0.0))
    assert len(event.rounds) == rounds
    assert is_over(event)
    with pytest.raises(Refused, match="over"):
        next_round(event)
    assert sum(line.score == 2 * rounds for line in ledger(event).lines.values()) <= 1


@settings(max_examples=25)
@given(size=st.integers(2, 16), method=st.sampled_from(METHODS), seed=st.integers(0, 10_000), rounds=st.integers(1, 5))
def test_others_than_equals_meet_only_where_it_says_so(size: int, method: str, seed: int, rounds: int) -> None:
    event = Event(
        system="swiss", entrants=entrants([3000.0 - k for k in range(size)]), options={"method": method}, seed=seed
    )
    for number in range(rounds):
        round_ = next_round(event)
        lines = ledger(event).lines
        details = round_.explanation.details
        group_of = {id_: at for at, group in enumerate(details["groups"], 1) for id_ in group}
        together = [set(numbers) for numbers in details["merged"]]
        floats = {tuple(sorted(row[:2])) for row in details["floats"]}
        rematches = {tuple(sorted(pair)) for pair in details["rematches"]}
        assert rematches == {pair for pair in pairs(round_) if pair in ledger(event).met}
        for a, b in pairs(round_):
            apart = group_of[a] != group_of[b]
            assert apart == (lines[a].score != lines[b].score)
            if apart and not rematches:
                assert (a, b) in floats or any({group_of[a], group_of[b]} <= numbers for numbers in together)
        event = finish(begin(event, round_), by_lot(seed + number))


def test_nobody_sits_out_twice_before_everybody_has_once() -> None:
    event = swiss(EIGHT[:5])
    sat_out = []
    for number in range(10):
        event = play(event, by_lot(number), 1)
        sat_out += [bye.entrant for bye in event.rounds[-1].byes]
    assert sorted(sat_out[:5]) == sorted(sat_out[5:]) == [1, 2, 3, 4, 5]
    assert sat_out[0] == 5
    assert "bot-5 sits out" in event.rounds[0].explanation.summary


def test_all_rounds_of_a_small_field_without_rematches_and_then_with() -> None:
    event = play(swiss(EIGHT[:4], method="random"), by_lot(1), 3)
    met = Counter(game.pair for round_ in event.rounds for game in round_.games)
    assert set(met) == set(itertools.combinations(range(1, 5), 2))
    again = next_round(event)
    assert len(again.explanation.details["rematches"]) == 2
    assert "rematches" in again.explanation.summary


def test_groups_that_are_paired_as_one_are_named() -> None:
    event = swiss(EIGHT[:6], method="adjacent")
    event = finish(begin(event, next_round(event)), lambda game: DRAWN if game.pair == (1, 2) else better_wins(game))
    round_ = next_round(event)  # of 3 and 5, 1 and 2, 4 and 6 the second two have met
    assert round_.explanation.details["groups"] == [[3, 5], [1, 2], [4, 6]]
    assert round_.explanation.details["merged"] == [[2, 3]]
    assert pairs(round_) == [(1, 4), (2, 6), (3, 5)]
    assert "The groups of 0.5 and 0 points are paired as one" in round_.explanation.summary


def test_hardly_anybody() -> None:
    nobody = next_round(swiss(()))
    assert nobody.games == nobody.byes == ()
    alone = next_round(swiss(EIGHT[:1]))
    assert not alone.games
    assert [bye.entrant for bye in alone.byes] == [1]
    event = play(swiss(EIGHT[:2]), better_wins, 3)
    assert [pairs(round_) for round_ in event.rounds] == [[(1, 2)]] * 3
    assert [round_.explanation.details["rematches"] != [] for round_ in event.rounds] == [False, True, True]


def test_half_point_byes_make_groups_of_their_own() -> None:
    event = request_bye(request_bye(swiss(), Request(1, 1, 1)), Request(2, 1, 1))
    event = play(event, better_wins, 1)
    round_ = next_round(event)
    assert round_.explanation.details["points"] == [1.0, 0.5, 0.0]
    assert round_.explanation.details["groups"][1] == [1, 2]


def test_forfeits_count_as_met_and_who_has_gone_is_not_paired() -> None:
    event = finish(begin(swiss(), next_round(swiss())), lambda _: Result(0, 0, "forfeit"))
    assert not set(pairs(next_round(event))) & set(pairs(event.rounds[0]))
    left = next_round(withdraw(withdraw(event, 1), 8))
    assert {id_ for pair in pairs(left) for id_ in pair} == {2, 3, 4, 5, 6, 7}


def test_pairs_that_must_not_meet_decide_who_sits_out_or_are_named_as_the_trouble() -> None:
    three = swiss(EIGHT[:3])
    round_ = next_round(forbid(three, 1, 2))
    assert [bye.entrant for bye in round_.byes] == [2]
    two = swiss(EIGHT[:2])
    with pytest.raises(Refused, match="must not meet"):
        next_round(forbid(two, 1, 2))
