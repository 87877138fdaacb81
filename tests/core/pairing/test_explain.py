"""A recorded round can be computed again from its JSON, and told in sentences."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.pairing.base import Candidate
from cgos_server.core.pairing.birk import BYES, FORMULAS
from cgos_server.core.pairing.explain import decode_inputs, encode_inputs, replay, sentences
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.errors import OurFault

number = st.integers(0, 2**62)
candidate_lists = st.lists(
    st.builds(
        Candidate,
        id=st.integers(1, 1000),
        name=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=3, max_size=18),
        rating=st.floats(-4000, 4000),
        waited=number,
        sat_out=st.integers(0, 9),
        last_sit_out=st.none() | number,
        last_opponent=st.none() | st.integers(1, 1000),
    ),
    max_size=9,
    unique_by=lambda c: c.id,
)
option_sets = st.fixed_dictionaries(
    {},
    optional={
        "formula": st.sampled_from(sorted(FORMULAS)),
        "bye": st.sampled_from(BYES),
        "avoid_last": st.booleans(),
    },
)


@given(candidate_lists, option_sets, st.integers(0, 2**63))
def test_a_recorded_round_is_computed_again(candidates: list[Candidate], options: dict[str, object], seed: int) -> None:
    method = matchmaker("birk", options)
    pairing = method.pair(candidates, random.Random(seed))
    recorded = json.dumps(dict(method.options))
    inputs = encode_inputs(candidates)
    assert replay(method.name, json.loads(recorded), seed, inputs, random.Random) == pairing


@given(candidate_lists)
def test_inputs_survive_json_bit_for_bit(candidates: list[Candidate]) -> None:
    assert decode_inputs(encode_inputs(candidates)) == candidates


def test_another_seed_pairs_otherwise() -> None:
    """Else the test above would prove nothing."""
    inputs = encode_inputs([Candidate(i, f"bot-{i}", float(i)) for i in range(20)])
    rounds = {str(replay("birk", {}, seed, inputs, random.Random).pairs) for seed in range(10)}
    assert len(rounds) == 10


def test_who_must_not_meet_is_part_of_the_replay() -> None:
    inputs = encode_inputs([Candidate(i, f"bot-{i}", float(-i), apart=(1,) if i == 0 else ()) for i in range(6)])
    for seed in range(20):
        pairing = replay("birk", {"formula": "half"}, seed, inputs, random.Random)
        assert (pairing.pairs[0].high, pairing.pairs[0].low) != (0, 1)


@pytest.mark.parametrize("text", ["", "{}", "[[1]]", '[["x", "y", "z"]]'])
def test_unreadable_inputs_are_our_fault(text: str) -> None:
    with pytest.raises(OurFault, match="inputs of a round"):
        decode_inputs(text)


def test_sentences_tell_the_whole_round() -> None:
    candidates = [
        Candidate(1, "Ann", 1900.2),
        Candidate(2, "Bea", 2000.0, 7, last_opponent=1),
        Candidate(3, "Cat", 1.0),
    ]
    method = matchmaker("birk", {})
    pairing = method.pair(candidates[:2], random.Random(5))
    told = sentences("birk", method.options, 5, candidates[:2], pairing)
    assert told == [
        "Paired by birk (avoid_last true, bye fair, formula fifth), random seed 5.",
        "Ready, best first: Bea 2000, Ann 1900.",
        "Bea (2000) met the only opponent it could: Ann (1900).",
        "Bea (2000) had no choice but its last opponent: allowed for this pick.",
    ]
    pairing = method.pair(candidates, random.Random(5))
    told = sentences("birk", method.options, 5, candidates, pairing)
    assert sum("sits out" in line for line in told) == 1
    assert sentences("birk", {}, 5, [], method.pair([], random.Random(5))) == [
        "Paired by birk, random seed 5.",
        "Nobody was ready.",
    ]
