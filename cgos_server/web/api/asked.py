"""Rows as answers of the deeds' routes say them. Must not know: routes, SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")
V = TypeVar("V")

_NOT: Final = object()


def like(kind: type[T], row: object, **more: Any) -> T:
    """A value of `kind` with the fields of `row` that are called alike, and with these."""
    fields = kind.__struct_fields__  # type: ignore[attr-defined]
    had = {name: found for name in fields if name not in more and (found := getattr(row, name, _NOT)) is not _NOT}
    return kind(**had, **more)


def if_there(value: T | None, what: Callable[[T], V]) -> V | None:
    """What is asked of a value; None where there is no value."""
    return None if value is None else what(value)
