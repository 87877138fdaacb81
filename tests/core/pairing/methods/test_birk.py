"""Birk's matchmaker under a venue's wishes: whom it draws from, fair byes, what gives way, sentences."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.pairing_passes import ids, pairing_passes, wishes

from cgos_server.core.pairing.base import Candidate, Pairing, PairingPass
from cgos_server.core.pairing.constraints import FREE, Constraints, Kin, PairConstraints
from cgos_server.core.pairing.methods.birk import BYES, Birk, best_of, sample
from cgos_server.core.pairing.methods.formula import FORMULAS
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.venue import Policy


class Scripted:
    """A source of randomness that can do nothing but hand out the given numbers."""

    def __init__(self, *numbers: float) -> None:
        self._numbers = list(numbers)

    def random(self) -> float:
        return self._numbers.pop(0)


def field(*ratings: float, **same: int) -> list[Candidate]:
    """Candidates 1, 2, ... called A, B, ..."""
    return [Candidate(i, chr(64 + i), rating, **same) for i, rating in enumerate(ratings, 1)]


formulas = st.sampled_from((*FORMULAS, "1 + avail // 3", "np // 2"))
methods = st.builds(Birk, formula=formulas, bye=st.sampled_from(BYES), constraints=wishes | st.just(FREE))
LAST_ONLY = replace(FREE, avoid_last=True)


@given(pairing_passes(), methods, st.integers())
def test_everybody_is_paired_once_or_sits_out_with_a_sentence(
    pairing_pass: PairingPass, method: Birk, seed: int
) -> None:
    pairing = method.pair(pairing_pass, random.Random(seed))
    versions = [v for pair in ids(pairing) for v in pair] + list(pairing.sits_out)
    assert sorted(versions) == sorted(c.id for c in pairing_pass.candidates)
    rank = {c.id: (-c.rating, c.id) for c in pairing_pass.candidates}
    name = {c.id: c.name for c in pairing_pass.candidates}
    assert all(rank[high] < rank[low] for high, low in ids(pairing))
    for pair in pairing.pairs:
        assert name[pair.high] in pair.reason
        assert name[pair.low] in pair.reason
    assert all(name[version] in why for version, why in pairing.sits_out.items())


@given(pairing_passes(policy=Policy.BARRIER, bound=False), formulas, st.sampled_from(BYES), st.integers())
def test_without_wishes_one_sits_out_of_an_odd_number_and_the_best_picks(
    pairing_pass: PairingPass, formula: str, bye: str, seed: int
) -> None:
    pairing = Birk(formula=formula, bye=bye, constraints=FREE, waiting=Waiting(overdue=0.0)).pair(
        pairing_pass, random.Random(seed)
    )
    assert len(pairing.sits_out) == len(pairing_pass.candidates) % 2
    rank = {c.id: (-c.rating, c.id) for c in pairing_pass.candidates}
    assert all(rank[pair.high] < rank[next_.high] for pair, next_ in pairwise(pairing.pairs))
    assert pairing.notes == []


@given(pairing_passes(), methods, st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(
    pairing_pass: PairingPass, method: Birk, seed: int, shuffler: random.Random
) -> None:
    shuffled = list(pairing_pass.candidates)
    shuffler.shuffle(shuffled)
    other = replace(pairing_pass, candidates=shuffled)
    assert method.pair(other, random.Random(seed)) == method.pair(pairing_pass, random.Random(seed))


@given(pairing_passes(), methods, st.integers())
def test_no_pair_is_made_that_is_not_open_and_what_gave_way_is_noted(
    pairing_pass: PairingPass, method: Birk, seed: int
) -> None:
    pairing = method.pair(pairing_pass, random.Random(seed))
    rules = PairConstraints(method.constraints, pairing_pass, method.waiting)
    place = {c.id: at for at, c in enumerate(pairing_pass.candidates)}
    for pair in pairing.pairs:
        i, j = np.array([place[pair.high]]), np.array([place[pair.low]])
        assert rules.open(i, j)[0]
        gave_way = rules.say(place[pair.high], place[pair.low])
        assert bool(gave_way) == bool(rules.barriers(i, j)[0])
        if gave_way:
            assert gave_way in pair.reason
            assert any(gave_way in note for note in pairing.notes)


@given(pairing_passes(policy=Policy.BARRIER), methods, st.integers())
def test_with_the_barrier_policy_no_two_are_left_who_could_meet(
    pairing_pass: PairingPass, method: Birk, seed: int
) -> None:
    """But the one set aside, if the number is odd."""
    pairing = method.pair(pairing_pass, random.Random(seed))
    rules = PairConstraints(method.constraints, pairing_pass)
    left = [at for at, c in enumerate(pairing_pass.candidates) if c.id in pairing.sits_out]
    aside = [at for at in left if "odd number" in pairing.sits_out[pairing_pass.candidates[at].id]]
    assert len(aside) <= 1
    for i in left:
        for j in left:
            if i not in aside and j not in aside:
                assert not rules.open(np.array([i]), np.array([j]))[0]


def test_nobody_or_one() -> None:
    assert Birk().pair(PairingPass(candidates=[]), Scripted()) == Pairing(pairs=[], sits_out={}, notes=[])
    alone = Birk().pair(PairingPass(candidates=field(1800.0)), Scripted())
    assert (alone.pairs, alone.sits_out) == ([], {1: "A (1800) is alone: there is nobody to meet."})


def test_the_sentence_names_the_numbers() -> None:
    pairing_pass = PairingPass(candidates=field(1873.4, 1804.0, 1700.0, 1600.0))
    first, second = Birk(formula="half").pair(pairing_pass, Scripted(0.99, 0.0)).pairs
    assert first.reason == "A (1873) drew 2 of 3 opponents below it and met the strongest of them, B (1804)."
    assert first.detail == {"formula": "half", "avail": 3, "n": 2}
    assert second.reason == "C (1700) met the only opponent it could: D (1600)."
    pairing = Birk(formula="one").pair(pairing_pass, Scripted(0.99, 0.0))
    assert pairing.pairs[0].reason == "A (1873) drew 1 of 3 opponents below it: D (1600)."


def test_equal_ratings_rank_by_ascending_id() -> None:
    pairing = Birk(formula="half").pair(PairingPass(candidates=field(1800.0, 1800.0)[::-1]), Scripted(0.5))
    assert ids(pairing) == [(1, 2)]


@pytest.mark.parametrize(("size", "n"), [(1, 1), (5, 2), (5, 5), (30, 7)])
def test_sample_draws_n_times_and_gives_different_numbers(size: int, n: int) -> None:
    for edge in (0.0, 1 - 2**-53):
        drawn = sample(size, n, Scripted(*[edge] * n))
        assert len(set(drawn)) == n
        assert drawn == sorted(drawn)
        assert 0 <= drawn[0] <= drawn[-1] < size


@pytest.mark.parametrize(
    ("avail", "n"), [(1, 1), (9, 1), (5, 2), (7, 7), (13, 3), (13, 7), (17, 4), (30, 2), (60, 7), (60, 12)]
)
def test_the_best_of_those_drawn_has_birks_law(avail: int, n: int) -> None:
    """P(r-th best) = C(avail - 1 - r, n - 1) / C(avail, n), whether followed down or drawn one by one."""
    rng = random.Random(avail * 100 + n)
    draws = 20_000
    count = Counter(best_of(avail, n, rng) for _ in range(draws))
    for r in range(avail):
        p = comb(avail - 1 - r, n - 1) / comb(avail, n)
        assert abs(count[r] / draws - p) <= 5 * (p * (1 - p) / draws) ** 0.5 + 1e-9


@given(st.integers(1, 3000), st.integers(1, 3000), st.sampled_from((0.0, 1 - 2**-53)))
def test_the_edges_of_chance_stay_within_reach(avail: int, n: int, edge: float) -> None:
    n = min(n, avail)
    assert 0 <= best_of(avail, n, Scripted(*[edge] * n)) <= avail - n


def test_the_last_opponent_is_avoided_while_there_is_another() -> None:
    a, b, c, d = field(2000.0, 1900.0, 1800.0, 1700.0)
    pairing_pass = PairingPass(candidates=[a._replace(last_opponent=2), b._replace(last_opponent=1), c, d])
    for seed in range(50):
        pairing = Birk(constraints=LAST_ONLY).pair(pairing_pass, random.Random(seed))
        assert (1, 2) not in ids(pairing)
        assert pairing.notes == []
        assert pairing.pairs[0].detail["avail"] == 2
        assert pairing.pairs[0].detail["kept_from"] == [2]
        assert pairing.pairs[0].reason.endswith(" It was kept from B.")
    plain = Birk(constraints=FREE)
    assert any((1, 2) in ids(plain.pair(pairing_pass, random.Random(seed))) for seed in range(50))


def test_who_just_met_meet_again_at_once_only_by_the_barrier_policy() -> None:
    a, b = field(2000.0, 1900.0)
    pairing_pass = PairingPass(candidates=[a._replace(last_opponent=2), b], connected=3)
    pairing = Birk().pair(pairing_pass, Scripted(0.0))
    assert ids(pairing) == [(1, 2)]
    assert "B was the last opponent of A" in pairing.notes[0]
    waiting = Birk().pair(replace(pairing_pass, policy=Policy.ROLLING), Scripted(0.0))
    assert waiting.pairs == []
    assert waiting.sits_out[1] == "A (2000) waits a little for somebody else: B was the last opponent of A."


def test_two_of_one_owner_that_are_left_take_a_pair_apart() -> None:
    """B and C draw each other; A and D, of one owner, must not meet: each gets one of the two."""
    a, b, c, d = field(1700.0, 2000.0, 1900.0, 1600.0)
    pairing_pass = PairingPass(candidates=[a._replace(owner=5), b, c, d._replace(owner=5)])
    for seed in range(30):
        pairing = Birk(formula="half").pair(pairing_pass, random.Random(seed))
        assert not pairing.sits_out
        assert (1, 4) not in ids(pairing)
    first, second = Birk(formula="half").pair(pairing_pass, Scripted(0.9)).pairs
    assert first.reason == (
        "A (1700) would have been left over: B (2000) and C (1900) were taken apart for it. It was kept from D."
    )
    assert second.reason.startswith("D (1600) would have been left over: C (1900) and B (2000) were")
    assert first.detail == {"avail": 1, "taken_apart": 3, "kept_from": [4]}


def test_who_may_meet_nobody_sits_out_and_the_others_play() -> None:
    a, b, c, d = field(2000.0, 1900.0, 1800.0, 1700.0)
    pairing = Birk().pair(PairingPass(candidates=[a, b._replace(apart=(1, 3, 4)), c, d]), random.Random(1))
    assert pairing.sits_out[2] == "B (1900) must not meet anybody who was still to be paired."
    assert len(pairing.pairs) == 1


def test_many_that_must_not_be_met_are_counted_rather_than_named() -> None:
    first, *rest = field(*range(2000, 1900, -10))
    pairing_pass = PairingPass(candidates=[first._replace(apart=tuple(range(2, 9))), *rest])
    pairing = Birk(formula="one").pair(pairing_pass, random.Random(1))
    assert pairing.pairs[0].reason.endswith(" It was kept from 7 others.")


def test_nobody_is_set_aside_whom_somebody_else_needs() -> None:
    """Two of one owner and a stranger who has waited shortest: without him nobody could play."""
    a, b, c = field(2000.0, 1900.0, 1800.0)
    pairing_pass = PairingPass(candidates=[a._replace(owner=1, waited=2), b._replace(owner=1, waited=1), c])
    pairing = Birk().pair(pairing_pass, Scripted(0.0))
    assert ids(pairing) == [(1, 3)]
    assert pairing.sits_out == {
        2: "B (1900) sits out, as 3 is an odd number: among those who can best be spared, of those that have not sat"
        " out since their last game it had waited shortest (0.0 s)."
    }


def test_fair_bye_goes_to_the_shortest_wait_of_those_that_have_not_sat_out() -> None:
    a, b, c = field(2000.0, 1900.0, 1800.0)
    pairing_pass = PairingPass(
        candidates=[a._replace(waited=5_000_000), b._replace(waited=3_200_000), c._replace(waited=1, last_sit_out=4)]
    )
    pairing = Birk().pair(pairing_pass, Scripted(0.0))
    assert pairing.sits_out == {
        2: "B (1900) sits out, as 3 is an odd number: of those that have not sat out since their last game it had"
        " waited shortest (3.2 s)."
    }
    assert ids(pairing) == [(1, 3)]


def test_fair_bye_among_those_that_all_sat_out_goes_to_the_least_recent() -> None:
    candidates = [c._replace(last_sit_out=n) for c, n in zip(field(3, 2, 1), (7, 5, 6), strict=True)]
    pairing = Birk().pair(PairingPass(candidates=candidates), Scripted(0.0))
    assert list(pairing.sits_out) == [2]
    assert "least recently (round 5)" in pairing.sits_out[2]


def test_ties_for_the_bye_are_drawn_by_lot() -> None:
    pairing_pass = PairingPass(candidates=field(3, 2, 1))
    drawn = {next(iter(Birk().pair(pairing_pass, Scripted(x, 0.0)).sits_out)) for x in (0.0, 0.5, 0.99)}
    assert drawn == {1, 2, 3}
    assert "drawn by lot from 3 alike" in Birk().pair(pairing_pass, Scripted(0.0, 0.0)).sits_out[1]


def test_natural_bye_is_whoever_is_left() -> None:
    pairing = Birk(formula="half", bye="natural").pair(PairingPass(candidates=field(3, 2, 1)), Scripted(0.0, 0.0))
    assert pairing.sits_out == {3: "C (1) was left over when all others had been paired."}


@given(pairing_passes(least=3, bound=False, policy=Policy.BARRIER), st.integers())
def test_nobody_sits_out_twice_running_while_another_candidate_did_not(pairing_pass: PairingPass, seed: int) -> None:
    latest = max((c.last_sit_out for c in pairing_pass.candidates if c.last_sit_out is not None), default=0)
    for out in Birk(waiting=Waiting(overdue=0.0)).pair(pairing_pass, random.Random(seed)).sits_out:
        if next(c for c in pairing_pass.candidates if c.id == out).last_sit_out == latest:
            assert all(c.last_sit_out == latest for c in pairing_pass.candidates)


def test_over_many_rounds_everybody_sits_out_equally_often() -> None:
    """Seven that are always ready: a game clears the sit-out, waiting starts anew, so the bye goes by lot."""
    rng = random.Random(7)
    candidates = field(*range(1700, 2400, 100))
    count = dict.fromkeys(range(1, 8), 0)
    before: int | None = None
    for number in range(1, 7001):
        out = next(iter(Birk(constraints=FREE).pair(PairingPass(candidates=candidates), rng).sits_out))
        assert out != before
        count[out] += 1
        before = out
        candidates = [c._replace(last_sit_out=number if c.id == out else None) for c in candidates]
    assert all(850 < times < 1150 for times in count.values())


def test_who_was_passed_over_too_often_picks_first_and_is_not_set_aside() -> None:
    candidates = [c._replace(waited=c.id) for c in field(2000.0, 1900.0, 1800.0, 1700.0, 1600.0)]
    candidates[3] = candidates[3]._replace(sat_out=99, waited=0)
    pairing_pass = PairingPass(candidates=candidates, policy=Policy.ROLLING, connected=9)
    first = Birk(formula="half").pair(pairing_pass, Scripted(0.0, 0.0)).pairs[0]
    assert 4 in first[:2]
    assert first.reason.startswith("D (1700) drew 2 of 3 opponents and met the strongest of them, C (1800).")


def test_a_pair_that_costs_more_than_both_allow_waits() -> None:
    a, b = (c._replace(balance=4) for c in field(2000.0, 1900.0))
    pairing_pass = PairingPass(candidates=[a, b], policy=Policy.ROLLING, connected=40, flow=0.1)
    method = Birk(constraints=Constraints(color_cost=9.0))
    pairing = method.pair(pairing_pass, Scripted(0.0))
    assert pairing.pairs == []
    assert pairing.sits_out[1].startswith("A (2000) waits for a better opponent")
    patient = replace(pairing_pass, candidates=[c._replace(sat_out=99) for c in pairing_pass.candidates])
    assert ids(method.pair(patient, Scripted(0.0))) == [(1, 2)]
    assert ids(method.pair(replace(pairing_pass, policy=Policy.BARRIER), Scripted(0.0))) == [(1, 2)]


def test_all_options_are_told() -> None:
    method = Birk(formula="sqrt", bye="natural", constraints=Constraints(same_family=Kin.FREE, patience=1_500_000))
    assert method.name == "birk"
    options = method.options
    assert (options["formula"], options["bye"], options["same_family"], options["patience_s"]) == (
        "sqrt",
        "natural",
        "free",
        1.5,
    )


def reaches(candidates: Sequence[Candidate], method: Birk) -> set[tuple[int, int]]:
    return {
        pair
        for seed in range(300)
        for pair in ids(method.pair(PairingPass(candidates=candidates), random.Random(seed)))
    }


def test_any_gap_occurs_with_one_candidate_but_not_with_many() -> None:
    """With `one` rank 1 meets everybody; with `half` of 8 it draws 4 of 7, so the 3 lowest are out of reach."""
    candidates = field(*range(2000, 1920, -10))
    assert {low for high, low in reaches(candidates, Birk(formula="one")) if high == 1} == set(range(2, 9))
    assert {low for high, low in reaches(candidates, Birk(formula="half")) if high == 1} == {2, 3, 4, 5}
    assert {low for high, low in reaches(candidates, Birk(formula="avail - 1")) if high == 1} == {2, 3}
