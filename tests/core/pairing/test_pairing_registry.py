"""Matchmakers by name: defaults, options, refusals that list the choices, and the way through a record."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.core.pairing_passes import wishes

from cgos_protocol.errors import Refused
from cgos_server.core.pairing.constraints import Constraints, Kin
from cgos_server.core.pairing.methods.birk import Birk
from cgos_server.core.pairing.methods.neighbors import Neighbors
from cgos_server.core.pairing.registry import METHODS, matchmaker, matchmakers, options_of
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import SHARED, flat, shared


def test_defaults_and_options() -> None:
    assert matchmaker("birk", {}) == Birk(formula="fifth", bye="fair", constraints=Constraints(), waiting=Waiting())
    method = matchmaker("birk", {"formula": "half", "bye": "natural", "avoid_last": False, "patience_s": 2.5})
    assert method == Birk(formula="half", bye="natural", constraints=Constraints(avoid_last=False, patience=2_500_000))
    assert matchmaker("permuted", {"window": 300}) == Neighbors(order="permuted", window=300.0)
    assert matchmaker("birk", {"same_owner": "discouraged"}) == Birk(
        constraints=Constraints(same_owner=Kin.DISCOURAGED)
    )


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_rebuilt_from_its_record(name: str) -> None:
    method = matchmaker(name, {"color_cost": 0.3, "max_expected": 0.9, "pass_over": 7})
    assert method.name == name
    recorded = json.loads(json.dumps(dict(method.options)))
    assert set(recorded) == set(options_of(name)) == {*matchmakers().find(name).options, *SHARED}
    assert recorded["color_cost"] == 0.3
    again = matchmaker(name, recorded)
    assert again == method
    assert again.options == method.options


@pytest.mark.parametrize("name", METHODS)
def test_only_information_limits_the_expected_score_by_itself(name: str) -> None:
    assert (matchmaker(name, {}).options["max_expected"] < 1.0) == (name == "information")


def test_every_field_has_a_word() -> None:
    known = [field.name for record in (Constraints, Waiting) for field in fields(record)]
    assert [key.removesuffix("_s") for key in SHARED] == known


@given(
    wishes,
    st.builds(
        Waiting,
        ease=st.floats(0.01, 50),
        pass_over=st.integers(1, 99),
        fairness=st.floats(0, 9),
        overdue=st.floats(0, 99),
    ),
)
def test_flat_and_back(constraints: Constraints, waiting: Waiting) -> None:
    recorded = json.loads(json.dumps(flat(constraints, waiting)))
    assert shared("birk", recorded, Constraints()) == (constraints, waiting)


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("swiss", {}, "information, birk, entropy, expected-change, permuted, adjacent, random"),
        ("birk", {"formulae": "half"}, "formula, bye, same_owner, same_family, avoid_last"),
        ("entropy", {"formula": "half"}, "That is an option of birk. Choose from: model, same_owner"),
        ("random", {"window": 5}, "That is an option of permuted"),
        ("birk", {"formula": "third"}, "half, fifth, sqrt, one"),
        ("birk", {"formula": 5}, "half, fifth, sqrt, one"),
        ("birk", {"formula": "avail / 2"}, "birk: formula cannot be 'avail / 2'"),
        ("birk", {"bye": "none"}, "fair, natural"),
        ("birk", {"avoid_last": "yes"}, "true, false"),
        ("birk", {"avoid_last": 1}, "true, false"),
        ("adjacent", {"same_owner": "never"}, "forbidden, discouraged, free"),
        ("adjacent", {"same_family": True}, "forbidden, discouraged, free"),
        ("adjacent", {"max_expected": 0.4}, "number from 0.51 to 1"),
        ("adjacent", {"max_expected": "0.9"}, "number from 0.51 to 1"),
        ("adjacent", {"repeat_most": 0}, "whole number from 1 to 1000000"),
        ("adjacent", {"repeat_most": 2.5}, "whole number"),
        ("adjacent", {"repeat_last": True}, "whole number"),
        ("adjacent", {"patience_s": -1}, "number from 0 to 86400"),
        ("adjacent", {"color_cost": float("nan")}, "number from 0 to 100"),
        ("adjacent", {"fairness": float("inf")}, "number from 0 to 100"),
        ("adjacent", {"overdue": -1}, "number from 0 to 1000"),
        ("permuted", {"window": -3}, "number from 0 to 100000"),
        ("entropy", {"model": "elo"}, "gor, venue"),
        ("information", {"draw": 2}, "number from 0 to 1"),
    ],
)
def test_refusals_list_the_choices(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        matchmaker(name, options)


@pytest.mark.parametrize("value", [10**400, -(10**400), float("inf"), float("nan"), "4", True, None])
def test_no_number_is_too_large_to_be_refused(value: object) -> None:
    with pytest.raises(Refused, match=r"grace cannot be .* Give a number from 0 to 100\."):
        matchmaker("information", {"grace": value})
