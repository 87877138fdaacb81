"""Where a gauntlet's games place a version."""

from __future__ import annotations

import dataclasses
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId
from cgos_server.core.questions.answer import answer_of, without_vague_estimate
from cgos_server.core.questions.asked import Challenge, Gauntlet, Opponent, Test
from cgos_server.core.questions.place import PRIOR_SD, Place, expected_points, place
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.bayes.likelihood import draw_parameter, probabilities
from cgos_server.core.sequential import Estimate, fixed_estimate, standing, stated

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


def by_grid(points: dict[int, list[int]], draws: float) -> float:
    """The most likely rating, by trying all; the chances of an outcome are by the rating's own model."""
    mean = sum(opponent.rating for opponent in FIELD) / 2

    def log_posterior(elo: float) -> float:
        known = -((elo - mean) ** 2) / (2 * PRIOR_SD**2)
        for opponent in FIELD:
            chances = probabilities(elo - opponent.rating, draw=draw_parameter(draws))
            for half_points in points.get(opponent.version, []):
                for of_one in (half_points // 2, half_points - half_points // 2):
                    known += log((chances.loss, chances.draw, chances.win)[of_one])
        return known

    return max((elo / 10 for elo in range(10_000, 30_000)), key=log_posterior)


@pytest.mark.parametrize("points", [{2: [4, 4, 2], 3: [1, 0, 2]}, {2: [4] * 9}, {3: [0] * 9}, {2: [2], 3: [3, 4]}, {}])
def test_it_is_the_most_likely_rating(points: dict[int, list[int]]) -> None:
    asked = replace(ASKED, draws=0.25)
    assert place(asked, tally_of(points)).elo == pytest.approx(by_grid(points, 0.25), abs=0.06)


@given(st.lists(st.integers(0, 4), max_size=30), st.lists(st.integers(0, 4), max_size=30))
def test_it_is_always_finite_and_surer_than_without_games(one: list[int], other: list[int]) -> None:
    placed = place(ASKED, tally_of({2: one, 3: other}))
    assert abs(placed.elo) < 5000
    assert 0 < placed.half_width <= place(ASKED, Tally()).half_width


def test_without_games_it_is_the_field_with_the_prior() -> None:
    assert place(ASKED, Tally()) == Place(1950.0, pytest.approx(1.959964 * PRIOR_SD))


def test_without_draws_the_expected_points_are_logistic() -> None:
    mean, variance = expected_points(200.0, 0.0)
    assert mean == pytest.approx(1 / (1 + exp(-200 * log(10) / 400)))
    assert variance == pytest.approx(mean * (1 - mean))


@given(st.floats(-800, 800), st.floats(0, 0.9))
def test_points_are_those_of_the_ratings_model(ahead: float, draws: float) -> None:
    chances = probabilities(ahead, draw=draw_parameter(draws))
    mean, variance = expected_points(ahead, draws)
    assert mean == pytest.approx(chances.win + chances.draw / 2)
    assert variance == pytest.approx(chances.win + chances.draw / 4 - mean**2, abs=1e-12)
    step = (expected_points(ahead + 0.01, draws).mean - expected_points(ahead - 0.01, draws).mean) / 0.02
    assert step == pytest.approx(variance * log(10) / 400, abs=1e-9), "a point of rating is so much of the points"


def test_draws_widen_a_lead_and_its_interval() -> None:
    tally = tally_of({2: [3, 2, 3, 3], 3: [2, 3, 2, 3]})
    plain, drawn = place(ASKED, tally), place(replace(ASKED, draws=0.3), tally)
    assert drawn.elo > plain.elo > 1950.0
    assert drawn.half_width > plain.half_width


def test_an_answer_says_what_its_games_say() -> None:
    tally = tally_of({2: [4, 2, 3] * 3, 3: [0]})
    gauntlet = answer_of(ASKED, tally)
    assert (gauntlet.wins, gauntlet.draws, gauntlet.losses, gauntlet.games) == (9, 9, 2, 20)
    assert gauntlet.counts == (1, 0, 3, 3, 3)
    assert gauntlet.elo == pytest.approx(place(ASKED, tally).elo)
    assert [one.counts for one in gauntlet.against] == [(0, 0, 3, 3, 3), (1, 0, 0, 0, 0)]
    stronger = [one.superiority for one in gauntlet.against]
    assert stronger[0] is not None
    assert stronger[1] is not None
    assert stronger[0] > 0.5 > stronger[1]


def test_a_test_and_a_challenge_say_their_estimates() -> None:
    tally = tally_of({2: [4, 2, 3, 2, 4, 1] * 2})
    test = Test(version=VersionId(1), against=VersionId(2), most_games=100)
    answer = answer_of(test, tally)
    assert answer.llr == standing(tally.counts(), test.hypotheses).llr
    assert answer.pairs_left is not None
    assert answer.elo is not None
    challenge = answer_of(Challenge(version=VersionId(1), against=VersionId(2), most_games=24), tally)
    assert (challenge.elo, challenge.llr) == (fixed_estimate(tally.counts()).elo, None)
    nothing = answer_of(test, Tally())
    assert (nothing.llr, nothing.elo, nothing.games) == (0.0, None, 0)


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param([4, 2, 3, 2, 4, 1, 2, 3, 1], id="nine pairs"),
        pytest.param([4] * 9 + [3], id="no upper end"),
        pytest.param([0] * 12, id="no lower end"),
        pytest.param([2], id="one pair"),
    ],
)
def test_nothing_is_estimated_of_too_little(pairs: list[int]) -> None:
    tally = tally_of({2: pairs})
    vague = Estimate(
        elo=0.0, lower=None, upper=1.0, normalized=0.0, normalized_lower=-1.0, normalized_upper=1.0, superiority=0.5
    )
    for asked in (
        Test(version=VersionId(1), against=VersionId(2), most_games=100),
        Challenge(version=VersionId(1), against=VersionId(2), most_games=100),
    ):
        answer = answer_of(asked, tally)
        assert answer.games == 2 * len(pairs)
        assert answer.superiority is not None
        estimated = [answer.elo, answer.lower, answer.upper, answer.normalized, answer.normalized_lower]
        assert [*estimated, answer.normalized_upper] == [None] * 6
        stored_earlier = replace(answer, **{name: getattr(vague, name) for name in ("elo", "lower", "upper")})
        assert without_vague_estimate(stored_earlier) == answer
    assert stated(dataclasses.replace(vague, lower=-1.0), 20).elo == 0.0


def test_a_gauntlet_is_placed_by_ten_pairs_or_as_soon_as_it_is_answered() -> None:
    tally = tally_of({2: [2, 3, 1], 3: [1]})
    assert answer_of(ASKED, tally).elo is None
    width = place(ASKED, tally).half_width
    assert answer_of(replace(ASKED, within=width + 1.0), tally).elo == place(ASKED, tally).elo
