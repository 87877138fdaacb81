"""Picking one after another: the same round whichever way the partners are found, and who is left."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.pairing_passes import ids, pairing_passes, waitings, wishes

from cgos_server.core.pairing.base import Candidate, Matchmaker, Meeting, Pairing, PairingPass
from cgos_server.core.pairing.constraints import FREE, Constraints, Kin, PairConstraints
from cgos_server.core.pairing.methods import picking
from cgos_server.core.pairing.methods.birk import Birk
from cgos_server.core.pairing.methods.neighbors import ORDERS, Neighbors
from cgos_server.core.pairing.methods.picking import Picking
from cgos_server.core.pairing.ranking import by_rating
from cgos_server.core.pairing.rolling import Waiting, turns
from cgos_server.core.venue import Policy


def made(name: str, constraints: Constraints, waiting: Waiting) -> Matchmaker:
    if name == "birk":
        return Birk(constraints=constraints, waiting=waiting)
    return Neighbors(order=name, constraints=constraints, waiting=waiting)


def paired(method: Matchmaker, pairing_pass: PairingPass, seed: int, **limits: int) -> Pairing:
    """With the module's limits replaced for once."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in limits.items():
            patch.setattr(picking, name, value)
        return method.pair(pairing_pass, random.Random(seed))


@given(
    pairing_passes(policy=Policy.BARRIER),
    st.builds(Birk, formula=st.sampled_from(("half", "fifth", "one")), bye=st.just("natural"), constraints=wishes),
    st.integers(),
)
def test_a_round_is_the_same_however_the_partners_are_found(pairing_pass: PairingPass, method: Birk, seed: int) -> None:
    """From a table of all pairs, from rows when needed, or by counting those with something against them."""
    table = paired(method, pairing_pass, seed)
    assert paired(method, pairing_pass, seed, NARROW=0) == table
    assert paired(method, pairing_pass, seed, NARROW=0, MARKED=-1) == table


@given(pairing_passes(least=2, policy=Policy.BARRIER, bound=False), st.integers())
def test_nothing_is_looked_at_where_nothing_can_speak_against_a_pair(pairing_pass: PairingPass, seed: int) -> None:
    unlimited = replace(FREE, repeat_most=10, repeat_last=10)  # may not be told from a limit without looking
    meetless = replace(pairing_pass, meetings=[])
    assert Birk(bye="natural", constraints=FREE).pair(pairing_pass, random.Random(seed)) == Birk(
        bye="natural", constraints=unlimited
    ).pair(meetless, random.Random(seed))


@given(pairing_passes(policy=Policy.ROLLING), st.sampled_from(("birk", *ORDERS)), wishes, st.integers())
def test_in_a_wide_field_the_same_rules_hold(
    pairing_pass: PairingPass, name: str, constraints: Constraints, seed: int
) -> None:
    method: Matchmaker = (
        Birk(constraints=constraints) if name == "birk" else Neighbors(order=name, constraints=constraints)
    )
    pairing = paired(method, pairing_pass, seed, NARROW=0)
    versions = [version for pair in ids(pairing) for version in pair] + list(pairing.sits_out)
    assert sorted(versions) == sorted(c.id for c in pairing_pass.candidates)
    looking = Picking(pairing_pass, by_rating(pairing_pass.candidates), constraints, Waiting())
    rank = {c.id: at for at, c in enumerate(looking.ranked)}
    for high, low in ids(pairing):
        assert looking.tiers(np.array([rank[high]]), np.array([rank[low]]))[0] >= 0


@given(pairing_passes(policy=Policy.ROLLING), wishes, st.integers())
def test_who_waits_for_a_better_opponent_has_none_that_is_worth_it(
    pairing_pass: PairingPass, constraints: Constraints, seed: int
) -> None:
    """Of those who were not paired no two could have met and thought it worth while."""
    pairing = Birk(bye="natural", constraints=constraints).pair(pairing_pass, random.Random(seed))
    looking = Picking(pairing_pass, by_rating(pairing_pass.candidates), constraints, Waiting())
    left = np.array([rank for rank, c in enumerate(looking.ranked) if c.id in pairing.sits_out], np.int64)
    i, j = (left[part] for part in np.triu_indices(len(left), 1))
    assert (looking.tiers(i, j) < 0).all()


def test_who_draws_a_game_that_is_not_worth_it_in_a_wide_field_waits_with_the_other() -> None:
    candidates = [Candidate(v, f"bot-{v}", 2000.0 - v, balance=4) for v in range(1, 5)]
    pairing_pass = PairingPass(candidates=candidates, policy=Policy.ROLLING, connected=40, flow=0.1)
    method = Birk(formula="half", constraints=Constraints(color_cost=9.0))
    pairing = paired(method, pairing_pass, 1, NARROW=0)
    assert pairing.pairs == []
    assert all("came together, but their game is not worth it yet" in why for why in pairing.sits_out.values())


def test_one_family_of_many_is_looked_at_row_by_row() -> None:
    """Too many pairs with something against them to list: discouraged kin meets all the same when a round is due."""
    candidates = [Candidate(v, f"bot-{v}", float(v), family=1 + v % 2) for v in range(40)]
    constraints = replace(FREE, same_family=Kin.DISCOURAGED)
    pairing = paired(
        Birk(formula="one", constraints=constraints), PairingPass(candidates=candidates), 3, NARROW=0, MARKED=5
    )
    family = {c.id: c.family for c in candidates}
    assert len(pairing.pairs) == 20
    assert all(family[high] != family[low] for high, low in ids(pairing))


def test_least_barriers_come_first() -> None:
    """Ann's partners are all barred: her last opponent is picked before those of her family."""
    ann = Candidate(1, "Ann", 9.0, last_opponent=4, family=2)
    rest = [Candidate(v, f"bot-{v}", -float(v), family=2 if v != 4 else 0) for v in range(2, 7)]
    for narrow in (0, 128):
        for seed in range(10):
            pairing = paired(Birk(formula="one"), PairingPass(candidates=[ann, *rest]), seed, NARROW=narrow)
            assert ids(pairing)[0] == (1, 4)
            assert "bot-4 was the last opponent of Ann" in pairing.notes[0]


def test_with_many_left_over_no_pair_is_taken_apart() -> None:
    kin = [Candidate(v, f"bot-{v}", float(-v), owner=1) for v in range(10, 40)]
    others = [Candidate(v, f"bot-{v}", float(-v)) for v in range(4)]
    pairing_pass = PairingPass(candidates=[*others, *kin])
    pairing = Birk(formula="avail").pair(pairing_pass, random.Random(0))
    assert ids(pairing) == [(0, 1), (2, 3)]
    mended = paired(Birk(formula="avail"), pairing_pass, 0, MOST_MENDED=99)
    assert len(mended.pairs) == 4


@given(pairing_passes(least=2, policy=Policy.ROLLING), st.sampled_from(("birk", *ORDERS)), wishes, st.integers())
def test_who_was_passed_over_as_often_as_allowed_is_paired_if_it_can_be(
    pairing_pass: PairingPass, name: str, constraints: Constraints, seed: int
) -> None:
    often = Waiting(overdue=0.0)
    first, *rest = pairing_pass.candidates
    rest = [c._replace(sat_out=0) for c in rest]
    pairing_pass = replace(pairing_pass, candidates=[first._replace(sat_out=often.pass_over), *rest])
    pairing = made(name, constraints, often).pair(pairing_pass, random.Random(seed))
    rules = PairConstraints(constraints, pairing_pass, often)
    others = np.arange(1, len(pairing_pass.candidates))
    if rules.possible(np.zeros_like(others), others).any():
        assert first.id not in pairing.sits_out


@given(pairing_passes(least=2), st.sampled_from(("birk", *ORDERS)), wishes, waitings, st.integers(), st.booleans())
def test_who_is_left_though_overdue_was_passed_over_only_for_those_no_less_overdue(
    pairing_pass: PairingPass, name: str, constraints: Constraints, waiting: Waiting, seed: int, wide: bool
) -> None:
    """Of each pair that took one of those whom it could have met, one was."""
    pairing = paired(made(name, constraints, waiting), pairing_pass, seed, **({"NARROW": 0} if wide else {}))
    turn = dict(
        zip(
            [c.id for c in pairing_pass.candidates],
            turns(pairing_pass, waiting, constraints.patience).tolist(),
            strict=True,
        )
    )
    mates = {first: second for pair in ids(pairing) for first, second in (pair, pair[::-1])}
    possible = PairConstraints(constraints, pairing_pass).possible
    for at, left in enumerate(pairing_pass.candidates):
        if left.id in pairing.sits_out and turn[left.id]:
            for place, other in enumerate(pairing_pass.candidates):
                if possible(np.array([at]), np.array([place]))[0]:
                    assert max(turn[other.id], turn[mates[other.id]]) >= turn[left.id]


@pytest.mark.parametrize("policy", Policy)
def test_whose_turn_it_is_picks_first_and_is_told(policy: Policy) -> None:
    """Three of one owner and one other: the lowest of them has waited for three games, or rounds."""
    kin = [Candidate(v, f"bot-{v}", -float(v), 1_000_000, 1, owner=1) for v in (1, 2, 3)]
    kin[2] = kin[2]._replace(waited=180_000_000, sat_out=3)
    pairing_pass = PairingPass(candidates=[*kin, Candidate(4, "Ann", 0.0)], policy=policy, connected=4)
    (pair,) = made("adjacent", Constraints(), Waiting()).pair(pairing_pass, random.Random(1)).pairs
    assert set(pair[:2]) == {3, 4}
    history = "waited 3 mean games" if policy is Policy.ROLLING else "sat out 3 times in a row"
    assert f" Ann (0). bot-3 had {history} and came first." in pair.reason
    (pair,) = made("adjacent", Constraints(), Waiting(overdue=0.0)).pair(pairing_pass, random.Random(1)).pairs
    assert set(pair[:2]) == {1, 4}


@given(pairing_passes(), wishes, st.sampled_from(("birk", *ORDERS)), st.integers(), st.booleans())
def test_nobody_is_told_that_all_others_were_paired_who_were_not(
    pairing_pass: PairingPass, constraints: Constraints, name: str, seed: int, wide: bool
) -> None:
    method: Matchmaker = (
        Birk(constraints=constraints) if name == "birk" else Neighbors(order=name, constraints=constraints)
    )
    pairing = paired(method, pairing_pass, seed, **({"NARROW": 0} if wide else {}))
    assert all(why for why in pairing.sits_out.values())
    assert len(pairing.sits_out) == 1 or not any("all others" in why for why in pairing.sits_out.values())


def test_the_last_one_waits_because_of_those_who_wait() -> None:
    """Of two alone neither thinks their game worth it yet."""
    both = [Candidate(v, f"bot-{v}", 2000.0 - v, balance=4) for v in (1, 2)]
    pairing_pass = PairingPass(candidates=both, policy=Policy.ROLLING, connected=40, flow=0.1)
    pairing = Birk(constraints=Constraints(color_cost=9.0)).pair(pairing_pass, random.Random(1))
    assert len(pairing.sits_out) == 2
    assert all("waits for a better opponent" in why for why in pairing.sits_out.values())


def test_who_was_set_aside_is_called_back_for_one_who_is_left_over() -> None:
    """Three of five must not meet each other: setting aside one of the other two costs a pair."""
    kin = (1, 2, 5)
    candidates = [
        Candidate(v, f"bot-{v}", float(-v), 1_000_000 * (v != 3), apart=kin if v in kin else ()) for v in range(1, 6)
    ]
    for narrow in (0, 128):
        pairing = paired(
            Neighbors(order="adjacent", constraints=FREE), PairingPass(candidates=candidates), 1, NARROW=narrow
        )
        assert ids(pairing) == [(1, 4), (2, 3)]
        assert "bot-3 (-3), set aside before, met it after all." in pairing.pairs[1].reason
        assert pairing.sits_out == {5: "bot-5 (-5) was left over when all others had been paired."}


def test_what_gave_way_is_in_the_record() -> None:
    ann, bob = Candidate(1, "Ann", 9.0, last_opponent=2, family=1), Candidate(2, "Bob", 8.0, family=1)
    pairing_pass = PairingPass(candidates=[ann, bob], connected=3)
    (pair,) = Birk().pair(pairing_pass, random.Random(1)).pairs
    assert pair.detail["gave_way"] == ["last", "kin"]


def test_the_odd_number_is_that_of_those_who_could_meet_somebody() -> None:
    kin = (1, 2)
    candidates = [Candidate(v, f"bot-{v}", float(-v), apart=(1, 2, 3, 4, 5) if v in kin else ()) for v in range(1, 6)]
    pairing = Birk(constraints=FREE).pair(PairingPass(candidates=candidates), random.Random(1))
    (aside,) = (why for version, why in pairing.sits_out.items() if version not in kin)
    assert "sits out, as 3 is an odd number (2 more can meet nobody now): " in aside


def test_who_was_set_aside_meets_the_most_overdue_of_those_left_over() -> None:
    """Not whoever it may meet with less against it: that one has sat out three times, the other ten."""
    often, most, aside = (
        Candidate(2, "often", 300.0, sat_out=3, last_sit_out=9, apart=(1,)),
        Candidate(1, "most", 300.0, waited=9_999_999, sat_out=10, last_sit_out=9),
        Candidate(3, "aside", 700.0, waited=10_000_000, last_sit_out=2),
    )
    met = Meeting(a=3, b=1, recent_a=9, recent_b=27, black_a=9, black_b=24, lately_a=0, lately_b=8)
    pairing_pass = PairingPass(candidates=[often, aside, most], meetings=[met], policy=Policy.BARRIER, connected=26)
    constraints = Constraints(avoid_last=False, repeat_most=1, max_expected=0.51, repeat_cost=0.0)
    pairing = made("birk", constraints, Waiting(pass_over=1)).pair(pairing_pass, random.Random(0))
    assert ids(pairing) == [(3, 1)]
    assert set(pairing.sits_out) == {2}
