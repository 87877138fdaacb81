"""Rounds recorded before acts held more than candidates are computed again: pairs, sit-outs, notes and sentences."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.core.vectors import parametrize

from cgos_server.core.pairing.birk_recorded import RecordedBirk
from cgos_server.core.pairing.explain import decode_inputs, recorded_method, replay
from cgos_server.core.venue import Policy
from cgos_server.errors import Refused


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "birk_recorded")


def test_an_old_round_comes_out_as_it_was_recorded(case: dict[str, Any]) -> None:
    pairing = replay("birk", case["options"], int(case["seed"]), case["inputs"], random.Random)
    assert [[pair.high, pair.low, pair.reason, dict(pair.detail)] for pair in pairing.pairs] == case["pairs"]
    assert {str(version): why for version, why in pairing.sits_out.items()} == case["sits_out"]
    assert pairing.notes == case["notes"]


def test_an_old_record_says_nothing_of_policies_and_meetings(case: dict[str, Any]) -> None:
    act = decode_inputs(case["inputs"])
    assert (act.policy, act.meetings, act.knowledge, act.flow) == (Policy.BARRIER, (), None, 0.0)
    assert all(c.sd == 0.0 and c.owner == 0 and c.avoid == () for c in act.candidates)


def test_its_options_are_its_own() -> None:
    method = recorded_method("birk", {"formula": "one", "bye": "natural", "avoid_last": False}, "[]")
    assert method == RecordedBirk("one", "natural", False)
    assert method.name == "birk"
    assert dict(method.options) == {"formula": "one", "bye": "natural", "avoid_last": False}
    with pytest.raises(Refused, match="colour"):
        recorded_method("birk", {"colour": 1}, "[]")
