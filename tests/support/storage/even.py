"""The fields of an interval that is even, as answers have them."""

from __future__ import annotations

from cgos_server.core.rating.base import Z95


def even(mean: float, sd: float, prefix: str = "") -> dict[str, float]:
    """`lower`, `upper` and `half_width` of a normal distribution, each behind `prefix`."""
    lower, upper = mean - Z95 * sd, mean + Z95 * sd
    return {f"{prefix}lower": lower, f"{prefix}upper": upper, f"{prefix}half_width": (upper - lower) / 2}
