"""Rating systems by name: what is refused, in which words, and how a rating is written on the wire."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.errors import Refused
from cgos_server.core.rating.base import Z95, Rating
from cgos_server.core.rating.incremental.cgos_elo import CgosElo
from cgos_server.core.rating.incremental.egf2021 import Egf2021
from cgos_server.core.rating.incremental.gor import Gor
from cgos_server.core.rating.registry import SYSTEMS, label, rating_system, stored_ends, sure, systems


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
        ("gor", {"variant": "swiss"}, "thesis, egf, egf_half_eps"),
        ("gor", {"eps": 0.2}, "from 0 to 0.1"),
        ("gor", {"compat": True}, "variant, eps"),
        ("egf2021", {"bonus": 1}, "true or false"),
        ("glicko2", {"tau": 0}, "from 0.1 to 2"),
        ("whole-history", {"drift": -1}, "from 0 to"),
        ("bayes", {"learned": "no"}, "true or false"),
        ("bayes", {"prior_sd": 0}, "from 0.01"),
    ],
)
def test_refusals_say_what_to_choose(name: str, options: dict[str, Any], word: str) -> None:
    with pytest.raises(Refused, match=word):
        rating_system(name, 1800.0, options)


@pytest.mark.parametrize("initial", [float("nan"), float("inf"), True, "1800"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_an_impossible_initial_rating_is_refused(name: str, initial: Any) -> None:
    with pytest.raises(Refused, match="such as 1800"):
        rating_system(name, initial, {})


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_is_there_with_the_defaults_of_its_table(name: str) -> None:
    """Each option said as its default makes the very same system; each has a meaning and lies in its own range."""
    system = rating_system(name, 1800.0, {})
    options = systems().find(name).options
    defaults = {key: option.default for key, option in options.items()}
    assert rating_system(name, 1800.0, defaults) == system
    assert system.name == name
    assert system.sure is sure(name)
    for option in options.values():
        assert option.read(option.default) == option.default
        assert option.meaning


def test_options_arrive() -> None:
    assert rating_system("gor", 1400, {"variant": "thesis", "eps": 0.016}) == Gor(1400.0, "thesis", 0.016)
    assert rating_system("egf2021", 1400, {"bonus": True}) == Egf2021(1400.0, True)


def test_a_system_of_the_past_is_sure_of_nothing() -> None:
    assert not sure("trueskill")
    assert stored_ends("trueskill", mean=1800.0, spread=30.0, lower=None, upper=None) == (None, None)


def test_stored_ends() -> None:
    assert stored_ends("bayes", mean=1800.0, spread=50.0, lower=1750.0, upper=2600.0) == (1750.0, 2600.0)
    of_before = stored_ends("bayes", mean=1800.0, spread=50.0, lower=None, upper=None)
    assert of_before == (1800.0 - Z95 * 50, 1800.0 + Z95 * 50) == pytest.approx((1702, 1898), abs=0.01)
    assert stored_ends("cgos-elo", mean=1800.0, spread=50.0, lower=None, upper=None) == (None, None)


@pytest.mark.parametrize("name", ["bayes", "whole-history", "glicko2"])
def test_half_of_the_interval_decides_what_is_provisional(name: str) -> None:
    system = rating_system(name, 1800.0, {"provisional": 100.0})
    assert [system.is_provisional(40.0, 30, half) for half in (None, 99.0, 101.0)] == [False, False, True]
    assert [system.is_provisional(60.0, 30, half) for half in (None, 99.0, 101.0)] == [True, False, True]


def test_a_k_factor_decides_by_itself_what_is_provisional() -> None:
    system = rating_system("cgos-elo", 1800.0, {})
    for k in (16.0, 300.0):
        assert len({system.is_provisional(k, 30, half) for half in (None, 1.0, 1000.0)}) == 1


@pytest.mark.parametrize(
    ("mean", "provisional", "text"),
    [(1800.0, True, "1800?"), (1800.4, False, "1800"), (1799.6, False, "1800"), (-3.0, False, "0"), (-0.2, True, "0?")],
)
def test_label(mean: float, provisional: bool, text: str) -> None:
    assert label(Rating(mean, 50.0, 3, provisional)) == text
