"""A Brownian motion between two barriers: closed forms, and the two ways to compute it against one another."""

from __future__ import annotations

from math import exp, sqrt

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cgos_server.core.sequential import passage
from cgos_server.core.sequential.passage import (
    Barriers,
    above_by,
    below_by,
    ends_above,
    expected_time,
    normal_below,
    still_above,
)

barriers = st.builds(Barriers, st.floats(-5, -0.5), st.floats(0.5, 5))
drifts = st.floats(-3, 3)


@settings(max_examples=200, deadline=None)
@given(barriers, drifts, st.floats(0.01, 60))
def test_it_meets_one_or_the_other_or_goes_on(between: Barriers, drift: float, time: float) -> None:
    above, below = above_by(between, drift, time), below_by(between, drift, time)
    going = still_above(between, drift, time, between.lower)
    assert above + below + going == pytest.approx(1, abs=1e-9)
    assert min(above, below, going) > -1e-9
    assert above <= ends_above(between, drift) + 1e-12


@settings(max_examples=100, deadline=None)
@given(barriers, drifts, st.floats(0.3, 0.7), st.floats(0.05, 0.95))
@example(Barriers(-1.0, 1.25), 5e-324, 0.5, 0.5)
def test_images_and_waves_agree_where_both_are_exact(
    between: Barriers, drift: float, part: float, level: float
) -> None:
    time, at = part * between.width**2, between.lower + level * between.width
    both = []
    with pytest.MonkeyPatch.context() as patch:
        for short in (0.0, 10.0):
            patch.setattr(passage, "_SHORT", short)
            both.append((above_by(between, drift, time), still_above(between, drift, time, at)))
    assert both[0] == pytest.approx(both[1], abs=1e-9)


def test_far_from_the_lower_barrier_it_is_the_time_of_one() -> None:
    between, drift, time = Barriers(-80.0, 2.0), 0.4, 6.0
    once = normal_below((drift * time - 2) / sqrt(time)) + exp(4 * drift) * normal_below(
        (-drift * time - 2) / sqrt(time)
    )
    assert above_by(between, drift, time) == pytest.approx(once, rel=1e-12)


def test_walds_formulas() -> None:
    between = Barriers(-1.0, 3.0)
    assert ends_above(between, 0.0) == ends_above(between, 5e-324) == ends_above(between, -5e-324) == 0.25
    assert ends_above(between, 1e-9) == pytest.approx(0.25)
    assert expected_time(between, 0.0) == 3.0
    assert expected_time(between, 1e-4) == pytest.approx(3.0, rel=1e-3)
    drift = 0.5
    above = (1 - exp(2 * drift)) / (exp(-6 * drift) - exp(2 * drift))
    assert ends_above(between, drift) == pytest.approx(above)
    assert expected_time(between, drift) == pytest.approx((3 * above - (1 - above)) / drift)
    assert above_by(between, drift, 1e6) == pytest.approx(above)
    assert above_by(between, drift, 0.0) == 0.0


def test_a_steep_drift_against_a_short_time_does_not_overflow() -> None:
    for drift in (-200.0, 200.0):
        assert 0 <= above_by(Barriers(-3.0, 3.0), drift, 0.01) <= 1
        assert -1e-12 <= still_above(Barriers(-3.0, 3.0), drift, 0.01, 0.5) <= 1
