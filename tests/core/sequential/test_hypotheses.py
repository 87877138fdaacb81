"""What a test asks, where it decides, and what it refuses."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from cgos_protocol.errors import Code, Invalid
from cgos_server.core.sequential import Counts, Decision, Hypotheses, Scale, first_decision, standing
from cgos_server.core.sequential.hypotheses import elo_of, nelo_of, score_of, t_of


def test_the_bounds_of_the_ratio_are_walds() -> None:
    asked = Hypotheses(lower=0, upper=10, alpha=0.05, beta=0.1)
    assert asked.accept_at == pytest.approx(log(0.9 / 0.05))
    assert asked.reject_at == pytest.approx(log(0.1 / 0.95))
    assert asked.scale is Scale.NORMALIZED


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lower": 10, "upper": 0}, "10 does not lie below 0"),
        ({"lower": 1, "upper": 1}, "lower bound"),
        ({"lower": 0, "upper": float("nan")}, "between -1000 and 1000"),
        ({"lower": 0, "upper": 2000}, "between -1000 and 1000"),
        ({"lower": 0, "upper": 10, "alpha": 0}, "error rates"),
        ({"lower": 0, "upper": 10, "alpha": 0.5, "beta": 0.5}, "error rates"),
    ],
)
def test_what_cannot_be_asked_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        Hypotheses(**given)
    assert refused.value.code is Code.BOUNDS


@pytest.mark.parametrize("cells", [(1, 2), (1, 2, 3, 4), (1, 2, -1), (0,) * 6, ()])
def test_other_counts_are_refused(cells: tuple[int, ...]) -> None:
    with pytest.raises(Invalid) as refused:
        Counts(cells)
    assert refused.value.code is Code.COUNTS


def test_counts_know_their_games() -> None:
    pairs, games = Counts.of([1, 0, 2, 0, 1]), Counts.of((3, 1, 4))
    assert (pairs.paired, pairs.total, pairs.games, pairs.score) == (True, 4, 8, 0.5)
    assert (games.paired, games.total, games.games, games.score) == (False, 8, 8, 4.5 / 8)
    assert Counts((0, 0, 0)).score is None


def test_scales_have_inverses() -> None:
    assert elo_of(score_of(120)) == pytest.approx(120)
    assert [elo_of(score) for score in (-0.1, 0, 1, 1.1)] == [None] * 4
    assert nelo_of(t_of(7, 5), 5) == pytest.approx(7)
    assert t_of(7, 5) == pytest.approx(2**0.5 * t_of(7, 3))


def test_a_test_stands_between_its_bounds_until_it_is_decided() -> None:
    asked = Hypotheses(lower=0, upper=50)
    assert standing((2, 5, 8, 5, 3), asked).decision is None
    assert standing((2, 5, 80, 90, 60), asked).decision is Decision.ACCEPTED
    assert standing((60, 90, 80, 5, 2), asked).decision is Decision.REJECTED


def test_the_first_result_that_decides_ends_a_test() -> None:
    asked = Hypotheses(lower=0, upper=100)
    results = [3, 2, 4, 3] * 40 + [0] * 100
    end = first_decision(results, 5, asked)
    assert end is not None
    assert end < 160
    counts = [results[:end].count(cell) for cell in range(5)]
    assert standing(counts, asked).decision is Decision.ACCEPTED
    counts[results[end - 1]] -= 1
    assert standing(counts, asked).decision is None
    assert first_decision(results[: end - 1], 5, asked) is None
    assert first_decision([], 5, asked) is None
