"""States as bytes: every bit comes back, and nothing else is taken for one."""

from __future__ import annotations

import math
import struct
from typing import Any
from zlib import crc32

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.base import Rating
from cgos_server.core.rating.bayes.pool import Floats, Ints
from cgos_server.core.rating.plain_state import dumped, loaded

State = dict[int, Rating]

ratings = st.builds(
    Rating,
    *(st.floats(), st.floats(), st.integers(0, 2**40), st.booleans(), st.booleans(), st.floats(), st.floats()),
)


def bits(state: State) -> list[bytes]:
    return [struct.pack("<qddq??dd", version, *rating) for version, rating in state.items()]


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


# -- arrays

numbers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300))


def through(array: np.ndarray, form: Any) -> Any:
    return loaded(dumped("x", 3, array), "x", 3, form)


@given(numbers)
def test_whole_numbers_come_back(given: list[int]) -> None:
    back = through(np.array(given, dtype=np.int64), Ints)
    assert back.dtype == np.int64
    assert back.tolist() == given


@given(st.lists(st.floats(), min_size=6, max_size=6))
def test_doubles_come_back_with_every_bit_and_in_their_shape(given: list[float]) -> None:
    array = np.array(given, dtype=np.float64).reshape(1, 2, 3)
    for written in (array, np.asfortranarray(array)):
        back = through(written, Floats)
        assert back.shape == (1, 2, 3)
        assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("most", "size"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32 - 1, 4), (2**32, 8), (-1, 8)]
)
def test_small_numbers_take_little_room(most: int, size: int) -> None:
    array = np.array([[0, 1], [1, most]] * 5)
    assert len(dumped("x", 3, array)) == len(dumped("x", 3, np.zeros((10, 2), dtype=np.int64))) + 20 * (size - 1)
    assert through(array, Ints).tolist() == array.tolist()


def of_array(*parts: Any) -> bytes:
    data = msgspec.msgpack.encode(("x", 3, parts))
    return crc32(data).to_bytes(4, "big") + data


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (of_array("f8", (1,), bytes(8)), Ints),
        (of_array("O", (1,), bytes(8)), Ints),
        (of_array("u2", (1,), bytes(3)), Ints),
        (of_array("u2", (2,), bytes(2)), Ints),
        (of_array("u1", (8,), bytes(8)), Floats),
        (of_array("f4", (2,), bytes(8)), Floats),
        (of_array("f8", (1,), bytes(7)), Floats),
        (of_array("f8", bytes(8)), Floats),
    ],
)
def test_what_holds_no_such_numbers_is_refused(data: bytes, form: Any) -> None:
    with pytest.raises(ValueError, match="no state of x"):
        loaded(data, "x", 3, form)
