"""What statements are asked with: named parameters that many of them have, and values that the database can hold.

Must not know: tables, questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import BigInteger, BindParameter, ColumnElement, bindparam, false, func, literal, or_

T = TypeVar("T")

ALL: Final = 2**31 - 1
"""A limit that is none."""

_LAST: Final = 2**63 - 1

VENUE: Final[BindParameter[int]] = bindparam("venue")
"""A venue's number."""

SYSTEM: Final[BindParameter[str]] = bindparam("system")
"""A rating system's word."""

AFTER: Final = bindparam("after", type_=BigInteger)
"""The number to go on from, as :func:`bounded` has it."""

SOME: Final = bindparam("some", type_=BigInteger)
"""How many rows at most, as :func:`limited` has it."""


def number(value: int) -> ColumnElement[int]:
    """A number that somebody asked for, to compare a column with. It may be beyond any that a column or the database's
    own integers hold: then the outermost of these stands for it, which compares the same with every row."""
    return literal(bounded(value), BigInteger)


def bounded(value: int) -> int:
    """The same of a number that becomes a parameter."""
    return max(-_LAST, min(value, _LAST))


def limited(limit: int | None) -> int:
    """A limit as a parameter."""
    return ALL if limit is None else limit


def portions(keys: Sequence[T], size: int = 500) -> list[Sequence[T]]:
    """The keys in portions that one question can name."""
    return [keys[at : at + size] for at in range(0, len(keys), size)]


NAMES: Final = 4
"""Names for which one question looks: SQLite takes no thousand conditions, and a long question holds up the loop."""


def naming_any(columns: Iterable[ColumnElement[Any]], names: Sequence[str]) -> ColumnElement[bool]:
    """In one of the columns stands one of the names, in capitals or not, also as a part of a word. At most `NAMES` of
    them, in small letters."""
    return or_(false(), *(func.lower(column).contains(name, autoescape=True) for column in columns for name in names))


def without_nul(value: Any) -> Any:
    """A text with U+FFFD for NUL, the one character that PostgreSQL cannot hold; anything else as it is."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value
