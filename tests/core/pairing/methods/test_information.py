"""What a game tells: the trace's literal drop, in any gauge, for any number of versions; and what follows from it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from support.core.bayes_venue import BAYES, Venue

from cgos_server.core.pairing.base import LOGIT, Candidate, Knowledge, PairingPass
from cgos_server.core.pairing.methods.information import Information, InformationWorths, normals, precision, root, usual
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy

Floats = NDArray[np.float64]
MEANS = Information(draw=0.0)
"""p is computed with the means, averaged over all that is not known."""


def known(
    ratings: Sequence[float], C: Floats, anchors: Sequence[int] = (), which: Sequence[int] | None = None
) -> PairingPass:
    """Those of the versions that are asked for, with what is known of all of them."""
    at = list(range(len(ratings)) if which is None else which)
    free = np.array([place not in anchors for place in range(len(ratings))], dtype=float)
    candidates = [Candidate(place + 1, f"v{place}", ratings[place], anchor=place in anchors) for place in at]
    both = np.ix_(at, at)
    return PairingPass(candidates=candidates, knowledge=Knowledge(C[both], ((C * free) @ C)[both]))


def alone(*versions: tuple[float, float], **fields: Any) -> PairingPass:
    """Versions of which nothing joint is known: (rating, sd)."""
    return PairingPass(
        candidates=[Candidate(at, f"v{at}", rating, sd=sd, **fields) for at, (rating, sd) in enumerate(versions, 1)]
    )


def some_covariance(rng: np.random.Generator, n: int) -> Floats:
    factor = rng.normal(0.0, 60.0, (n, n + 2))
    return factor @ factor.T + 300.0 * np.outer(*[rng.uniform(0.5, 2.0, n)] * 2)


def every_pair(pairing_pass: PairingPass) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    i, j = np.triu_indices(len(pairing_pass.candidates), 1)
    return i, j


def after_one_game(C: Floats, i: int, j: int, f: float) -> Floats:
    """Kalman's update by one observation of r_i - r_j with precision f."""
    a = np.zeros(len(C))
    a[i], a[j] = 1.0, -1.0
    return C - np.outer(C @ a, C @ a) / (1.0 / f + a @ C @ a)


def expected_precision(mean: float, variance: float) -> float:
    """What a game tells of a normal difference on average, 1/Elo^2, by summing over a grid."""
    sd = max(np.sqrt(variance), 0.01)
    grid = np.linspace(mean - 9 * sd, mean + 9 * sd, 4001)
    weights = np.exp(-0.5 * ((grid - mean) / sd) ** 2)
    p = 1.0 / (1.0 + np.exp(-LOGIT * grid))
    return float(LOGIT**2 * (weights @ (p * (1.0 - p))) / weights.sum())


# --- the measure -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_it_is_by_how_much_one_more_result_narrows_everybody_who_is_no_anchor(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C, ratings, anchors, which = some_covariance(rng, 9), rng.normal(2000, 300, 9), (2, 5), [7, 5, 0, 2, 4, 8]
    free = [place for place in range(9) if place not in anchors]
    pairing_pass = known(ratings.tolist(), C, anchors, which)
    worths = MEANS.look(pairing_pass, random.Random(1))
    i, j = every_pair(pairing_pass)
    for first, second, drop in zip(i, j, worths.drop(i, j), strict=True):
        a, b = which[first], which[second]
        after = after_one_game(C, a, b, expected_precision(ratings[a] - ratings[b], C[a, a] + C[b, b] - 2 * C[a, b]))
        assert drop == pytest.approx((np.diagonal(C) - np.diagonal(after))[free].sum(), rel=0.01)


def test_that_is_what_a_result_narrows_on_average_over_who_wins() -> None:
    """One version against a known one, the posterior after a win and after a loss by summing over a grid."""
    mean, sd = 2100.0, 60.0
    grid = np.linspace(mean - 8 * sd, mean + 8 * sd, 4001)
    before = np.exp(-0.5 * ((grid - mean) / sd) ** 2)
    before /= before.sum()
    win = 1.0 / (1.0 + np.exp(-LOGIT * (grid - 2000.0)))
    expected = 0.0
    for likelihood in (win, 1.0 - win):
        chance = float(before @ likelihood)
        after = before * likelihood / chance
        expected += chance * float(after @ (grid - after @ grid) ** 2)
    pairing_pass = known([mean, 2000.0], np.diag([sd**2, 0.0]))
    drop = MEANS.look(pairing_pass, random.Random(1)).drop(np.array([0]), np.array([1]))[0]
    assert drop == pytest.approx(sd**2 - expected, rel=0.03)


def test_worth_does_not_depend_on_what_all_ratings_have_in_common() -> None:
    rng = np.random.default_rng(3)
    C, ratings = some_covariance(rng, 7), rng.normal(2000, 200, 7)
    pairing_pass, moved = known(ratings.tolist(), C), known((ratings + 500.0).tolist(), C + 90_000.0)
    i, j = every_pair(pairing_pass)
    here, there = MEANS.look(pairing_pass, random.Random(1)), MEANS.look(moved, random.Random(1))
    assert there.drop(i, j) == pytest.approx(here.drop(i, j), rel=1e-6)
    assert there.of(i, j) == pytest.approx(here.of(i, j), rel=1e-6)


def test_without_joint_knowledge_it_is_that_of_independent_ratings() -> None:
    versions = [(2000.0, 80.0), (2100.0, 30.0), (1500.0, 250.0), (1950.0, 10.0)]
    pairing_pass, same = alone(*versions), known([r for r, _ in versions], np.diag([sd**2 for _, sd in versions]))
    i, j = every_pair(pairing_pass)
    first, second = (Information().look(a, random.Random(5)) for a in (pairing_pass, same))
    assert first.drop(i, j) == pytest.approx(second.drop(i, j), rel=1e-6)
    assert (np.abs(first.of(i, j) - second.of(i, j)) < 0.5).all()


def test_an_unknown_sd_is_wide_unless_it_is_an_anchors() -> None:
    candidates = [
        Candidate(1, "a", 2000.0),
        Candidate(2, "b", 2000.0, anchor=True),
        Candidate(3, "c", 2000.0, sd=200.0),
    ]
    worths = MEANS.look(PairingPass(candidates=candidates), random.Random(1))
    worth = worths.of(np.array([0, 1, 0]), np.array([1, 2, 2]))
    assert worth[0] == pytest.approx(worth[1])
    assert worth[0] == pytest.approx(1.0)
    assert 0.5 < worth[2] < 1.0


@pytest.mark.parametrize("sd", [0.0, 60.0, 300.0, 960.0])
def test_what_a_game_tells_is_averaged_over_what_is_not_known_of_the_difference(sd: float) -> None:
    means = np.array([0.0, -100.0, 300.0, 600.0, -1000.0])
    averaged = precision(means, np.full(5, sd**2))
    assert averaged == pytest.approx([expected_precision(mean, sd**2) for mean in means], rel=0.01)


# --- what follows ----------------------------------------------------------------------------------------------------


def test_equals_are_worth_most_and_versions_far_apart_little() -> None:
    worths = MEANS.look(alone((2000.0, 20.0), (2000.0, 20.0), (2300.0, 20.0), (2900.0, 20.0)), random.Random(1))
    worth = worths.of(np.array([0, 0, 0]), np.array([1, 2, 3]))
    assert worth[0] == pytest.approx(1.0, abs=0.01)
    assert worth[0] > worth[1] > worth[2]
    assert worth[2] < 0.03


def test_a_newcomer_tells_most_against_a_well_known_version() -> None:
    worths = MEANS.look(alone((2000.0, 300.0), (2000.0, 300.0), (2000.0, 20.0), (2000.0, 20.0)), random.Random(1))
    i, j = np.array([0, 0, 2]), np.array([1, 2, 3])
    newcomers, mixed, settled = worths.of(i, j)
    assert newcomers < mixed
    assert settled == pytest.approx(mixed, rel=0.01)
    drops = worths.drop(i, j)
    assert drops[1] > 100 * drops[2]


def test_a_shortfall_counts_more_where_the_game_tells_more() -> None:
    """A newcomer has the first choice of well-known opponents."""
    versions = [(2000.0, 300.0), (2000.0, 20.0), (2000.0, 20.0), (2250.0, 20.0), (2250.0, 20.0)]
    worths = MEANS.look(alone(*versions), random.Random(1))
    near, far, settled_near, settled_far = worths.of(np.array([0, 0, 1, 1]), np.array([1, 3, 2, 3]))
    assert near - far > 1.1 * (settled_near - settled_far) > 0.1


def test_newcomers_are_paired_with_well_known_versions() -> None:
    candidates = [Candidate(at, f"v{at}", 2000.0 + at, sd=300.0 if at <= 4 else 25.0) for at in range(1, 13)]
    made = matchmaker("information", {"newcomer_cost": 0.0, "draw": 0.0}).pair(
        PairingPass(candidates=candidates), random.Random(3)
    )
    assert len(made.pairs) == 6
    assert not [pair for pair in made.pairs if pair.high <= 4 and pair.low <= 4]


def test_two_groups_that_have_hardly_met_are_linked() -> None:
    """Ratings within either group are well known, the distance of the groups is not: a game across tells most although
    the expected score is one-sided."""
    C = np.diag(np.full(8, 400.0))
    C[:4, :4] += 20_000.0
    ratings = [2000.0, 2040.0, 2080.0, 2120.0, 2360.0, 2400.0, 2440.0, 2480.0]
    worths = MEANS.look(known(ratings, C), random.Random(1))
    within, across, far = worths.of(np.array([2, 3, 0]), np.array([3, 4, 7]))
    assert across > 1.5 * within
    assert across > far
    drops = worths.drop(np.array([2, 3]), np.array([3, 4]))
    assert drops[1] > 20 * drops[0]


def test_equals_are_worth_as_much_however_few_are_there() -> None:
    """So that waiting is not for what nobody can bring: what a game tells at all is another question than how good it
    is for these two."""
    C = some_covariance(np.random.default_rng(9), 6) + 50_000.0
    for which in ([0, 1], [2, 5], [3, 4, 5], [0, 1, 2, 3, 4, 5]):
        pairing_pass = known([2000.0] * 6, C, which=which)
        worth = MEANS.look(pairing_pass, random.Random(1)).of(*every_pair(pairing_pass))
        assert worth.mean() == pytest.approx(1.0, abs=1e-6 if len(which) == 2 else 0.2)
    far = known([2000.0, 2400.0], np.diag([900.0, 900.0]))
    assert MEANS.look(far, random.Random(1)).of(np.array([0]), np.array([1]))[0] == pytest.approx(0.33, abs=0.02)


@given(st.lists(st.floats(1.0, 3.0), min_size=3, max_size=9), st.integers(0, 99))
def test_usual_numbers_are_found(numbers: list[float], seed: int) -> None:
    a = np.array(numbers)
    weights = np.random.default_rng(seed).uniform(0.5, 1.0, (len(a), len(a)))
    weights += weights.T
    np.fill_diagonal(weights, 0.0)
    brings = a[:, None] + a
    i, j = np.triu_indices(len(a), 1)
    usual_worths = usual(brings, weights)
    assert usual_worths[i] + usual_worths[j] == pytest.approx(brings[i, j], rel=0.3)


def test_what_is_usual_is_hardly_moved_by_pairs_that_bring_far_more() -> None:
    brings = np.full((8, 8), 2.0)
    brings[:4, 4:] = brings[4:, :4] = 3000.0
    weights = 1.0 - np.eye(8)
    weights[:4, 4:] = weights[4:, :4] = 0.1
    usual_worths = usual(brings, weights)
    assert usual_worths == pytest.approx(np.full(8, 1.0), rel=0.25)


# --- chance ----------------------------------------------------------------------------------------------------------


def test_ratings_are_drawn_with_the_share_of_the_covariance_that_was_asked_for() -> None:
    C = some_covariance(np.random.default_rng(8), 4)
    pairing_pass, rng = known([2000.0, 1900.0, 2100.0, 2050.0], C), random.Random(7)
    draws = np.array([Information(draw=0.3).look(pairing_pass, rng).drawn for _ in range(4000)])
    scale = np.sqrt(0.3 * np.diagonal(C))
    assert (np.abs(draws.mean(axis=0) - [2000.0, 1900.0, 2100.0, 2050.0]) < 5 * scale / np.sqrt(4000)).all()
    assert np.cov(draws.T) / np.outer(scale, scale) == pytest.approx(0.3 * C / np.outer(scale, scale), abs=0.12)


def test_the_same_seed_draws_the_same() -> None:
    pairing_pass = alone((2000.0, 80.0), (2100.0, 30.0), (1500.0, 250.0))
    first, second, different = (Information().look(pairing_pass, random.Random(seed)).drawn for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != different).all()


def test_normal_variates_are_normal() -> None:
    rng = random.Random(4)
    variates = np.concatenate([normals(rng, count) for count in (1, 2, 3, 9994)])
    assert abs(variates.mean()) < 0.05
    assert variates.std() == pytest.approx(1.0, abs=0.04)
    assert (np.abs(variates) < 1.959964).mean() == pytest.approx(0.95, abs=0.011)
    assert abs(np.mean(variates[:-1] * variates[1:])) < 0.05


def test_a_covariance_that_rounding_has_made_indefinite_still_has_a_root() -> None:
    C = some_covariance(np.random.default_rng(2), 5)
    assert root(C) @ root(C).T == pytest.approx(C, rel=1e-6)
    singular = np.full((5, 5), 90_000.0)
    singular[0, 1] = singular[1, 0] = 90_000.1
    assert np.isfinite(root(singular)).all()
    assert root(singular) @ root(singular).T == pytest.approx(singular, rel=0.01)
    assert (root(np.diag([1.0, -5.0])) == np.diag([1.0, 0.0])).all()


versions = st.tuples(st.floats(0, 4000), st.floats(0, 800), st.booleans())


@given(st.lists(versions, min_size=2, max_size=12), st.integers(0, 99))
def test_worth_is_symmetric_and_never_negative(drawn: list[tuple[float, float, bool]], seed: int) -> None:
    candidates = [Candidate(at, "v", r, sd=sd, anchor=anchor) for at, (r, sd, anchor) in enumerate(drawn)]
    variances = np.array([sd**2 for _, sd, _ in drawn])
    free = np.array([not anchor for _, _, anchor in drawn])
    common = 0.5 * np.sqrt(np.outer(variances, variances))
    C = common + np.diag(0.5 * variances)
    for pairing_pass in (
        PairingPass(candidates=candidates),
        PairingPass(candidates=candidates, knowledge=Knowledge(C, (C * free) @ C)),
    ):
        worths: InformationWorths = Information().look(pairing_pass, random.Random(seed))
        i, j = every_pair(pairing_pass)
        worth = worths.of(i, j)
        assert ((worth >= 0.0) & (worth < 50.0)).all()
        assert worths.of(j, i) == pytest.approx(worth, abs=1e-6)  # the root of a rounding error is 1e-8
        assert "expected score" in worths.say(0, 1)


# --- in a pool -------------------------------------------------------------------------------------------------------


def test_a_pool_finds_its_scale_and_does_not_wear_out_its_anchors() -> None:
    rng = np.random.default_rng(12)
    true = rng.normal(2300.0, 300.0, 12)
    venue = Venue()
    venue.enter(*range(12))
    for version in (3, 8):
        venue.anchor(version, float(true[version]))
    method, chance = matchmaker("information", {}), random.Random(2)
    among_anchors, against = 0, np.zeros(12)
    last: dict[int, int] = {}
    for number in range(30):
        ratings, joint = venue.ratings(), BAYES.joint(venue.state, range(12))
        candidates = [
            Candidate(at, f"v{at}", ratings[at].mean, last_opponent=last.get(at), anchor=ratings[at].anchor)
            for at in range(12)
        ]
        made = method.pair(
            PairingPass(candidates=candidates, meetings=(), knowledge=Knowledge(*joint), policy=Policy.BARRIER), chance
        )
        assert len(made.pairs) == 6
        for pair in made.pairs:
            a, b = pair.high, pair.low
            last[a], last[b] = b, a
            among_anchors += {a, b} == {3, 8}
            against[a] += b in (3, 8)
            against[b] += a in (3, 8)
            won = bool(rng.random() < 1.0 / (1.0 + 10.0 ** ((true[b] - true[a]) / 400.0)))
            venue.game(*((a, b) if number % 2 else (b, a)), 2 if won is bool(number % 2) else 0)
        venue.refit(cold=number in (0, 4, 12))
    free = [at for at in range(12) if at not in (3, 8)]
    means = np.array([venue.ratings()[at].mean for at in free])
    against_anchors = np.full(12, 1.0 / len(free))
    against_anchors[[3, 8]] = -0.5
    C = BAYES.joint(venue.state, range(12)).covariance
    offset_sd = float(np.sqrt(against_anchors @ C @ against_anchors))
    assert offset_sd < 80.0
    assert abs(float(means.mean() - true[free].mean())) < 4 * offset_sd
    assert among_anchors <= 3
    assert against[free].max() <= 20
