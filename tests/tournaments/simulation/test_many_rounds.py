"""Many fields at once are paired as each by itself, and bounds on their rounds are bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_server.tournaments.base import Ints
from cgos_server.tournaments.pairing.mwm_weights import MILLION, Third, pair_field, power, third_of
from cgos_server.tournaments.simulation.many_bounds import Groups, shortfall
from cgos_server.tournaments.simulation.many_rounds import DETOURS, Fields, best

Pairs = list[tuple[int, int]]


class Position(NamedTuple):
    """(b, m), (b, m) and (b, m, m) of fields."""

    score: Ints
    balance: Ints
    times: Ints


def position(seed: int, fields: int, m: int, spread: int, met: float) -> Position:
    """Fields with scores up to `spread` and that share of the pairs met."""
    rng = np.random.default_rng([seed, fields, m, spread])
    score = -np.sort(-rng.integers(0, spread + 1, (fields, m)), axis=1)
    balance = rng.integers(-1, 2, (fields, m)) * 2 if seed % 3 else rng.choice([-1, 1], (fields, m))
    upper = np.triu((rng.random((fields, m, m)) < met).astype(np.int64), 1)
    return Position(score, balance.astype(np.int64), upper + upper.transpose(0, 2, 1))


def thirds(order: str, score: Ints, seed: int) -> list[Third]:
    numbers = np.random.default_rng(seed).integers(0, MILLION, score.shape[1:] * 2)
    return [third_of(order, each, lambda i, j: numbers[i, j]) for each in score]


def together(
    given_: Position, of: Sequence[Third], far: Ints | None, detours: Sequence[float] = DETOURS
) -> list[Pairs]:
    """The pairs of each field."""

    def weigh(t: Ints, i: Ints, j: Ints) -> Ints:
        each = [int(of[a](i[k : k + 1], j[k : k + 1])[0]) for k, a in enumerate(t.tolist())]
        return np.array(each, dtype=np.int64)

    field, one, other = np.nonzero(given_.times)
    fields = Fields(
        given_.score,
        given_.balance,
        met=(field, one, other),
        times=lambda t: given_.times[t],
        beta=2,
        matching=best,
        detours=detours,
    )
    return [[(a, b) for a, b in pairs] for pairs in fields.pair(weigh, far).tolist()]


def alone(given_: Position, of: Sequence[Third]) -> list[Pairs]:
    score, balance, times = given_
    return [pair_field(score[t], balance[t], times=times[t], beta=2, third=of[t]).pairs for t in range(len(score))]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.sampled_from((0, 1, 2, 4, 12)),
    st.sampled_from((0.0, 0.2, 0.5, 0.8)),
    st.sampled_from(("burstein", "dutch", "monrad", "random", "random2")),
)
def test_as_each_field_by_itself(seed: int, half: int, spread: int, met: float, order: str) -> None:
    found = position(seed, 4, 2 * half, spread, met)
    of = thirds(order, found.score, seed)
    expected = alone(found, of)
    assert together(found, of, None) == expected
    if order == "burstein":
        assert together(found, of, power(np.arange(2 * half))) == expected


@pytest.mark.parametrize("m", [16, 24])
@pytest.mark.parametrize("spread", [2, 6, 14])
def test_larger_fields_as_each_by_itself(m: int, spread: int) -> None:
    found = position(m + spread, 6, m, spread, 0.25)
    of = thirds("burstein", found.score, 1)
    far = power(np.arange(m))
    assert together(found, of, far) == alone(found, of)
    assert together(found, of, far, (0,)) == alone(found, of)


def rounds(left: Sequence[int]) -> Iterator[Pairs]:
    """All ways to pair an even number of them."""
    if not left:
        yield []
    for at in range(1, len(left)):
        for rest in rounds([*left[1:at], *left[at + 1 :]]):
            yield [(left[0], left[at]), *rest]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=8), st.lists(st.integers(-2, 2), min_size=8, max_size=8))
def test_no_round_of_a_block_exceeds_its_bounds(points: list[int], balances: list[int]) -> None:
    score = np.array([sorted(points, reverse=True)], dtype=np.int64)
    balance = np.array([balances], dtype=np.int64)
    steps = score[0, :-1] - score[0, 1:]
    # Blocks begin where the number above is even; between them nobody meets.
    opens = np.array([[at % 2 == 0 and (at == 0 or steps[at - 1] > 0) for at in range(8)]])
    block = np.cumsum(opens[0])
    least = int(steps[::2].sum())
    far = power(np.arange(8))
    i, j = np.nonzero(np.triu(block[:, None] == block, 1))
    groups = Groups(score, opens)
    of_better, of_other = groups.colors(balance)
    short = shortfall(groups, far, np.zeros_like(i), i=i, j=j)
    lacks = dict(zip(zip(i.tolist(), j.tolist(), strict=True), short.of_pairs.tolist(), strict=True))
    for pairs in rounds(range(8)):
        if any(pair not in lacks for pair in pairs) or sum(score[0, a] - score[0, b] for a, b in pairs) > least:
            continue
        for a, b in pairs:
            assert 2 * abs(balance[0, a] - balance[0, b]) <= of_better[0, a] + of_other[0, b]
        made = 2 * sum(int(far[b - a]) for a, b in pairs)
        bound = int(short.of_ranks.sum() + short.of_gaps.sum())
        assert bound - made == sum(lacks[pair] for pair in pairs)
        assert max(lacks[pair] for pair in pairs) <= bound - made + int(short.reserve.sum())
