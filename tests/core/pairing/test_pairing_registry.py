"""Matchmakers by name: defaults, options, and refusals that list the choices."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_server.core.pairing.birk import Birk
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.errors import Refused


def test_defaults_and_options() -> None:
    assert matchmaker("birk", {}) == Birk("fifth", "fair", True)
    method = matchmaker("birk", {"formula": "half", "bye": "natural", "avoid_last": False})
    assert method == Birk("half", "natural", False)
    assert matchmaker(method.name, method.options) == method


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("swiss", {}, "birk"),
        ("birk", {"formulae": "half"}, "formula, bye, avoid_last"),
        ("birk", {"formula": "third"}, "half, fifth, sqrt, one"),
        ("birk", {"formula": 5}, "half, fifth, sqrt, one"),
        ("birk", {"bye": "none"}, "fair, natural"),
        ("birk", {"avoid_last": "yes"}, "true, false"),
        ("birk", {"avoid_last": 1}, "true, false"),
    ],
)
def test_refusals_list_the_choices(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        matchmaker(name, options)
