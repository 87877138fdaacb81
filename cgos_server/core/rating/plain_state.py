"""States of rating systems as bytes, whole and exact.

MessagePack after four bytes of checksum (CRC-32, big-endian), with a header that names system, options and layout, so
that no state is read under other rules by mistake. Floats travel as IEEE 754 doubles: every bit comes back. Arrays keep
their shape; those of whole numbers travel in the smallest type that holds them all. Must not know: what the numbers
mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeVar
from zlib import crc32

import msgspec

T = TypeVar("T")
StateT = TypeVar("StateT")

_SMALL: Final = ("u1", "u2", "u4")
_WHOLE: Final = (*_SMALL, "i8")
_FLOAT: Final = "f8"


class _Headed(NamedTuple):
    """What stands in the bytes."""

    system: str
    layout: int
    state: msgspec.Raw


class _Array(NamedTuple):
    """An array: the type of its numbers as numpy writes it, and the numbers row by row, little-endian."""

    kind: str
    shape: tuple[int, ...]
    data: bytes


def dumped(system: str, layout: int, state: Any) -> bytes:
    """`state` as bytes, under what its system calls itself with its options, and the number of its layout.

    Its arrays are of 64-bit whole numbers or of doubles.
    """
    body = msgspec.msgpack.encode(state, enc_hook=_packed)
    data = msgspec.msgpack.encode(_Headed(system, layout, msgspec.Raw(body)))
    return crc32(data).to_bytes(4, "big") + data


def loaded(data: bytes, system: str, layout: int, form: type[T]) -> T:
    """What :func:`dumped` wrote, checked to be of type `form`. Raises ValueError for anything else."""
    try:
        if crc32(data[4:]).to_bytes(4, "big") != data[:4]:
            raise ValueError(f"That is no state of {system}: its checksum is wrong.")
        headed = msgspec.msgpack.decode(data[4:], type=_Headed)
        if (headed.system, headed.layout) != (system, layout):
            raise ValueError(f"That is a state of {headed.system}, layout {headed.layout}; {system} reads {layout}.")
        return msgspec.msgpack.decode(headed.state, type=form, dec_hook=_unpacked)
    except msgspec.MsgspecError as error:
        raise ValueError(f"That is no state of {system}: {error}") from error


def rebuilt(data: bytes, system: str, *, layout: int, form: type[T], build: Callable[[T], StateT]) -> StateT:
    """What `build` makes of what :func:`loaded` reads. Raises ValueError where the parts of that do not fit together,
    too."""
    saved = loaded(data, system, layout, form)
    try:
        return build(saved)
    except (ValueError, IndexError, KeyError, TypeError, OverflowError) as error:
        raise ValueError(f"That is no state of {system}: {error}.") from error


def _packed(array: Any) -> _Array:
    import numpy as np  # only systems that have arrays need it

    kind = _FLOAT
    if array.dtype.kind != "f":
        least, most = int(array.min(initial=0)), int(array.max(initial=0))
        kind = next((small for small in _SMALL if least >= 0 and most <= np.iinfo(small).max), _WHOLE[-1])
    return _Array(kind, array.shape, array.astype("<" + kind).tobytes())


def _unpacked(form: Any, given: Any) -> Any:
    """The array of the type `form`, which says what its numbers are."""
    import numpy as np

    kind, shape, data = msgspec.convert(given, _Array, builtin_types=(bytes,))
    numbers = form.__args__[1].__args__[0]
    if kind not in ((_FLOAT,) if numbers is np.float64 else _WHOLE):
        raise ValueError(f"an array of {numbers.__name__} cannot be of type {kind!r}")
    return np.frombuffer(data, dtype="<" + kind).reshape(shape).astype(numbers)
