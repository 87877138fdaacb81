"""What follows from a value that never changes, worked out once and kept with that value for as long as it lives.

Rounds and events are such values: a changed one is a new value, which knows nothing yet. Must not know: what is worked
out, of which values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, Protocol, Self, TypeVar, TypeVarTuple

S = TypeVar("S")
T = TypeVar("T")
Rest = TypeVarTuple("Rest")


def kept(work: Callable[[S, *Rest], T]) -> Callable[[S, *Rest], T]:
    """`work`, which is done once for each value and further arguments. Callers must not change what it returns.

    :param work: takes a value that has a ``__dict__``, then hashable arguments; what it returns follows from them alone
    """

    @wraps(work)
    def looked_up(value: S, *rest: *Rest) -> T:
        known = _all_of(value)
        key = (work, *rest)
        if key in known:
            result: T = known[key]
        else:
            result = known[key] = work(value, *rest)
        return result

    return looked_up


class Growing(Protocol):
    """What is made by going through values in turn."""

    def copy(self) -> Self:
        """One that can grow by itself."""


G = TypeVar("G", bound=Growing)


class _Grown(NamedTuple):
    """What has been made of values, kept with the last of them.

    :ivar basis: what else it follows from
    :ivar before: the values before the last one
    """

    basis: tuple[object, ...]
    before: tuple[object, ...]
    made: Any


def grown(
    values: tuple[S, ...],
    basis: tuple[*Rest],
    make: Callable[[*Rest], G],
    enter: Callable[[G, S, *Rest], None],
) -> G:
    """What entering these values in turn makes. Callers must not change it.

    It is kept with the last value, and that of one value more is made from it, so that an event that goes on costs one
    step a round. Of a row of values only the last two keep theirs.

    :param values: with a ``__dict__`` each
    :param basis: all that it follows from besides the values
    :param make: makes what nothing has been entered in; a function of a module, by which it is found again
    """
    made: G | None = _made(values, basis, make)
    if made is not None:
        return made
    before: G | None = _made(values[:-1], basis, make)
    made, new = (make(*basis), values) if before is None else (before.copy(), values[-1:])
    for value in new:
        enter(made, value, *basis)
    if values:
        _all_of(values[-1])[make] = _Grown(basis, values[:-1], made)
        for value in values[:-2]:
            _all_of(value).pop(make, None)
    return made


def _made(values: tuple[object, ...], basis: tuple[object, ...], make: object) -> Any:
    """What is kept of these; None where there is nothing."""
    last: _Grown | None = _all_of(values[-1]).get(make) if values else None
    return last.made if last and last.basis == basis and last.before == values[:-1] else None


def _all_of(value: object) -> dict[object, Any]:
    """What is kept with a value."""
    keys: Any = vars(value)  # need not be words
    known: dict[object, Any] = keys
    return known
