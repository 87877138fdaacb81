"""The search of EPM: against vectors, and against all pairings one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core import vectors

from cgos_server.tournaments.pairing.epm_search import explore

Pair = tuple[int, int]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        vectors.parametrize(metafunc, "case", "epm", named=lambda case: f"{len(case['order'])}-{case['total_cost']}")


def number(name: str) -> int:
    return int(name.removeprefix("P"))


def all_pairings(order: list[int], likes: Callable[[int, list[int]], list[int]]) -> Iterator[list[Pair]]:
    """Every pairing, in the order in which the first of those left prefers them."""
    if not order:
        yield []
        return
    first, rest = order[0], order[1:]
    for other in likes(first, rest):
        for pairs in all_pairings([id_ for id_ in rest if id_ != other], likes):
            yield [(first, other), *pairs]


def test_the_vectors(case: dict[str, Any]) -> None:
    order = [number(name) for name in case["order"]]
    cost = {frozenset(map(number, names.split("-"))): value for names, value in case["cost"].items()}
    barred = {frozenset(map(number, names)) for names in case["forbidden"]}
    pairs = explore(order, lambda a, b: cost[frozenset((a, b))], lambda a, b: frozenset((a, b)) in barred).pairs
    expected = case["pairs"] and [(number(a), number(b)) for a, b in case["pairs"]]
    assert pairs == expected
    if pairs is not None:
        assert sum(cost[frozenset(pair)] for pair in pairs) == case["total_cost"]


@given(half=st.integers(0, 5), seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.8]))
def test_it_is_the_first_of_all_pairings(half: int, seed: int, share: float) -> None:
    rng = random.Random(seed)
    order = rng.sample(range(1, 100), 2 * half)
    pairs = [frozenset((a, b)) for a in order for b in order if a < b]
    cost = {pair: rng.randrange(4) for pair in pairs}
    barred = {pair for pair in pairs if rng.random() < share}

    def likes(first: int, rest: list[int]) -> list[int]:
        may = [other for other in rest if frozenset((first, other)) not in barred]
        return sorted(may, key=lambda other: (cost[frozenset((first, other))], order.index(other)))

    expected = next(all_pairings(order, likes), None)
    outcome = explore(order, lambda a, b: cost[frozenset((a, b))], lambda a, b: frozenset((a, b)) in barred)
    assert outcome.pairs == expected
    assert not outcome.gave_up


def hopeless(a: int, b: int) -> bool:
    """Odd and even numbers do not meet."""
    return a % 2 != b % 2


def test_it_gives_up_at_its_limit_and_says_so() -> None:
    order = list(range(1, 27))  # 13 odd and 13 even ones
    outcome = explore(order, lambda a, b: abs(a - b), hopeless, limit=1000)
    assert outcome == (None, True, 1000)
    assert explore(order, lambda a, b: abs(a - b), hopeless, limit=1000).pairs is None
    small = explore(order[:6], lambda a, b: abs(a - b), hopeless, limit=1000)
    assert small.pairs is None
    assert not small.gave_up


def test_a_limit_that_just_suffices() -> None:
    order = [1, 2, 3, 4]
    barred = {(3, 4)}
    tries = explore(order, lambda a, b: abs(a - b), lambda a, b: (min(a, b), max(a, b)) in barred).tried
    assert tries == 3  # 1-2 in vain, 1-3, 2-4
    assert explore(order, lambda a, b: abs(a - b), lambda a, b: (min(a, b), max(a, b)) in barred, limit=3).pairs
    assert not explore(order, lambda a, b: abs(a - b), lambda a, b: (min(a, b), max(a, b)) in barred, limit=2).pairs


def test_an_odd_number_cannot_be_paired() -> None:
    assert explore([1, 2, 3], lambda a, b: abs(a - b), lambda a, b: a == b).pairs is None
    assert explore([], lambda a, b: abs(a - b), lambda a, b: a == b).pairs == []
