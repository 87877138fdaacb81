"""Glicko-2: Glickman's worked example, and what one game a period makes of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.base import Z95, Entry, Kind
from cgos_server.core.rating.incremental.glicko2 import SCALE, Glicko2, Met, Player, State, expected, rated


def test_glickmans_worked_example() -> None:
    """The paper's player of 1500, known to 200, against 1400, 1550 and 1700 with tau 0.5: its results and, by way of
    rating, deviation and volatility, all of its steps, in the digits that it gives."""
    games = [Met(1400.0, 30.0, 1.0), Met(1550.0, 100.0, 0.0), Met(1700.0, 300.0, 0.0)]
    after = rated(Player(1500.0, 200.0, 0.06), games, tau=0.5)
    assert after.mean == pytest.approx(1464.06, abs=0.01)
    assert after.deviation == pytest.approx(151.52, abs=0.005)
    assert after.volatility == pytest.approx(0.05999, abs=0.00001)
    assert pytest.approx(173.7178, abs=0.0001) == SCALE
    expectations = [expected(1500.0, game.mean, game.deviation) for game in games]
    assert expectations == pytest.approx([0.639, 0.432, 0.303], abs=0.0005)


def test_a_period_without_games_only_widens() -> None:
    after = rated(Player(1500.0, 200.0, 0.06), [])
    assert after == Player(1500.0, pytest.approx(math.hypot(200.0, 0.06 * SCALE)), 0.06)


def test_the_order_of_a_periods_games_means_nothing() -> None:
    games = [Met(1400.0, 30.0, 1.0), Met(1550.0, 100.0, 0.0), Met(1700.0, 300.0, 0.0)]
    player = Player(1500.0, 200.0, 0.06)
    assert rated(player, games) == pytest.approx(rated(player, games[::-1]))


means, deviations = st.floats(-5000, 5000), st.floats(1, 500)
results = st.sampled_from([0.0, 0.5, 1.0])


@given(means, deviations, st.floats(0.001, 0.5), st.lists(st.builds(Met, means, deviations, results), max_size=8))
def test_periods_are_finite_and_games_make_surer(
    mean: float, deviation: float, volatility: float, games: list[Met]
) -> None:
    after = rated(Player(mean, deviation, volatility), games)
    assert all(map(math.isfinite, after))
    assert 0 < after.deviation <= math.hypot(deviation, after.volatility * SCALE) * (1 + 1e-12)
    assert abs(math.log(after.volatility / volatility)) <= 2 * 0.5 * max(1, len(games)) + 0.1 or not games


@given(means, deviations, results)
def test_against_the_paper_by_its_own_equations(mean: float, deviation: float, score: float) -> None:
    """One game, every step written out once more, with the volatility of the answer."""
    after = rated(Player(1500.0, 200.0, 0.06), [Met(mean, deviation, score)])
    g = 1 / math.sqrt(1 + 3 * (deviation / SCALE) ** 2 / math.pi**2)
    e = 1 / (1 + math.exp(-g * (1500.0 - mean) / SCALE))
    v = 1 / max(g * g * e * (1 - e), 1e-9)
    star = (200.0 / SCALE) ** 2 + after.volatility**2
    phi2 = 1 / (1 / star + 1 / v)
    assert after.deviation == pytest.approx(SCALE * math.sqrt(phi2))
    assert after.mean == pytest.approx(1500.0 + SCALE * phi2 * g * (score - e))


def play(system: Glicko2, *games: tuple[int, int, int]) -> State:
    """Versions 1..4, of which 4 is an anchor of 1800."""
    state = system.start()
    entries = [Entry(version, Kind.ENTER, version) for version in range(1, 5)]
    entries.append(Entry(5, Kind.ANCHOR, 4, value=1800.0))
    entries += [Entry(seq, Kind.GAME, None, *game) for seq, game in enumerate(games, 6)]
    for entry in entries:
        state, _ = system.fold(state, entry)
    return state


def test_a_game_is_a_period_of_its_own_with_a_share_of_the_volatility() -> None:
    system = Glicko2(1800.0, period_games=15.0)
    state = play(system, (1, 4, 2))
    player = Player(1800.0, 350.0, 0.06 / math.sqrt(15))
    after = rated(player, [Met(1800.0, 1.0, 1.0)], tau=0.5 / math.sqrt(15))
    assert state.ratings[1].mean == after.mean
    assert state.ratings[1].spread == min(after.deviation, 350.0)
    assert state.volatility[1] == after.volatility
    assert state.ratings[4].mean == 1800.0


def test_many_games_establish_a_version_and_keep_it_movable() -> None:
    system = Glicko2(1800.0)
    state = play(system, *[(1, 4, 2), (4, 1, 2)] * 150)
    rating = state.ratings[1]
    assert rating.mean == pytest.approx(1800.0, abs=40)
    assert not rating.provisional
    assert 15 < rating.spread < 45
    assert state.ratings[2].provisional
    assert rating.provisional == (Z95 * rating.spread > system.provisional)


def test_a_successor_is_as_sure_as_its_predecessor_and_their_distance() -> None:
    system = Glicko2(1800.0)
    state = play(system, *[(1, 4, 2), (4, 1, 2)] * 30)
    old = state.ratings[1]
    state, _ = system.fold(state, Entry(99, Kind.ENTER, 5, other=1, sd=100.0))
    state, _ = system.fold(state, Entry(100, Kind.ENTER, 6, other=1))
    assert state.ratings[5].mean == state.ratings[6].mean == old.mean
    assert state.ratings[5].spread == pytest.approx(math.hypot(old.spread, 100.0))
    assert state.ratings[6].spread == 350.0


def test_an_imported_rating_is_as_sure_as_it_says() -> None:
    system = Glicko2(1800.0)
    state, _ = system.fold(system.start(), Entry(1, Kind.ENTER, 1, value=2300.0, sd=120.0))
    state, _ = system.fold(state, Entry(2, Kind.ENTER, 2, value=2300.0, sd=900.0))
    assert [(rating.mean, rating.spread) for rating in state.ratings.values()] == [(2300.0, 120.0), (2300.0, 350.0)]


def test_voiding_widens_and_reinstating_narrows_again() -> None:
    system = Glicko2(1800.0)
    state = play(system, *[(1, 4, 2), (4, 1, 2)] * 30)
    before = state.ratings[1]
    state, _ = system.fold(state, Entry(99, Kind.CORRECTION, None, 1, 4, None, was2=2))
    voided = state.ratings[1]
    assert voided.spread > before.spread
    assert voided.mean < before.mean
    assert voided.games == before.games - 1
    state, _ = system.fold(state, Entry(100, Kind.CORRECTION, None, 1, 4, 2))
    assert state.ratings[1].mean == pytest.approx(before.mean, abs=1.0)
    assert state.ratings[1].spread == pytest.approx(before.spread, rel=1e-3)
    assert state.ratings[4].mean == 1800.0
