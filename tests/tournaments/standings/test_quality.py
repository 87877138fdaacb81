"""Measures of rankings against recorded values and plain counting, measures of events against their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.vectors import Vectors
from support.tournaments.events import entrants

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Bye, Event, Game, Result, Round
from cgos_server.tournaments.pairing.mwm_weights import pair_field
from cgos_server.tournaments.standings.quality import (
    StrengthDifference,
    colors,
    difference_of,
    float_pairs,
    kendall,
    ndcg,
    spearman,
    strength_difference,
    unforeseen,
)


def number(name: str) -> int:
    return int(name[1:])


def ranking(case: dict[str, Any]) -> tuple[list[int], dict[int, float]]:
    order = [number(name) for name in case["order_best_first"]]
    return order, {number(name): float(value) for name, value in case["strength"].items()}


def test_vectors(vectors: Vectors) -> None:
    for case in vectors("ranking_quality")["cases"]:
        order, strength = ranking(case)
        assert kendall(order, strength) == pytest.approx(case["kendall_tau"], abs=1e-9), case["note"]
        assert spearman(order, strength) == pytest.approx(case["spearman_rho"], abs=1e-9), case["note"]
        assert ndcg(order, strength) == pytest.approx(case["ndcg"], abs=1e-9), case["note"]


@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.randoms(use_true_random=False))
def test_kendall_counts_pairs(values: list[int], random: Any) -> None:
    strength = {at: float(value) for at, value in enumerate(values, 1)}
    order = list(strength)
    random.shuffle(order)
    signs = [np.sign(strength[first] - strength[second]) for first, second in itertools.combinations(order, 2)]
    assert kendall(order, strength) == pytest.approx(sum(signs) / len(signs))


@given(st.permutations(range(1, 8)))
def test_reversing_a_ranking_turns_tau_and_rho_round(order: list[int]) -> None:
    strength = {id_: -10.0 * id_ for id_ in order}
    for measure in (kendall, spearman):
        assert measure(order[::-1], strength) == pytest.approx(-measure(order, strength))
        assert measure(sorted(order), strength) == 1.0
    assert 0.0 < ndcg(order, strength) <= 1.0


@pytest.mark.parametrize("order", [[], [1]])
def test_fewer_than_two_are_ranked_perfectly(order: list[int]) -> None:
    assert [measure(order, {1: 5.0}) for measure in (kendall, spearman, ndcg)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("order", "strength", "says"),
    [
        ([1, 1], {1: 5.0}, "2 times"),
        ([1, 2], {1: 5.0}, "no strength"),
        ([1, 2], {1: 5.0, 2: float("nan")}, "not a number"),
    ],
)
def test_what_is_no_ranking_is_refused(order: list[int], strength: dict[int, float], says: str) -> None:
    for measure in (kendall, spearman, ndcg):
        with pytest.raises(Refused, match=says):
            measure(order, strength)


@pytest.fixture
def event() -> Event:
    rounds = (
        Round(
            number=1,
            games=(Game(black=2, white=1, result=WHITE_WINS), Game(black=4, white=3, result=DRAWN)),
            byes=(Bye(5),),
        ),
        Round(
            number=2,
            games=(Game(black=1, white=5, result=BLACK_WINS), Game(black=2, white=3, result=Result(0, 2, "forfeit"))),
            byes=(Bye(4),),
        ),
        Round(
            number=3,
            games=(Game(black=3, white=1, result=BLACK_WINS), Game(black=4, white=5, result=VOID)),
            byes=(Bye(2),),
        ),
    )
    return Event(system="swiss", entrants=entrants([None] * 5), rounds=rounds)


def test_float_pairs_are_pairs_of_different_scores(event: Event) -> None:
    # Round 2: 5 and 1 have a point each, 3 and 2 half a point and none.
    # Round 3: 1 has two points, 3 one and a half; 5 has one, 4 one and a half.
    assert float_pairs(event) == 3


def test_colors_count_games_really_played(event: Event) -> None:
    statistics = colors(event)
    assert statistics.differences == (4, 4, 4)
    assert statistics.largest == 1


def test_unforeseen_results_are_wins_of_the_weaker(event: Event) -> None:
    upsets = unforeseen(event, {1: 1000.0, 2: 1100.0, 3: 900.0, 4: 950.0, 5: 1200.0})
    assert upsets == (3, 4)
    assert unforeseen(event, dict.fromkeys(range(1, 6), 1.0)).share == 0.0


def test_nothing_to_reach_is_reached() -> None:
    assert StrengthDifference(0.0, 0.0).share == 1.0
    assert StrengthDifference(1.0, 4.0).share == 0.25


def test_largest_strength_difference(vectors: Vectors) -> None:
    for case in vectors("ranking_quality")["normalized_strength_difference"]:
        players = sorted(case["players"], key=lambda player: (-player["score"], -player["elo"], player["order"]))
        rank = {player["id"]: at for at, player in enumerate(players)}
        times = np.zeros((len(players), len(players)), dtype=np.int64)
        for black, white in case["met"]:
            times[rank[black], rank[white]] = times[rank[white], rank[black]] = 1
        score, balance = (np.array([player[key] for player in players]) for key in ("score", "c"))
        strengths = np.array([1000 * case["strength"][player["id"]] for player in players])
        best = pair_field(score, balance, times, case["beta"], difference_of(strengths))
        made = sum(abs(case["strength"][a] - case["strength"][b]) for a, b in case["pairs"])
        assert made == case["total_strength_difference"]
        assert best.total[-1] / 1000 == pytest.approx(case["maximum_total"], abs=1e-9)
        assert made / (best.total[-1] / 1000) == pytest.approx(case["normalized_strength_difference"], abs=1e-9)


def test_strength_difference_of_an_event() -> None:
    # Four equal in score: 1-2 and 3-4 differ by 30 together, 1-3 and 2-4 by 50, 1-4 and 2-3 too.
    strength = {1: 40.0, 2: 30.0, 3: 20.0, 4: 0.0}
    first = Round(
        number=1, games=(Game(black=2, white=1, result=WHITE_WINS), Game(black=4, white=3, result=WHITE_WINS))
    )
    event = Event(system="swiss", entrants=entrants([40.0, 30.0, 20.0, 0.0]), rounds=(first,))
    assert strength_difference(event, strength) == (30.0, 50.0)
    # Then the scores leave 1-3 and 2-4 only, which is what can be reached.
    second = Round(
        number=2, games=(Game(black=1, white=3, result=WHITE_WINS), Game(black=2, white=4, result=WHITE_WINS))
    )
    event = Event(system="swiss", entrants=entrants([40.0, 30.0, 20.0, 0.0]), rounds=(first, second))
    assert strength_difference(event, strength) == (80.0, 100.0)
    assert strength_difference(event, strength).share == pytest.approx(0.8)


def test_several_opponents_in_a_round_cannot_be_compared() -> None:
    event = Event(
        system="bubble",
        entrants=entrants([None] * 3),
        rounds=(Round(number=1, games=(Game(black=2, white=1, result=DRAWN), Game(black=3, white=2, result=DRAWN))),),
    )
    with pytest.raises(Refused, match="several opponents"):
        strength_difference(event, {1: 1.0, 2: 2.0, 3: 3.0})
