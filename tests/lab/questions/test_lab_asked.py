"""What is asked of the studies of questions: the game, its differences on two scales, shares and their checks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.core.sequential import Hypotheses, pair_distribution
from cgos_server.core.sequential.hypotheses import ELO_PER_T
from cgos_server.lab.questions.asked import (
    Asked,
    Game,
    at_most,
    clustered,
    grouped,
    logistic_of,
    named,
    normalized_of,
    share_of,
)
from cgos_server.lab.report import Mean


@given(st.floats(-300.0, 300.0), st.floats(0.0, 0.8), st.floats(0.0, 200.0))
def test_a_difference_in_normalized_elo_is_found(normalized: float, draws: float, spread: float) -> None:
    game = Game(draws=draws, spread=spread)
    assert normalized_of(game.pair(game.difference_at(normalized))) == pytest.approx(normalized, abs=1e-6)


def test_without_draws_and_spread_a_pair_is_two_games() -> None:
    win = 1.0 / (1.0 + 10.0 ** (-100.0 / 400.0))
    chances = Game(draws=0.0, spread=0.0).pair(100.0)
    assert chances == pytest.approx([(1 - win) ** 2, 0.0, 2 * win * (1 - win), 0.0, win**2])
    assert logistic_of(chances) == pytest.approx(100.0)
    assert normalized_of(chances) == pytest.approx((win - 0.5) / (win * (1 - win)) ** 0.5 * ELO_PER_T)


def test_games_by_lot_are_as_likely_as_the_server_says() -> None:
    game, pairs, rng = Game(draws=0.3, spread=150.0), 4000, np.random.default_rng(4)
    cells = [sum(game.on_one_opening(rng, 40.0, 2)) for _ in range(pairs)]
    expected = pair_distribution(40.0, draws=0.3, spread=150.0)
    assert np.bincount(cells, minlength=5) / pairs == pytest.approx(expected, abs=4.0 * 0.5 / pairs**0.5)


def test_shares_have_the_standard_error_of_what_is_independent() -> None:
    part = share_of(np.array([True, False, False, False]))
    assert part.mean == 0.25
    assert part.error == pytest.approx((0.25 * 0.75 / 4) ** 0.5)
    whole = clustered([(1.0, 2.0), (2.0, 2.0), (0.0, 0.0)])
    assert whole.mean == 0.75
    assert whole.error == pytest.approx((0.5**2 + 0.5**2) ** 0.5 * 2**0.5 / 4.0)
    assert clustered([(1.0, 4.0)]) == Mean(0.25)


def test_a_rate_is_kept_with_one_standard_error() -> None:
    assert at_most("kept", Mean(0.055, 0.005), 0.05).holds
    assert not at_most("not kept", Mean(0.0551, 0.005), 0.05).holds
    assert at_most("far below", Mean(0.0, 0.0), 0.05).holds


def test_answers_are_grouped_in_their_order() -> None:
    assert grouped({"a1": 1, "b1": 2, "a2": 3}, lambda task: task[0]) == {"a": {"a1": 1, "a2": 3}, "b": {"b1": 2}}


def test_bounds_are_read() -> None:
    assert Asked(bounds=("0,10", "-5,5", "0,10")).hypotheses == (
        Hypotheses(lower=0.0, upper=10.0),
        Hypotheses(lower=-5.0, upper=5.0),
    )
    assert named(Hypotheses(lower=-5.0, upper=5.0)) == "[-5, 5]"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"bounds": ("0",)}, "Bounds are two numbers such as 0,10"),
        ({"bounds": ("a,b",)}, "a,b is no such thing"),
        ({"bounds": ("10,0",)}, "10 does not lie below 0"),
        ({"versions": 7}, "Give an even number"),
    ],
)
def test_what_cannot_be_is_refused(fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Asked(**fields)  # type: ignore[arg-type]
