"""Who plays is a value of seed, pool and replicate; pools are what their texts say; a game has one lot."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.ladder.players import HOUR, Lots, Population, drawn
from cgos_server.lab.ratings.draws import STAR

pools = st.sampled_from(list(KINDS))


@settings(max_examples=40, deadline=None)
@given(pools, st.integers(4, 40), st.integers(0, 2**63 - 1), st.floats(0.0, 100.0), st.floats(0.0, 100.0))
def test_every_population_is_whole(pool: str, versions: int, seed: int, arrivals: float, departures: float) -> None:
    population = Population(pool=pool, versions=versions, hours=6.0, arrivals=arrivals, departures=departures)
    players, again = drawn(population, seed, 3), drawn(population, seed, 3)
    number = players.all
    assert number >= versions
    for of_each in (players.thinking, players.predecessors, players.owners, players.families, players.leaves):
        assert len(of_each) == number
    assert np.array_equal(players.truth, again.truth)
    assert np.array_equal(players.leaves, again.leaves)
    assert np.all(players.arrives[:versions] == 0.0)
    assert np.all(np.diff(players.arrives[versions:]) > 0.0)
    assert np.all(players.leaves > players.arrives)
    assert sorted(players.thinking[:versions])[-1] == pytest.approx(300.0)
    assert min(players.thinking[:versions]) == pytest.approx(12.0)
    assert len(set(players.anchors)) == 2
    assert all(players.leaves[anchor] == math.inf for anchor in players.anchors)
    assert all(below is None or below < at for at, below in enumerate(players.predecessors))
    assert players.prior.precision.shape == (number, number)


@pytest.mark.parametrize("pool", [pool for pool, kind in KINDS.items() if kind.exact])
def test_the_oracle_is_told_the_truth_of_a_pool(pool: str) -> None:
    """Errors of what it is told, in its own standard deviations, are those of a normal distribution."""
    squares = []
    for replicate in range(30):
        players = drawn(Population(pool=pool, versions=40, hours=6.0, arrivals=40.0), 1, replicate)
        prior = players.prior
        error = players.truth - np.linalg.solve(prior.precision, prior.shift)
        squares.append(float(error @ prior.precision @ error) / players.all)
    assert np.mean(squares) == pytest.approx(1.0, abs=0.12)


def test_pools_are_what_they_are_called() -> None:
    def truth(pool: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return drawn(Population(pool=pool, versions=200, arrivals=5.0), 1, 0).truth

    star = drawn(Population(pool="star", versions=20, arrivals=50.0), 1, 0)
    assert STAR in star.truth[:20]
    clones = truth("near-clones")
    assert np.mean(np.abs(clones - 2000.0) <= 2.5) == pytest.approx(0.9, abs=0.02)
    clusters = truth("clusters")
    assert all(
        np.mean(np.abs(clusters - mean) < 400.0) == pytest.approx(1 / 3, abs=0.05) for mean in (1200, 2000, 2800)
    )
    assert abs(np.corrcoef(clusters, np.arange(len(clusters)))[0, 1]) < 0.2  # who is fast is of any of them


def test_families_are_linked_and_kept_apart() -> None:
    players = drawn(Population(pool="families", versions=32, arrivals=8.0), 1, 0)
    links = [(at, below) for at, below in enumerate(players.predecessors) if below is not None]
    assert len(links) > 20
    assert all(players.families[at] == players.families[below] for at, below in links)
    steps = np.array([players.truth[at] - players.truth[below] for at, below in links])
    assert steps.mean() == pytest.approx(40.0, abs=15.0)


def test_owners_and_families_may_be_stated() -> None:
    players = drawn(Population(pool="families", versions=10, owners=(7, 2), families=(3,)), 1, 0)
    assert sorted(players.owners) == [0] + [1] * 7 + [2] * 2
    assert sorted(players.families) == [0] * 7 + [1] * 3
    with pytest.raises(Refused, match="Groups of 11 versions cannot be made of 10"):
        drawn(Population(versions=10, owners=(7, 4)), 1, 0)


def test_arrivals_are_as_many_as_are_asked_for() -> None:
    counts = [drawn(Population(versions=4, hours=24.0, arrivals=20.0), 1, each).all - 4 for each in range(50)]
    assert np.mean(counts) == pytest.approx(20.0, abs=2.5)
    assert all(drawn(Population(versions=4, hours=2.0, arrivals=90.0), 1, 0).arrives < 2.0 * HOUR)


def test_a_game_has_one_lot_however_one_comes_to_it() -> None:
    population = Population(versions=8)
    players = drawn(population, 1, 0)
    one, other = Lots(population, players, 1, 0), Lots(population, players, 1, 0)
    games = [(black, white, number) for black in range(8) for white in range(8) for number in range(3)]
    forwards = {game: one.score2(*game) for game in games}
    assert {game: other.score2(*game) for game in reversed(games)} == forwards
    assert len({forwards[black, white, number] for black, white, number in games}) == 2
    assert one.thinking(3, 200) == other.thinking(3, 200) != one.thinking(3, 199)


def test_the_stronger_wins_as_often_as_it_should() -> None:
    population = Population(versions=8)
    players = drawn(population, 1, 0)
    lots = Lots(population, players, 1, 0)
    for black, white in ((0, 1), (2, 3)):
        scores = [lots.score2(black, white, number) / 2 for number in range(2000)]
        expected = 1.0 / (1.0 + 10.0 ** ((players.truth[white] - players.truth[black]) / 400.0))
        assert np.mean(scores) == pytest.approx(expected, abs=0.035)


def test_deterministic_engines_repeat_their_results() -> None:
    population = Population(pool="deterministic", versions=12)
    players = drawn(population, 1, 0)
    lots = Lots(population, players, 1, 0)
    pairs = [(black, white) for black in range(12) for white in range(12) if black != white]
    for pair in pairs:
        assert len({lots.score2(*pair, number) for number in range(5)}) == 1
    assert {lots.score2(black, white, 0) + lots.score2(white, black, 0) for black, white in pairs} == {0, 2, 4}
