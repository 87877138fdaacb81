"""How many are drawn: the four names, own formulas, and what is no formula."""

from __future__ import annotations

from math import isqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.pairing.methods.formula import FORMULAS, MOST_TEXT, compiled


@pytest.mark.parametrize("name", FORMULAS)
@given(avail=st.integers(1, 20_000))
def test_the_names(name: str, avail: int) -> None:
    text = {"half": "1 + avail // 2", "fifth": "1 + avail // 5", "sqrt": "1 + isqrt(avail - 1)", "one": "1"}[name]
    n = compiled(name)(avail, avail + 1)
    assert 1 <= n <= avail
    assert n == FORMULAS[name](avail) == compiled(text)(avail, avail + 1)


numbers = st.integers(0, 50).map(str)
expressions = st.recursive(
    numbers | st.sampled_from(("avail", "np")),
    lambda inner: (
        st.tuples(inner, st.sampled_from(("+", "-", "*", "//", "%", "**")), inner).map(lambda e: f"({' '.join(e)})")
        | st.tuples(st.sampled_from(("min", "max")), inner, inner).map(lambda e: f"{e[0]}({e[1]}, {e[2]})")
        | inner.map(lambda e: f"isqrt({e})")
        | inner.map(lambda e: f"-{e}")
    ),
    max_leaves=8,
).filter(lambda text: len(text) <= MOST_TEXT)


@given(expressions, st.integers(1, 10_000), st.integers(0, 10_000))
def test_whatever_it_comes_to_is_a_number_of_the_available(text: str, avail: int, more: int) -> None:
    assert 1 <= compiled(text)(avail, avail + more) <= avail


@given(
    st.recursive(
        st.integers(1, 9).map(str) | st.just("avail"),
        lambda inner: st.tuples(inner, st.sampled_from(("+", "-", "*")), inner).map(lambda e: f"({' '.join(e)})"),
        max_leaves=6,
    ),
    st.integers(1, 30),
)
def test_arithmetic_is_pythons_own(text: str, avail: int) -> None:
    value = eval(text, {"avail": avail})
    assert compiled(text)(avail, avail + 1) == max(1, min(avail, value))


@pytest.mark.parametrize(
    ("text", "avail", "np", "n"),
    [
        ("np // 4", 7, 40, 7),
        ("np // 4", 30, 40, 10),
        ("avail // 0", 9, 10, 1),
        ("avail % 0", 9, 10, 1),
        ("isqrt(0 - avail)", 9, 10, 1),
        ("2 ** 2", 9, 10, 4),
        ("avail ** -1", 9, 10, 1),
        ("max(2, min(avail // 3, 5))", 30, 31, 5),
        ("isqrt(avail) - -1", 26, 27, 6),
    ],
)
def test_edges(text: str, avail: int, np: int, n: int) -> None:
    assert compiled(text)(avail, np) == n


def test_powers_do_not_grow_without_end() -> None:
    assert compiled("avail ** 999999999 ** 999999999")(10_000, 10_000) == 10_000
    assert compiled(" ** ".join(["9"] * 30) + " % 7 + isqrt(avail)")(100, 101) >= isqrt(100)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("third", "half, fifth, sqrt, one"),
        ("", "no formula"),
        ("1 +", "no formula"),
        ("avail / 2", "avail / 2"),
        ("1.5", "whole numbers"),
        ("True", "True"),
        ("avail if avail else 1", "not allowed"),
        ("__import__('os')", "not allowed"),
        ("avail.real", "not allowed"),
        ("[1][0]", "not allowed"),
        ("(lambda: 1)()", "not allowed"),
        ("sum(avail)", "not allowed"),
        ("min(avail, key=1)", "not allowed"),
        ("min(*avail, 1)", "not allowed"),
        ("min(avail)", "2 to 9 numbers"),
        ("isqrt(avail, 2)", "takes 1 number\\."),
        ("avail := 2", "no formula"),
        ("1" * 40, "not allowed"),
        ("1 + " * 60 + "1", "at most 200"),
        ("(" * 99 + "avail", "no formula"),
        ("\0", "no formula"),
    ],
)
def test_what_is_no_formula_is_refused_with_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        compiled(text)
