"""The outcome model against its published rows, and what must hold of any such model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.vectors import Vectors

from cgos_server.tournaments.simulation.milvang import chances_of, rating_sd

STRENGTHS = st.floats(-500, 5000)


def chances(white: float, black: float) -> tuple[float, ...]:
    """Of one game: White wins, nobody does, Black wins."""
    return tuple(float(share[0]) for share in chances_of(np.array([white]), np.array([black])))


def test_published_rows(vectors: Vectors) -> None:
    for case in vectors("milvang")["published"]:
        odds = [100 * chance for chance in chances(case["white"], case["black"])]
        # One printed row was made to add up to 100.
        assert odds == pytest.approx(case["percent"], abs=0.6)


def test_table(vectors: Vectors) -> None:
    for case in vectors("milvang")["table"]:
        expected = (case["p_white"], case["p_draw"], case["p_black"])
        assert chances(case["white"], case["black"]) == pytest.approx(expected, abs=1e-9)


def test_rating_noise(vectors: Vectors) -> None:
    for strength, sigma in vectors("milvang")["rating_sigma"].items():
        assert rating_sd(np.array([float(strength)]))[0] == pytest.approx(sigma, abs=1e-9)


@given(STRENGTHS, STRENGTHS)
def test_probabilities(white: float, black: float) -> None:
    odds = chances(white, black)
    assert sum(odds) == pytest.approx(1.0, abs=1e-12)
    assert min(odds) >= 0.0


@given(st.floats(0, 3000), st.floats(0, 3000), st.floats(0, 200))
def test_more_strength_against_the_same_mean_never_wins_less(white: float, black: float, more: float) -> None:
    before, after = chances(white, black), chances(white + more, black - more)
    if 0 < white + black < 6000:
        assert after[0] >= before[0] - 1e-12
        assert after[2] <= before[2] + 1e-12


def test_white_has_the_advantage_and_draws_grow_with_strength() -> None:
    levels = np.arange(1200.0, 3000.0, 100.0)
    white, draw, black = chances_of(levels, levels)
    assert (white > black).all()
    assert (np.diff(draw) > 0).all()
