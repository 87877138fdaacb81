"""Where a gauntlet's games place a version."""

from __future__ import annotations

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId
from cgos_server.core.questions.answer import answer_of
from cgos_server.core.questions.asked import Challenge, Gauntlet, Opponent, Test
from cgos_server.core.questions.place import PRIOR_SD, Place, expected_score, place
from cgos_server.core.questions.tally import Tally
from cgos_server.core.sequential import fixed_estimate, standing

FIELD = (Opponent(version=VersionId(2), rating=1800.0), Opponent(version=VersionId(3), rating=2100.0))
ASKED = Gauntlet(version=VersionId(1), most_games=1000, field=FIELD)


def tally_of(points: dict[int, list[int]]) -> Tally:
    """Opponent -> half points of pairs, 0 to 4."""
    tally, game = Tally(), 0
    for opponent, pairs in points.items():
        for score in pairs:
            number = len(tally.pairs) + 1
            for color, score2 in zip(Color, (score // 2, score - score // 2), strict=True):
                game += 1
                tally.began(GameId(game), number, VersionId(opponent), opening="", color=color)
                tally.ended(GameId(game), score2, digest=game)
    return tally


def by_grid(points: dict[int, list[int]]) -> float:
    """The most likely rating, by trying all."""
    mean = sum(opponent.rating for opponent in FIELD) / 2

    def log_posterior(elo: float) -> float:
        known = -((elo - mean) ** 2) / (2 * PRIOR_SD**2)
        for opponent in FIELD:
            score = expected_score(elo, opponent.rating)
            for half_points in points.get(opponent.version, []):
                known += half_points / 2 * log(score) + (2 - half_points / 2) * log(1 - score)
        return known

    return max((elo / 10 for elo in range(5_000, 40_000)), key=log_posterior)


@pytest.mark.parametrize("points", [{2: [4, 4, 2], 3: [1, 0, 2]}, {2: [4] * 9}, {3: [0] * 9}, {2: [2], 3: [3, 4]}, {}])
def test_it_is_the_most_likely_rating(points: dict[int, list[int]]) -> None:
    assert place(ASKED, tally_of(points)).elo == pytest.approx(by_grid(points), abs=0.06)


@given(st.lists(st.integers(0, 4), max_size=30), st.lists(st.integers(0, 4), max_size=30))
def test_it_is_always_finite_and_surer_than_without_games(one: list[int], other: list[int]) -> None:
    placed = place(ASKED, tally_of({2: one, 3: other}))
    assert abs(placed.elo) < 5000
    assert 0 < placed.half_width <= place(ASKED, Tally()).half_width


def test_without_games_it_is_the_field_with_the_prior() -> None:
    assert place(ASKED, Tally()) == Place(1950.0, pytest.approx(1.959964 * PRIOR_SD))


def test_the_expected_score_is_logistic() -> None:
    assert expected_score(2000.0, 1800.0) == pytest.approx(1 / (1 + exp(-200 * log(10) / 400)))


def test_an_answer_says_what_its_games_say() -> None:
    tally = tally_of({2: [4, 2, 3], 3: [0]})
    gauntlet = answer_of(ASKED, tally)
    assert (gauntlet.wins, gauntlet.draws, gauntlet.losses, gauntlet.games) == (3, 3, 2, 8)
    assert gauntlet.counts == (1, 0, 1, 1, 1)
    assert gauntlet.elo == pytest.approx(place(ASKED, tally).elo)
    assert [one.counts for one in gauntlet.against] == [(0, 0, 1, 1, 1), (1, 0, 0, 0, 0)]
    stronger = [one.superiority for one in gauntlet.against]
    assert stronger[0] is not None
    assert stronger[1] is not None
    assert stronger[0] > 0.5 > stronger[1]


def test_a_test_and_a_challenge_say_their_estimates() -> None:
    tally = tally_of({2: [4, 2, 3, 2, 4, 1]})
    test = Test(version=VersionId(1), against=VersionId(2), most_games=100)
    answer = answer_of(test, tally)
    assert answer.llr == standing(tally.counts(), test.hypotheses).llr
    assert answer.pairs_left is not None
    assert answer.elo is not None
    challenge = answer_of(Challenge(version=VersionId(1), against=VersionId(2), most_games=12), tally)
    assert (challenge.elo, challenge.llr) == (fixed_estimate(tally.counts()).elo, None)
    nothing = answer_of(test, Tally())
    assert (nothing.llr, nothing.elo, nothing.games) == (0.0, None, 0)
