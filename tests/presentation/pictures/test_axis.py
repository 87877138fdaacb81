"""Round numbers along an axis."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.presentation.pictures.axis import axis, ticks


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_ticks_are_few_round_and_within(low: float, span: float) -> None:
    marks = ticks(low, low + span)
    assert len(marks) <= 6
    assert all(low - 1e-6 * span <= mark <= low + span * 1.000001 for mark in marks)
    steps = {round(b - a, 9) for a, b in itertools.pairwise(marks)}
    assert len(steps) <= 2  # one, to the last digit of floats


def test_ticks_of_a_rating() -> None:
    assert ticks(1720, 1980) == [1800, 1900]
    assert ticks(1750, 1990) == [1750, 1800, 1850, 1900, 1950]
    assert ticks(5, 5) == [5]


def test_a_place_is_never_outside() -> None:
    place = axis(-1.0, 3.0, 100.0, 20.0)
    assert [place(value) for value in (-9.0, -1.0, 1.0, 3.0, 4.0)] == [100.0, 100.0, 60.0, 20.0, 20.0]
