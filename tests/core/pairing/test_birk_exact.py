"""Birk's sampler against the exact law of the method, over up to 200 000 rounds."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from math import sqrt
from typing import Any

import pytest
from support.core.vectors import parametrize

from cgos_server.core.pairing.base import Candidate, Matchmaker, PairingPass
from cgos_server.core.pairing.constraints import FREE, Constraints
from cgos_server.core.pairing.methods import picking
from cgos_server.core.pairing.methods.birk import Birk
from cgos_server.core.pairing.methods.formula import FORMULAS
from cgos_server.lab.birk.exact import Distribution, distribution

ROUNDS = {8: 200_000, 7: 50_000}
"""By the number of candidates."""


def named(case: dict[str, Any]) -> str:
    return f"{case['formula']}-{case['np']}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "birk_pair_probabilities", named=named)


def test_how_many_are_drawn(case: dict[str, Any]) -> None:
    for avail, n in case["n_by_available"].items():
        assert FORMULAS[case["formula"]](int(avail)) == n


def off(method: Matchmaker, exact: Distribution, np: int, rounds: int) -> Sequence[object]:
    """Pairs and sit-outs whose frequency is not within 5 standard errors, or that must not occur and did."""
    candidates = [Candidate(rank, f"rank-{rank}", 2000.0 - rank) for rank in range(1, np + 1)]
    pairing_pass = PairingPass(candidates=candidates)
    rng = random.Random(20061005)
    met: Counter[object] = Counter()
    for _ in range(rounds):
        pairing = method.pair(pairing_pass, rng)
        met.update([pair[:2] for pair in pairing.pairs])
        met.update(pairing.sits_out.keys())

    def close(count: int, p: float) -> bool:
        return abs(count / rounds - p) < 5 * sqrt(p * (1 - p) / rounds) + 1e-9

    expected = [*exact.pairs.items(), *exact.sits_out.items()]
    return [event for event, p in expected if not close(met[event], float(p)) or (met[event] and not p)]


@pytest.mark.slow
@pytest.mark.parametrize("np", ROUNDS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_frequencies_over_many_rounds(formula: str, np: int) -> None:
    method = Birk(formula=formula, bye="natural", constraints=FREE)
    assert off(method, distribution(np, formula), np, ROUNDS[np]) == []


@pytest.mark.parametrize("np", [6, 5])
@pytest.mark.parametrize("formula", [*FORMULAS, "1 + avail // 3"])
def test_frequencies_over_fewer_rounds(formula: str, np: int) -> None:
    method = Birk(formula=formula, bye="natural", constraints=FREE)
    assert off(method, distribution(np, formula), np, 4_000) == []


def test_frequencies_where_few_of_many_are_drawn() -> None:
    """Two of 13 and fewer: drawn one by one rather than followed down."""
    assert off(Birk(formula="2", bye="natural", constraints=FREE), distribution(14, "2"), 14, 4_000) == []


@pytest.mark.parametrize("narrow", [0, 128])
@pytest.mark.parametrize("np", [6, 5])
def test_frequencies_where_constraints_are_looked_at(narrow: int, np: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing speaks against any pair, but that has to be found out."""
    monkeypatch.setattr(picking, "NARROW", narrow)
    method = Birk(formula="fifth", bye="natural", constraints=Constraints())
    assert off(method, distribution(np, "fifth"), np, 2_500) == []


def test_the_comparison_can_fail() -> None:
    assert off(Birk(formula="half", bye="natural", constraints=FREE), distribution(6, "fifth"), 6, 2_000) != []
