"""States of rating systems as bytes, whole and exact.

MessagePack with a header that names system, options and layout, so that no state is read under other rules by mistake.
Floats travel as IEEE 754 doubles: every bit comes back. Must not know: what the numbers mean.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec

T = TypeVar("T")


class _Headed(NamedTuple):
    """What stands in the bytes."""

    system: str
    layout: int
    state: msgspec.Raw


def dumped(system: str, layout: int, state: Any) -> bytes:
    """`state` as bytes, under what its system calls itself with its options, and the number of its layout."""
    return msgspec.msgpack.encode(_Headed(system, layout, msgspec.Raw(msgspec.msgpack.encode(state))))


def loaded(data: bytes, system: str, layout: int, form: type[T]) -> T:
    """What :func:`dumped` wrote, checked to be of type `form`. Raises ValueError for anything else."""
    try:
        headed = msgspec.msgpack.decode(data, type=_Headed)
        if (headed.system, headed.layout) != (system, layout):
            raise ValueError(f"That is a state of {headed.system}, layout {headed.layout}; {system} reads {layout}.")
        return msgspec.msgpack.decode(headed.state, type=form)
    except msgspec.MsgspecError as error:
        raise ValueError(f"That is no state of {system}: {error}") from error
