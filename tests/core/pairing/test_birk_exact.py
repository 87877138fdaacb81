"""Birk's exact pair probabilities against the published vectors, and the sampler against them over 200 000 rounds."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
from support.vectors import parametrize

from cgos_server.core.pairing.base import Candidate
from cgos_server.core.pairing.birk import FORMULAS, Birk
from cgos_server.core.pairing.birk_exact import distribution, pair_probabilities

ROUNDS = 200_000


def named(case: dict[str, Any]) -> str:
    return f"{case['formula']}-{case['np']}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "birk_pair_probabilities", named=named)


def test_exact_probabilities(case: dict[str, Any]) -> None:
    expected = {(pair["i"], pair["j"]): Fraction(pair["exact"]) for pair in case["pairs"]}
    assert pair_probabilities(case["np"], case["formula"]) == expected


def test_how_many_are_drawn(case: dict[str, Any]) -> None:
    for avail, n in case["n_by_available"].items():
        assert FORMULAS[case["formula"]](int(avail)) == n


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("np", range(10))
def test_everybody_plays_or_sits_out(np: int, formula: str) -> None:
    pairs, sits_out = distribution(np, formula)
    assert sum(sits_out.values()) == np % 2
    for rank in range(1, np + 1):
        assert sum(p for pair, p in pairs.items() if rank in pair) + sits_out[rank] == 1


def test_three_players_by_hand() -> None:
    """Half: the best draws 2 of 2 and meets the second. One: it meets either."""
    assert distribution(3, "half").sits_out == {1: 0, 2: 0, 3: 1}
    assert distribution(3, "one").sits_out == {1: 0, 2: Fraction(1, 2), 3: Fraction(1, 2)}


def close(count: int, p: Fraction) -> bool:
    expected = float(p)
    return abs(count / ROUNDS - expected) < 5 * sqrt(expected * (1 - expected) / ROUNDS) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("formula", "np"), [*((f, 8) for f in FORMULAS), ("fifth", 7), ("one", 7)])
def test_frequencies_over_200_000_rounds(formula: str, np: int) -> None:
    exact = distribution(np, formula)
    candidates = [Candidate(rank, f"rank-{rank}", 2000.0 - rank) for rank in range(1, np + 1)]
    method = Birk(formula, bye="natural", avoid_last=False)
    rng = random.Random(20061005)
    met: Counter[tuple[int, int]] = Counter()
    left: Counter[int] = Counter()
    for _ in range(ROUNDS):
        pairing = method.pair(candidates, rng)
        met.update([pair[:2] for pair in pairing.pairs])
        left.update(list(pairing.sits_out))
    assert set(met) <= {pair for pair, p in exact.pairs.items() if p}
    assert [pair for pair, p in exact.pairs.items() if not close(met[pair], p)] == []
    assert set(left) <= {rank for rank, p in exact.sits_out.items() if p}
    assert [rank for rank, p in exact.sits_out.items() if not close(left[rank], p)] == []
