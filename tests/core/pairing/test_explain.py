"""A recorded round can be computed again from its JSON, compared, and told in sentences."""

from __future__ import annotations

import base64
import json
import random
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.pairing_passes import ids, pairing_passes
from support.core.vectors import parametrize

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.base import Candidate, Knowledge, Meeting, Pair, Pairing, PairingPass
from cgos_server.core.pairing.explain import decode_inputs, encode_inputs, replay, rounded, same
from cgos_server.core.pairing.methods.birk import BYES
from cgos_server.core.pairing.methods.formula import FORMULAS
from cgos_server.core.pairing.registry import METHODS, matchmaker

option_sets = st.fixed_dictionaries(
    {},
    optional={
        "formula": st.sampled_from((*FORMULAS, "1 + avail // 7")),
        "bye": st.sampled_from(BYES),
        "avoid_last": st.booleans(),
        "same_owner": st.sampled_from(("forbidden", "discouraged", "free")),
        "max_expected": st.floats(0.6, 1.0),
        "patience_s": st.floats(0.0, 30.0),
    },
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "rounds_recorded")


def test_a_round_comes_out_as_it_was_recorded(case: dict[str, Any]) -> None:
    """Pairs, sit-outs, notes and sentences, of passes in which somebody had waited for games and was passed over."""
    pairing = replay(case["method"], case["options"], int(case["seed"]), case["inputs"], random.Random)
    assert [[pair.high, pair.low, pair.reason] for pair in pairing.pairs] == case["pairs"]
    assert {str(version): why for version, why in pairing.sits_out.items()} == case["sits_out"]
    assert (list(pairing.notes), pairing.total) == (case["notes"], case["total"])


def knowing(pairing_pass: PairingPass, seed: int) -> PairingPass:
    """`pairing_pass` with Knowledge of all its candidates together."""
    rng = np.random.default_rng(seed)
    n = len(pairing_pass.candidates)
    spread = rng.normal(0.0, 100.0, (n, n + 2))
    covariance = spread @ spread.T
    return replace(pairing_pass, knowledge=Knowledge(covariance, covariance @ covariance))


@given(pairing_passes(), option_sets, st.integers(0, 2**63))
def test_a_recorded_round_is_computed_again(pairing_pass: PairingPass, options: dict[str, object], seed: int) -> None:
    method = matchmaker("birk", options)
    pairing = method.pair(rounded(pairing_pass), random.Random(seed))
    recorded = json.dumps(dict(method.options))
    again = replay(method.name, json.loads(recorded), seed, encode_inputs(pairing_pass), random.Random)
    assert again == pairing
    assert same(ids(pairing), pairing.total, again).agrees


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=15)
@given(pairing_pass=pairing_passes(least=2, most=10), seed=st.integers(0, 2**63))
def test_every_method_decides_from_what_is_recorded(name: str, pairing_pass: PairingPass, seed: int) -> None:
    """Also from what is known of the ratings together, which loses bits on its way into the record."""
    pairing_pass = knowing(pairing_pass, seed)
    method = matchmaker(name, {})
    pairing = method.pair(rounded(pairing_pass), random.Random(seed))
    again = replay(name, json.loads(json.dumps(dict(method.options))), seed, encode_inputs(pairing_pass), random.Random)
    assert again == pairing


@given(pairing_passes(), st.none() | st.integers(0, 99))
def test_inputs_survive_json_bit_for_bit_once_rounded(pairing_pass: PairingPass, seed: int | None) -> None:
    if seed is not None:
        pairing_pass = knowing(pairing_pass, seed)
    decoded, expected = decode_inputs(encode_inputs(pairing_pass)), rounded(pairing_pass)
    assert replace(decoded, knowledge=None) == replace(expected, knowledge=None)
    assert replace(decoded, knowledge=None) == replace(pairing_pass, knowledge=None)
    if pairing_pass.knowledge is not None and expected.knowledge is not None and decoded.knowledge is not None:
        for name in ("covariance", "gram"):
            decoded_matrix, wanted, exact = (
                getattr(k, name) for k in (decoded.knowledge, expected.knowledge, pairing_pass.knowledge)
            )
            assert (decoded_matrix == wanted).all()
            assert (decoded_matrix == decoded_matrix.T).all()
            np.testing.assert_allclose(decoded_matrix, exact, rtol=1e-6)
        again = rounded(expected).knowledge
        assert again is not None
        assert (again.covariance == expected.knowledge.covariance).all()
        assert encode_inputs(expected) == encode_inputs(pairing_pass)


def test_another_release_s_record_has_fewer_fields_or_more() -> None:
    """Neither here nor there does a field that the other release does not know stand in the way."""
    text = '{"candidates":[[3,"Ann",1800.5],[4,"Bob",1.0]],"meetings":[[3,4,1]],"flow":0.5,"some_day":1}'
    assert decode_inputs(text) == PairingPass(
        candidates=[Candidate(3, "Ann", 1800.5), Candidate(4, "Bob", 1.0)], meetings=[Meeting(3, 4, 1)], flow=0.5
    )


def test_another_seed_pairs_otherwise() -> None:
    """Else the tests above would prove nothing."""
    inputs = encode_inputs(PairingPass(candidates=[Candidate(i, f"bot-{i}", float(i)) for i in range(20)]))
    rounds = {str(replay("birk", {}, seed, inputs, random.Random).pairs) for seed in range(10)}
    assert len(rounds) == 10


def test_who_must_not_meet_is_part_of_the_replay() -> None:
    inputs = encode_inputs(
        PairingPass(candidates=[Candidate(i, f"bot-{i}", float(-i), apart=(1,) if i == 0 else ()) for i in range(6)])
    )
    for seed in range(20):
        pairing = replay("birk", {"formula": "half"}, seed, inputs, random.Random)
        assert (pairing.pairs[0].high, pairing.pairs[0].low) != (0, 1)


def packed(count: int) -> str:
    return base64.b64encode(zlib.compress(np.zeros(count, "<f4").tobytes())).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"candidates":[["x","y","z"]]}',
        '{"candidates":[[1]]}',
        '{"candidates":[],"policy":"never"}',
        '{"candidates":[[1,"a",2.0]],"knowledge":{"covariance":"!","gram":"!"}}',
        '{"candidates":[[1,"a",2.0]],"knowledge":{"covariance":"AAAA","gram":"AAAA"}}',
        json.dumps({"candidates": [[1, "a", 2.0]], "knowledge": {"covariance": packed(1), "gram": packed(2)}}),
    ],
)
def test_unreadable_inputs_are_our_fault(text: str) -> None:
    with pytest.raises(OurFault, match="inputs of a round"):
        decode_inputs(text)


def pairing_of(*pairs: tuple[int, int], total: int | None = None) -> Pairing:
    return Pairing(pairs=[Pair(high, low, "") for high, low in pairs], total=total)


@pytest.mark.parametrize(
    ("recorded", "total", "replayed", "agrees", "words"),
    [
        ([(1, 2), (3, 4)], None, pairing_of((4, 3), (2, 1)), True, "the same pairs."),
        ([(1, 2)], None, pairing_of((1, 2), (3, 4)), True, "one game was not begun"),
        ([], 5, pairing_of((1, 2), (3, 4), total=5), True, "2 games were not begun"),
        ([(1, 3), (2, 4)], None, pairing_of((1, 2), (3, 4)), False, "other pairs"),
        ([(1, 3), (2, 4)], 900, pairing_of((1, 2), (3, 4), total=900), True, "other pairs of the same total"),
        ([(1, 2)], 1_500_000, pairing_of((1, 2), total=1_400_000), False, "1.500000 bit then, 1.400000 bit now"),
        ([(1, 2)], None, pairing_of((1, 2), total=7), False, "none then, 0.000007 bit now"),
    ],
)
def test_the_verdict_on_a_replay(
    recorded: list[tuple[int, int]], total: int | None, replayed: Pairing, agrees: bool, words: str
) -> None:
    verdict = same(recorded, total, replayed)
    assert verdict.agrees is agrees
    assert words in verdict.sentence
