"""Matchings of many versions: always a matching of allowed pairs, the best one of few, near the best one of many."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.matching import WORD_BITS, Packing, best
from cgos_server.core.pairing.methods.wide import LOCAL_PAIRS, near_best

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Field:
    """Versions on a line, and what their pairs weigh; counts how often it is asked.

    :param levels: of edges (i, j): whether the pair may be made, a level that counts more, one that counts less
    """

    def __init__(
        self, ratings: Floats, owed: Ints, levels: Callable[[Ints, Ints], tuple[NDArray[np.bool_], Ints, Ints]]
    ) -> None:
        self.n = len(ratings)
        self.ratings, self.owed, self._levels = ratings, owed, levels
        self._packing = Packing([(1, 1), (-31, 0), (-20_000_000, 20_000_000)], LOCAL_PAIRS)
        self.calls = 0

    def weigh(self, i: Ints, j: Ints) -> Ints:
        self.calls += 1
        assert np.all(i < j)
        allowed, more, less = self._levels(i, j)
        return np.where(allowed, self._packing.words([np.ones_like(more), more, less]), 0)

    def near_best(self) -> list[tuple[int, int]]:
        pairs = near_best(self.ratings, self.owed, self.weigh)
        assert pairs == sorted(pairs)
        ends = [end for pair in pairs for end in pair]
        assert len(set(ends)) == len(ends)
        if pairs:
            assert np.all(self.weigh(*np.array(pairs).T) > 0)
        return pairs

    def best(self) -> list[tuple[int, int]]:
        i, j = np.triu_indices(self.n, 1)
        return best(self.n, i, j, self.weigh(i, j))

    def total(self, pairs: list[tuple[int, int]]) -> int:
        return sum(self.weigh(*np.array(pairs).T).tolist()) if pairs else 0

    def worth(self, pairs: list[tuple[int, int]]) -> tuple[int, int, float]:
        """(pairs, sum of the level that counts more, mean of the one that counts less)."""
        _, more, less = self._levels(*np.array(pairs).T)
        return len(pairs), int(more.sum()), float(less.mean())


def bits(ratings: Floats, owed: Ints, i: Ints, j: Ints) -> Ints:
    """Millionths of a bit that a game tells, less 0.05 bit where both are owed the same color."""
    win = 1.0 / (1.0 + 10.0 ** (np.abs(ratings[i] - ratings[j]) / 400.0))
    entropy = -(win * np.log2(win) + (1.0 - win) * np.log2(1.0 - win))
    return np.rint(1e6 * (entropy - 0.05 * (owed[i] * owed[j] > 0))).astype(np.int64)


def after_rounds(n: int, seed: int, rounds: int = 5, *, drawn: bool = False) -> Field:
    """After so many rounds paired the same way, whose pairs are barred: colors are owed as they were played, or drawn
    at random, so that one color is short here and the other there."""
    rng = np.random.default_rng(seed)
    ratings = rng.normal(2000.0, 350.0, n)
    balance = np.zeros(n, dtype=np.int64)
    met = np.zeros((n, n), dtype=np.bool_)
    field = Field(
        ratings,
        balance,
        lambda i, j: (
            np.ones(len(i), np.bool_),
            np.zeros_like(i),
            bits(ratings, balance, i, j) - 10_000_000 * met[i, j],
        ),
    )
    for number in range(rounds + 1):
        if drawn:
            balance[:] = rng.choice([-1, 1], n)
        if number < rounds:
            i, j = np.array(field.near_best()).T
            met[i, j] = met[j, i] = True
            black = np.where(balance[i] == balance[j], rng.choice([-1, 1], len(i)), np.sign(balance[j] - balance[i]))
            balance[i] += black
            balance[j] -= black
    field.calls = 0
    return field


def of_owners(n: int, seed: int, kind: str) -> Field:
    """Versions of one owner never meet, which stand all over the line or in one place; some pairs have barriers."""
    rng = np.random.default_rng(seed)
    ratings, owed = rng.normal(2000.0, 350.0, n), rng.integers(-2, 3, n)
    owner = np.arange(n)
    if kind == "five":
        owner = rng.integers(0, 5, n)
    else:
        many = rng.permutation(n)[: {"place": n // 3, "half": n // 2, "most": 7 * n // 10}[kind]]
        owner[many] = -1
        if kind != "most":
            ratings[many] = rng.normal(2100.0, 30.0, len(many))
    flags = np.where(rng.random((n, n)) < 0.2, rng.integers(1, 32, (n, n)), 0)
    flags = np.maximum(flags, flags.T)
    return Field(ratings, owed, lambda i, j: (owner[i] != owner[j], -flags[i, j], bits(ratings, owed, i, j)))


@st.composite
def small(draw: st.DrawFn) -> Field:
    """Up to 64 versions with any weights, many of them forbidden."""
    n = draw(st.integers(0, 64))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    share = draw(st.sampled_from((0.02, 0.2, 0.5, 1.0)))
    most = draw(st.sampled_from((1, 5, 10_000_000)))
    allowed, less = rng.random((n, n)) < share, rng.integers(-most // 4, most + 1, (n, n))
    ratings = np.rint(rng.normal(0.0, draw(st.sampled_from((1.0, 400.0))), n))
    owed = rng.integers(-1, 2, n)
    return Field(ratings, owed, lambda i, j: (allowed[i, j], np.zeros_like(i), less[i, j]))


@given(small())
@settings(max_examples=100, deadline=None)
def test_few_versions_get_the_best_matching(field: Field) -> None:
    pairs = field.near_best()
    assert field.total(pairs) == field.total(field.best())
    assert pairs == field.near_best()


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("n", [80, 119, 300, 301])
def test_after_rounds_paired_the_same_way_it_is_near_the_best(n: int, drawn: bool) -> None:
    field = after_rounds(n, n, drawn=drawn)
    pairs, _, total_worth = field.worth(field.near_best())
    most, _, best_told = field.worth(field.best())
    assert pairs == most == n // 2
    assert best_told - 600.0 <= total_worth <= best_told  # millionths of a bit


def test_most_small_fields_get_the_very_best() -> None:
    fields = [after_rounds(70 + seed, seed, rounds=3, drawn=seed % 2 == 0) for seed in range(10)]
    equal = [field.total(field.near_best()) == field.total(field.best()) for field in fields]
    assert sum(equal) >= 8


@pytest.mark.parametrize("kind", ["five", "place", "half", "most"])
@pytest.mark.parametrize("n", [100, 260])
def test_as_many_are_paired_as_can_be_though_many_must_not_meet(n: int, kind: str) -> None:
    field = of_owners(n, n, kind)
    pairs, barriers, total_worth = field.worth(field.near_best())
    most, fewest, best_told = field.worth(field.best())
    assert pairs == most
    assert barriers == fewest
    assert total_worth > best_told - 10_000


def test_a_color_that_is_short_here_is_found_further_away() -> None:
    field = after_rounds(1500, 4, rounds=0, drawn=True)
    pairs = field.near_best()
    blind = near_best(field.ratings, np.zeros_like(field.owed), field.weigh)
    neighbors = [tuple(sorted(pair)) for pair in np.argsort(field.ratings).reshape(-1, 2).tolist()]
    assert field.total(pairs) > field.total(blind) > field.total(neighbors)
    _, _, total_worth = field.worth(pairs)
    assert total_worth > 1e6 - 10_000  # an odd 5 % of pairs with the same color owed would cost a quarter of it


def test_it_asks_seldom_whatever_the_field() -> None:
    for field in (after_rounds(400, 1, rounds=1), of_owners(400, 1, "half")):
        field.calls = 0
        field.near_best()
        assert field.calls <= 80


def test_nobody_who_may_meet_nobody_is_paired() -> None:
    field = Field(np.arange(400.0), np.ones(400, np.int64), lambda i, j: (i > j, np.zeros_like(i), i))
    assert field.near_best() == []
    for n in (0, 1):
        none = np.zeros(n, dtype=np.int64)
        assert near_best(none.astype(np.float64), none, np.add) == []


def test_sums_of_the_widest_weights_do_not_run_over() -> None:
    n = 700
    rng = np.random.default_rng(5)
    table = 2 ** (WORD_BITS - 1) + rng.integers(0, 2 ** (WORD_BITS - 2), (n, 3))

    def weigh(i: Ints, j: Ints) -> Ints:
        return np.where(j - i <= 3, table[i, np.minimum(j - i, 3) - 1], 0)

    def total(pairs: list[tuple[int, int]]) -> int:
        return sum(weigh(*np.array(pairs).T).tolist())

    matching = near_best(np.arange(n, dtype=np.float64), np.zeros(n, np.int64), weigh)
    i, j = np.triu_indices(n, 1)
    near = j - i <= 3
    i, j = i[near], j[near]
    assert total(matching) == total(best(n, i, j, weigh(i, j)))


def test_weights_that_are_too_wide_are_refused() -> None:
    with pytest.raises(OurFault, match=f"Weights of {WORD_BITS + 1} bits"):
        near_best(np.arange(9.0), np.zeros(9, np.int64), lambda i, j: 2**WORD_BITS + i + j)
