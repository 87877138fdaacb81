"""The one rule of what a game promises: jointly where that is known, else by two published ratings."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.api.messages import Expected
from cgos_server.core.rating.base import Z95
from cgos_server.service.ratings.expectation import Chances, Compared, chances, compare
from cgos_server.service.ratings.odds import Odds

ODDS = Odds(
    superiority=0.9,
    difference=120.0,
    half_width=50.0,
    as_black=Expected(win=0.7, draw=0.2, loss=0.1, score=0.8),
    as_white=Expected(win=0.4, draw=0, loss=0.6, score=0.4),
)


class Rating(NamedTuple):
    system: str
    version: str
    mean: float
    spread: float
    seq: int


class Known:
    """Knows A and B jointly; of others as much as their ratings say, if they are its own."""

    system, seq = "bayes", 40

    def __init__(self, at: Chances | None = None) -> None:
        self._at = at

    def chances_at(self, difference: float) -> Chances | None:
        return self._at if difference == 100 else None

    def odds(self, first: str, second: str) -> Odds | None:
        return ODDS if (first, second) == ("A", "B") else None

    def chances(self, first: str, second: str) -> Chances | None:
        return Chances(0.8, 0.4) if (first, second) == ("A", "B") else None


def test_expected_scores_are_elos_where_no_draws_were_learned() -> None:
    assert chances("A", "C", 1800, 1800, None) == (0.5, 0.5)
    assert chances("A", "C", 2200, 1800, None) == pytest.approx((10 / 11, 10 / 11))
    assert chances("A", "C", 1e6, 0, Known()) == (1.0, 1.0)


def test_expected_scores_allow_for_draws_that_the_headline_has_learned() -> None:
    known = Known(Chances(0.6, 0.55))
    assert chances("A", "C", 1900, 1800, known) == (0.6, 0.55)
    first, second = Rating("bayes", "A", 1900, 30, 7), Rating("bayes", "C", 1800, 40, 9)
    compared = compare("A", "C", first, second, known)
    assert compared is not None
    assert (compared.chances, compared.jointly) == ((0.6, 0.55), False)


@given(st.floats(-4000, 4000), st.floats(-4000, 4000))
def test_two_expected_scores_are_one_game(first: float, second: float) -> None:
    there, back = chances("A", "C", first, second, None), chances("C", "A", second, first, None)
    assert there is not None
    assert back is not None
    assert there.black + back.white == pytest.approx(1)


def test_colors_as_they_were_had() -> None:
    assert Chances(0.8, 0.4).a_game(3, 1) == pytest.approx(2.8 / 4)
    assert Chances(0.8, 0.4).a_game(0, 0) == pytest.approx(0.6)


def test_jointly_before_by_ratings() -> None:
    assert chances("A", "B", 1000, 2000, Known()) == (0.8, 0.4)
    assert chances("A", "C", 1800, 1800, Known()) == (0.5, 0.5)
    assert chances("A", "B", 1800, 1800, None) == (0.5, 0.5)
    assert chances("A", "C", None, 1800, Known()) is None
    assert chances("A", "C", 1800, None, None) is None


def test_two_compared_jointly() -> None:
    compared = compare("A", "B", None, None, Known())
    assert compared == Compared("bayes", 40, Chances(0.8, 0.4), 120.0, 0.9, 50.0, True, ODDS.as_black, ODDS.as_white)


def test_two_compared_by_their_ratings() -> None:
    first, second = Rating("bayes", "A", 1900, 30, 7), Rating("bayes", "C", 1800, 40, 9)
    compared = compare("A", "C", first, second, Known())
    assert compared is not None
    assert not compared.jointly
    assert (compared.seq, compared.difference, compared.as_black) == (9, 100, None)
    assert compared.half_width == pytest.approx(Z95 * 50)
    assert compared.superiority == pytest.approx(0.5 * (1 + math.erf(2 / math.sqrt(2))))
    assert compared.chances == chances("A", "C", 1900, 1800, Known())
    plain = compare("A", "C", first._replace(system="cgos-elo"), second._replace(system="cgos-elo"), None)
    assert plain is not None
    assert (plain.superiority, plain.half_width) == (None, None)
    assert compare("A", "C", first, None, None) is None
