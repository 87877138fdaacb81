"""Many tests at once end where the server ends each of them, pair by pair."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_server.core.sequential import Decision, Hypotheses, Scale, first_decision, standing
from cgos_server.lab.questions.asked import Game, Ints
from cgos_server.lab.questions.walks import MARGIN, Cells, Draw, drawn, walked
from cgos_server.lab.ratings.pools import Floats

TESTS = 12


def fixed(cells: Cells) -> Draw:
    """Results that are known before, (n, pairs)."""
    at = 0

    def draw(tests: Ints, length: int) -> Cells:
        nonlocal at
        at += length
        return cells[tests, at - length : at]

    return draw


@pytest.mark.parametrize(
    ("hypotheses", "game", "difference"),
    [
        (Hypotheses(lower=0.0, upper=80.0), Game(draws=0.2, spread=50.0), 35.0),
        (Hypotheses(lower=-100.0, upper=0.0, alpha=0.2, beta=0.01), Game(draws=0.0, spread=0.0), -50.0),
        (Hypotheses(lower=0.0, upper=25.0, scale=Scale.LOGISTIC), Game(draws=0.8, spread=200.0), 40.0),
    ],
)
def test_each_test_ends_where_the_server_ends_it(hypotheses: Hypotheses, game: Game, difference: float) -> None:
    chances = game.pair(difference)
    cells = drawn(np.random.default_rng(1), chances)(np.arange(TESTS), 2000)
    ends = walked(fixed(cells), TESTS, hypotheses)
    assert 0.0 < ends.off < MARGIN / 2
    assert 0 < ends.accepted.sum() < TESTS
    for row in range(TESTS):
        assert ends.pairs[row] == first_decision(cells[row, : ends.pairs[row] + 1].tolist(), 5, hypotheses)
        assert (ends.counts[row] == np.bincount(cells[row, : ends.pairs[row]], minlength=5)).all()
        decision = standing(ends.counts[row].tolist(), hypotheses).decision
        assert ends.accepted[row] == (decision is Decision.ACCEPTED)


def test_results_are_drawn_by_the_chances_of_each_test() -> None:
    chances: Floats = np.array([[0.1, 0.2, 0.3, 0.25, 0.15], [0.0, 0.0, 1.0, 0.0, 0.0], [0.5, 0.0, 0.0, 0.0, 0.5]])
    pairs = 4000
    own = drawn(np.random.default_rng(3), chances)(np.array([2, 0, 1]), pairs)
    for cells, expected in zip(own, chances[[2, 0, 1]], strict=True):
        shares = np.bincount(cells, minlength=5) / pairs
        assert shares == pytest.approx(expected, abs=4.0 * 0.5 / pairs**0.5)
        assert (shares[expected == 0.0] == 0.0).all()
