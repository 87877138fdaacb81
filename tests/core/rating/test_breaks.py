"""A change of strength under one name: found when it is large, and hardly ever where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.ratings import rating_movers
from cgos_server.core.rating.breaks import (
    SHORTEST,
    THRESHOLDS,
    Result,
    State,
    examine,
    find,
    look_at,
    looks,
    threshold,
)

Q = math.log(10) / 400


def played(
    rng: np.random.Generator,
    games: int,
    jumps: dict[int, float] | None = None,
    *,
    above: float = 0.0,
    nu: float = 0.0,
    misjudged: float = 0.0,
) -> list[Result]:
    """Games of a version `above` its opponents, with Davidson's draws; expectations `misjudged` too high.

    :param jumps: game -> by how much it is stronger from there on than at first, Elo
    """
    differences = rng.normal(above, 120.0, games)
    true = differences.copy()
    for at, jump in (jumps or {}).items():
        true[at:] = differences[at:] + jump
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


def test_the_looks_are_half_doublings_of_forty_games() -> None:
    assert [look_at(number) for number in range(9)] == [40, 57, 80, 113, 160, 226, 320, 453, 640]
    assert [looks(games) for games in (0, 39, 40, 56, 57, 320, 321, 452, 453)] == [0, 0, 1, 1, 2, 7, 7, 7, 8]


def test_thresholds_grow_beyond_the_games_of_the_calibration() -> None:
    assert [threshold(State.WATCH, games) for games in (40, 320)] == [3.76, 3.76]
    assert threshold(State.FLAGGED, 40) == 4.26
    assert threshold(State.FLAGGED, 1280) == pytest.approx(4.46)
    assert threshold(State.WATCH, 453) == pytest.approx(3.81, abs=0.001)


def test_the_rates_of_the_specification() -> None:
    """Of 600 versions that never change .01 come on watch (so many that 16 or more, or none, come by chance once in
    some 300 times); of 100 that gain 200 Elo at game 80 some .42 within 80 games and .76 by 320 (4 standard errors)."""
    rng = np.random.default_rng(2)
    never = [rating_movers.alarm(rating_movers.played(rng, 320)) for _ in range(600)]
    changed = [rating_movers.alarm(rating_movers.played(rng, 320, 80, 200.0)) for _ in range(100)]
    assert 0 < sum(State.WATCH in alarms for alarms in never) < 16
    assert sum(State.FLAGGED in alarms for alarms in never) <= 3
    soon, late = (rating_movers.shares(changed, State.WATCH, last).share for last in (160, 320))
    assert soon == pytest.approx(0.42, abs=0.2)
    assert late == pytest.approx(0.76, abs=0.17)
    assert rating_movers.shares(changed, State.FLAGGED, 320).share < late


@pytest.mark.parametrize("pairing", [{"above": 500.0}, {"nu": 2.0}, {"misjudged": 150.0}])
def test_other_pairings_raise_no_more_alarms(pairing: dict[str, float]) -> None:
    """Of 300 lives of 160 games with a rate of .01, 11 or more come once in 3000 times."""
    rng = np.random.default_rng(3)
    assert sum(find(played(rng, 160, **pairing)) is not None for _ in range(300)) <= 10


def test_a_large_jump_is_flagged_soon_after_it_and_where_it_was() -> None:
    rng = np.random.default_rng(4)
    for jump in (-500.0, 500.0):
        results = played(rng, 640, {100: jump})
        assert find(results[:80]) is None
        noticed = find(results)
        assert noticed is not None
        assert noticed.state is State.FLAGGED
        assert noticed.look in (113, 160)
        assert abs(noticed.change.at - 100) < 15
        assert noticed.change.shift == pytest.approx(jump, abs=250)


def test_a_version_is_on_watch_before_it_is_flagged() -> None:
    """By the same games, some look says watch and a later one flagged; and a look that says less takes nothing back."""
    rng = np.random.default_rng(6)
    states = set()
    for _ in range(60):
        results = played(rng, 320, {80: 200.0})
        by_look = [find(results[: look_at(number)]) for number in range(7)]
        words = [noticed.state if noticed else None for noticed in by_look]
        states.add(tuple(dict.fromkeys(words)))
    assert (None, State.WATCH, State.FLAGGED) in states
    assert states <= {
        (None,),
        (None, State.WATCH),
        (None, State.FLAGGED),
        (None, State.WATCH, State.FLAGGED),
    }


def test_a_version_that_changed_back_has_changed_twice() -> None:
    results = played(np.random.default_rng(7), 480, {100: 500.0, 200: 0.0})
    there, back = find(results[:200]), find(results)
    assert there is not None
    assert back is not None
    assert there.change.shift > 0 > back.change.shift
    assert abs(back.change.at - 200) < 15
    assert back.look > 200
    assert back.state is State.FLAGGED


def test_better_and_worse_are_treated_alike() -> None:
    """Playing the same games with scores turned round turns the shift round and leaves z."""
    results = played(np.random.default_rng(5), 120, {60: 400.0})
    turned = [Result(1 - result.score, 1 - result.expected, result.variance) for result in results]
    first, second = examine(results), examine(turned)
    assert first is not None
    assert second is not None
    assert first.at == second.at
    assert first.shift == pytest.approx(-second.shift, rel=1e-6)
    assert first.z == pytest.approx(second.z, rel=1e-6)


def test_what_it_plays_against_does_not_matter() -> None:
    """First weak and then strong opponents, and scores as expected: no break."""
    rng = np.random.default_rng(6)
    change = examine(played(rng, 100, above=400.0) + played(rng, 100, above=-400.0))
    assert change is not None
    assert change.z < 3.0


def test_extreme_segments_are_finite() -> None:
    change = examine([Result(1.0, 0.5, 0.25)] * 100 + [Result(0.0, 0.5, 0.25)] * 100)
    assert change is not None
    assert abs(change.at - 100) <= 1
    assert change.z > 10
    assert -8000 < change.shift < -1000
    for score in (0.0, 1.0):
        same = examine([Result(score, 0.5, 0.25)] * 100)
        assert same is not None
        assert same.z == 0.0


def test_a_quarter_of_a_game_is_taken_off() -> None:
    """Ten even games lost and ten won: 5 points are missing before the change, of which 1/4 is given."""
    change = examine([Result(0.0, 0.5, 0.25)] * 10 + [Result(1.0, 0.5, 0.25)] * 10)
    assert change is not None
    assert change.at == 10
    assert change.z == pytest.approx((5 - 0.25) / math.sqrt(2.5 * 2.5 / 5))
    assert change.z < THRESHOLDS[State.FLAGGED]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.001, 0.999), st.floats(0.1, 1.0)), max_size=60))
def test_any_results_give_a_change_inside_or_none(rows: list[tuple[float, float, float]]) -> None:
    change = examine([Result(score, expected, share * expected * (1 - expected)) for score, expected, share in rows])
    if len(rows) < 2 * SHORTEST:
        assert change is None
        return
    assert change is not None
    assert SHORTEST <= change.at <= len(rows) - SHORTEST
    assert 0.0 <= change.z < 100.0
    assert math.isfinite(change.shift)


@pytest.mark.parametrize("row", [(1.5, 0.5, 0.25), (1.0, 1.0, 0.1), (1.0, 0.5, 0.0), (math.nan, 0.5, 0.25)])
def test_impossible_results_are_refused(row: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="Scores"):
        examine([Result(*row)] * 40)
