"""The best round is the best of all rounds, by brute force over every one; and what is said about it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_server.core.pairing.base import Candidate, Knowledge, Meeting, Pairing, PairingPass
from cgos_server.core.pairing.constraints import FREE, Constraints, Kin, PairConstraints
from cgos_server.core.pairing.explain import encode_inputs, replay, rounded, same
from cgos_server.core.pairing.methods import optimal
from cgos_server.core.pairing.methods.change import ExpectedChange
from cgos_server.core.pairing.methods.entropy import Entropy
from cgos_server.core.pairing.methods.information import Information
from cgos_server.core.pairing.methods.objective import Objective
from cgos_server.core.pairing.methods.optimal import Optimal, ranked
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import Waiting, allowances, unfairness
from cgos_server.core.venue import Policy

OBJECTIVES = [Entropy(), Entropy("venue"), ExpectedChange(), Information()]
SEED = 3


def name_of(objective: Objective) -> str:
    return " ".join([objective.name, *(str(value) for value in objective.options.values())])


every_objective = pytest.mark.parametrize("objective", OBJECTIVES, ids=name_of)

# --- any pass ---------------------------------------------------------------------------------------------------

SECOND = 1_000_000


@st.composite
def pairing_passes(draw: st.DrawFn, most: int = 10) -> PairingPass:
    """Few different values each, so that there are ties, kin, meetings and everything else that can go wrong."""
    n = draw(st.integers(0, most))
    ids = draw(st.permutations(range(1, n + 1)))
    ratings = st.integers(20, 48).map(lambda at: at * 50.0)
    if draw(st.booleans()):
        ratings = st.integers(0, 400).map(lambda at: 1800.0 + at / 8)  # all worth nearly the same
    candidates = [
        Candidate(
            number,
            f"bot-{number}",
            draw(ratings),
            draw(st.integers(0, 40)) * SECOND // 2,
            draw(st.integers(0, 3)),
            last_opponent=draw(st.none() | st.integers(1, n)),
            apart=tuple(draw(st.sets(st.integers(1, n), max_size=1))),
            sd=draw(st.sampled_from([0.0, 60.0, 300.0])),
            games=draw(st.integers(0, 3)),
            anchor=draw(st.booleans()),
            provisional=draw(st.booleans()),
            balance=draw(st.integers(-2, 2)),
            owner=draw(st.integers(0, 3)),
            family=draw(st.integers(0, 3)),
            avoid=tuple(draw(st.sets(st.integers(1, n), max_size=1))),
            recent=20,
            pace=draw(st.sampled_from([0.0, 0.3, 1.0])),
            paced=draw(st.sampled_from([-0.2, 0.0, 0.2])),
        )
        for number in ids
    ]
    met = draw(st.sets(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=n)) if n else set()
    meetings = [
        Meeting(a, b, draw(st.integers(0, 9)), draw(st.integers(0, 9)), 1, 1, draw(st.integers(0, 2)), 0)
        for a, b in sorted(met)
        if a < b
    ]
    knowledge = None
    if draw(st.booleans()):
        square = np.random.default_rng(draw(st.integers(0, 9))).normal(size=(n, n)) * 40.0
        covariance = square @ square.T + 900.0 * np.eye(n)
        knowledge = Knowledge(covariance, covariance @ covariance)
    policy = draw(st.sampled_from(Policy))
    return PairingPass(
        candidates=candidates,
        meetings=meetings,
        knowledge=knowledge,
        policy=policy,
        connected=n + draw(st.integers(0, 2)),
        flow=draw(st.sampled_from([0.0, 1.0])),
    )


kin = st.sampled_from(Kin)
wishes = st.just(FREE) | st.builds(
    Constraints,
    same_owner=kin,
    same_family=kin,
    avoid_last=st.booleans(),
    repeat_most=st.sampled_from([1, 10]),
    repeat_last=st.just(20),
    max_expected=st.sampled_from([0.7, 0.95, 1.0]),
    patience=st.sampled_from([0, 5 * SECOND, 30 * SECOND]),
    color_cost=st.sampled_from([0.0, 0.05]),
    anchor_cost=st.sampled_from([0.0, 0.2]),
    newcomer_cost=st.sampled_from([0.0, 0.1]),
    repeat_cost=st.sampled_from([0.0, 0.01]),
)
rules = st.builds(
    Waiting,
    ease=st.sampled_from([0.05, 1.0]),
    pass_over=st.sampled_from([1, 3, 10]),
    fairness=st.sampled_from([0.0, 1.0]),
    overdue=st.sampled_from([0.0, 1.0, 2.5]),
)


# --- brute force ------------------------------------------------------------------------------------------------

Key = tuple[int, int, int, int, int]


def whose_turn(pairing_pass: PairingPass, constraints: Constraints, waiting: Waiting, candidate: Candidate) -> int:
    """With the rolling policy; in the words of the documents."""
    game = pairing_pass.pool / pairing_pass.flow if pairing_pass.flow else 60.0
    games = candidate.waited / SECOND / game
    long = candidate.waited >= constraints.patience or candidate.sat_out >= waiting.pass_over / 10
    if waiting.overdue and games >= waiting.overdue and long:
        return min(int(games), 1000)
    return int(candidate.sat_out >= waiting.pass_over)


def reference(
    objective: Objective, constraints: Constraints, waiting: Waiting, pairing_pass: PairingPass
) -> Callable[..., Key]:
    """What a round is compared by, straight from the words: a function of its pairs (places in `pairing_pass`), all of
    which must be such that they exist, else it answers None."""
    n = len(pairing_pass.candidates)
    pair_rules = PairConstraints(constraints, pairing_pass, waiting)
    worths = objective.look(pairing_pass, random.Random(SEED))
    i, j = np.triu_indices(n, 1)
    worth_of = dict(zip(zip(i.tolist(), j.tolist(), strict=True), worths.of(i, j).tolist(), strict=True))
    allowed = allowances(pairing_pass, waiting).tolist()
    rolling = pairing_pass.policy is Policy.ROLLING

    def must(at: int) -> int:
        return whose_turn(pairing_pass, constraints, waiting, pairing_pass.candidates[at]) if rolling else 1

    def value(pair: tuple[int, int]) -> int:
        first, second = (np.array([end]) for end in pair)
        costs = float(pair_rules.costs(first, second)[0])
        unfair = float(unfairness(pairing_pass, waiting, first, second)[0])
        worth = worth_of[pair]
        if not rolling:
            return round(1e6 * (worth - costs - unfair))
        shortfall = 1.0 - worth + costs + unfair
        return round(1e6 * (allowed[pair[0]] + allowed[pair[1]] - shortfall))

    existing: dict[tuple[int, int], tuple[int, int]] = {}
    for pair in worth_of:
        first, second = (np.array([end]) for end in pair)
        if pair_rules.open(first, second)[0]:
            level_4 = value(pair)
            if must(pair[0]) or must(pair[1]) or level_4 > 0:
                existing[pair] = (int(pair_rules.barriers(first, second)[0]), level_4)

    def key(pairs: Sequence[tuple[int, int]]) -> Key | None:
        if not all(pair in existing for pair in pairs):
            return None
        free = set(range(n)) - {end for pair in pairs for end in pair}
        if rolling:
            rather_not = sum(pair_rules.impatient(at) for at in free)
        else:
            rather_not = sum(pairing_pass.candidates[at].sat_out for at in free)
        return (
            -sum(must(at) for at in free),
            -rather_not,
            -sum(existing[pair][0] for pair in pairs),
            sum(existing[pair][1] for pair in pairs),
            -sum(n - at for at in free) if not rolling and n % 2 else 0,
        )

    key.existing = existing  # type: ignore[attr-defined]
    return key


def rounds(places: list[int], existing: set[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Every set of existing pairs without a common end."""
    if not places:
        yield []
        return
    first, *others = places
    yield from rounds(others, existing)
    for at, other in enumerate(others):
        if (first, other) in existing:
            for rest in rounds(others[:at] + others[at + 1 :], existing):
                yield [(first, other), *rest]


def in_places(pairing_pass: PairingPass, pairing: Pairing) -> list[tuple[int, int]]:
    place = {c.id: at for at, c in enumerate(pairing_pass.candidates)}
    return sorted((place[pair.high], place[pair.low]) for pair in pairing.pairs)


@every_objective
@given(pairing_passes(), wishes, rules)
@settings(max_examples=60)
def test_the_round_is_the_best_of_all(
    objective: Objective, pairing_pass: PairingPass, constraints: Constraints, waiting: Waiting
) -> None:
    pairing_pass = ranked(pairing_pass)
    pairing = Optimal(objective, constraints, waiting).pair(pairing_pass, random.Random(SEED))
    key = reference(objective, constraints, waiting, pairing_pass)
    best = max(filter(None, map(key, rounds(list(range(len(pairing_pass.candidates))), set(key.existing)))))
    pairing_key = key(in_places(pairing_pass, pairing))
    assert pairing_key == best
    assert pairing.total == pairing_key[3]


@given(pairing_passes(), wishes, rules)
def test_who_is_left_though_overdue_was_passed_over_only_for_those_no_less_overdue(
    pairing_pass: PairingPass, constraints: Constraints, waiting: Waiting
) -> None:
    pairing_pass = replace(pairing_pass, policy=Policy.ROLLING)
    pairing = Optimal(Entropy("venue"), constraints, waiting).pair(pairing_pass, random.Random(SEED))
    turn = {c.id: whose_turn(pairing_pass, constraints, waiting, c) for c in pairing_pass.candidates}
    mates = {first: second for pair in ids(pairing) for first, second in (pair, pair[::-1])}
    possible = PairConstraints(constraints, pairing_pass).possible
    for at, left in enumerate(pairing_pass.candidates):
        if left.id in pairing.sits_out and turn[left.id]:
            for place, other in enumerate(pairing_pass.candidates):
                if possible(np.array([at]), np.array([place]))[0]:
                    assert turn[mates[other.id]] >= turn[left.id]


@every_objective
@given(pairing_passes(), wishes, rules, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_everybody_once_and_whatever_the_order(
    objective: Objective, pairing_pass: PairingPass, constraints: Constraints, waiting: Waiting, rng: random.Random
) -> None:
    method = Optimal(objective, constraints, waiting)
    pairing = method.pair(pairing_pass, random.Random(SEED))
    paired = [end for pair in pairing.pairs for end in (pair.high, pair.low)]
    assert sorted([*paired, *pairing.sits_out]) == sorted(c.id for c in pairing_pass.candidates)
    by_id = {c.id: c for c in pairing_pass.candidates}
    for pair in pairing.pairs:
        high, low = by_id[pair.high], by_id[pair.low]
        assert (-high.rating, high.id) < (-low.rating, low.id)
        assert low.id not in high.apart
        assert high.id not in low.apart
        assert pair.reason.startswith(f"{high.name} ({round(high.rating)}) met {low.name} ({round(low.rating)}): ")
    for number, sentence in pairing.sits_out.items():
        assert sentence.startswith(f"{by_id[number].name} ({round(by_id[number].rating)}) ")
        assert sentence.endswith(".")

    order = list(range(len(pairing_pass.candidates)))
    rng.shuffle(order)
    known = pairing_pass.knowledge
    if known is not None:
        known = Knowledge(known.covariance[np.ix_(order, order)], known.gram[np.ix_(order, order)])
    mixed = PairingPass(
        candidates=[pairing_pass.candidates[at] for at in order],
        meetings=pairing_pass.meetings[::-1],
        knowledge=known,
        policy=pairing_pass.policy,
        connected=pairing_pass.connected,
        flow=pairing_pass.flow,
    )
    assert method.pair(mixed, random.Random(SEED)) == pairing


@every_objective
@given(pairing_passes(), st.integers(0, 2**63))
@settings(max_examples=40)
def test_a_recorded_round_is_computed_again(objective: Objective, pairing_pass: PairingPass, seed: int) -> None:
    """Options and pass go through JSON; pairs and total come out the same."""
    pairing_pass = rounded(pairing_pass)
    method = matchmaker(objective.name, objective.options)
    pairing = method.pair(pairing_pass, random.Random(seed))
    recorded = json.loads(json.dumps(method.options))
    again = replay(method.name, recorded, seed, encode_inputs(pairing_pass), random.Random)
    assert again == pairing
    assert same([(pair.high, pair.low) for pair in pairing.pairs], pairing.total, again).agrees


@every_objective
def test_options_in_force_build_the_same_method(objective: Objective) -> None:
    constraints = Constraints(same_owner=Kin.FREE, repeat_most=7, max_expected=0.8, patience=1_500_000)
    method = Optimal(objective, constraints, Waiting(pass_over=3, fairness=0.5))
    assert matchmaker(method.name, json.loads(json.dumps(method.options))) == method


# --- rules one by one -------------------------------------------------------------------------------------------


def pairing_pass_of(*ratings: float, policy: Policy = Policy.BARRIER) -> PairingPass:
    return PairingPass(
        candidates=[Candidate(at, f"bot-{at}", rating) for at, rating in enumerate(ratings, 1)], policy=policy
    )


def changed(pairing_pass: PairingPass, number: int, **fields: object) -> PairingPass:
    return replace(
        pairing_pass, candidates=[c._replace(**fields) if c.id == number else c for c in pairing_pass.candidates]
    )


def ids(pairing: Pairing) -> list[tuple[int, int]]:
    return [(pair.high, pair.low) for pair in pairing.pairs]


def pair(pairing_pass: PairingPass, constraints: Constraints = FREE, waiting: Waiting = Waiting()) -> Pairing:  # noqa: B008
    return Optimal(Entropy("venue"), constraints, waiting).pair(pairing_pass, random.Random(SEED))


def test_nobody_and_one() -> None:
    assert pair(pairing_pass_of()) == Pairing(pairs=(), sits_out={}, notes=(), total=0)
    assert pair(pairing_pass_of(1800.4)) == Pairing(
        pairs=(), sits_out={1: "bot-1 (1800) is alone: there is nobody to meet."}, notes=(), total=0
    )


def test_the_sum_counts_not_the_worst_pair() -> None:
    """Entropy flattens far out: two outliers are given up for one good game, but not where they are near enough."""
    assert ids(pair(pairing_pass_of(2400.0, 1900.0, 1800.0, 1300.0))) == [(1, 4), (2, 3)]
    assert ids(pair(pairing_pass_of(2050.0, 1900.0, 1800.0, 1650.0))) == [(1, 2), (3, 4)]


def test_of_an_odd_number_at_equal_totals_the_lower_rated_sits_out() -> None:
    pairing = pair(pairing_pass_of(1900.0, 1800.0, 1700.0))
    assert ids(pairing) == [(1, 2)]
    assert pairing.sits_out == {3: "bot-3 (1700) sits out, as 3 is an odd number: the round is best without it."}


def test_who_has_sat_out_does_not_sit_out_again() -> None:
    pairing_pass = changed(changed(pairing_pass_of(2300.0, 1800.0, 1790.0), 2, sat_out=1), 1, sat_out=1)
    assert pair(pairing_pass).sits_out == {
        3: "bot-3 (1790) sits out, as 3 is an odd number: all others have sat out since their last game."
    }
    pairing = pair(changed(pairing_pass, 2, sat_out=0))
    assert list(pairing.sits_out) in ([2], [3])
    assert "of the 2 that have not sat out since their last game the round is best without it" in str(pairing.sits_out)


def test_who_must_sit_out_however_often_it_has() -> None:
    pairing_pass = changed(pairing_pass_of(2300.0, 1800.0, 1790.0), 1, sat_out=5, apart=(2, 3))
    assert ids(pair(pairing_pass)) == [(2, 3)]
    assert pair(pairing_pass).sits_out == {1: "bot-1 (2300) must not meet anybody who is ready."}
    pairing_pass = changed(pairing_pass_of(2300.0, 1800.0, 1790.0, 1700.0, 1650.0), 1, apart=(3, 4, 5), sat_out=1)
    pairing_pass = changed(changed(pairing_pass, 3, apart=(4, 5)), 4, apart=(5,))
    pairing = pair(pairing_pass)
    assert len(pairing.pairs) == 1
    assert {sentence.partition(" sits out")[2] for sentence in pairing.sits_out.values()} == {
        ": whom it could meet, bot-2 (1800) among them, met others, and no more pairs were left."
    }


def test_a_pair_is_made_when_it_is_worth_it() -> None:
    """Two that are far apart wait until both together allow the shortfall."""
    pairing_pass = replace(pairing_pass_of(2300.0, 1700.0, policy=Policy.ROLLING), connected=10, flow=1.0)
    waiting = Waiting(grace=0.5, ease=1.0, overdue=0.0)
    pairing = pair(pairing_pass, FREE, waiting)
    shortfall = 1.0 - float(Entropy("venue").look(pairing_pass, random.Random(0)).of(np.array([0]), np.array([1]))[0])
    allowed = float(allowances(pairing_pass, waiting).sum())
    assert allowed < shortfall
    assert ids(pairing) == []
    assert pairing.total == 0
    assert pairing.sits_out[1] == (
        "bot-1 (2300) waits, which is still worth more: its best opponent now, bot-2 (1700), falls "
        f"{shortfall:.2f} bit short, and {allowed:.2f} is allowed after 0.0 s and 0.0 s."
    )
    pairing_pass = changed(pairing_pass, 2, waited=20 * SECOND)
    pairing = pair(pairing_pass, FREE, waiting)
    assert ids(pairing) == [(1, 2)]
    assert pairing.total == round(1e6 * (float(allowances(pairing_pass, waiting).sum()) - shortfall))
    detail = pairing.pairs[0].detail
    assert detail["worth"] == pytest.approx(1.0 - shortfall, abs=1e-6)
    assert detail["shortfall"] == pytest.approx(shortfall, abs=1e-6)
    assert detail["allowance"] == pytest.approx(float(allowances(pairing_pass, waiting).sum()), abs=1e-6)
    assert detail["expected"] == pytest.approx(1 / (1 + 10**-1.5), abs=1e-4)
    assert pairing.pairs[0].reason.endswith("They had waited 0.0 s and 20.0 s.")


def test_passed_over_too_often_comes_first() -> None:
    pairing_pass = pairing_pass_of(2600.0, 1700.0, 1690.0, policy=Policy.ROLLING)
    assert ids(pair(pairing_pass)) == [(2, 3)]
    pairing_pass = changed(pairing_pass, 1, sat_out=4)
    assert ids(pair(pairing_pass, FREE, Waiting(pass_over=10))) == [(2, 3)]
    pairing = pair(pairing_pass, FREE, Waiting(pass_over=4))
    assert ids(pairing) == [(1, 2)]
    assert pairing.pairs[0].reason.endswith("bot-1 had been passed over 4 times and came first.")
    assert (
        pairing.sits_out[3]
        == "bot-3 (1690) waits: whom it could meet, bot-1 (2600) among them, met others, which is worth more in all."
    )


def test_who_has_waited_longest_comes_first_whatever_speaks_against_it() -> None:
    """The weakest of three of one owner, against whom the expected score speaks, is left only for who waited longer."""
    pairing_pass = pairing_pass_of(2400.0, 2390.0, 2380.0, 1000.0, policy=Policy.ROLLING)
    pairing_pass = replace(
        pairing_pass,
        candidates=[c._replace(owner=int(c.id > 1)) for c in pairing_pass.candidates],
        connected=10,
        flow=1.0,
    )
    for number, waited in ((2, 15), (3, 16), (4, 39)):
        pairing_pass = changed(pairing_pass, number, waited=waited * SECOND)
    wishes = Constraints(max_expected=0.95)
    pairing = pair(pairing_pass, wishes)
    assert ids(pairing) == [(1, 4)]
    assert " bot-4 had waited 3 mean games and came first." in pairing.pairs[0].reason
    assert pairing.pairs[0].detail["gave_way"] == ["expected"]
    assert ids(pair(pairing_pass, wishes, Waiting(overdue=0.0))) == [(1, 3)]
    assert ids(pair(changed(pairing_pass, 2, waited=40 * SECOND), wishes)) == [(1, 2)]
    assert ids(pair(pairing_pass, replace(wishes, patience=40 * SECOND))) == [(1, 3)]


def test_a_barrier_gives_way_to_patience() -> None:
    pairing_pass = changed(pairing_pass_of(1800.0, 1790.0, policy=Policy.ROLLING), 1, avoid=(2,))
    wishes = Constraints(patience=10 * SECOND)
    pairing = pair(pairing_pass, wishes)
    assert ids(pairing) == []
    assert pairing.sits_out[2] == (
        "bot-2 (1790) waits, as it is kept from its only possible opponent for now: from bot-1 (1800) because the "
        "owner of bot-1 would rather not meet bot-2. It has waited 0.0 s."
    )
    pairing = pair(changed(pairing_pass, 2, waited=10 * SECOND), wishes)
    assert ids(pairing) == [(1, 2)]
    assert pairing.pairs[0].detail["gave_way"] == ["avoid"]
    assert len(pairing.notes) == 1
    assert pairing.notes[0] in pairing.pairs[0].reason


def test_what_a_pair_costs_is_told() -> None:
    pairing_pass = pairing_pass_of(1800.0, 1790.0)
    pairing_pass = replace(pairing_pass, candidates=[c._replace(anchor=True) for c in pairing_pass.candidates])
    pairing = pair(pairing_pass, Constraints(anchor_cost=0.25))
    assert ", 0.25 off for the venue's wishes." in pairing.pairs[0].reason
    assert pairing.total == round(1e6 * (pairing.pairs[0].detail["worth"] - 0.25))


# --- wide rounds ------------------------------------------------------------------------------------------------


def crowd(n: int, policy: Policy, seed: int) -> PairingPass:
    rng = random.Random(seed)
    candidates = [
        Candidate(
            number,
            f"bot-{number}",
            rng.gauss(1800.0, 350.0),
            rng.randrange(20) * SECOND // 2,
            rng.randrange(3),
            last_opponent=rng.randrange(n),
            balance=rng.randrange(-2, 3),
            owner=rng.randrange(n // 2),
            pace=rng.random(),
            paced=rng.uniform(-0.1, 0.1),
        )
        for number in range(n)
    ]
    return PairingPass(candidates=candidates, policy=policy, connected=n)


@every_objective
@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("n", [50, 51])
def test_the_wide_way_keeps_the_same_levels(
    objective: Objective, policy: Policy, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is exact for so few, so that the totals show whether it weighs pairs by the same numbers."""
    pairing_pass = crowd(n, policy, n)
    method = Optimal(objective)
    exact = method.pair(pairing_pass, random.Random(SEED))
    monkeypatch.setattr(optimal, "MOST_EXACT", 10)
    wide = method.pair(pairing_pass, random.Random(SEED))
    assert len(wide.pairs) == len(exact.pairs)
    assert wide.total == exact.total


@pytest.mark.parametrize("policy", Policy)
def test_a_wide_round_is_near_the_best(policy: Policy, monkeypatch: pytest.MonkeyPatch) -> None:
    pairing_pass = crowd(260, policy, 1)
    method = Optimal(Entropy("venue"))
    wide = method.pair(pairing_pass, random.Random(SEED))
    paired = [end for pair in wide.pairs for end in pair[:2]]
    assert sorted([*paired, *wide.sits_out]) == list(range(260))
    monkeypatch.setattr(optimal, "MOST_EXACT", 260)
    exact = method.pair(pairing_pass, random.Random(SEED))
    assert len(wide.pairs) == len(exact.pairs)
    assert exact.total is not None
    assert wide.total is not None
    assert 0 <= exact.total - wide.total <= 5_000 * len(exact.pairs)
    wide_sentences = [sentence for sentence in wide.sits_out.values() if "near it now" in sentence]
    assert bool(wide_sentences) == any("waits, which" in sentence for sentence in wide.sits_out.values())


def test_who_stays_unpaired_in_a_wide_round_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimal, "MOST_EXACT", 2)
    pairing_pass = changed(pairing_pass_of(2300.0, 1800.0, 1790.0), 1, apart=(2, 3))
    assert pair(pairing_pass).sits_out == {
        1: "bot-1 (2300) stays unpaired: nobody within 8 places of it in rating may meet it now."
    }
    far = replace(pairing_pass_of(2900.0, 2000.0, 1100.0, policy=Policy.ROLLING), connected=50, flow=1.0)
    assert all("its best opponent near it now, bot-2 (2000)" in pair(far).sits_out[number] for number in (1, 3))


def test_two_alone_meet_whatever_their_games_cost() -> None:
    """Nobody is passed over by a pass that pairs nobody, so that they would wait for ever."""
    both = [Candidate(v, f"bot-{v}", 2000.0, waited=SECOND, recent=1000) for v in (1, 2)]
    pairing_pass = PairingPass(
        candidates=both,
        meetings=[Meeting(1, 2, 1000, 1000)],
        knowledge=None,
        policy=Policy.ROLLING,
        connected=2,
        flow=0.1,
    )
    constraints = Constraints(repeat_cost=1000.0, repeat_last=1000)
    assert len(Optimal(Entropy(), constraints).pair(pairing_pass, random.Random(SEED)).pairs) == 1
