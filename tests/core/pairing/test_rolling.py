"""When a round is due, how much a version's next game may fall short, and what keeps fast versions from each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgos_server.core.pairing.base import Candidate, Ints, PairingPass
from cgos_server.core.pairing.rolling import (
    HALF_LIFE,
    LARGE,
    LONGEST_GAME,
    MOST_TURNS,
    TOO_FAST,
    UNKNOWN_GAME,
    Waiting,
    allowances,
    due,
    paced_after,
    turns,
    unfairness,
)
from cgos_server.core.venue import Policy

SECOND = 1_000_000
ROLLING = Policy.ROLLING

waits = st.integers(0, 3600 * SECOND)
paces = st.floats(0.0, 1.0)
means = st.floats(-0.5, 0.5)
rules = st.builds(
    Waiting,
    grace=st.floats(0.0, 10.0),
    ease=st.floats(0.01, 10.0),
    pass_over=st.integers(1, 100),
    fairness=st.floats(0.0, 10.0),
)
venues = st.tuples(st.integers(3, 1000), st.floats(0.001, 100.0))


def pairing_pass(
    *candidates: Candidate, connected: int = 40, flow: float = 0.5, policy: Policy = ROLLING
) -> PairingPass:
    return PairingPass(candidates=candidates, policy=policy, connected=connected, flow=flow)


def candidate(at: int, waited: int = 0, sat_out: int = 0, pace: float = 0.5, paced: float = 0.0) -> Candidate:
    return Candidate(at, f"bot-{at}", 0.0, waited, sat_out, pace=pace, paced=paced)


def allowed(waited: int, waiting: Waiting, *, sat_out: int = 0, connected: int = 40, flow: float = 0.5) -> float:
    return float(allowances(pairing_pass(candidate(1, waited, sat_out), connected=connected, flow=flow), waiting)[0])


def charged(a: Candidate, b: Candidate, waiting: Waiting, policy: Policy = ROLLING) -> float:
    first, second = (np.array([at], dtype=np.int64) for at in (0, 1))
    there = unfairness(pairing_pass(a, b, policy=policy), waiting, first, second)
    back = unfairness(pairing_pass(a, b, policy=policy), waiting, second, first)
    assert there == back
    return float(there[0])


@pytest.mark.parametrize(
    ("policy", "idle", "running", "expected"),
    [
        (Policy.ROLLING, 0, 0, False),
        (Policy.ROLLING, 1, 0, False),
        (Policy.ROLLING, 2, 0, True),
        (Policy.ROLLING, 2, 50, True),
        (Policy.BARRIER, 2, 0, True),
        (Policy.BARRIER, 1, 0, False),
        (Policy.BARRIER, 20, 1, False),
    ],
)
def test_due(policy: Policy, idle: int, running: int, expected: bool) -> None:
    assert due(policy, idle, running) is expected


# --- allowances -------------------------------------------------------------------------------------------------


@given(waits, waits, rules, venues)
def test_who_waits_longer_allows_no_less(a: int, b: int, waiting: Waiting, venue: tuple[int, float]) -> None:
    connected, flow = venue
    less, more = (allowed(waited, waiting, connected=connected, flow=flow) for waited in sorted((a, b)))
    assert 0.0 <= less <= more <= LARGE


@given(waits, rules, venues, st.integers(1, 100))
def test_the_rule_is_the_same_for_quick_games_and_for_long_ones(
    waited: int, waiting: Waiting, venue: tuple[int, float], times: int
) -> None:
    connected, flow = venue
    assume(times * connected / flow < LONGEST_GAME)
    usual = allowed(waited, waiting, connected=connected, flow=flow)
    longer = allowed(waited * times, waiting, connected=connected, flow=flow / times)
    assert longer == pytest.approx(usual)


@given(rules, st.floats(0.001, 100.0), st.integers(3, 500), st.integers(3, 500))
def test_holding_out_is_cheaper_the_more_are_connected(waiting: Waiting, flow: float, a: int, b: int) -> None:
    few, many = sorted((a, b))
    assert allowed(0, waiting, connected=few, flow=flow) >= allowed(0, waiting, connected=many, flow=flow)


def test_ease_is_the_wait_for_one_bit() -> None:
    waiting = Waiting(grace=3.8, ease=0.25)
    at_once = allowed(0, waiting, connected=40, flow=0.5)
    assert at_once == pytest.approx(0.1)
    assert allowed(20 * SECOND, waiting, connected=40, flow=0.5) == pytest.approx(at_once + 1.0)
    unknown = allowed(int(0.25 * UNKNOWN_GAME * SECOND), waiting, connected=40, flow=0.0)
    assert unknown == pytest.approx(at_once + 1.0)


def test_very_rare_games_do_not_make_anybody_wait_for_ever() -> None:
    waiting = Waiting(ease=0.25)
    assert allowed(900 * SECOND, waiting, flow=1e-9) > 1.0


@given(waits, rules, st.floats(0.0, 100.0))
def test_two_alone_have_nobody_to_wait_for(waited: int, waiting: Waiting, flow: float) -> None:
    allowance = allowances(pairing_pass(candidate(1, waited), candidate(2), connected=2, flow=flow), waiting)
    assert np.all(allowance == LARGE)


@given(waits, st.integers(0, 100), rules)
def test_with_the_barrier_policy_every_pair_is_worth_making(waited: int, sat_out: int, waiting: Waiting) -> None:
    allowance = allowances(pairing_pass(candidate(1, waited, sat_out), candidate(2), policy=Policy.BARRIER), waiting)
    assert np.all(allowance == LARGE)


@given(st.integers(1, 100), st.integers(0, 200))
def test_half_of_what_may_pass_a_version_over_makes_it_take_anybody(pass_over: int, sat_out: int) -> None:
    waiting = Waiting(pass_over=pass_over)
    assert (allowed(0, waiting, sat_out=sat_out) >= LARGE) is (2 * sat_out >= pass_over)


def test_who_was_passed_over_most_often_comes_first() -> None:
    waiting = Waiting(pass_over=4)
    often = [allowed(wait, waiting, sat_out=sat_out) for sat_out, wait in ((5, 0), (3, 9), (2, 99), (1, 3600 * SECOND))]
    assert often == sorted(often, reverse=True)
    assert len(set(often)) == 4


def test_a_place_for_each_candidate() -> None:
    allowance = allowances(pairing_pass(candidate(1, 60 * SECOND), candidate(2), candidate(3, 0, 99)), Waiting())
    assert allowance.shape == (3,)
    assert allowance[2] > allowance[0] > allowance[1]
    assert allowances(pairing_pass(), Waiting()).shape == (0,)


# --- turns --------------------------------------------------------------------------------------------------------


def turn(waiting: Waiting, games: float, sat_out: int = 0, *, game: int = 80, patience: int = 0) -> int:
    """Of a version that has waited for so many games of so many seconds."""
    candidates = pairing_pass(candidate(1, round(games * game * SECOND), sat_out), connected=40, flow=40 / game)
    return int(turns(candidates, waiting, patience)[0])


@given(st.floats(0.0, 50.0), st.floats(0.0, 50.0), st.integers(0, 100), st.floats(0.0, 10.0), st.integers(1, 100))
def test_nobodys_turn_comes_later_for_waiting(a: float, b: float, sat_out: int, overdue: float, pass_over: int) -> None:
    waiting = Waiting(overdue=overdue, pass_over=pass_over)
    less, more = (turn(waiting, games, sat_out) for games in sorted((a, b)))
    assert 0 <= less <= more
    assert turn(waiting, a, sat_out) >= (sat_out >= pass_over)


def test_a_turn_counts_whole_games_of_any_length() -> None:
    waiting = Waiting(overdue=1.5, pass_over=20)
    for game in (1, 80, 36_000):
        counts = [turn(waiting, games, game=game) for games in (0.0, 1.25, 1.5, 1.75, 2.0, 7.75, 2000.0)]
        assert counts == [0, 0, 1, 1, 2, 7, MOST_TURNS]


def test_a_turn_comes_by_being_passed_over_too() -> None:
    assert [turn(Waiting(pass_over=5), 0.0, sat_out) for sat_out in (4, 5, 50)] == [0, 1, 1]
    assert turn(Waiting(pass_over=5), 3.0, 5) == 3
    assert turn(Waiting(pass_over=5, overdue=0.0), 30.0, 5) == 1
    assert turn(Waiting(pass_over=5, overdue=0.0), 30.0, 4) == 0


def test_a_game_shorter_than_patience_makes_nobodys_turn_that_was_not_passed_over() -> None:
    assert turn(Waiting(overdue=2.0), 9.0, game=1, patience=10 * SECOND) == 0
    assert turn(Waiting(overdue=2.0), 10.0, game=1, patience=10 * SECOND) == 10
    assert [turn(Waiting(overdue=2.0), 9.0, sat_out, game=1, patience=10 * SECOND) for sat_out in (1, 2)] == [0, 9]


def test_with_the_barrier_policy_rounds_are_counted() -> None:
    of = pairing_pass(*(candidate(at, 3600 * SECOND, at) for at in range(5)), policy=Policy.BARRIER)
    assert turns(of, Waiting(overdue=2.0, pass_over=1), 10 * SECOND).tolist() == [0, 0, 2, 3, 4]
    assert turns(of, Waiting(overdue=0.0, pass_over=1), 10 * SECOND).tolist() == [0] * 5


# --- unfairness -------------------------------------------------------------------------------------------------


@given(paces, means, st.floats(0.5, 1.0), means, rules)
def test_whoever_meets_a_slow_one_pays_nothing(
    pace: float, paced: float, slow: float, slow_paced: float, waiting: Waiting
) -> None:
    assert charged(candidate(1, pace=pace, paced=paced), candidate(2, pace=slow, paced=slow_paced), waiting) == 0.0


@given(paces, paces, st.floats(0.0, 0.5), st.floats(0.0, 0.5), rules)
def test_whoever_has_had_its_share_of_slow_ones_pays_nothing(
    a: float, b: float, paced_a: float, paced_b: float, waiting: Waiting
) -> None:
    assert charged(candidate(1, pace=a, paced=paced_a), candidate(2, pace=b, paced=paced_b), waiting) == 0.0


@given(paces, paces, means, means, means, rules)
def test_the_more_fast_ones_it_has_met_the_more_it_pays(
    a: float, b: float, paced_a: float, paced_b: float, other: float, waiting: Waiting
) -> None:
    less, more = max(paced_a, paced_b), min(paced_a, paced_b)
    little = charged(candidate(1, pace=a, paced=less), candidate(2, pace=b, paced=other), waiting)
    much = charged(candidate(1, pace=a, paced=more), candidate(2, pace=b, paced=other), waiting)
    assert 0.0 <= little <= much <= 2.0 * waiting.fairness


@given(paces, paces, paces, means, means)
def test_the_faster_the_other_is_the_more_it_costs(
    a: float, b: float, c: float, paced: float, other_paced: float
) -> None:
    fast, slow = sorted((b, c))
    waiting = Waiting()
    dear = charged(candidate(1, pace=a, paced=paced), candidate(2, pace=fast, paced=other_paced), waiting)
    cheap = charged(candidate(1, pace=a, paced=paced), candidate(2, pace=slow, paced=other_paced), waiting)
    assert dear >= cheap


def test_two_of_the_fastest_that_only_met_such_pay_in_full() -> None:
    a, b = (candidate(at, pace=0.0, paced=-TOO_FAST) for at in (1, 2))
    assert charged(a, b, Waiting(fairness=1.5)) == pytest.approx(3.0)
    assert charged(a, b._replace(paced=0.1), Waiting(fairness=1.5)) == pytest.approx(1.5)
    assert charged(a, b, Waiting(fairness=0.0)) == 0.0
    assert charged(a, b, Waiting(fairness=1.5), Policy.BARRIER) == 0.0


def test_a_number_for_each_pair() -> None:
    of = pairing_pass(*(candidate(at, pace=at / 4, paced=-0.05) for at in range(5)))
    i: Ints
    j: Ints
    i, j = np.triu_indices(5, 1)
    penalties = unfairness(of, Waiting(), i, j)
    assert penalties.shape == (10,)
    assert np.flatnonzero(penalties).tolist() == [0]
    assert unfairness(replace(of, candidates=()), Waiting(), i[:0], j[:0]).shape == (0,)


# --- the mean pace of opponents -----------------------------------------------------------------------------------


@given(st.lists(paces, max_size=200))
def test_paced_stays_in_its_range(opponents: list[float]) -> None:
    paced = 0.0
    for pace in opponents:
        paced = paced_after(paced, pace)
        assert -0.5 <= paced <= 0.5


def test_a_game_weighs_half_after_so_many_more() -> None:
    paced = 0.0
    for _ in range(HALF_LIFE):
        paced = paced_after(paced, 1.0)
    assert paced == pytest.approx(0.25)
    for _ in range(HALF_LIFE):
        paced = paced_after(paced, 0.5)
    assert paced == pytest.approx(0.125)
