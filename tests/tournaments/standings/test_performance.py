"""Performance ratings: the equation they solve, and the scores that have no solution."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.tournaments.standings.performance import performance

RATINGS = st.lists(st.floats(0.0, 4000.0), min_size=1, max_size=12)


@given(RATINGS, st.data())
def test_it_is_the_rating_at_which_the_score_was_to_be_expected(ratings: list[float], data: st.DataObject) -> None:
    score = data.draw(st.integers(0, 2 * len(ratings))) / 2
    result = performance(ratings, score)
    assert result is not None
    counted = min(max(score, 0.25), len(ratings) - 0.25)
    assert sum(1.0 / (1.0 + 10.0 ** ((rating - result) / 400.0)) for rating in ratings) == pytest.approx(
        counted, abs=1e-7 * len(ratings)
    )


@given(RATINGS, st.floats(-300.0, 300.0))
def test_it_moves_with_the_opponents_and_grows_with_the_score(ratings: list[float], shift: float) -> None:
    scores = [half / 2 for half in range(2 * len(ratings) + 1)]
    result = [performance(ratings, score) for score in scores]
    known = [rating for rating in result if rating is not None]
    assert len(known) == len(scores)
    assert known == sorted(set(known))
    for score, rating in zip(scores, known, strict=True):
        assert performance([value + shift for value in ratings], score) == pytest.approx(rating + shift, abs=1e-5)
        assert performance(ratings[::-1], score) == rating


def test_known_values() -> None:
    """Against equal opponents it is their rating and the logistic difference (Elo 1978)."""
    assert performance([], 0) is None
    assert performance([2000.0] * 4, 2) == 2000.0
    assert performance([2000.0] * 11, 10) == 2400.0
    assert performance([1900.0, 2100.0], 1) == 2000.0


def test_all_and_nothing_count_as_a_quarter_of_a_point_from_the_end() -> None:
    assert performance([2000.0] * 5, 5) == performance([2000.0] * 5, 4.75)
    assert performance([2000.0] * 5, 0) == performance([2000.0] * 5, 0.25)
    assert performance([2000.0], 1) == pytest.approx(2000.0 + 190.848502, abs=1e-6)


@pytest.mark.parametrize("score", [-0.5, 2.5])
def test_impossible_scores(score: float) -> None:
    with pytest.raises(ValueError, match="points from 2 games"):
        performance([2000.0, 2000.0], score)
