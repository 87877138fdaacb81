"""The intervals of stored ratings, by the names of the fields that answers have.

Rows of before both ends were stored have none: where their system says standard deviations, their distribution was
normal. Must not know: which rows, how an interval is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cgos_protocol.intervals import half_width
from cgos_server.core.rating.registry import stored_ends

NUMBERS: Final = ("mean", "spread", "lower", "upper")
"""The columns of one rating; some tables have them behind a prefix."""


def interval(system: str, row: Mapping[Any, Any], prefix: str = "", stored: str = "") -> dict[str, float | None]:
    """`lower`, `upper` and `half_width` of the rating that a row holds, each behind `prefix`.

    :param stored: what the row's columns have before their names
    """
    lower, upper = stored_ends(system, **{name: row[stored + name] for name in NUMBERS})
    return {f"{prefix}lower": lower, f"{prefix}upper": upper, f"{prefix}half_width": half_width(lower, upper)}


def change_intervals(system: str, row: Mapping[Any, Any]) -> dict[str, float | None]:
    """The same of a change: of the rating before it and of the one after it."""
    return interval(system, row, "before_", "before_") | interval(system, row, "after_", "after_")
