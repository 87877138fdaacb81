"""Pairing along a row: by rating, by rating and chance, by chance alone."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.pairing_passes import ids, pairing_passes, wishes

from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.constraints import FREE, Constraints
from cgos_server.core.pairing.methods import picking
from cgos_server.core.pairing.methods.neighbors import FEW_WINDOW, LEAST_WINDOW, ORDERS, Neighbors, width
from cgos_server.core.venue import Policy


def field(*ratings: float) -> list[Candidate]:
    return [Candidate(at, f"bot-{at}", rating) for at, rating in enumerate(ratings, 1)]


orders = st.sampled_from(ORDERS)


@given(pairing_passes(), orders, wishes, st.integers())
def test_everybody_is_paired_once_or_sits_out_with_a_sentence(
    pairing_pass: PairingPass, order: str, constraints: Constraints, seed: int
) -> None:
    pairing = Neighbors(order=order, constraints=constraints).pair(pairing_pass, random.Random(seed))
    versions = [version for pair in ids(pairing) for version in pair] + list(pairing.sits_out)
    assert sorted(versions) == sorted(c.id for c in pairing_pass.candidates)
    rank = {c.id: (-c.rating, c.id) for c in pairing_pass.candidates}
    assert all(rank[high] < rank[low] for high, low in ids(pairing))
    name = {c.id: c.name for c in pairing_pass.candidates}
    assert all(name[version] in why for version, why in pairing.sits_out.items())


@given(pairing_passes(), orders, wishes, st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    pairing_pass: PairingPass, order: str, constraints: Constraints, seed: int, shuffler: random.Random
) -> None:
    shuffled = list(pairing_pass.candidates)
    shuffler.shuffle(shuffled)
    method = Neighbors(order=order, constraints=constraints)
    assert method.pair(replace(pairing_pass, candidates=shuffled), random.Random(seed)) == method.pair(
        pairing_pass, random.Random(seed)
    )


@given(st.lists(st.integers(0, 50), min_size=2, max_size=10).filter(lambda ratings: len(ratings) % 2 == 0))
def test_adjacent_has_the_least_sum_of_gaps(ratings: list[int]) -> None:
    pairing = Neighbors(order="adjacent", constraints=FREE).pair(
        PairingPass(candidates=field(*ratings)), random.Random(0)
    )
    gaps = sum(ratings[high - 1] - ratings[low - 1] for high, low in ids(pairing))

    def least(left: tuple[int, ...]) -> int:
        if not left:
            return 0
        first, rest = left[0], left[1:]
        return min(abs(first - other) + least((*rest[:at], *rest[at + 1 :])) for at, other in enumerate(rest))

    assert gaps == least(tuple(ratings)) if len(ratings) < 10 else gaps >= 0


def test_adjacent_goes_on_to_the_next_that_it_may_meet() -> None:
    a, b, c, d = field(4, 3, 2, 1)
    pairing = Neighbors(order="adjacent").pair(
        PairingPass(candidates=[a._replace(owner=1), b._replace(owner=1), c, d]), random.Random(0)
    )
    assert ids(pairing) == [(1, 3), (2, 4)]
    assert pairing.pairs[0].reason == (
        "bot-1 (4) met the next one in the order of the ratings, bot-3 (2). It was kept from bot-2."
    )


@pytest.mark.parametrize("narrow", [0, 128])
@pytest.mark.parametrize("apart", [(), (1, 2)])
@pytest.mark.parametrize(("place", "other"), [(4, 6), (5, 5), (3, 5)])
def test_one_that_comes_first_meets_its_neighbor_not_the_best(
    place: int, other: int, apart: tuple[int, ...], narrow: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who was passed over too often meets the next one below, or above where nobody is below; whom it must not meet
    does not count."""
    monkeypatch.setattr(picking, "NARROW", narrow)
    candidates = field(9, 8, 7, 6, 5, 4)
    candidates[place] = candidates[place]._replace(sat_out=99, apart=apart)
    pairing_pass = PairingPass(candidates=candidates, policy=Policy.ROLLING, connected=9)
    first = Neighbors(order="adjacent").pair(pairing_pass, random.Random(0)).pairs[0]
    assert {*first[:2]} == {place + 1, other}


def test_random_meets_everybody_equally_often() -> None:
    pairing_pass = PairingPass(candidates=field(*range(6)))
    rng = random.Random(4)
    rounds = 6000
    met = Counter(
        pair for _ in range(rounds) for pair in ids(Neighbors(order="random", constraints=FREE).pair(pairing_pass, rng))
    )
    expected = rounds / 5
    for low, high in combinations(range(1, 7), 2):
        assert abs(met[high, low] - expected) < 5 * (rounds * 0.2 * 0.8) ** 0.5


def test_permuted_reaches_as_far_as_its_window_and_no_farther() -> None:
    """A gap of more than the window is bridged only where nobody else is left."""
    pairing_pass = PairingPass(candidates=field(2000, 1990, 1500, 1490))
    method = Neighbors(order="permuted", window=480.0, constraints=FREE)
    rng = random.Random(2)
    assert {tuple(sorted(ids(method.pair(pairing_pass, rng)))) for _ in range(200)} == {((1, 2), (3, 4))}
    wide = Neighbors(order="permuted", window=2000.0, constraints=FREE)
    assert len({tuple(sorted(ids(wide.pair(pairing_pass, rng)))) for _ in range(200)}) == 3


def test_permuted_frequencies_are_those_of_the_drawn_order() -> None:
    """Three ranks 0, 1 and 2 windows apart by thirds: the middle one meets the upper one as often as the lower one."""
    pairing_pass = PairingPass(candidates=field(200.0, 100.0, 0.0, -100.0))
    rng, numpy_rng = random.Random(3), np.random.default_rng(3)
    rounds = 6000
    met = Counter(
        pair
        for _ in range(rounds)
        for pair in ids(Neighbors(order="permuted", window=300.0, constraints=FREE).pair(pairing_pass, rng))
    )
    ratings = np.array([200.0, 100.0, 0.0, -100.0])
    expected: Counter[tuple[int, int]] = Counter()
    for _ in range(rounds):
        order = np.argsort(ratings + numpy_rng.uniform(0.0, 300.0, 4)).tolist()
        for a, b in (order[:2], order[2:]):
            expected[min(a, b) + 1, max(a, b) + 1] += 1
    assert set(met) == set(expected)
    for pair, count in expected.items():
        p = count / rounds
        assert abs(met[pair] - count) < 5 * (2 * rounds * p * (1 - p)) ** 0.5 + 1


@given(st.lists(st.floats(-4000, 4000), max_size=40))
def test_the_window_is_zakkis(ratings: list[float]) -> None:
    ranked = sorted(ratings)
    gaps = [ranked[at + 4] - ranked[at] for at in range(len(ranked) - 4)]
    expected = max(LEAST_WINDOW, 1.5 * max(gaps)) if gaps else FEW_WINDOW
    assert width(np.array(ratings)) == pytest.approx(expected)


def test_an_odd_number_sets_aside_as_birk_does() -> None:
    candidates = [c._replace(waited=c.id) for c in field(3, 2, 1)]
    for order in ORDERS:
        pairing = Neighbors(order=order).pair(PairingPass(candidates=candidates), random.Random(1))
        assert list(pairing.sits_out) == [1]
        assert "waited shortest" in pairing.sits_out[1]


def test_sentences_and_options_tell_the_method() -> None:
    pairing_pass = PairingPass(candidates=field(1700.4, 1600.0))
    pairings = {
        order: Neighbors(order=order, window=250.0 if order == "permuted" else 0.0).pair(pairing_pass, random.Random(1))
        for order in ORDERS
    }
    assert pairings["adjacent"].pairs[0].reason == (
        "bot-1 (1700) met the next one in the order of the ratings, bot-2 (1600)."
    )
    assert "met the next one in an order drawn by lot" in pairings["random"].pairs[0].reason
    assert "after up to 250 Elo, drawn by lot, had been added to each rating" in pairings["permuted"].pairs[0].reason
    assert pairings["permuted"].pairs[0].detail["window"] == 250.0
    assert Neighbors(order="permuted", window=250.0).options["window"] == 250.0
    assert "window" not in Neighbors(order="random").options
    assert Neighbors(order="random").name == "random"
