"""Whether everybody can be paired, and the first pairing of all."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_server.tournaments.pairing.perfect import Matching, bits

Edges = list[tuple[int, int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 10, even: bool = False) -> tuple[int, Edges]:
    """How many vertices, and edges in the order in which they come."""
    n = draw(st.integers(0, most // 2)) * 2 if even else draw(st.integers(0, most))
    possible = list(combinations(range(n), 2))
    edges = draw(st.lists(st.sampled_from(possible), unique=True, max_size=3 * n)) if possible else []
    return n, edges


def masks(n: int, edges: Edges) -> list[int]:
    result = [0] * n
    for i, j in edges:
        result[i] |= 1 << j
        result[j] |= 1 << i
    return result


def can_all_be_paired(n: int, edges: Edges) -> bool:
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(n))
    return len(nx.max_weight_matching(graph, maxcardinality=True)) * 2 == n


def pairings(left: list[int], edges: set[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """All perfect matchings, by the partner of the first, then by that of the first one left, and so on."""
    if not left:
        return [[]]
    first, *others = left
    return [
        [(first, second), *rest]
        for second in others
        if (first, second) in edges
        for rest in pairings([remaining for remaining in others if remaining != second], edges)
    ]


@settings(max_examples=300)
@given(graphs())
def test_finds_out_whether_everybody_can_be_paired(graph: tuple[int, Edges]) -> None:
    n, edges = graph
    assert Matching(masks(n, edges)).is_perfect == can_all_be_paired(n, edges)


def test_odd_cycles_that_must_be_seen_through() -> None:
    # Two triangles and a tail at each: a search that knows no blossoms finds no way from end to end.
    edges = [(0, 1), (1, 2), (2, 3), (1, 3), (3, 4), (4, 5), (5, 6), (4, 6), (6, 7)]
    order = [7, 2, 3, 5, 4, 1, 6, 0]
    for names in (list(range(8)), order, order[::-1]):
        renamed = [(names[i], names[j]) for i, j in edges]
        assert Matching(masks(8, renamed)).is_perfect == can_all_be_paired(8, renamed)
    for n in range(1, 8):
        ring = [(k, (k + 1) % (2 * n + 1)) for k in range(2 * n + 1)]
        assert Matching(masks(2 * n + 2, [*ring, (n, 2 * n + 1)])).is_perfect


@settings(max_examples=100)
@given(graphs(), st.integers(0, 20))
def test_goes_on_with_more_edges(graph: tuple[int, Edges], cut: int) -> None:
    n, edges = graph
    matching = Matching(masks(n, edges[:cut]))
    for upto in range(cut, len(edges) + 1):
        matching.allow(masks(n, edges[:upto]))
        assert matching.is_perfect == can_all_be_paired(n, edges[:upto])


@settings(max_examples=300)
@given(graphs(even=True))
def test_the_first_pairing_is_the_first_of_all(graph: tuple[int, Edges]) -> None:
    n, edges = graph
    matching = Matching(masks(n, edges))
    pairs = pairings(list(range(n)), set(edges))
    assert matching.is_perfect == bool(pairs)
    if pairs:
        assert matching.first_pairing() == pairs[0]


@settings(max_examples=100)
@given(graphs(even=True), st.data())
def test_takes_two_away_only_if_the_rest_can_be_paired(graph: tuple[int, Edges], data: st.DataObject) -> None:
    n, edges = graph
    matching = Matching(masks(n, edges))
    left = list(range(n))
    while matching.is_perfect and left:
        here = [(i, j) for i, j in edges if i in left and j in left]
        first, second = data.draw(st.sampled_from(here))
        rest = [player for player in left if player not in (first, second)]
        possible = bool(pairings(rest, set(edges)))
        assert matching.take(first, second) == possible
        if not possible:
            break
        left = rest


def test_bits_are_ascending() -> None:
    assert list(bits(0)) == []
    assert list(bits(0b1001_0110)) == [1, 2, 4, 7]
