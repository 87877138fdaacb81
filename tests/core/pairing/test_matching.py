"""Exact matchings against brute force and against networkx; packed levels against sums of tuples."""

from __future__ import annotations

import functools
import itertools
import random
import subprocess
import sys
from collections.abc import Mapping

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.matching import MOST_BITS, WORD_BITS, Packing, best, pack, width

Edges = Mapping[tuple[int, int], int]


def brute(n: int, edges: Edges) -> int:
    """The largest sum, by trying for the lowest vertex left every partner and none."""

    @functools.cache
    def rest(left: int) -> int:
        if not left:
            return 0
        low = (left & -left).bit_length() - 1
        without = left & (left - 1)
        most = rest(without)
        for other in range(low + 1, n):
            if without >> other & 1 and (low, other) in edges:
                most = max(most, edges[low, other] + rest(without & ~(1 << other)))
        return most

    return rest((1 << n) - 1)


def solve(n: int, edges: Edges, *, array: bool = False) -> list[tuple[int, int]]:
    i = np.array([a for a, _ in edges], dtype=np.int64)
    j = np.array([b for _, b in edges], dtype=np.int64)
    weights = list(edges.values())
    return best(n, i, j, np.array(weights, dtype=np.int64) if array else weights)


def checked(n: int, edges: Edges, pairs: list[tuple[int, int]]) -> int:
    """The sum of a matching's weights; it must be one, of edges that gain something, in order."""
    ends = [end for pair in pairs for end in pair]
    assert len(set(ends)) == len(ends)
    assert all(a < b for a, b in pairs)
    assert pairs == sorted(pairs)
    assert all(edges[pair] > 0 for pair in pairs)
    return sum(edges[pair] for pair in pairs)


def fields(weights: st.SearchStrategy[int], most: int = 10) -> st.SearchStrategy[tuple[int, Edges]]:
    """(n, weights of some of the edges)."""
    return st.integers(0, most).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.fixed_dictionaries({}, optional=dict.fromkeys(itertools.combinations(range(n), 2), weights)),
        )
    )


@given(fields(st.integers(-20, 100)))
def test_no_matching_is_better(field: tuple[int, Edges]) -> None:
    n, edges = field
    assert checked(n, edges, solve(n, edges)) == brute(n, edges)


@given(fields(st.integers(0, 2)))
def test_nor_where_many_are_as_good(field: tuple[int, Edges]) -> None:
    n, edges = field
    matching = solve(n, edges)
    assert checked(n, edges, matching) == brute(n, edges)
    assert matching == solve(n, edges, array=True)


@given(fields(st.integers(-(2**MOST_BITS) + 1, 2**MOST_BITS - 1), 8))
@settings(max_examples=50)
def test_nor_at_the_greatest_width(field: tuple[int, Edges]) -> None:
    n, edges = field
    assert checked(n, edges, solve(n, edges)) == brute(n, edges)


@pytest.mark.parametrize(("n", "share", "most"), [(40, 1.0, 1_000_000), (41, 1.0, 3), (60, 0.1, 50), (50, 0.5, 2**110)])
def test_large_fields_agree_with_networkx(n: int, share: float, most: int) -> None:
    rng = random.Random(n)
    edges = {
        pair: rng.randint(-most // 10, most) for pair in itertools.combinations(range(n), 2) if rng.random() < share
    }
    graph = networkx.Graph()
    graph.add_weighted_edges_from((*pair, weight) for pair, weight in edges.items() if weight > 0)
    other = networkx.max_weight_matching(graph)
    assert checked(n, edges, solve(n, edges)) == sum(graph.edges[pair]["weight"] for pair in other)


def test_the_largest_sum_matters_and_not_the_number_of_pairs() -> None:
    assert solve(4, {(0, 1): 2, (1, 2): 5, (2, 3): 2}) == [(1, 2)]
    assert solve(4, {(0, 1): 3, (1, 2): 5, (2, 3): 3}) == [(0, 1), (2, 3)]
    assert solve(3, {(0, 1): 0, (1, 2): -4}) == []
    assert solve(0, {}) == []


def test_another_process_finds_the_same_pairs() -> None:
    program = (
        "import numpy as np; from cgos_server.core.pairing.matching import best\n"
        "i, j = np.triu_indices(60, 1); print(best(60, i, j, ((i * 7 + j * 5) % 3 + 1).tolist()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1


@st.composite
def leveled(draw: st.DrawFn) -> tuple[list[np.ndarray], int]:
    """(levels of some edges, how many edges a sum may have)."""
    edges = draw(st.integers(1, 12))
    sizes = draw(st.lists(st.sampled_from((0, 1, 3, 100, 10**6, 2 * 10**12)), min_size=1, max_size=4))
    pairs = draw(st.integers(1, 6))
    levels = [
        np.array(draw(st.lists(st.integers(-size, size), min_size=edges, max_size=edges)), dtype=np.int64)
        for size in sizes
    ]
    return levels, pairs


@given(leveled(), st.data())
def test_packed_sums_compare_as_sums_of_tuples(case: tuple[list[np.ndarray], int], data: st.DataObject) -> None:
    levels, pairs = case
    try:
        packed = pack(levels, pairs)
    except OurFault:
        assert sum(int(np.abs(level).max() * 2 * pairs).bit_length() + 1 for level in levels) > MOST_BITS
        return
    assert all(type(weight) is int for weight in packed)
    chosen = st.lists(st.integers(0, len(packed) - 1), max_size=pairs)
    first, second = data.draw(chosen), data.draw(chosen)

    def tuples(edges: list[int]) -> tuple[int, ...]:
        return tuple(sum(int(level[edge]) for edge in edges) for level in levels)

    def number(edges: list[int]) -> int:
        return sum(packed[edge] for edge in edges)

    assert (number(first) < number(second)) == (tuples(first) < tuples(second))
    assert (number(first) == number(second)) == (tuples(first) == tuples(second))
    assert (number(first) > 0) == (tuples(first) > tuples([]))
    ranges = [(int(level.min()), int(level.max())) for level in levels]
    try:
        packing = Packing(ranges, pairs)
    except OurFault:
        return
    assert packing.words(levels).tolist() == (packed if packing.pairs == pairs else pack(levels, packing.pairs))


@given(leveled())
def test_the_numbers_are_the_same_however_many_words_they_take(case: tuple[list[np.ndarray], int]) -> None:
    levels, pairs = case
    numbers, factor = [0] * len(levels[0]), 1
    for level in reversed(levels):
        numbers = [number + factor * value for number, value in zip(numbers, level.tolist(), strict=True)]
        factor *= pairs * (max(0, int(level.max())) - min(0, int(level.min()))) + 1
    ranges = [(int(level.min()), int(level.max())) for level in levels]
    bits = width(ranges, pairs)
    if bits <= MOST_BITS:
        assert pack(levels, pairs) == pack(levels, pairs, ranges) == numbers
        assert max(map(abs, numbers)).bit_length() <= bits


@given(fields(st.tuples(st.integers(0, 1), st.integers(-2, 0), st.integers(-3, 3)), 6))  # type: ignore[arg-type]
def test_the_best_of_packed_levels_is_the_best_of_tuples(field: tuple[int, Mapping[tuple[int, int], tuple]]) -> None:
    n, edges = field
    i, j = (np.array([pair[end] for pair in edges], dtype=np.int64) for end in (0, 1))
    levels = [np.array([levels[k] for levels in edges.values()], dtype=np.int64) for k in range(3)]
    matching = best(n, i, j, pack(levels, n // 2))

    def total(pairs: list[tuple[int, int]]) -> tuple[int, ...]:
        return tuple(sum(edges[pair][k] for pair in pairs) for k in range(3))

    def matchings(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
        if not pairs:
            return [[]]
        (a, b), rest = pairs[0], pairs[1:]
        return matchings(rest) + [[(a, b), *m] for m in matchings([p for p in rest if a not in p and b not in p])]

    assert total(matching) == max(total(pairs) for pairs in matchings(list(edges)))


def test_too_wide_weights_are_refused_in_a_sentence() -> None:
    wide = np.array([2**61, -(2**61)])
    with pytest.raises(OurFault, match="2 levels take 124 bits of 120"):
        pack([wide, wide], 1)
    with pytest.raises(OurFault, match=f"of {WORD_BITS}"):
        Packing([(1, 2), (0, 10**9), (0, 10**9)], 5000)


def test_the_sentence_says_what_to_do() -> None:
    with pytest.raises(OurFault, match=r"Pair fewer versions at once, or weigh more coarsely\.$"):
        pack([np.array([2**40])] * 4, 1)


def test_a_level_without_any_difference_takes_no_room() -> None:
    full, none = np.array([2**40, -(2**40)]), np.zeros(2, dtype=np.int64)
    words = Packing([(0, 0), (0, 0), (-(2**40), 2**40)], 2**25).words([none, none, full])
    assert words.tolist() == pack([none, none, full], 2**25) == full.tolist()


def test_numbers_of_several_calls_compare_by_ranges_known_in_advance() -> None:
    packing = Packing([(0, 2), (-31, 0), (-10, 10)], 32)
    first = packing.words([np.array([0]), np.array([0]), np.array([10])])
    second = packing.words([np.array([1, 0]), np.array([-31, -1]), np.array([-10, 10])])
    assert second[0] > 32 * first[0] > 0 > second[1]
    assert packing.words([np.array([7]), np.array([5]), np.array([-99])]) == packing.words(
        [np.array([2]), np.array([0]), np.array([-10])]
    )


def test_a_word_takes_as_many_pairs_as_fit() -> None:
    roomy, tight = [(0, 2), (-31, 0), (0, 10**6)], [(0, 2), (0, 2000), (-31, 0), (-(10**8), 10**8)]
    assert Packing(roomy, 64).pairs == 64
    assert 2 <= Packing(tight, 64).pairs < 64
    weights = Packing(tight, 64).words([np.array([2]), np.array([2000]), np.array([0]), np.array([10**8])])
    assert int(weights[0]).bit_length() <= WORD_BITS


def test_no_edges_weigh_nothing() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert pack([none, none], 0) == []
    assert Packing([(0, 1)], 7).words([none]).tolist() == []
