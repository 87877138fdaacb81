"""The weights of a round: no other round is better, whatever is left out beforehand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.vectors import Vectors

from cgos_protocol.errors import OurFault, Refused
from cgos_server.core.pairing.matching import MOST_BITS, best
from cgos_server.tournaments.pairing.mwm_weights import (
    LEVELS,
    ORDERS,
    TIE_BITS,
    Decision,
    edges_of,
    packed,
    pair_field,
    power,
    separators,
    third_of,
)

Pairs = list[tuple[int, int]]


class State(NamedTuple):
    """A field by rank; `u` and `times` by pairs (better rank, other)."""

    order: str
    beta: int
    score: list[int]
    c: list[int]
    times: dict[tuple[int, int], int]
    barred: set[tuple[int, int]]
    u: dict[tuple[int, int], int]

    def matrix(self, values: dict[tuple[int, int], int]) -> np.ndarray:
        result = np.zeros((len(self.score),) * 2, dtype=np.int64)
        for (i, j), value in values.items():
            result[i, j] = result[j, i] = value
        return result

    def arguments(self) -> tuple[Any, ...]:
        score, u = np.array(self.score, dtype=np.int64), self.matrix(self.u)
        third = third_of(self.order, score, lambda i, j: u[i, j])
        barred = self.matrix(dict.fromkeys(self.barred, 1)).astype(bool)
        return score, np.array(self.c, dtype=np.int64), self.matrix(self.times), self.beta, third, barred

    def decide(self) -> Decision:
        return pair_field(*self.arguments())


@st.composite
def states(draw: st.DrawFn, sizes: tuple[int, ...] = (2, 4, 6, 6, 8), most_points: int = 8) -> State:
    n = draw(st.sampled_from(sizes))
    pairs = list(itertools.combinations(range(n), 2))
    score = sorted(draw(st.lists(st.integers(0, most_points), min_size=n, max_size=n)), reverse=True)
    c = draw(
        st.lists(
            st.sampled_from(draw(st.sampled_from([(-1, 1), (-2, 0, 2), (-2, -1, 0, 1, 2), (2,)]))),
            min_size=n,
            max_size=n,
        )
    )
    how_many = draw(st.integers(0, len(pairs)))
    met = draw(st.permutations(pairs))[:how_many]
    times = {pair: draw(st.integers(1, 3)) for pair in met}
    barred = set(draw(st.lists(st.sampled_from(pairs), max_size=3)))
    few = draw(st.booleans())
    u = {pair: draw(st.integers(0, 3 if few else 999_999)) for pair in pairs}
    return State(draw(st.sampled_from(ORDERS)), draw(st.integers(1, 3)), score, c, times, barred, u)


def rounds(ranks: list[int]) -> Iterator[Pairs]:
    """All ways to pair them."""
    if not ranks:
        yield []
    for at in range(1, len(ranks)):
        for rest in rounds(ranks[1:at] + ranks[at + 1 :]):
            yield [(ranks[0], ranks[at]), *rest]


def power_by_hand(x: float) -> int:
    return int(x**1.01 * 10**6 + 0.5)


def third_by_hand(state: State, i: int, j: int) -> int:
    d = j - i
    group = [rank for rank in range(len(state.score)) if state.score[rank] == state.score[i]]
    together = j in group
    if state.order == "monrad":
        return -d * 10**6
    if state.order == "burstein":
        return power_by_hand(d)
    if state.order == "dutch":
        return -power_by_hand(abs((len(group) / 2 if together else 0) - d))
    bonus = 0
    if state.order == "random2" and together:
        top = group[: len(group) // 2]
        bonus = 10**6 * ((i in top) != (j in top))
    return state.u[i, j] + bonus


def by_hand(state: State) -> tuple[str, tuple[int, ...], list[Pairs]] | None:
    """The level, the best total and all rounds that have it."""
    n = len(state.score)
    for level, again, any_color in (
        ("strict", False, False),
        ("color_relaxed", False, True),
        ("rematch", True, False),
        ("rematch_color_relaxed", True, True),
    ):
        weights = {}
        for i, j in itertools.combinations(range(n), 2):
            if (i, j) in state.barred or (not again and (i, j) in state.times):
                continue
            if not any_color and not -2 * state.beta < state.c[i] + state.c[j] < 2 * state.beta:
                continue
            tail = (state.score[j] - state.score[i], abs(state.c[i] - state.c[j]), third_by_hand(state, i, j))
            weights[i, j] = (-state.times.get((i, j), 0), *tail) if again else tail
        possible = [pairing for pairing in rounds(list(range(n))) if all(pair in weights for pair in pairing)]
        if possible:
            totals = [tuple(map(sum, zip(*(weights[pair] for pair in pairing), strict=True))) for pairing in possible]
            most = max(totals)
            return level, most, [pairing for pairing, total in zip(possible, totals, strict=True) if total == most]
    return None


def agrees(state: State) -> None:
    expected = by_hand(state)
    if expected is None:
        with pytest.raises(Refused, match="Forbidden pairs leave no way"):
            state.decide()
        return
    decision = state.decide()
    level, total, optima = expected
    assert (decision.level, decision.total) == (level, total)
    assert decision.pairs in optima

    def lot(pairs: Pairs) -> int:
        i, j = (np.array([pair[end] for pair in pairs], dtype=np.int64) for end in (0, 1))
        return int(separators(len(state.score), i, j).sum())

    assert lot(decision.pairs) == max(map(lot, optima))
    assert len({lot(pairs) for pairs in optima}) == len(optima)


@given(states())
@settings(max_examples=250)
def test_no_round_is_better(state: State) -> None:
    agrees(state)


@given(states((10,), 3))
@settings(max_examples=30)
def test_nor_with_ten(state: State) -> None:
    agrees(state)


@given(states((4, 6, 8)), st.integers(0, 3))
@settings(max_examples=60)
def test_nor_where_all_have_met(state: State, relaxed: int) -> None:
    n = len(state.score)
    times = {pair: 1 + (sum(pair) * 7) % 3 for pair in itertools.combinations(range(n), 2)}
    agrees(state._replace(times=times, c=[2 * (relaxed % 2)] * n, beta=1 + relaxed // 2))


@given(states((16, 22), 6))
@settings(max_examples=40)
def test_pairs_left_out_beforehand_are_in_no_best_round(state: State) -> None:
    """The pairs that `pair_field` does not look at change nothing: all of them, by another program."""
    decision = state.decide()
    n = len(state.score)
    i, j, weight = edges_of(decision.level, *state.arguments())
    weights = packed(n, i, j, weight)
    graph = networkx.Graph()
    graph.add_weighted_edges_from(zip(i.tolist(), j.tolist(), weights, strict=True))
    other = networkx.max_weight_matching(graph)
    assert sorted(tuple(sorted(pair)) for pair in other) == decision.pairs
    at = {pair: k for k, pair in enumerate(zip(i.tolist(), j.tolist(), strict=True))}
    assert decision.total == tuple(sum(int(part[at[pair]]) for pair in decision.pairs) for part in weight)
    stricter = LEVELS[: LEVELS.index(decision.level)]
    for level in stricter:
        i, j, weight = edges_of(level, *state.arguments())
        assert 2 * len(best(n, i, j, [1] * len(i))) < n


def test_nor_in_the_rounds_of_long_events() -> None:
    """The same for fields whose last rounds leave few new pairs, so that the first looks are not enough."""
    looks = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        n = 2 * int(rng.integers(4, 9))
        score = -np.sort(-rng.integers(0, int(rng.integers(2, 12)), n))
        c = rng.integers(-1, 2, n) * int(rng.integers(1, 3))
        times = np.triu(rng.random((n, n)) < rng.uniform(0, 0.7), 1).astype(np.int64)
        times += times.T
        third = third_of(("dutch", "burstein", "monrad")[seed % 3], score)
        decision = pair_field(score, c, times, 2, third)
        i, j, weight = edges_of(decision.level, score, c, times, 2, third)
        assert decision.pairs == best(n, i, j, packed(n, i, j, weight))
        # Cheaper than this is no round, whoever has met.
        least = sum((score[at - 1] - score[at]) for at in range(1, n) if at % 2)
        looks += "rematch" not in decision.level and -decision.total[0] > least
    assert looks > 50


def test_the_power_is_the_tables(vectors: Vectors) -> None:
    table = vectors("mwm_table1")["power_fixed_millionths"]
    assert len(table) == 129
    assert power(np.array([float(x) for x in table])).tolist() == list(table.values())
    halves = np.arange(20_001) / 2
    assert power(halves).tolist() == [power_by_hand(x) for x in halves.tolist()]


def test_colors_count_more_than_any_distance_of_ranks() -> None:
    """One score group of 240, Monrad: with the factors 10,000 and 100 neighbors would be paired, whose colors fit
    worse."""
    c = [1, 1, *[1, -1] * 118, -1, -1]
    times = np.zeros((240, 240), dtype=np.int64)
    score = np.zeros(240, dtype=np.int64)
    decision = pair_field(score, np.array(c), times, 2, third_of("monrad", score))
    assert decision.level == "strict"
    assert decision.total[:2] == (0, 240)
    assert -decision.total[2] >= 594 * 10**6


LARGE = {
    "strict": ((-50, 0), (0, 8)),
    "color_relaxed": ((-50, 0), (0, 50)),
    "rematch": ((-5, 0), (-50, 0), (0, 8)),
    "rematch_color_relaxed": ((-5, 0), (-50, 0), (0, 50)),
}


@pytest.mark.parametrize("n", [500, 1024, 10_000])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("order", ORDERS)
def test_weights_of_large_fields_fit(n: int, level: str, order: str) -> None:
    """Pairs that have the extremes of each level after 25 rounds: the packed numbers are exact within the solver's
    bits."""
    score = np.repeat(np.array([50, 0]), n // 2)
    i, j = np.array([0, 0, 0, n // 2 - 1, 1, 2]), np.array([1, n // 2 - 1, n - 1, n // 2, n // 4 + 1, n // 2 + 1])
    third = third_of(order, score, lambda i, j: (i * 7 + j * 999_999) % 10**6)(i, j)
    k = len(i)
    weight = [np.linspace(low, high, k).astype(np.int64) for low, high in LARGE[level]] + [third]
    weights = packed(n, i, j, weight)
    assert min(weights) > 0
    assert max(weights).bit_length() <= MOST_BITS
    tuples = list(zip(*(part.tolist() for part in weight), strict=True))
    many = n // 2
    for (first, second), (other, last) in itertools.product(itertools.product(range(k), repeat=2), repeat=2):
        sums = [
            tuple((many - 1) * x + y for x, y in zip(tuples[a], tuples[b], strict=True))
            for a, b in ((first, second), (other, last))
        ]
        numbers = [(many - 1) * weights[a] + weights[b] for a, b in ((first, second), (other, last))]
        if sums[0] != sums[1]:
            assert (numbers[0] < numbers[1]) == (sums[0] < sums[1])
    fewer = (many - 1) * max(weights)
    assert fewer < many * min(weights), "a round with fewer pairs is worse"


def test_what_does_not_fit_is_refused() -> None:
    wide = np.array([0, 2**60])
    with pytest.raises(OurFault, match=f"of {MOST_BITS}"):
        packed(4, np.array([0, 2]), np.array([1, 3]), (wide, wide))


@pytest.mark.parametrize("room", [0, 3, 29, 30])
def test_separators_take_the_room_that_is_left(room: int) -> None:
    """Two of 55 and of 60 - `room` bits leave that many."""
    i, j = np.array([0, 0, 0, 1, 1, 2]), np.array([1, 2, 3, 2, 3, 3])
    weight = (np.array([0, 2**55, 0, 0, 0, 0]), np.array([0, 2 ** (60 - room), 0, 0, 0, 0]))
    weights = packed(4, i, j, weight)
    assert max(weights).bit_length() in (MOST_BITS - 1, MOST_BITS) or room == 0
    low = [weight - min(weights) for at, weight in enumerate(weights) if at != 1]
    assert max(low) < 2**room
    assert (max(low) > 0) == (room > 0)


def test_separators_depend_on_the_two_ranks_alone() -> None:
    i, j = np.triu_indices(60, 1)
    numbers = separators(60, i, j)
    assert numbers.tolist() == separators(1000, i, j).tolist()
    assert 0 <= numbers.min() < numbers.max() < 2**TIE_BITS
    assert len(set(numbers.tolist())) == len(numbers)
    small = i < 12
    pairs = zip(i[small].tolist(), j[small].tolist(), strict=True)
    lots = dict(zip(pairs, numbers[small].tolist(), strict=True))
    # No two ways to pair four have the same sum.
    for a, b, c, d in itertools.combinations(range(12), 4):
        sums = {lots[a, b] + lots[c, d], lots[a, c] + lots[b, d], lots[a, d] + lots[b, c]}
        assert len(sums) == 3


def test_separators_are_those_that_recorded_rounds_were_made_with() -> None:
    def word(k: int) -> int:
        result = k * 0x9E3779B97F4A7C15 % 2**64
        result = (result ^ result >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        return (result ^ result >> 27) | 1

    i, j = np.triu_indices(40, 1)
    expected = [word(2 * a + 1) * word(2 * b + 2) % 2**64 >> 34 for a, b in zip(i.tolist(), j.tolist(), strict=True)]
    assert separators(40, i, j).tolist() == expected


def test_one_of_several_best_rounds_is_taken_by_their_numbers() -> None:
    """A Dutch group of four in which 1-3 and 2-4 have met: 1-2, 3-4 and 1-4, 2-3 weigh the same."""
    state = State("dutch", 2, [0] * 4, [0] * 4, {(0, 2): 1, (1, 3): 1}, set(), {})
    level, total, optima = by_hand(state) or pytest.fail("there is a round")
    assert (level, len(optima)) == ("strict", 2)
    assert state.decide().total == total
    agrees(state)


def test_random_orders_need_numbers() -> None:
    for order in ("random", "random2"):
        with pytest.raises(ValueError, match=order):
            third_of(order, np.zeros(4, dtype=np.int64))


def test_an_odd_field_is_a_mistake_and_an_empty_one_a_round() -> None:
    none = State("monrad", 2, [], [], {}, set(), {})
    assert none.decide() == Decision([], "strict", (0, 0, 0))
    with pytest.raises(ValueError, match="3 is odd"):
        State("monrad", 2, [0] * 3, [0] * 3, {}, set(), {}).decide()


def test_any_third_component_will_do() -> None:
    strength = np.array([10, 40, 20, 30])
    zeros = np.zeros(4, dtype=np.int64)
    nobody = np.zeros((4, 4), dtype=np.int64)
    decision = pair_field(zeros, zeros, nobody, 2, lambda i, j: np.abs(strength[i] - strength[j]))
    assert decision.total == (0, 0, 40)
    assert (0, 2) not in decision.pairs
