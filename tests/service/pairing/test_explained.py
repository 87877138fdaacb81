"""A recorded pairing pass explained and decided again, for every method."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from cgos_protocol.api.games import Pairing as PairingRow
from cgos_protocol.api.games import RoundDetail as PublishedRound
from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.base import Candidate, Knowledge, Meeting, Pairing, PairingPass
from cgos_server.core.pairing.explain import encode_inputs, rounded
from cgos_server.core.pairing.registry import METHODS, matchmaker
from cgos_server.core.venue import Policy
from cgos_server.service.pairing.explained import PARTNERS, explain
from cgos_server.storage.reading.answers import RoundDetail

NAMES = {number: f"bot-{number}" for number in range(1, 41)}
SEED = 20


def a_pairing_pass(count: int = 9, policy: Policy = Policy.ROLLING) -> PairingPass:
    """`count` versions that have met here and there, and what a rating system knows of them."""
    rng = random.Random(5)
    candidates = [
        Candidate(
            number, NAMES[number], 1500.0 + 37.3 * number + rng.random(), waited=1_000_000 * number, sd=40.0 + number,
            games=10 * number, last_opponent=1 + number % count, balance=number % 3 - 1, recent=4,
            provisional=number == 3, anchor=number == 4, sat_out=number % 2,
        )
        for number in range(1, count + 1)
    ]  # fmt: skip
    mixed = np.array([[rng.gauss(0.0, 20.0) for _ in range(count)] for _ in range(count)])
    covariance = mixed @ mixed.T
    knowledge = Knowledge(covariance, covariance @ covariance)
    return PairingPass(
        candidates=candidates,
        meetings=[Meeting(1, 2, 2, 2, 1, 1)],
        knowledge=knowledge,
        policy=policy,
        connected=count + 3,
        flow=0.5,
    )


def recorded(
    pairing: Pairing, inputs: str, method: str, options: Mapping[str, Any], policy: Policy = Policy.ROLLING
) -> RoundDetail:
    """As the runtime stores a round, and the read side brings it; games have the numbers 101, 102 ..."""
    rows = [
        PairingRow(
            game=game,
            round=7,
            black=NAMES[pair.low],
            white=NAMES[pair.high],
            high=NAMES[pair.high],
            low=NAMES[pair.low],
            reason=pair.reason,
            colors="Lot.",
            detail=dict(pair.detail),
        )
        for game, pair in enumerate(pairing.pairs, 101)
    ]
    stored = msgspec.json.decode(msgspec.json.encode(options))
    sits_out = {str(version): why for version, why in pairing.sits_out.items()}
    return RoundDetail(
        id=7,
        venue="9x9",
        number=3,
        at=1_000,
        policy=policy.value,
        method=method,
        options=stored,
        seed=str(SEED),
        inputs=msgspec.json.decode(inputs),
        sits_out=sits_out,
        notes=list(pairing.notes),
        pairings=rows,
        total=pairing.total,
    )


def paired(name: str, pairing_pass: PairingPass, **options: Any) -> RoundDetail:
    method = matchmaker(name, options)
    pairing_pass = rounded(pairing_pass)
    pairing = method.pair(pairing_pass, random.Random(SEED))
    assert pairing.pairs
    return recorded(pairing, encode_inputs(pairing_pass), name, method.options, pairing_pass.policy)


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("name", METHODS)
def test_a_round_of_every_method_comes_to_the_same_pairs_again(name: str, policy: Policy) -> None:
    detail = paired(name, a_pairing_pass(policy=policy))
    explained = explain(detail, NAMES, 101)
    assert explained.replay.agrees is True, explained.replay
    assert (explained.replay.missing, explained.replay.other) == ([], [])
    assert explained.replay.total == detail.total
    assert (explained.round, explained.number, explained.venue, explained.method, explained.seed) == (
        7,
        3,
        "9x9",
        name,
        str(SEED),
    )
    assert explained.game == detail.pairings[0]
    assert [candidate.name for candidate in explained.ready] == [NAMES[number] for number in range(9, 0, -1)]
    assert {candidate.name for candidate in explained.ready if candidate.met is None} == set(explained.sits_out)
    # Whom they could have met: whoever was met is among them, and worth is said by those methods that know it.
    high, low = explained.game.high, explained.game.low
    assert set(explained.partners) == {high, low}
    for me, other in ((high, low), (low, high)):
        partners = explained.partners[me]
        (chosen,) = (partner for partner in partners if partner.name == other)
        assert (chosen.met, chosen.possible) == (me, True)
        assert me not in {partner.name for partner in partners}
        assert len({partner.name for partner in partners}) == len(partners) == 8
        assert {partner.worth is None for partner in partners} == {detail.total is None}
        possible = [partner.possible for partner in partners]
        assert possible == sorted(possible, reverse=True)
        (expected,) = (partner.expected for partner in explained.partners[other] if partner.name == me)
        assert chosen.expected == pytest.approx(1.0 - expected)


def test_what_is_told_of_those_who_were_ready() -> None:
    explained = explain(paired("entropy", a_pairing_pass(policy=Policy.BARRIER)), NAMES)
    assert (explained.game, explained.partners) == (None, {})
    by_name = {candidate.name: candidate for candidate in explained.ready}
    third, fourth = by_name["bot-3"], by_name["bot-4"]
    assert (third.waited_s, third.sat_out, third.sd, third.games, third.balance) == (3.0, 1, 43.0, 30, -1)
    assert (third.provisional, third.anchor, fourth.provisional, fourth.anchor) == (True, False, False, True)
    assert third.last_opponent == "bot-4"
    games = {row.game: {row.high, row.low} for row in explained.pairs}
    for candidate in explained.ready:
        if candidate.met is None:
            assert candidate.left_over == explained.sits_out[candidate.name]
        else:
            assert candidate.game is not None
            assert games[candidate.game] == {candidate.name, candidate.met}
            assert candidate.left_over == ""


def test_the_best_partners_come_first_and_no_more_than_needed() -> None:
    pairing_pass = a_pairing_pass(40, Policy.BARRIER)
    detail = paired("information", pairing_pass)
    for row in detail.pairings[:5]:
        explained = explain(detail, NAMES, row.game, partners=PARTNERS)
        for me, other in ((row.high, row.low), (row.low, row.high)):
            everybody = explain(detail, NAMES, row.game).partners[me]
            assert {partner.name for partner in everybody} == {NAMES[number] for number in range(1, 41)} - {me}
            partners = explained.partners[me]
            assert partners == [partner for partner in everybody if partner in partners]
            assert other in {partner.name for partner in partners}
            assert PARTNERS <= len(partners) <= PARTNERS + 1
            gains = [
                (partner.worth or 0.0) - partner.costs
                for partner in partners
                if partner.possible and not partner.kept and partner.name != other
            ]
            assert gains == sorted(gains, reverse=True)


def test_what_keeps_two_apart_is_told() -> None:
    pairing_pass = a_pairing_pass(6)
    detail = paired(
        "adjacent", replace(pairing_pass, candidates=[c._replace(waited=0) for c in pairing_pass.candidates])
    )
    explained = explain(detail, NAMES, 101)
    assert explained.game is not None
    kept = {partner.name: partner for partner in explained.partners["bot-6"]}
    assert kept["bot-1"].kept == "bot-1 was the last opponent of bot-6"
    assert not kept["bot-1"].possible
    assert kept[explained.game.low].kept == ""


def test_who_went_away_meanwhile_is_no_difference() -> None:
    detail = paired("entropy", a_pairing_pass(policy=Policy.BARRIER))
    fewer = msgspec.structs.replace(detail, pairings=detail.pairings[1:])
    explained = explain(fewer, NAMES, 102)
    assert explained.replay.agrees is True
    gone = detail.pairings[0]
    assert explained.replay.other == [tuple(sorted((gone.high, gone.low)))]
    assert explained.replay.missing == []


def test_other_pairs_are_a_difference() -> None:
    detail = paired("entropy", a_pairing_pass(8, Policy.BARRIER))
    assert detail.total is not None
    first, second, *rest = detail.pairings
    swapped = [
        msgspec.structs.replace(first, low=second.low, black=second.low),
        msgspec.structs.replace(second, low=first.low, black=first.low),
    ]
    wrong = msgspec.structs.replace(detail, pairings=[*swapped, *rest], total=detail.total - 1)
    explained = explain(wrong, NAMES)
    assert explained.replay.agrees is False
    assert len(explained.replay.missing) == len(explained.replay.other) == 2
    assert explained.replay.total == detail.total
    total = explain(msgspec.structs.replace(detail, total=detail.total - 1), NAMES).replay
    assert (total.agrees, total.missing) == (False, [])
    assert total.sentence.endswith(" The pairs are the same.")
    # With the same total it is another one of several best.
    tie = msgspec.structs.replace(detail, pairings=[*swapped, *rest])
    assert explain(tie, NAMES).replay.agrees is True


def test_another_seed_is_a_difference() -> None:
    detail = paired("random", a_pairing_pass(policy=Policy.BARRIER))
    replays = [explain(msgspec.structs.replace(detail, seed=str(seed)), NAMES).replay for seed in range(30, 40)]
    assert {replay.agrees for replay in replays} == {False}


@pytest.mark.parametrize(
    ("method", "options", "inputs", "sentence"),
    [
        ("second-games", {}, {"candidates": []}, "nothing to decide again"),
        ("clairvoyant", {}, {"candidates": [[1, "bot-1", 1.0]]}, "There is no pairing method"),
        ("birk", {"charm": 1}, {"candidates": [[1, "bot-1", 1.0]]}, "has no option 'charm'"),
    ],
)
def test_what_cannot_be_decided_again(method: str, options: dict[str, Any], inputs: Any, sentence: str) -> None:
    row = PairingRow(
        game=101,
        round=7,
        black="bot-1",
        white="bot-2",
        high="bot-1",
        low="bot-2",
        reason="Why.",
        colors="Colors.",
        detail={},
    )
    detail = RoundDetail(
        id=7,
        venue="9x9",
        number=3,
        at=1_000,
        policy="rolling",
        method=method,
        options=options,
        seed="0",
        inputs=inputs,
        sits_out={},
        notes=[],
        pairings=[row],
    )
    explained = explain(detail, NAMES, 101)
    assert explained.replay.agrees is None
    assert sentence in explained.replay.sentence
    assert explained.game == row
    assert explained.partners == {}


def test_a_record_that_cannot_be_read_is_our_fault() -> None:
    detail = RoundDetail(
        id=7,
        venue="9x9",
        number=3,
        at=1_000,
        policy="rolling",
        method="birk",
        options={},
        seed="0",
        inputs=[["x"]],
        sits_out={},
        notes=[],
        pairings=[],
    )
    with pytest.raises(OurFault, match="inputs of a round"):
        explain(detail, NAMES)


def test_it_goes_through_json() -> None:
    explained = explain(paired("information", a_pairing_pass()), NAMES, 101)
    assert msgspec.json.decode(msgspec.json.encode(explained), type=PublishedRound) == explained


def test_whom_one_could_meet_that_was_passed_over_too_often() -> None:
    pairing_pass = a_pairing_pass(6)
    candidates = [c._replace(waited=0, sat_out=20 if c.id == 6 else 0) for c in pairing_pass.candidates]
    explained = explain(paired("adjacent", replace(pairing_pass, candidates=candidates), pass_over=20), NAMES, 101)
    (first,) = (partner for partner in explained.partners["bot-6"] if partner.name == "bot-1")
    assert (first.kept, first.possible) == ("bot-1 was the last opponent of bot-6", True)


def test_who_must_never_be_met_is_told() -> None:
    pairing_pass = a_pairing_pass(6)
    candidates = [c._replace(owner=7 if c.id in (1, 6) else 0) for c in pairing_pass.candidates]
    explained = explain(paired("adjacent", replace(pairing_pass, candidates=candidates)), NAMES, 101)
    (first,) = (partner for partner in explained.partners["bot-6"] if partner.name == "bot-1")
    assert (first.kept, first.possible) == ("both are of one owner, which is forbidden", False)


def test_a_large_pass_is_shown_as_it_was_recorded() -> None:
    detail = paired("information", a_pairing_pass())
    explained = explain(detail, NAMES, 101, most=8, too_many="Too many.")
    whole = explain(detail, NAMES, 101, most=9, too_many="Too many.")
    assert (explained.replay.agrees, explained.replay.sentence, explained.partners) == (None, "Too many.", {})
    assert whole.replay.agrees is True
    assert (explained.ready, explained.pairs, explained.game, explained.sits_out) == (
        whole.ready, whole.pairs, whole.game, whole.sits_out
    )  # fmt: skip
