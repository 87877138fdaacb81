"""How near numbers must be to those of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np


def within(actual: Any, expected: Any, allowed: Any, what: str) -> None:
    """Raises AssertionError where any is further than `allowed` from what was expected."""
    off = np.abs(np.asarray(actual) - np.asarray(expected))
    assert (off <= allowed).all(), f"{what}: {actual} where {expected} was expected, off by {off.max()}"
