"""The expected total change: the thesis's formula for arrays, what is made of it, and what it leads to."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core import gor_updates as gor
from support.core.vectors import Vectors

from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.constraints import FREE
from cgos_server.core.pairing.methods import change
from cgos_server.core.pairing.methods.change import ExpectedChange
from cgos_server.core.pairing.methods.optimal import Optimal


def test_the_curves_of_the_vectors(vectors: Vectors) -> None:
    file = vectors("gor_total_change")
    for curve in file["curves"]:
        x = np.array([point["x"] for point in curve["points"]])
        expected = [point["E_thesis"] for point in curve["points"]]
        assert change.total_change(curve["own"], curve["own"] + x) == pytest.approx(expected, abs=file["tolerance"])


@given(st.floats(-500, 4000), st.floats(-3000, 3000))
def test_for_arrays_it_is_what_it_is_for_numbers(rating: float, x: float) -> None:
    assert float(change.total_change(rating, rating + x)) == pytest.approx(gor.total_change(rating, x), abs=1e-12)


@given(st.lists(st.floats(-500, 3500), min_size=2, max_size=8))
def test_worth_is_in_proportion_and_one_at_most(ratings: list[float]) -> None:
    pairing_pass = PairingPass(candidates=[Candidate(k, f"bot-{k}", rating) for k, rating in enumerate(ratings)])
    worths = ExpectedChange().look(pairing_pass, random.Random(0))
    i, j = np.triu_indices(len(ratings), 1)
    worth = worths.of(i, j)
    assert worth == pytest.approx(worths.of(j, i))
    assert worth.min() > 0.0
    assert worth.max() <= 1.0 + 1e-12
    changes = np.array([gor.total_change(ratings[a], ratings[b] - ratings[a]) for a, b in zip(i, j, strict=True)])
    assert worth / worth[0] == pytest.approx(changes / changes[0], rel=1e-9)


def test_two_equals_at_the_bottom_are_worth_all() -> None:
    pairing_pass = PairingPass(
        candidates=[Candidate(1, "Ann", 900.0), Candidate(2, "Bea", 900.0), Candidate(3, "Cid", 2100.0)]
    )
    worths = ExpectedChange().look(pairing_pass, random.Random(0))
    assert worths.of(np.array([0]), np.array([1])).tolist() == [pytest.approx(1.0)]
    expected = f"expected total change {gor.total_change(900.0, 0.0):.3f} points, 1.00 of the most, expected score 0.50"
    assert worths.say(0, 1) == expected


@pytest.mark.parametrize("seed", range(5))
def test_over_a_whole_round_close_pairs_win(seed: int) -> None:
    """For one player alone the best opponent is some 200 points weaker; for a round it is the neighbor."""
    rng = random.Random(seed)
    pairing_pass = PairingPass(candidates=[Candidate(k, f"bot-{k}", rng.gauss(1500.0, 350.0)) for k in range(100)])
    ratings = {c.id: c.rating for c in pairing_pass.candidates}
    pairs = Optimal(ExpectedChange(), FREE).pair(pairing_pass, random.Random(0)).pairs
    gaps = sorted(ratings[pair.high] - ratings[pair.low] for pair in pairs)
    assert gaps[len(gaps) // 2] < 25.0
    ranked = sorted(ratings.values())
    adjacent = sum(gor.total_change(low, high - low) for low, high in list(itertools.pairwise(ranked))[::2])
    best = sum(gor.total_change(ratings[pair.high], ratings[pair.low] - ratings[pair.high]) for pair in pairs)
    assert adjacent * (1.0 - 1e-5) <= best <= adjacent * (1.0 + 1e-4)
    assert len(pairs) == 50
