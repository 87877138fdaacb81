"""Old rankings: in every scenario the list is what it is said to be."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.lab.bubble.lists import SCENARIOS, Scenario, Shape, listed, require_shape
from cgos_server.lab.ratings.pools import generator

SIZES = st.integers(2, 60)
SEEDS = st.integers(0, 1000)


@given(scenario=st.sampled_from(SCENARIOS), size=SIZES, seed=SEEDS)
def test_everybody_is_listed_once(scenario: Scenario, size: int, seed: int) -> None:
    shape = Shape(low=500.0, high=900.0)
    old = listed(scenario, size, shape, generator(seed, "list"))
    assert len(set(old.strengths.tolist())) == size
    assert all(500.0 <= strength <= 900.0 for strength in old.strengths)
    assert set(old.changed) <= set(range(size))
    assert bool(old.changed) == (scenario in ("improved", "new", "mixed"))


@given(size=SIZES, seed=SEEDS)
def test_a_right_list_is_in_the_true_order(size: int, seed: int) -> None:
    strengths = listed("right", size, Shape(), generator(seed, "list")).strengths
    assert (np.diff(strengths) < 0.0).all()


@given(size=SIZES, seed=SEEDS, changed=st.floats(0.01, 0.5), data=st.data())
def test_who_has_improved_stands_so_many_places_too_low(
    size: int, seed: int, changed: float, data: st.DataObject
) -> None:
    places = data.draw(st.integers(1, size - 1))
    strengths, moved = listed("improved", size, Shape(changed=changed, places=places), generator(seed, "list"))
    true = np.argsort(np.argsort(-strengths))
    assert [at - int(true[at]) for at in moved] == [places] * len(moved)
    others = np.delete(strengths, list(moved))
    assert (np.diff(others) < 0.0).all()


@given(size=SIZES, seed=SEEDS, changed=st.floats(0.01, 0.5))
def test_the_new_stand_at_the_end(size: int, seed: int, changed: float) -> None:
    strengths, new = listed("new", size, Shape(changed=changed), generator(seed, "list"))
    assert new == tuple(range(size - len(new), size))
    assert len(new) == max(1, round(changed * size))
    assert (np.diff(strengths[: size - len(new)]) < 0.0).all()


def test_a_noisy_list_is_wrong_as_far_as_its_noise() -> None:
    still = listed("noisy", 50, Shape(noise=0.0), generator(1, "list")).strengths
    assert (np.diff(still) < 0.0).all()
    noisy = listed("noisy", 50, Shape(noise=100.0), generator(1, "list")).strengths
    assert not (np.diff(noisy) < 0.0).all()
    assert np.corrcoef(noisy, -np.arange(50))[0, 1] > 0.8


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        (Shape(high=math.inf), "inf can be no strength in Elo. Stay between -100000 and 100000."),
        (Shape(low=math.nan), "nan can be no strength in Elo. Stay between -100000 and 100000."),
        (Shape(low=2.0, high=1.0), "Strengths from 2 to 1 are no range. Give the lower number first."),
        (
            Shape(places=10),
            "In a list of 10 nobody stands 10 places too low. Give fewer places, or leave out lists of 10.",
        ),
    ],
)
def test_what_cannot_be_is_refused(shape: Shape, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        require_shape(shape, (20, 10))
    assert str(caught.value) == sentence
