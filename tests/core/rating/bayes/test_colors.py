"""A bot's own preference for a color: what is said of one game allows for it, ratings stay as they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.core.bayes_venue import BAYES, FIXED, Venue, pool

from cgos_server.core.rating.bayes.system import Bayes

COLOR_SD = 120.0
COLORED = Bayes(2000.0, color_sd=COLOR_SD)


def _refitted(system: Bayes) -> Venue:
    """A refit, a result after it, a warm refit, another result: all that a rating can come of."""
    venue, _ = pool(8, 6, 80, system=system)
    venue.refit()
    venue.game(3, 4, 2)
    venue.refit(cold=False)
    venue.game(4, 5, 1)
    return venue


def test_ratings_and_refits_are_the_same_to_the_bit() -> None:
    plain, colored = _refitted(BAYES), _refitted(COLORED)
    assert colored.ratings() == plain.ratings()
    for venue in (plain, colored):
        venue.refit()
    assert colored.refit(cold=False).notes == plain.refit(cold=False).notes
    assert colored.ratings() == plain.ratings()
    for one, other in ((3, 4), (5, 6)):
        assert COLORED.superiority(colored.state, one, other) == BAYES.superiority(plain.state, one, other)
        assert COLORED.difference(colored.state, one, other) == BAYES.difference(plain.state, one, other)


def test_a_saved_state_goes_on_with_it() -> None:
    venue = _refitted(COLORED)
    loaded = COLORED.load(COLORED.dump(venue.state))
    for black, white in ((3, 4), (4, 3), (1, 6)):
        assert COLORED.predict(loaded, black, white) == COLORED.predict(venue.state, black, white)
        assert COLORED.difference_by_color(loaded, black, white) == COLORED.difference_by_color(
            venue.state, black, white
        )


@pytest.mark.parametrize("anchors", [0, 2])
def test_a_difference_by_color_has_the_first_move_and_half_of_either_preference(anchors: int) -> None:
    venue, _ = pool(9, 5, 60, anchors=anchors, system=COLORED)
    venue.refit()
    advantage = venue.state.base.hyper.advantage
    assert abs(advantage) > 1
    for black, white in ((3, 4), (4, 3)):
        mean, sd = COLORED.difference(venue.state, black, white)
        by_color, wider = COLORED.difference_by_color(venue.state, black, white)
        assert by_color == pytest.approx(mean + advantage)
        # (c_black + c_white) / 2 of two independent preferences of this sd
        assert wider**2 == pytest.approx(sd**2 + 2 * (COLOR_SD / 2) ** 2)
    plain = _refitted(BAYES)
    assert BAYES.difference_by_color(plain.state, 3, 4)[1] == BAYES.difference(plain.state, 3, 4)[1]


def test_an_expected_score_averages_over_preferences() -> None:
    venue = Venue(Bayes(2000.0, learned=False, color_sd=COLOR_SD))
    venue.enter(1, 2)
    venue.anchor(1, 2000.0)
    venue.anchor(2, 2400.0)
    preferences = np.random.default_rng(0).normal(0.0, COLOR_SD, (2, 400_000))
    ahead = 400.0 + preferences.sum(axis=0) / 2
    expected = float(np.mean(1 / (1 + 10 ** (-ahead / 400))))
    assert expected < 1 / 1.1 - 0.005
    assert venue.system.predict(venue.state, 2, 1).win == pytest.approx(expected, abs=5e-4)
    assert venue.system.outcome_at(venue.state, 400.0).win == pytest.approx(expected, abs=5e-4)


def test_a_game_at_a_known_difference_by_what_was_learned_of_draws() -> None:
    venue, _ = pool(10, 5, 40)
    for _ in range(6):
        venue.game(3, 4, 1)
        venue.game(4, 3, 1)
    venue.refit()
    hyper = venue.state.base.hyper
    assert hyper.draw > 0.1
    outcome = BAYES.outcome_at(venue.state, 150.0)
    better = math.pow(10, (150.0 + hyper.advantage) / 800)
    weights = (better, hyper.draw, 1 / better)
    assert tuple(outcome) == pytest.approx(tuple(weight / sum(weights) for weight in weights))
    known = Venue(FIXED)
    assert FIXED.outcome_at(known.state, 400.0).score == pytest.approx(10 / 11), "nothing is learned yet"
