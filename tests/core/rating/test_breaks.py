"""A change of strength under one name: found when it is large, and hardly ever where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.breaks import FALSE_ALARMS, SHORTEST, Result, examine, find, level, tail

Q = math.log(10) / 400


def played(
    rng: np.random.Generator,
    games: int,
    jump_at: int | None = None,
    jump: float = 0.0,
    *,
    above: float = 0.0,
    spread: float = 200.0,
    nu: float = 0.0,
    misjudged: float = 0.0,
) -> list[Result]:
    """Games of a version `above` its opponents, with Davidson's draws; expectations `misjudged` too high."""
    differences = rng.normal(above, spread, games)
    true = differences + np.where(np.arange(games) >= (games if jump_at is None else jump_at), jump, 0.0)
    wins, draws = shares(true, nu)
    chance = rng.random(games)
    score = np.where(chance < wins, 1.0, np.where(chance < wins + draws, 0.5, 0.0))
    wins, draws = shares(differences + misjudged, nu)
    expected = wins + draws / 2
    variance = wins + draws / 4 - expected**2
    return [Result(*row) for row in zip(score.tolist(), expected.tolist(), variance.tolist(), strict=True)]


def shares(difference: np.ndarray, nu: float) -> tuple[np.ndarray, np.ndarray]:
    up, down = np.exp(Q * difference / 2), np.exp(-Q * difference / 2)
    return up / (up + down + nu), nu / (up + down + nu)


@pytest.mark.parametrize("pairing", [{}, {"above": 500.0}, {"nu": 2.0}, {"misjudged": 150.0}, {"spread": 500.0}])
def test_false_alarms_are_no_more_than_p_says(pairing: dict[str, float]) -> None:
    """A rate that is exactly p exceeds these bounds once in thousands of times."""
    rng = np.random.default_rng(1)
    breaks = [examine(played(rng, 60, **pairing)) for _ in range(300)]
    p = np.array([change.p for change in breaks if change is not None])
    assert len(p) == 300
    for share in (0.1, 0.03):
        assert np.mean(p <= share) <= share + 3.5 * math.sqrt(share / 300)


def test_whole_lives_are_hardly_ever_flagged() -> None:
    """At most 0.1 % of them: of 300 lives of 160 games, 3 or more would come by chance once in 280 times."""
    rng = np.random.default_rng(2)
    assert sum(find(played(rng, 160)) is not None for _ in range(300)) < 3


def test_a_jump_is_found() -> None:
    """150 Elo in the middle of 200 games is at the edge of what so few games can say: their standardized difference
    is about 3. Twice as much is found by most."""
    rng = np.random.default_rng(3)
    powers = {}
    for jump in (150.0, 300.0):
        breaks = [examine(played(rng, 200, 100, jump)) for _ in range(100)]
        powers[jump] = np.mean([change is not None and change.p <= 0.01 for change in breaks])
        if jump == 300.0:
            where = [change for change in breaks if change is not None and change.p <= 0.01]
            assert abs(np.median([change.at for change in where]) - 100) < 5
            assert np.mean([change.shift for change in where]) == pytest.approx(300, abs=40)
    assert 0.05 < powers[150.0] < 0.5
    assert powers[300.0] > 0.85


def test_a_life_with_a_large_jump_is_flagged_soon_after_it() -> None:
    rng = np.random.default_rng(4)
    for jump in (-500.0, 500.0):
        flagged = find(played(rng, 640, 100, jump))
        assert flagged is not None
        _, rating_break = flagged
        assert abs(rating_break.at - 100) < 15
        assert rating_break.shift == pytest.approx(jump, abs=200)
        assert find(played(rng, 640, 100, jump)[:80]) is None


def test_better_and_worse_are_treated_alike() -> None:
    """Playing the same games with scores turned round turns the shift round and leaves p."""
    results = played(np.random.default_rng(5), 120, 60, 400.0)
    turned = [Result(1 - result.score, 1 - result.expected, result.variance) for result in results]
    first, second = examine(results), examine(turned)
    assert first is not None
    assert second is not None
    assert first.at == second.at
    assert first.shift == pytest.approx(-second.shift, rel=1e-6)
    assert first.p == pytest.approx(second.p, rel=1e-6)


def test_what_it_plays_against_does_not_matter() -> None:
    """First weak and then strong opponents, and scores as expected: no break."""
    rng = np.random.default_rng(6)
    results = played(rng, 100, above=400.0) + played(rng, 100, above=-400.0)
    rating_break = examine(results)
    assert rating_break is not None
    assert rating_break.p > 0.05


def test_extreme_segments_are_finite() -> None:
    rating_break = examine([Result(1.0, 0.5, 0.25)] * 100 + [Result(0.0, 0.5, 0.25)] * 100)
    assert rating_break is not None
    assert abs(rating_break.at - 100) <= 1
    assert rating_break.p < 1e-20
    assert -8000 < rating_break.shift < -1000
    for score in (0.0, 1.0):
        same = examine([Result(score, 0.5, 0.25)] * 100)
        assert same is not None
        assert same.p == 1.0


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.001, 0.999), st.floats(0.1, 1.0)), max_size=60))
def test_any_results_give_a_break_inside_or_none(rows: list[tuple[float, float, float]]) -> None:
    rating_break = examine(
        [Result(score, expected, share * expected * (1 - expected)) for score, expected, share in rows]
    )
    if len(rows) < 2 * SHORTEST:
        assert rating_break is None
        return
    assert rating_break is not None
    assert SHORTEST <= rating_break.at <= len(rows) - SHORTEST
    assert 0.0 <= rating_break.p <= 1.0
    assert math.isfinite(rating_break.shift)


def test_the_tail_is_that_of_a_standardised_bridge() -> None:
    """Against 4000 simulated bridges of 400 steps (which miss a little of the supremum between their steps)."""
    rng = np.random.default_rng(7)
    t = np.arange(1, 400) / 400
    walk = np.cumsum(rng.normal(size=(4000, 400)) / 20, axis=1)
    bridge = np.abs(walk[:, :-1] - t * walk[:, -1:]) / np.sqrt(t * (1 - t))
    largest = bridge[:, 39:360].max(axis=1)
    for c in (2.5, 3.0, 3.5):
        simulated = float(np.mean(largest > c))
        assert 0.7 * tail(c, 0.1, 0.9) - 0.002 < simulated < tail(c, 0.1, 0.9) + 3 * math.sqrt(simulated / 4000)
    assert tail(0.5, 0.1, 0.9) == 1.0
    assert tail(6.0, 0.1, 0.9) < 1e-6


def test_looks_spend_the_false_alarms_and_no_more() -> None:
    looks = {games: share for games in range(1, 6000) if (share := level(games)) is not None}
    assert list(looks) == [40, 80, 160, 320, 640, 1280, 2560, 5120]
    assert sum(looks.values()) < FALSE_ALARMS
    assert looks[40] == pytest.approx(FALSE_ALARMS / 2)
    assert list(looks.values()) == sorted(looks.values(), reverse=True)


@pytest.mark.parametrize("row", [(1.5, 0.5, 0.25), (1.0, 1.0, 0.1), (1.0, 0.5, 0.0), (math.nan, 0.5, 0.25)])
def test_impossible_results_are_refused(row: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="Scores"):
        examine([Result(*row)] * 40)
