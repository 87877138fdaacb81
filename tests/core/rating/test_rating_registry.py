"""Rating systems by name: what is refused, in which words, and how a rating is written on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_server.core.rating.base import Rating
from cgos_server.core.rating.cgos_elo import CgosElo
from cgos_server.core.rating.registry import label, rating_system
from cgos_server.errors import Refused


def test_default_and_options() -> None:
    assert rating_system("cgos-elo", 1500.0, {}) == CgosElo(1500.0, 3.0, 200.0, 16.0, False)
    options = {"min_k": 5, "max_k": 100, "provisional_k": 20.5, "compat": True}
    system = rating_system("cgos-elo", 1800.0, options)
    assert system == CgosElo(1800.0, 5, 100, 20.5, True)
    assert system.name == "cgos-elo"


@pytest.mark.parametrize(
    ("name", "options", "word"),
    [
        ("elo", {}, "cgos-elo"),
        ("cgos-elo", {"k": 3}, "min_k, max_k, provisional_k, compat"),
        ("cgos-elo", {"min_k": "3"}, "number"),
        ("cgos-elo", {"max_k": True}, "number"),
        ("cgos-elo", {"max_k": float("inf")}, "number"),
        ("cgos-elo", {"compat": 1}, "true or false"),
        ("cgos-elo", {"min_k": 0}, "above 0"),
        ("cgos-elo", {"min_k": 200}, "below max_k"),
        ("cgos-elo", {"provisional_k": 2}, "between"),
        ("cgos-elo", {"provisional_k": 201}, "between"),
    ],
)
def test_refusals_say_what_to_choose(name: str, options: dict[str, Any], word: str) -> None:
    with pytest.raises(Refused, match=word):
        rating_system(name, 1800.0, options)


def test_an_impossible_initial_rating_is_refused() -> None:
    with pytest.raises(Refused, match="1800"):
        rating_system("cgos-elo", float("nan"), {})


@pytest.mark.parametrize(
    ("mean", "provisional", "text"),
    [(1800.0, True, "1800?"), (1800.4, False, "1800"), (1799.6, False, "1800"), (-3.0, False, "0"), (-0.2, True, "0?")],
)
def test_label(mean: float, provisional: bool, text: str) -> None:
    assert label(Rating(mean, 50.0, 3, provisional)) == text
