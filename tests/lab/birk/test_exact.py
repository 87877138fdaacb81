"""The exact law of Birk's pairing against the vectors and by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from support.core.vectors import parametrize

from cgos_server.core.pairing.methods.formula import FORMULAS
from cgos_server.lab.birk.exact import distribution


def named(case: dict[str, Any]) -> str:
    return f"{case['formula']}-{case['np']}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "birk_pair_probabilities", named=named)


def test_exact_probabilities(case: dict[str, Any]) -> None:
    expected = {(pair["i"], pair["j"]): Fraction(pair["exact"]) for pair in case["pairs"]}
    assert distribution(case["np"], case["formula"]).pairs == expected


@pytest.mark.parametrize("formula", [*FORMULAS, "1 + avail // 3", "np - avail"])
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


def test_an_own_formula_has_the_same_law_as_the_name() -> None:
    assert distribution(9, "1 + isqrt(avail - 1)") == distribution(9, "sqrt")
