"""Where a gauntlet's games place a version."""

from __future__ import annotations

import dataclasses
from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId
from cgos_server.core.questions.answer import answer_of, drop_vague_estimate
from cgos_server.core.questions.asked import Challenge, Gauntlet, Opponent, Test
from cgos_server.core.questions.place import PRIOR_SD, information, place
from cgos_server.core.questions.tally import Score, Tally
from cgos_server.core.rating.base import Z95, Rating
from cgos_server.core.rating.bayes.likelihood import draw_parameter, log_likelihood, probabilities
from cgos_server.core.rating.together import JointRatings, separate_ratings
from cgos_server.core.sequential import Estimate, drop_vague_elo, fixed_estimate, standing

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
    placed = place(ASKED, Tally())
    assert (placed.elo, placed.half_width) == (1950.0, pytest.approx(Z95 * PRIOR_SD))
    assert placed.leads == ((150.0, pytest.approx(PRIOR_SD)), (-150.0, pytest.approx(PRIOR_SD)))
    assert placed.least_half_width < 0.1, "what is known exactly leaves nothing"


@given(st.floats(-800, 800), st.floats(0, 0.9))
def test_a_game_tells_as_much_as_its_points_vary(ahead: float, draws: float) -> None:
    chances = probabilities(ahead, draw=draw_parameter(draws))
    mean = chances.win + chances.draw / 2
    variance = float(chances.win + chances.draw / 4 - mean**2)
    assert information(ahead, draws) == pytest.approx(variance * (log(10) / 400) ** 2, abs=1e-15)


# -- what the venue does not know

TALLY = {2: [3, 2, 4, 3, 1, 2, 3], 3: [2, 1, 3, 0, 2, 2, 1]}
MEANS = np.array([1800.0, 2100.0])
COVARIANCE = np.array([[1600.0, 500.0], [500.0, 900.0]])


def colored(points: dict[int, tuple[Score, Score]]) -> Tally:
    """Opponent -> results as Black and as White; no game is drawn."""
    tally = Tally()
    for opponent, (as_black, as_white) in points.items():
        games = [[2] * score.wins + [0] * score.losses for score in (as_black, as_white)]
        for scores in zip(*games, strict=True):
            number = len(tally.pairs) + 1
            for color, score2 in zip(Color, scores, strict=True):
                game = GameId(2 * number + color)
                tally.began(game, number, VersionId(opponent), opening="", color=color)
                tally.ended(game, score2, digest=game)
    return tally


def test_it_is_the_joint_posterior() -> None:
    """Mean and sd against a sum over a grid of all four unknowns, of which the normal shape is nearly true."""
    ratings = JointRatings(MEANS, COVARIANCE, first_move=120.0, first_move_sd=25.0)
    tally = colored({2: (Score(50, 0, 10), Score(39, 0, 21)), 3: (Score(25, 0, 35), Score(15, 0, 45))})
    placed = place(ASKED, tally, ratings)
    at, weights = np.polynomial.hermite_e.hermegauss(15)
    root = np.linalg.cholesky(COVARIANCE)
    elos = np.linspace(placed.elo - 200.0, placed.elo + 200.0, 201)
    density = np.zeros_like(elos)
    for (x, wx), (y, wy), (z, wz) in product(zip(at, weights, strict=True), repeat=3):
        strengths, worth = MEANS + root @ (x, y), 120.0 + 25.0 * z
        logs = -0.5 * ((elos - 1950.0) / PRIOR_SD) ** 2
        for opponent, strength in zip(FIELD, strengths, strict=True):
            for color, sign in ((Color.BLACK, 1.0), (Color.WHITE, -1.0)):
                score = tally.score(opponent.version, color)
                logs += log_likelihood(elos - strength, score.wins, 0, score.losses, advantage=sign * worth).value
        density += wx * wy * wz * np.exp(logs + 160.0)
    mean = float(density @ elos / density.sum())
    sd = sqrt(float(density @ (elos - mean) ** 2 / density.sum()))
    assert placed.elo == pytest.approx(mean, abs=2.0)
    assert placed.half_width == pytest.approx(Z95 * sd, rel=0.01)


def test_an_error_that_all_share_stays_however_many_games_are_played() -> None:
    tally = tally_of(TALLY)
    alone = place(ASKED, tally)
    shared = place(ASKED, tally, JointRatings(MEANS, np.full((2, 2), 40.0**2)))
    assert shared.half_width == pytest.approx(sqrt(alone.half_width**2 + (Z95 * 40.0) ** 2), rel=0.03)
    assert shared.least_half_width == pytest.approx(Z95 * 40.0, rel=0.01)
    assert shared.elo == pytest.approx(alone.elo, abs=2.0)
    assert [sd for _, sd in shared.leads] == pytest.approx([sd for _, sd in alone.leads], rel=0.01)


def test_errors_of_several_opponents_make_up_for_one_another() -> None:
    least = [
        place(replace(ASKED, field=FIELD[:m]), Tally(), JointRatings(MEANS[:m], 40.0**2 * np.eye(m))).least_half_width
        for m in (1, 2)
    ]
    assert least == pytest.approx([Z95 * 40.0, Z95 * 40.0 / sqrt(2.0)], rel=0.01)


@given(st.lists(st.integers(0, 4), max_size=200), st.floats(0, 300))
def test_no_games_make_it_surer_than_the_venue_is(pairs: list[int], sd: float) -> None:
    placed = place(ASKED, tally_of({2: pairs, 3: pairs}), JointRatings(MEANS, sd**2 * np.eye(2), 50.0, 20.0))
    assert placed.half_width >= placed.least_half_width - 0.1


def test_the_first_move_counts_in() -> None:
    """Two hundred above the field where the first move is worth two hundred: as Black all is won, as White half."""
    tally = colored({2: (Score(100, 0, 10), Score(55, 0, 55))})
    asked = replace(ASKED, field=FIELD[:1])
    known = JointRatings(MEANS[:1], np.zeros((1, 1)), first_move=200.0)
    assert place(asked, tally, known).elo == pytest.approx(2000.0, abs=3.0)
    assert place(asked, tally).elo < 1980.0
    assert place(asked, tally, known).half_width > 1.1 * place(asked, tally).half_width


def test_the_first_move_is_learned_from_the_games_where_nobody_knows_it() -> None:
    tally = colored({2: (Score(100, 0, 10), Score(55, 0, 55))})
    asked = replace(ASKED, field=FIELD[:1])
    known, unknown = (JointRatings(MEANS[:1], np.zeros((1, 1)), 0.0, sd) for sd in (0.0, 100.0))
    assert place(asked, tally, unknown).elo > place(asked, tally, known).elo + 10.0


@given(st.lists(st.integers(0, 4), max_size=30), st.lists(st.integers(0, 4), max_size=30))
def test_it_is_finite_whoever_wins(one: list[int], other: list[int]) -> None:
    placed = place(ASKED, tally_of({2: one, 3: other}), JointRatings(MEANS, COVARIANCE, 100.0, 30.0))
    assert abs(placed.elo) < 5000
    assert 0 < placed.half_width <= Z95 * PRIOR_SD


def test_the_answer_says_what_its_interval_leaves_out() -> None:
    ratings = separate_ratings([Rating(1800.0, 30.0, 9, False), Rating(2100.0, 40.0, 9, False)], sure=True)
    answer = answer_of(ASKED, tally_of(TALLY), ratings)
    assert answer.note == ratings.note
    assert answer.elo is not None
    assert answer.upper == pytest.approx(answer.elo + place(ASKED, tally_of(TALLY), ratings).half_width)
    assert answer.least_half_width == pytest.approx(Z95 * 24.0, rel=0.01)
    assert answer_of(ASKED, tally_of(TALLY)).note == ""


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
        assert drop_vague_estimate(stored_earlier) == answer
    assert drop_vague_elo(dataclasses.replace(vague, lower=-1.0), 20).elo == 0.0


def test_a_gauntlet_is_placed_by_ten_pairs_or_as_soon_as_it_is_answered() -> None:
    tally = tally_of({2: [2, 3, 1], 3: [1]})
    assert answer_of(ASKED, tally).elo is None
    width = place(ASKED, tally).half_width
    assert answer_of(replace(ASKED, within=width + 1.0), tally).elo == place(ASKED, tally).elo
