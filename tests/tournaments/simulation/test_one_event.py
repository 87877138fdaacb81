"""Simulated tournaments: what is drawn, how games end, the measures; on arrays the same tournaments as one by one."""

from __future__ import annotations

import math
import statistics

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault, Refused
from cgos_server.tournaments.base import DRAWN, Event, Game
from cgos_server.tournaments.chance import Lots, ManyLots
from cgos_server.tournaments.pairing.mwm_weights import ORDERS
from cgos_server.tournaments.registry import SHORT, SYSTEMS
from cgos_server.tournaments.simulation.many_events import at_once, is_fast, simulate_many
from cgos_server.tournaments.simulation.many_rounds import best
from cgos_server.tournaments.simulation.milvang import chances_of
from cgos_server.tournaments.simulation.one_event import (
    Plan,
    Shape,
    check,
    drawn,
    entrants_of,
    final_order,
    game_chances,
    seed_of,
    simulate,
)
from cgos_server.tournaments.standings.quality import colors, float_pairs, kendall, strength_difference, unforeseen
from cgos_server.tournaments.systems.mwm import Mwm
from cgos_server.tournaments.tournament import is_over, standings


@given(st.lists(st.integers(0, 2**70), min_size=1, max_size=3), st.integers(0, 9), st.integers(1, 100))
def test_the_lots_of_many_events_are_those_of_each(seeds: list[int], number: int, key: int) -> None:
    keys = np.arange(key, key + 4)
    result = ManyLots(seeds, number).units("what", keys, keys + 1)
    assert result.tolist() == [[Lots(seed, number).unit("what", k, k + 1) for k in keys.tolist()] for seed in seeds]
    single = ManyLots(seeds, number).units("what", keys)
    assert single.tolist() == [[Lots(seed, number).unit("what", k) for k in keys.tolist()] for seed in seeds]


def test_strengths_and_ratings_are_drawn_as_said() -> None:
    plan = Plan(system="dutch", players=200, rounds=1, low=1000.0, high=1800.0)
    strengths, ratings = drawn(plan, [seed_of(5, index) for index in range(100)])
    assert strengths.min() >= 1000.0
    assert strengths.max() < 1800.0
    assert abs(strengths.mean() - 1400.0) < 5.0 * 800.0 / math.sqrt(12 * strengths.size)
    # In units of its standard deviation the noise is a standard normal number.
    noise = (ratings - strengths) / (150.0 - strengths / 20.0)
    assert abs(noise.mean()) < 5.0 / math.sqrt(noise.size)
    assert abs(noise.std() - 1.0) < 5.0 / math.sqrt(2 * noise.size)
    inside = (np.abs(noise) < 1.0).mean()
    assert abs(inside - 0.6827) < 5.0 * math.sqrt(0.6827 * 0.3173 / noise.size)


@pytest.mark.parametrize(
    ("shape", "below_the_middle", "beyond_the_range"),
    [
        ("uniform", 0.5, 0.0),
        ("normal", 0.5, 2.0 * 0.0416),  # the normal tail above the square root of 3
        ("exponential", 1.0 - math.exp(-1.0), math.exp(-1.0 - math.sqrt(3.0))),
        ("groups", 0.5, 0.0029),  # the tail of a group above (1.732 - 0.96) / 0.28
    ],
)
def test_strengths_of_all_shapes_have_the_same_mean_and_deviation(
    shape: Shape, below_the_middle: float, beyond_the_range: float
) -> None:
    plan = Plan(system="dutch", players=200, rounds=1, low=1000.0, high=1800.0, shape=shape)
    strengths, _ = drawn(plan, [seed_of(5, index) for index in range(100)])
    number = strengths.size
    standard = (strengths - 1400.0) / (800.0 / math.sqrt(12.0))
    assert abs(standard.mean()) < 5.0 / math.sqrt(number)
    fourth = (standard**4).mean()
    assert abs((standard**2).mean() - 1.0) < 5.0 * math.sqrt((fourth - 1.0) / number)
    for share, expected in (
        ((standard < 0.0).mean(), below_the_middle),
        ((np.abs(standard) > math.sqrt(3.0)).mean(), beyond_the_range),
    ):
        assert abs(share - expected) <= 5.0 * math.sqrt(expected * (1.0 - expected) / number) + 0.0002


def test_one_tournament_is_another_one_by_another_seed_and_the_same_by_the_same() -> None:
    plan = Plan(system="swiss", players=9, rounds=4)
    assert simulate(plan, 7) == simulate(plan, 7)
    assert simulate(plan, 7).strength != simulate(plan, 8).strength


def test_systems_meet_the_same_players() -> None:
    first, second = (simulate(Plan(system=name, players=8, rounds=3), seed_of(1, 0)) for name in ("dutch", "swiss"))
    assert first.strength == second.strength
    assert first.event.entrants == second.event.entrants


def test_games_end_as_often_as_the_model_says() -> None:
    plan = Plan(system="round-robin", players=24, rounds=None, low=1200.0, high=2000.0)
    result = expected = variance = 0.0
    for seed in range(6):
        done = simulate(plan, seed)
        for round_ in done.event.rounds:
            for game in round_.games:
                assert game.result is not None
                white, black = (np.array([done.strength[id_]]) for id_ in (game.white, game.black))
                win, draw = (float(share[0]) for share in chances_of(white, black)[:2])
                result += game.result.white / 2
                expected += win + draw / 2
                variance += win + draw / 4 - (win + draw / 2) ** 2
    assert abs(result - expected) < 5 * math.sqrt(variance)


def test_elo_has_no_draws_and_no_colors() -> None:
    strengths = np.array([1500.0, 1700.0])
    wins, holds = game_chances("elo", strengths, strengths[::-1].copy())
    assert wins.sum() == pytest.approx(1.0)
    assert wins[1] == pytest.approx(1 / (1 + 10**-0.5))
    assert (wins == holds).all()
    assert simulate(Plan(system="dutch", players=10, rounds=5, model="elo"), 1).measures.draws == 0.0


def test_measures_are_those_of_the_event() -> None:
    plan = Plan(system="burstein", players=11, rounds=5, differences=True)
    done = simulate(plan, 4)
    measures = done.measures
    assert measures.kendall == kendall(done.order, done.strength)
    assert measures.float_pairs == float_pairs(done.event)
    assert measures.color_difference == statistics.fmean(colors(done.event).differences)
    assert measures.unforeseen == unforeseen(done.event, done.strength).share
    assert measures.strength_difference == strength_difference(done.event, done.strength).share
    assert measures.games == 25
    results = [game.result for round_ in done.event.rounds for game in round_.games]
    assert measures.draws == results.count(DRAWN) / 25
    assert [row.entrant for row in standings(done.event).rows] == list(done.order)


@pytest.mark.parametrize("name", ["bubble", "double-elimination", "cup", "round-robin"])
@pytest.mark.parametrize("players", [2, 3, 12])
def test_systems_that_end_by_themselves_need_no_number_of_rounds(name: str, players: int) -> None:
    done = simulate(Plan(system=name, players=players), 3)
    assert is_over(done.event)
    assert sorted(done.order) == list(range(1, players + 1))


def test_equal_places_go_by_rating() -> None:
    # Everything is equal in an event without games whose standings stop at points.
    class NoRatings(Mwm):
        tie_breakers = ("points",)

    event = Event(system="mwm", entrants=entrants_of(np.array([1500.0, 1700.0, 1600.0, 1700.0])))
    assert final_order(NoRatings(), event) == (2, 4, 3, 1)


@pytest.mark.parametrize("name", [*SYSTEMS, *SHORT])
@pytest.mark.parametrize("players", [6, 7])
def test_every_system_can_be_simulated(name: str, players: int) -> None:
    done = simulate(Plan(system=name, players=players, rounds=4), seed_of(2, players))
    assert sorted(done.order) == list(range(1, players + 1))
    assert all(round_.is_complete for round_ in done.event.rounds)
    assert done.measures.games > 0


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (Plan(system="dutch", players=1, rounds=3), "2 players or more"),
        (Plan(system="dutch", players=4, rounds=3, low=1800.0, high=1000.0), "lower number first"),
        (Plan(system="dutch", players=4, rounds=3, low=1000.0, high=math.inf), "no strength"),
        (Plan(system="dutch", players=4, rounds=3, low=math.nan), "no strength"),
        (Plan(system="dutch", players=4), "how many"),
        (Plan(system="none", players=4, rounds=3), "no tournament system"),
        (Plan(system="dutch", players=4, rounds=3, options={"color": 1}), "no option"),
    ],
)
def test_plans_that_cannot_be_are_refused(plan: Plan, says: str) -> None:
    with pytest.raises(Refused, match=says):
        check(plan)


def same(plan: Plan, seeds: list[int]) -> None:
    """Arrays against events, game by game."""
    many = simulate_many(plan, seeds)
    for at, seed in enumerate(seeds):
        single = simulate(plan, seed)
        for number, round_ in enumerate(single.event.rounds):
            expected = {(game.white, game.black, game.result.white) for game in round_.games if game.result}
            result = zip(many.white[at, number], many.black[at, number], many.made[at, number], strict=True)
            assert {tuple(map(int, game)) for game in result} == expected, (plan, seed, number)
            assert [bye.entrant for bye in round_.byes] == [bye for bye in [int(many.byes[at, number])] if bye]
        assert tuple(many.order[at].tolist()) == single.order
        assert many.measures[at] == single.measures


@given(
    st.sampled_from(ORDERS), st.integers(2, 15), st.integers(1, 8), st.sampled_from([1, 2, 3]), st.integers(0, 10**9)
)
@settings(max_examples=30)
def test_arrays_play_the_same_tournaments(order: str, players: int, rounds: int, beta: int, seed: int) -> None:
    """Rounds that relax the rules included: where everybody has met everybody."""
    plan = Plan(
        system="mwm", players=players, rounds=rounds, options={"order": order, "beta": beta}, differences=players < 10
    )
    same(plan, [seed_of(seed, index) for index in range(3)])


@pytest.mark.parametrize("order", ORDERS)
def test_arrays_play_the_same_tournaments_of_32(order: str) -> None:
    for low in (1000.0, 2400.0):  # few draws, many draws
        same(
            Plan(system=order, players=32, rounds=7, low=low, high=low + 400.0),
            [seed_of(9, index) for index in range(2)],
        )


def test_how_the_work_is_divided_changes_nothing() -> None:
    plan = Plan(system="dutch", players=16, rounds=6)
    seeds = [seed_of(1, index) for index in range(6)]
    together = simulate_many(plan, seeds)
    collected: list[int] = []

    def counting(n: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
        collected.append(n)
        return best(n, edges)

    whole = simulate_many(plan, seeds, counting, (math.inf,))
    assert set(collected) == {16}
    for at, seed in enumerate(seeds):
        alone = simulate_many(plan, [seed])
        for other, row in ((alone, 0), (whole, at)):
            assert (other.white[row] == together.white[at]).all()
            assert (other.made[row] == together.made[at]).all()
            assert (other.order[row] == together.order[at]).all()


@pytest.mark.parametrize("order", ORDERS)
def test_another_solver_plays_the_same_tournaments(order: str) -> None:
    def by_networkx(n: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
        graph = networkx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_weighted_edges_from(edges)
        return list(networkx.max_weight_matching(graph, maxcardinality=True))

    plan = Plan(system=order, players=14, rounds=6)
    seeds = [seed_of(6, index) for index in range(3)]
    ours, other = simulate_many(plan, seeds), simulate_many(plan, seeds, by_networkx, (math.inf,))
    assert (ours.white == other.white).all()
    assert (ours.black == other.black).all()
    assert ours.measures == other.measures


def test_what_arrays_cannot_play_is_said() -> None:
    assert is_fast(Plan(system="dutch", players=8, rounds=3))
    for plan in (
        Plan(system="swiss", players=8, rounds=3),
        Plan(system="mwm", players=8, rounds=3, options={"ties": "lot"}),
        Plan(system="dutch", players=10_000, rounds=3),
    ):
        assert not is_fast(plan)
        with pytest.raises(OurFault):
            simulate_many(plan, [1])


def test_large_fields_are_simulated_in_smaller_parts() -> None:
    assert [at_once(players) for players in (2, 32, 512)] == [256, 256, 1]


def test_seeds_of_a_series_are_all_different() -> None:
    assert len({seed_of(3, index) for index in range(1000)}) == 1000
    assert seed_of(3, 5) == seed_of(3, 5) != seed_of(4, 5)


def test_games_played_again_in_a_round_are_drawn_anew() -> None:
    # A drawn match of a cup is played again, twice at most: the third game has the first one's colors.
    thirds = []
    for seed in range(40):
        for round_ in simulate(Plan(system="cup", players=16, rounds=None, low=2000.0, high=2100.0), seed).event.rounds:
            games: dict[tuple[int, int], list[Game]] = {}
            for game in round_.games:
                games.setdefault((game.white, game.black), []).append(game)
            thirds += [(same[0].result, same[1].result) for same in games.values() if len(same) > 1]
    assert len(thirds) > 10
    assert any(first != again for first, again in thirds)
