"""Arrays as bytes: every number comes back, small numbers take little room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.rating.plain_arrays import Packed, floats, packed, smallest, whole

numbers = st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 300))


@given(numbers)
def test_whole_numbers_come_back(whole_numbers: list[int]) -> None:
    array = np.array(whole_numbers, dtype=np.int64)
    back = whole(packed(array))
    assert back.dtype == np.int64
    assert back.tolist() == whole_numbers
    assert packed(smallest(array)) == packed(array)


@given(st.lists(st.floats()))
def test_doubles_come_back_with_every_bit(doubles: list[float]) -> None:
    array = np.array(doubles, dtype=np.float64)
    assert floats(packed(array)).tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("most", "size"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32 - 1, 4), (2**32, 8), (-1, 8)]
)
def test_small_numbers_take_little_room(most: int, size: int) -> None:
    array = np.array([[0, 1], [1, most]])
    assert len(packed(array).data) == 4 * size
    assert whole(packed(array)).tolist() == [0, 1, 1, most]


@pytest.mark.parametrize("damaged", [Packed("f8", bytes(8)), Packed("O", bytes(8)), Packed("u2", bytes(3))])
def test_what_holds_no_whole_numbers_is_refused(damaged: Packed) -> None:
    with pytest.raises(ValueError, match=r"whole numbers|size"):
        whole(damaged)


@pytest.mark.parametrize("damaged", [Packed("u1", bytes(8)), Packed("f4", bytes(8)), Packed("f8", bytes(7))])
def test_what_holds_no_doubles_is_refused(damaged: Packed) -> None:
    with pytest.raises(ValueError, match=r"doubles|size"):
        floats(damaged)
