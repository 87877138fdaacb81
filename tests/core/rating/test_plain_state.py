"""States as bytes: every bit comes back, and nothing else is taken for one."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.base import Rating
from cgos_server.core.rating.plain_state import dumped, loaded

State = dict[int, Rating]

ratings = st.builds(Rating, st.floats(), st.floats(), st.integers(0, 2**40), st.booleans(), st.booleans())


def bits(state: State) -> list[bytes]:
    return [struct.pack("<qddq??", version, *rating) for version, rating in state.items()]


@given(st.dictionaries(st.integers(-(2**40), 2**60), ratings))
def test_every_bit_and_the_order_come_back(state: State) -> None:
    assert bits(loaded(dumped("x", 3, state), "x", 3, State)) == bits(state)


GOOD = dumped("x", 3, {1: Rating(math.pi, 2.0, 3, False)})


@pytest.mark.parametrize(("system", "layout"), [("y", 3), ("x", 2)])
def test_other_systems_and_layouts_are_refused(system: str, layout: int) -> None:
    with pytest.raises(ValueError, match="state of x, layout 3"):
        loaded(GOOD, system, layout, State)


@pytest.mark.parametrize("data", [b"", GOOD[:-1], GOOD + b"\0", b"{}", dumped("x", 3, {1: "high"}), dumped("x", 3, [])])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no state of x"):
        loaded(data, "x", 3, State)
