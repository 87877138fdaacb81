"""The rating as a library: its example, its promises, its refusals."""

from __future__ import annotations

import doctest
import math
import subprocess
import sys
from collections.abc import Callable

import pytest

import cgos_server.core.rating
from cgos_server.core.rating import BradleyTerry, Estimate
from cgos_server.core.rating.bayes import library


def test_the_example_in_its_documentation_is_true() -> None:
    ran = doctest.testmod(library)
    assert ran.attempted >= 9
    assert ran.failed == 0


def test_the_interface_alone_does_not_cost_numpy() -> None:
    code = "import sys, cgos_server.core.rating.base; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert {"BradleyTerry", "Estimate"} <= set(dir(cgos_server.core.rating))
    with pytest.raises(AttributeError, match="Bradly"):
        cgos_server.core.rating.Bradly  # noqa: B018


def pool() -> BradleyTerry:
    model = BradleyTerry()
    model.anchor("low", 1600)
    model.anchor("high", 2400, sd=10)
    for opponent, wins in (("low", 18), ("high", 2)):
        model.add("new", opponent, 1, games=wins)
        model.add("new", opponent, 0, games=20 - wins)
        model.add(opponent, "new", 0, games=wins)
        model.add(opponent, "new", 1, games=20 - wins)
    return model


def test_a_newcomer_between_two_anchors_is_in_the_middle() -> None:
    model = pool()
    new = model.rating("new")
    assert new.mean == pytest.approx(2000, abs=10)
    assert new.games == 80
    assert not new.anchor
    low, high = new.interval
    assert (low + high) / 2 == pytest.approx(new.mean)
    assert high - low == pytest.approx(2 * 1.96 * new.sd, rel=1e-3)
    assert 20 < new.sd < 80
    assert model.superiority("new", "low") > 0.999
    assert model.superiority("low", "new") < 0.001
    assert model.predict("new", "low").score == pytest.approx(0.9, abs=0.03)
    assert sum(model.predict("low", "new")) == pytest.approx(1.0)
    assert model.predict("new", "low").draw == 0.0
    assert list(model.standings()) == ["high", "new", "low"]
    assert model.standings()["high"] == Estimate(mean=2400, sd=10, games=40, anchor=True)


def test_a_rating_is_written_with_its_interval() -> None:
    assert str(Estimate(mean=1873.4, sd=42 / 1.96, games=10)) == "1873 ± 42"


def test_what_is_added_later_counts_and_what_is_taken_back_does_not() -> None:
    model, other = pool(), pool()
    model.add("new", "low", 0, games=30)
    lower = model.rating("new")
    assert lower.mean < other.rating("new").mean
    assert lower.games == 110
    model.add("new", "low", 0, games=-30)
    assert model.rating("new") == other.rating("new")


def test_one_by_one_is_the_same_as_counted() -> None:
    first, second = pool(), BradleyTerry()
    second.anchor("low", 1600)
    second.anchor("high", 2400, sd=10)
    for number in range(20):
        for opponent, wins in (("high", 2), ("low", 18)):
            second.add("new", opponent, float(number < wins))
            second.add(opponent, "new", float(number >= wins))
    assert second.rating("new").mean == pytest.approx(first.rating("new").mean, abs=1e-6)
    assert second.rating("new").sd == pytest.approx(first.rating("new").sd, rel=1e-6)


def test_draws_are_learned() -> None:
    model = pool()
    model.add("new", "peer", 0.5, games=30)
    model.add("peer", "new", 0.5, games=30)
    assert model.predict("new", "peer").draw > 0.3
    assert abs(model.rating("peer").mean - model.rating("new").mean) < 30


@pytest.mark.parametrize("learned", [True, False])
def test_without_anchors_the_mean_is_held(learned: bool) -> None:
    model = BradleyTerry(1500, learned=learned)
    model.add(("tuple", 1), 2, 1, games=12)
    model.add(2, frozenset({3}), 1, games=10)
    assert sum(rating.mean for rating in model.standings().values()) / 3 == pytest.approx(1500)
    assert list(model.standings()) == [("tuple", 1), 2, frozenset({3})]


def test_an_empty_pool_has_empty_standings() -> None:
    assert BradleyTerry().standings() == {}
    assert BradleyTerry().fit().standings() == {}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda model: model.add("a", "b", 0.7), ValueError, "0.5"),
        (lambda model: model.add("a", "b", math.nan), ValueError, "0.5"),
        (lambda model: model.add("a", "a", 1), ValueError, "itself"),
        (lambda model: model.add("a", "b", 1, games=1.5), ValueError, "whole"),
        (lambda model: model.add("a", "b", 1, games=math.inf), ValueError, "whole"),
        (lambda model: model.add("a", "b", 1, games=-1), ValueError, "take back"),
        (lambda model: model.add("new", "low", 1, games=-99), ValueError, "take back"),
        (lambda model: model.anchor("a", math.inf), ValueError, "anchor"),
        (lambda model: model.anchor("a", 2000, sd=0), ValueError, "anchor"),
        (lambda model: model.rating("nobody"), KeyError, "nobody"),
        (lambda model: model.superiority("new", "nobody"), KeyError, "nobody"),
        (lambda model: model.predict("nobody", "new"), KeyError, "nobody"),
        (lambda _: BradleyTerry(math.nan), ValueError, "finite"),
        (lambda _: BradleyTerry(prior_sd=0.0), ValueError, "wide"),
    ],
)
def test_refusals_are_sentences_and_change_nothing(
    change: Callable[[BradleyTerry], object], error: type[Exception], words: str
) -> None:
    model = pool()
    before = model.standings()
    with pytest.raises(error, match=words):
        change(model)
    assert model.standings() == before
