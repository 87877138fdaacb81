"""Round numbers along an axis, that people count by. Must not know: what is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

TICKS: Final = 5


def ticks(low: float, high: float, most: int = TICKS) -> list[float]:
    """Round numbers (1, 2 or 5 times a power of ten apart) from `low` to `high`, at most `most` + 1 of them."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    power: float = 10.0 ** math.floor(math.log10(span / most))
    step = next(factor * power for factor in (1, 2, 5, 10) if span / (factor * power) <= most)
    first = math.ceil(low / step - 1e-9)
    return [index * step for index in range(first, math.floor(high / step + 1e-9) + 1)]


def axis(low: float, high: float, begin: float, end: float) -> Callable[[float], float]:
    """Where a value from `low` to `high` lies between `begin` and `end`; one beyond them lies at the end."""

    def place(value: float) -> float:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return round(begin + share * (end - begin), 1)

    return place
