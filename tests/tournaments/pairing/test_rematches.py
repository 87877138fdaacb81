"""The way out without a pairing free of rematches: against all pairings of small fields."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.tournaments.pairing.rematches import Pair, can_be_paired, cheapest, fewest_rematches, pair_of


def pairings(ids: list[int]) -> list[list[Pair]]:
    """All pairings of them."""
    if not ids:
        return [[]]
    first = ids[0]
    return [[(first, other), *rest] for other in ids[1:] for rest in pairings([id_ for id_ in ids[1:] if id_ != other])]


@st.composite
def fields(draw: st.DrawFn) -> tuple[list[int], Counter[Pair], set[Pair], dict[Pair, int]]:
    """Up to eight ids, how often pairs have met, which are forbidden, and what they cost."""
    rng = random.Random(draw(st.integers(0, 10**6)))
    ids = rng.sample(range(1, 30), 2 * draw(st.integers(0, 4)))
    share = draw(st.sampled_from([0.2, 0.6, 0.9]))
    pairs = [pair_of(*pair) for pair in itertools.combinations(ids, 2)]
    met = Counter(pair for pair in pairs for _ in range(3) if rng.random() < share)
    forbidden = {pair for pair in pairs if rng.random() < draw(st.sampled_from([0.0, 0.3]))}
    return ids, met, forbidden, {pair: rng.randrange(6) for pair in pairs}


@settings(max_examples=60)
@given(fields())
def test_as_few_as_possible_then_of_those_who_met_least_then_the_cheapest(
    field: tuple[list[int], Counter[Pair], set[Pair], dict[Pair, int]],
) -> None:
    ids, met, forbidden, costs = field

    def far(a: int, b: int) -> int:
        return (a - b) ** 2

    def value(pairs: list[Pair]) -> tuple[int, ...]:
        times = [met[pair_of(*pair)] for pair in pairs]
        total = sum(costs[pair_of(*pair)] for pair in pairs)
        return sum(count > 0 for count in times), sum(times), sum(far(*pair) for pair in pairs), total

    possible = [pairs for pairs in pairings(ids) if not any(pair_of(*pair) in forbidden for pair in pairs)]
    if not possible:
        with pytest.raises(Refused, match="must not meet"):
            fewest_rematches(ids, lambda a, b: costs[pair_of(a, b)], met, forbidden, before=[far])
        return
    result = fewest_rematches(ids, lambda a, b: costs[pair_of(a, b)], met, forbidden, before=[far])
    assert sorted(itertools.chain(*result)) == sorted(ids)
    assert [ids.index(a) for a, _ in result] == sorted(ids.index(a) for a, _ in result)
    assert not any(pair_of(*pair) in forbidden for pair in result)
    assert value(result) == min(map(value, possible))


@settings(max_examples=60)
@given(fields())
def test_the_cheapest_without_barred_pairs(
    field: tuple[list[int], Counter[Pair], set[Pair], dict[Pair, int]],
) -> None:
    ids, met, _, costs = field
    possible = [pairs for pairs in pairings(ids) if not any(pair_of(*pair) in met for pair in pairs)]
    result = cheapest(ids, lambda a, b: costs[pair_of(a, b)], lambda a, b: pair_of(a, b) in met)
    assert can_be_paired(ids, lambda a, b: pair_of(a, b) in met) == bool(possible)
    assert (result is None) == (not possible)
    if result is not None:
        total = [sum(costs[pair_of(*pair)] for pair in pairs) for pairs in [result, *possible]]
        assert total[0] == min(total[1:])


def test_one_pair_that_met_thrice_is_fewer_rematches_than_two_that_met_once() -> None:
    met = {(1, 2): 3, (1, 3): 1, (2, 4): 1, (1, 4): 1, (2, 3): 1}
    assert fewest_rematches([1, 2, 3, 4], lambda a, b: abs(a - b), met) == [(1, 2), (3, 4)]
    met[(3, 4)] = 1
    assert (1, 2) not in fewest_rematches([1, 2, 3, 4], lambda a, b: abs(a - b), met)


def test_an_odd_number_cannot_be_paired() -> None:
    assert not can_be_paired([1, 2, 3], lambda a, b: a == b)
    assert cheapest([1, 2, 3], lambda a, b: a + b, lambda a, b: a == b) is None
