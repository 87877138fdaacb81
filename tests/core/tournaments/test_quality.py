"""Measures of rankings against recorded values and plain counting, measures of events against their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tournaments import entrants
from support.vectors import Vectors

from cgos_server.core.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Bye, Event, Game, Result, Round
from cgos_server.core.tournaments.quality import (
    StrengthDifference,
    colours,
    float_pairs,
    kendall,
    ndcg,
    spearman,
    unforeseen,
)
from cgos_server.errors import Refused


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
        assert ndcg(order, strength, 3) == pytest.approx(case["ndcg_at_3"], abs=1e-9), case["note"]


@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.randoms(use_true_random=False))
def test_kendall_counts_pairs(values: list[int], random: Any) -> None:
    strength = {at: float(value) for at, value in enumerate(values, 1)}
    order = list(strength)
    random.shuffle(order)
    signs = [np.sign(strength[one] - strength[other]) for one, other in itertools.combinations(order, 2)]
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
        Round(1, (Game(1, 2, WHITE_WINS), Game(3, 4, DRAWN)), (Bye(5),)),
        Round(2, (Game(5, 1, BLACK_WINS), Game(3, 2, Result(2, 0, "forfeit"))), (Bye(4),)),
        Round(3, (Game(1, 3, BLACK_WINS), Game(5, 4, VOID)), (Bye(2),)),
    )
    return Event("swiss", entrants([None] * 5), rounds=rounds)


def test_float_pairs_are_pairs_of_different_scores(event: Event) -> None:
    # Round 2: 5 and 1 have a point each, 3 and 2 half a point and none. Round 3: 1 has 2, 3 has 1.5; 5 has 1, 4 has 1.5.
    assert float_pairs(event) == 3


def test_colours_count_games_really_played(event: Event) -> None:
    found = colours(event)
    assert found.differences == (4, 4, 4)
    assert found.whites == {1: 2, 2: 0, 3: 1, 4: 0, 5: 1}
    assert found.blacks == {1: 1, 2: 1, 3: 1, 4: 1, 5: 0}
    assert (found.largest, found.in_a_row) == (1, 1)


def test_unforeseen_results_are_wins_of_the_weaker(event: Event) -> None:
    found = unforeseen(event, {1: 1000.0, 2: 1100.0, 3: 900.0, 4: 950.0, 5: 1200.0})
    assert found == (3, 4)
    assert unforeseen(event, dict.fromkeys(range(1, 6), 1.0)).share == 0.0


def test_nothing_to_reach_is_reached() -> None:
    assert StrengthDifference(0.0, 0.0).share == 1.0
    assert StrengthDifference(1.0, 4.0).share == 0.25
