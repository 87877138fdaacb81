"""Arrays as bytes and back, every number exact, in little more room than the numbers need.

Whole numbers travel in the smallest type that holds them all, floats as IEEE 754 doubles, little-endian. Must not know:
what the numbers mean.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from cgos_server.core.rating.bayes.pool import Floats, Ints

_SMALL: Final = ("u1", "u2", "u4")
_WHOLE: Final = (*_SMALL, "i8")
_FLOAT: Final = "f8"


class Packed(NamedTuple):
    """An array as plain values; its shape is the reader's affair.

    :ivar kind: type of a number as numpy writes it
    :ivar data: the numbers, row by row
    """

    kind: str
    data: bytes


def smallest(numbers: Ints) -> Any:
    """The same whole numbers in the smallest type that holds them."""
    least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
    for kind in _SMALL:
        if least >= 0 and most <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers


def packed(array: Any) -> Packed:
    """An array of whole numbers or doubles, of any shape."""
    if array.dtype.kind == "f":
        return Packed(_FLOAT, array.astype("<f8").tobytes())
    small = smallest(array)
    return Packed(small.dtype.str[1:], small.astype(small.dtype.newbyteorder("<")).tobytes())


def whole(given: Packed) -> Ints:
    """The whole numbers in one row. Raises ValueError where there are none."""
    if given.kind not in _WHOLE:
        raise ValueError(f"whole numbers cannot be of type {given.kind!r}")
    return np.frombuffer(given.data, dtype="<" + given.kind).astype(np.int64)


def floats(given: Packed) -> Floats:
    """The doubles in one row. Raises ValueError where there are none."""
    if given.kind != _FLOAT:
        raise ValueError(f"doubles cannot be of type {given.kind!r}")
    return np.frombuffer(given.data, dtype="<f8").astype(np.float64)
