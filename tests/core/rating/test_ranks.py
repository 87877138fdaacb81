"""What is said of ranks: against formulas, brute force and refits of results that were turned round."""

from __future__ import annotations

import itertools
from math import erf, sqrt
from typing import Any

import numpy as np
import pytest
from support.core.bayes_venue import BAYES, Venue, pool

from cgos_server.core.rating.base import Kind
from cgos_server.core.rating.ranks import (
    MOST_TURNED,
    OUTSIDE,
    SHARE_IN_ODDS,
    JointlyKnown,
    Ranks,
    Strengths,
    interval,
    rank_counts,
    ranks,
)
from cgos_server.core.rating.whole_history.system import WholeHistory


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def known(means: list[float], covariance: Any = None, share: Any = None) -> Strengths:
    n = len(means)
    covariance = np.eye(n) if covariance is None else np.array(covariance, dtype=float)
    return Strengths(np.array(means), covariance, np.zeros(n) if share is None else np.array(share))


def of_all(strengths: Strengths, draws: int = 40_000) -> Ranks:
    return ranks(strengths, np.arange(len(strengths.means)), rng(), draws)


def normal(z: float) -> float:
    return 0.5 * (1.0 + erf(z / sqrt(2.0)))


def test_the_better_of_two_is_the_best_with_the_probability_of_the_difference() -> None:
    told = of_all(known([30.0, 0.0], [[900.0, 300.0], [300.0, 1600.0]]))
    stronger = normal(30.0 / sqrt(900 + 1600 - 2 * 300))
    assert told.best == pytest.approx([stronger, 1 - stronger], abs=0.01)
    assert told.first_three.tolist() == [1.0, 1.0]
    assert told.places.tolist() == [1, 2]


def test_intervals_are_drawn_with_all_of_the_prior_s_share_and_probabilities_with_a_part() -> None:
    share = [20_000.0, 0.0]
    told = of_all(known([100.0, 0.0], [[900.0, 0.0], [0.0, 900.0]], share=share))
    assert told.best[0] == pytest.approx(normal(100.0 / sqrt(1800 + SHARE_IN_ODDS * share[0])), abs=0.01)
    assert normal(100.0 / sqrt(1800 + share[0])) < 1 - OUTSIDE < normal(100.0 / sqrt(1800))
    assert told.upper.tolist() == [2, 2]
    assert of_all(known([100.0, 0.0], [[900.0, 0.0], [0.0, 900.0]])).upper.tolist() == [1, 2]


def test_equals_share_everything() -> None:
    told = of_all(known([0.0] * 5))
    assert told.best == pytest.approx([0.2] * 5, abs=0.01)
    assert told.first_three == pytest.approx([0.6] * 5, abs=0.01)
    assert told.lower.tolist() == [1] * 5
    assert told.upper.tolist() == [5] * 5
    assert (told.groups, told.apart) == (((1, 5),), 0)


def test_a_certain_order_has_one_rank_each() -> None:
    told = of_all(known([0.0, 500.0, 250.0]))
    assert told.places.tolist() == told.lower.tolist() == told.upper.tolist() == [3, 1, 2]
    assert (told.groups, told.apart) == ((), 2)


def test_versions_that_take_no_part_take_no_rank() -> None:
    told = ranks(known([900.0, 0.0, 500.0]), np.array([1, 2]), rng(), 1_000)
    assert told.places.tolist() == [2, 1]
    assert told.best.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("count", [0, 1])
def test_nobody_and_one_alone(count: int) -> None:
    told = of_all(known([0.0] * count), 10)
    assert told.lower.tolist() == told.upper.tolist() == told.places.tolist() == [1] * count
    assert (told.apart, told.groups, told.turned) == (0, (), None)


def test_an_interval_is_the_smallest_with_so_little_on_either_side() -> None:
    generator = np.random.default_rng(5)
    A = generator.normal(size=(12, 12))
    counts = rank_counts(generator.normal(0, 2, 12), A @ A.T, rng(), 2_000)
    assert (counts.sum(axis=0) == 2_000).all()
    lower, upper = interval(counts)
    for row, first, last in zip(counts, lower.tolist(), upper.tolist(), strict=True):
        assert row[: first - 1].sum() <= OUTSIDE * 2_000 < row[:first].sum()
        assert row[last:].sum() <= OUTSIDE * 2_000 < row[last - 1 :].sum()


def test_what_is_known_does_not_depend_on_the_height_of_the_pool() -> None:
    # Of the whole pool's height next to nothing is known; ranks do not ask for it.
    told = of_all(known([0.0, 500.0, 250.0], np.eye(3) + 1e10))
    assert told.places.tolist() == told.lower.tolist() == told.upper.tolist() == [3, 1, 2]


def apart(strengths: Strengths, one: int, other: int) -> bool:
    C = strengths.covariance
    sd = sqrt(C[one, one] + C[other, other] - 2 * C[one, other])
    return normal(abs(strengths.means[one] - strengths.means[other]) / sd) > 0.95


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_the_longest_runs_in_which_no_two_are_told_apart(seed: int) -> None:
    generator = np.random.default_rng(seed)
    n = 9
    A = generator.normal(size=(n, n))
    strengths = Strengths(generator.normal(0, 5, n), A @ A.T, np.zeros(n))
    told = of_all(strengths, 10)
    order = np.argsort(-strengths.means)
    runs = [
        (first, last)
        for first, last in itertools.combinations(range(n), 2)
        if not any(apart(strengths, *pair) for pair in itertools.combinations(order[first : last + 1].tolist(), 2))
    ]
    longest = [
        run for run in runs if not any(run != other and other[0] <= run[0] and run[1] <= other[1] for other in runs)
    ]
    assert list(told.groups) == [(first + 1, last + 1) for first, last in longest]
    assert told.apart == sum(apart(strengths, *pair) for pair in itertools.pairwise(order.tolist()))


def test_the_same_arguments_give_the_same_bits() -> None:
    venue, _ = pool(3, 12, 200)
    venue.refit()
    strengths = BAYES.strengths(venue.state)
    one, other = (ranks(strengths, np.arange(12), rng()) for _ in range(2))
    assert [np.asarray(each).tobytes() for each in one[:5]] == [np.asarray(each).tobytes() for each in other[:5]]
    assert one[5:] == other[5:]


# -- from a rating system


@pytest.mark.parametrize("anchors", [0, 2])
def test_strengths_are_those_that_superiority_is_told_of(anchors: int) -> None:
    venue, _ = pool(4, 6, 60, anchors=anchors)
    venue.refit()
    venue.play(1, 2, "++-")  # on top of the refit
    strengths = BAYES.strengths(venue.state)
    widened = strengths.covariance + np.diag(strengths.share)
    places = BAYES.places(venue.state, [1, 2, 3, 4, 5, 6])  # type: ignore[list-item]
    for a, b in itertools.combinations(places.tolist(), 2):
        one, other = BAYES.version_at(venue.state, a), BAYES.version_at(venue.state, b)
        sd = sqrt(widened[a, a] + widened[b, b] - 2 * widened[a, b])
        stronger = normal((strengths.means[a] - strengths.means[b]) / sd)
        assert stronger == pytest.approx(BAYES.superiority(venue.state, one, other), abs=1e-9)


@pytest.mark.parametrize("system", [BAYES, WholeHistory(2000.0)], ids=["bayes", "whole-history"])
def test_a_refit_knows_elsewhere_what_the_state_knows_when_it_is_installed(system: Any) -> None:
    venue, _ = pool(6, 6, 80, system=system)
    job = system.job(venue.state, True)
    fit = system.refit(job)
    there = system.strengths_of(job, fit)
    venue.state = system.install(venue.state, fit)
    here = system.strengths(venue.state)
    assert isinstance(system, JointlyKnown)
    for one, other in zip(there[:3], here[:3], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-6)
    assert (there.wins is None) == (here.wins is None)
    assert there.wins is None or (there.wins == here.wins).all()


def test_games_that_were_won_are_counted_for_either_color() -> None:
    venue = Venue()
    venue.enter(1, 2)
    venue.play(1, 2, "+++-=")
    wins = BAYES.strengths(venue.state).wins
    assert wins is not None
    assert wins.tolist() == [[0, 1, 3], [1, 0, 1]]


# -- results that are turned round


def first_of(venue: Venue) -> int:
    return int(np.argmax(BAYES.strengths(venue.state).means))


def turn(venue: Venue, winner: int, loser: int) -> None:
    """A game that `winner`, by place, has won from `loser` counts the other way round, and everything is refitted."""
    names = [int(BAYES.version_at(venue.state, place)) for place in (winner, loser)]
    for black, white, was2 in ((*names, 2), (*reversed(names), 0)):
        rows = venue.state.cells.copy()
        at = [BAYES.places(venue.state, [each])[0] for each in (black, white)]  # type: ignore[list-item]
        there = (rows.pairs == at).all(axis=1)
        if rows.results[there, 2 - was2].sum():
            venue.say(Kind.CORRECTION, black=black, white=white, was2=was2, score2=2 - was2)
            venue.refit(cold=False)
            return
    raise AssertionError("there was no such game")


def by_refits(venue: Venue, other: int) -> int:
    """How many results, turned round one by one, put another than the first in its place: always the one that moves the
    first and `other` most."""
    leader = first_of(venue)
    for count in range(1, MOST_TURNED):
        strengths = BAYES.strengths(venue.state)
        assert strengths.wins is not None
        pull = strengths.covariance[leader] - strengths.covariance[other]
        there = strengths.wins[(strengths.wins[:, 0] == leader) | (strengths.wins[:, 1] == other)]
        winner, loser, _ = there[np.argmax(pull[there[:, 0]] - pull[there[:, 1]])]
        turn(venue, int(winner), int(loser))
        if first_of(venue) != leader:
            return count
    raise AssertionError("the first stays where it is")


@pytest.mark.parametrize(("seed", "games"), [(1, 60), (2, 200), (5, 300)])
def test_so_many_results_hold_the_first_in_its_place(seed: int, games: int) -> None:
    venue, _ = pool(seed, 8, games)
    venue.refit()
    order = np.argsort(-BAYES.strengths(venue.state).means)
    told = ranks(BAYES.strengths(venue.state), order, rng(), 10).turned
    assert told is not None
    exact = min(by_refits(_again(seed, games), int(other)) for other in order[1:3])
    assert told <= exact + 1
    assert exact - told <= max(1, 0.25 * exact)


def _again(seed: int, games: int) -> Venue:
    venue, _ = pool(seed, 8, games)
    venue.refit()
    return venue


def test_more_than_fifty_are_not_counted() -> None:
    venue = Venue()
    venue.enter(1, 2)
    venue.anchor(1, 2000.0, sd=0.1)
    venue.anchor(2, 1500.0, sd=0.1)
    venue.play(1, 2, "+" * 60)
    venue.refit()
    assert of_all(BAYES.strengths(venue.state), 10).turned == MOST_TURNED + 1


def test_nobody_says_how_many_where_results_fade() -> None:
    system = WholeHistory(2000.0)
    venue, _ = pool(6, 6, 80, system=system)  # type: ignore[arg-type]
    venue.refit()
    assert of_all(system.strengths(venue.state), 10).turned is None
