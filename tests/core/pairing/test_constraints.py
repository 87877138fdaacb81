"""Constraints of pairs against their rules, each written once more for a single pair; and what the sentences say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.pairing_passes import pairing_passes, waitings, wishes

from cgos_server.core.pairing.base import Candidate, Knowledge, Meeting, PairingPass
from cgos_server.core.pairing.constraints import FREE, Barrier, Constraints, Kin, PairConstraints
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.venue import Policy


def everybody(pairing_pass: PairingPass) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """All ordered pairs of places, each with itself too."""
    n = len(pairing_pass.candidates)
    i, j = np.divmod(np.arange(n * n), max(1, n))
    return i, j


def flags_of(pairing_pass: PairingPass, c: Constraints, a: Candidate, b: Candidate) -> Barrier:
    """The barriers of one pair, by the words of the rules."""
    flags = Barrier(0)
    if b.id in a.avoid or a.id in b.avoid:
        flags |= Barrier.AVOID
    for wish, first, second in ((c.same_owner, a.owner, b.owner), (c.same_family, a.family, b.family)):
        if wish is Kin.DISCOURAGED and first == second != 0:
            flags |= Barrier.KIN
    if pairing_pass.pool > 2 and c.avoid_last and (a.last_opponent == b.id or b.last_opponent == a.id):
        flags |= Barrier.LAST
    for meeting in pairing_pass.meetings:
        for first, second, games in (
            (meeting.a, meeting.b, meeting.recent_a),
            (meeting.b, meeting.a, meeting.recent_b),
        ):
            if pairing_pass.pool > 2 and {first, second} == {a.id, b.id}:
                me = a if a.id == first else b
                kin = 1
                for wish, field in ((c.same_owner, "owner"), (c.same_family, "family")):
                    mine = getattr(me, field)
                    if wish is Kin.FORBIDDEN and mine:
                        kin = max(kin, sum(getattr(x, field) == mine for x in pairing_pass.candidates))
                r = min(me.recent, c.repeat_last)
                share = max(
                    Fraction(c.repeat_most * r, c.repeat_last), Fraction(2 * r, max(1, pairing_pass.pool - kin))
                )
                if games >= max(2, ceil(share)):
                    flags |= Barrier.OFTEN
    nearest = abs(a.rating - b.rating) - 2.0 * sqrt(a.sd**2 + b.sd**2)
    score = 1 / (1 + 10 ** (-nearest / 400))
    if score > c.max_expected + 1e-12:
        flags |= Barrier.EXPECTED
    return flags


@given(pairing_passes(), wishes)
def test_barriers_are_those_of_the_rules(pairing_pass: PairingPass, constraints: Constraints) -> None:
    rules = PairConstraints(constraints, pairing_pass)
    i, j = everybody(pairing_pass)
    for first, second, flags in zip(i.tolist(), j.tolist(), rules.barriers(i, j).tolist(), strict=True):
        if first != second:
            assert Barrier(flags) == flags_of(
                pairing_pass, constraints, pairing_pass.candidates[first], pairing_pass.candidates[second]
            )


@given(pairing_passes(), wishes)
def test_what_is_never_possible(pairing_pass: PairingPass, constraints: Constraints) -> None:
    rules = PairConstraints(constraints, pairing_pass)
    i, j = everybody(pairing_pass)
    for first, second, possible in zip(i.tolist(), j.tolist(), rules.possible(i, j).tolist(), strict=True):
        a, b = pairing_pass.candidates[first], pairing_pass.candidates[second]
        kin = (constraints.same_owner is Kin.FORBIDDEN and a.owner == b.owner != 0) or (
            constraints.same_family is Kin.FORBIDDEN and a.family == b.family != 0
        )
        assert possible == (first != second and not kin and b.id not in a.apart and a.id not in b.apart)


@given(pairing_passes(), wishes)
def test_costs_are_those_of_the_rules(pairing_pass: PairingPass, constraints: Constraints) -> None:
    i, j = everybody(pairing_pass)
    known = {frozenset((m.a, m.b)): max(m.recent_a, m.recent_b) for m in pairing_pass.meetings}
    welcome = any(not c.provisional for c in pairing_pass.candidates)
    for first, second, cost in zip(
        i.tolist(), j.tolist(), PairConstraints(constraints, pairing_pass).costs(i, j).tolist(), strict=True
    ):
        if first == second:
            continue
        a, b = pairing_pass.candidates[first], pairing_pass.candidates[second]
        expected = constraints.repeat_cost * known.get(frozenset((a.id, b.id)), 0)
        if a.balance * b.balance > 0:
            expected += constraints.color_cost * min(abs(a.balance), abs(b.balance), 4)
        expected += constraints.anchor_cost * (a.anchor and b.anchor)
        expected += constraints.newcomer_cost * (a.provisional and b.provisional and welcome)
        assert cost == pytest.approx(expected)


@given(pairing_passes(), wishes, st.none() | waitings)
def test_all_answers_are_symmetric_and_open_is_possible_without_what_holds(
    pairing_pass: PairingPass, constraints: Constraints, waiting: Waiting | None
) -> None:
    rules = PairConstraints(constraints, pairing_pass, waiting)
    i, j = everybody(pairing_pass)
    for ask in (rules.possible, rules.barriers, rules.open, rules.costs):
        assert (ask(i, j) == ask(j, i)).all()
    flags = rules.barriers(i, j)
    holding = rules.holding(flags, i, j)
    assert (holding & ~flags == 0).all()
    assert (rules.open(i, j) == (rules.possible(i, j) & (holding == 0))).all()
    for first, second, gone in zip(i.tolist(), j.tolist(), (flags & ~holding).tolist(), strict=True):
        assert not gone or rules.impatient(first) or rules.impatient(second)


@given(pairing_passes(policy=Policy.BARRIER), wishes)
def test_with_the_barrier_policy_whatever_is_possible_is_open(
    pairing_pass: PairingPass, constraints: Constraints
) -> None:
    rules = PairConstraints(constraints, pairing_pass)
    i, j = everybody(pairing_pass)
    assert (rules.open(i, j) == rules.possible(i, j)).all()


@given(pairing_passes(), wishes)
def test_marked_pairs_are_all_that_have_something_against_them(
    pairing_pass: PairingPass, constraints: Constraints
) -> None:
    rules = PairConstraints(constraints, pairing_pass)
    n = len(pairing_pass.candidates)
    i, j = np.triu_indices(n, 1)
    against = ~rules.possible(i, j) | ((rules.barriers(i, j) & ~Barrier.EXPECTED) != 0)
    marked = rules.marked(n * n)
    assert marked is not None
    low, high = marked
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == {
        (first, second) for first, second, it in zip(i.tolist(), j.tolist(), against.tolist(), strict=True) if it
    }
    if len(low):
        assert rules.marked(len(low) - 1) is None


def test_everything_gives_way_in_time_and_the_largest_flag_last() -> None:
    """Two that have just met, of one family, far apart, too often: each barrier alone, over the wait."""
    family = {"family": 3}
    wait = {}
    for flag in Barrier:
        waits = []
        for waited in range(0, 1200, 5):
            a = Candidate(1, "a", 3000.0, waited * 1_000_000, recent=9)
            b = Candidate(2, "b", 1000.0 if flag is Barrier.EXPECTED else 3000.0, recent=9)
            if flag is Barrier.KIN:
                a, b = a._replace(**family), b._replace(**family)
            if flag is Barrier.LAST:
                a = a._replace(last_opponent=2)
            if flag is Barrier.AVOID:
                b = b._replace(avoid=(1,))
            meetings = [Meeting(1, 2, 9, 9)] if flag is Barrier.OFTEN else []
            pairing_pass = PairingPass(
                candidates=[a, b], meetings=meetings, policy=Policy.ROLLING, connected=30, flow=0.5
            )
            rules = PairConstraints(replace(Constraints(), max_expected=0.95), pairing_pass)
            pair = np.array([0]), np.array([1])
            assert rules.barriers(*pair).tolist() == [flag]
            if rules.open(*pair)[0]:
                waits.append(waited)
        wait[flag] = waits[0]
        assert waits == list(range(waits[0], 1200, 5))
    assert wait[Barrier.EXPECTED] == 10
    assert [wait[flag] for flag in Barrier] == sorted(wait.values())


def test_who_was_passed_over_too_often_need_not_wait() -> None:
    pairing_pass = PairingPass(
        candidates=[Candidate(1, "a", 0.0, sat_out=7), Candidate(2, "b", 0.0, avoid=(1,))], policy=Policy.ROLLING
    )
    pair = np.array([0]), np.array([1])
    assert PairConstraints(Constraints(), pairing_pass, Waiting(pass_over=7)).open(*pair)[0]
    assert not PairConstraints(Constraints(), pairing_pass, Waiting(pass_over=8)).open(*pair)[0]
    assert not PairConstraints(Constraints(), pairing_pass).open(*pair)[0]


@given(st.integers(0, 100), st.integers(2, 60))
def test_nobody_is_barred_from_everybody_by_its_own_games(recent: int, pool: int) -> None:
    """However its games are spread over the others, one of them is below the limit."""
    pairing_pass = PairingPass(candidates=[Candidate(v, f"bot-{v}", 0.0, recent=recent) for v in range(1, pool + 1)])
    limit = int(PairConstraints(Constraints(), pairing_pass).limits[0])
    assert limit * (pool - 1) > recent
    assert limit >= 2
    if pool > 20:
        assert limit <= max(2, ceil(recent / 10))


def test_two_versions_alone_meet_as_often_as_they_like() -> None:
    a, b = (Candidate(v, f"bot-{v}", 0.0, last_opponent=3 - v, recent=100) for v in (1, 2))
    pairing_pass = PairingPass(candidates=[a, b], meetings=[Meeting(1, 2, 100, 100)], policy=Policy.ROLLING)
    pair = np.array([0]), np.array([1])
    assert PairConstraints(Constraints(), pairing_pass).open(*pair)[0]
    assert (
        PairConstraints(Constraints(), replace(pairing_pass, connected=3)).barriers(*pair)[0]
        == Barrier.LAST | Barrier.OFTEN
    )


def test_what_is_not_known_makes_a_score_less_certain() -> None:
    """Also what is known of the two together counts: a difference may be certain where neither rating is."""
    a, b = Candidate(1, "a", 2600.0), Candidate(2, "b", 2000.0)
    pair = np.array([0]), np.array([1])

    def score(pairing_pass: PairingPass) -> float:
        return float(PairConstraints(Constraints(), pairing_pass).expected(*pair)[0])

    known = score(PairingPass(candidates=[a, b]))
    assert known == pytest.approx(1 / (1 + 10**-1.5))
    vague = score(PairingPass(candidates=[a._replace(sd=300.0), b._replace(sd=300.0)]))
    assert 0.5 < vague < known
    own = np.diag([300.0**2] * 2)
    assert score(PairingPass(candidates=[a, b], knowledge=Knowledge(own, own))) == pytest.approx(vague)
    together = np.full((2, 2), 300.0**2)
    assert score(PairingPass(candidates=[a, b], knowledge=Knowledge(together, together))) == pytest.approx(known)


def test_a_game_is_too_one_sided_only_where_that_is_sure() -> None:
    """Two camps whose distance is not well known must not stay unlinked because of it."""
    pair = np.array([0]), np.array([1])
    for gap, sd, barred in ((500.0, 0.0, False), (520.0, 0.0, True), (800.0, 200.0, False), (800.0, 140.0, True)):
        own = np.diag([sd**2, 0.0])
        pairing_pass = PairingPass(
            candidates=[Candidate(1, "a", gap), Candidate(2, "b", 0.0)], knowledge=Knowledge(own, own)
        )
        rules = PairConstraints(replace(Constraints(), max_expected=0.95), pairing_pass)
        assert rules.lopsided(*pair)[0] == barred, (gap, sd)
        if barred:
            assert rules.expected(*pair)[0] > 0.95


def test_mackays_approximation_is_near_the_average() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    for gap in (0.0, 100.0, 400.0, 900.0):
        for sd in (50.0, 200.0, 400.0):
            pairing_pass = PairingPass(candidates=[Candidate(1, "a", gap, sd=sd), Candidate(2, "b", 0.0)])
            score = PairConstraints(Constraints(), pairing_pass).expected(np.array([0]), np.array([1]))[0]
            average = np.sum(weights / (1 + 10 ** (-(gap + sd * nodes) / 400))) / np.sum(weights)
            assert score == pytest.approx(average, abs=0.02)


def test_free_lets_everything_pass_but_what_is_hard() -> None:
    a = Candidate(1, "a", 9000.0, apart=(3,), last_opponent=2, owner=1, family=1, recent=100, balance=9, anchor=True)
    b = a._replace(id=2, rating=0.0, last_opponent=1, apart=())
    c = b._replace(id=3)
    rules = PairConstraints(
        FREE, PairingPass(candidates=[a, b, c], meetings=[Meeting(1, 2, 100, 100)], policy=Policy.ROLLING)
    )
    i, j = np.array([0, 0]), np.array([1, 2])
    assert rules.open(i, j).tolist() == [True, False]
    assert rules.costs(i, j).tolist() == [0.0, 0.0]
    assert rules.say(0, 1) == ""


def test_sentences_name_what_gave_way() -> None:
    a = Candidate(1, "Ann", 2500.0, 12_340_000, last_opponent=2, owner=1, family=4, avoid=(2,), recent=50)
    b = Candidate(2, "Bob", 1500.0, 1, owner=2, family=4, recent=30)
    pairing_pass = PairingPass(candidates=[a, b], meetings=[Meeting(2, 1, 9, 1)], policy=Policy.ROLLING, connected=9)
    sentence = PairConstraints(replace(Constraints(), max_expected=0.9), pairing_pass).say(0, 1)
    assert sentence == (
        "It gave way that the owner of Ann would rather not meet Bob and both are of one family and Bob was the last"
        " opponent of Ann and 9 of the last 30 games of Bob were against Ann and the expected score of Ann is 0.997:"
        " Ann had waited 12.3 s."
    )
    barrier = PairConstraints(Constraints(), replace(pairing_pass, policy=Policy.BARRIER)).say(1, 0)
    assert barrier.endswith(": a whole round would have been missed otherwise.")
    mutual = PairingPass(candidates=[a, b._replace(last_opponent=1)], policy=Policy.ROLLING, connected=9)
    assert "they have just met" in PairConstraints(Constraints(), mutual).why(0, 1)
    free = replace(FREE, same_owner=Kin.DISCOURAGED)
    assert "both are of one owner" in PairConstraints(free, PairingPass(candidates=[a, b._replace(owner=1)])).why(1, 0)


def test_it_is_said_of_the_one_for_whom_it_gave_way() -> None:
    """Ann has waited longer, but only Bob was passed over so often that barriers give way."""
    ann = Candidate(1, "Ann", 1500.0, waited=5_000_000, avoid=(2,))
    bob = Candidate(2, "Bob", 1500.0, waited=4_000_000, sat_out=20)
    pairing_pass = PairingPass(candidates=[ann, bob, Candidate(3, "Eve", 0.0)], policy=Policy.ROLLING)
    sentence = PairConstraints(Constraints(), pairing_pass, Waiting()).say(0, 1)
    assert sentence.endswith("Bob had waited 4.0 s and was passed over 20 times.")


def test_an_expected_score_is_a_number_however_far_apart_two_are() -> None:
    rules = PairConstraints(
        Constraints(), PairingPass(candidates=[Candidate(1, "Ann", -1e6), Candidate(2, "Bob", 1e6)])
    )
    assert rules.expected(np.array([0, 1]), np.array([1, 0])).tolist() == [pytest.approx(0.0, abs=1e-300), 1.0]


def test_it_is_said_why_two_must_never_meet() -> None:
    ann = Candidate(1, "Ann", 1500.0, apart=(4,), owner=1, family=3)
    others = [Candidate(2, "Bob", 1.0, owner=1), Candidate(3, "Cid", 2.0, family=3), Candidate(4, "Dot", 3.0),
              Candidate(5, "Eve", 4.0)]  # fmt: skip
    rules = PairConstraints(Constraints(same_family=Kin.FORBIDDEN), PairingPass(candidates=[ann, *others]))
    assert [rules.never(0, at) for at in range(1, 5)] == [
        "both are of one owner, which is forbidden", "both are of one family, which is forbidden",
        "they are kept apart for good", "",
    ]  # fmt: skip
    assert rules.never(3, 0) == rules.never(0, 3)
