"""Rating systems by the word in configuration, and ratings as people and wires write them.

A new system is a branch here and a module beside this one. Must not know: files of configuration, storage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from cgos_server.core.rating.base import Rating, RatingSystem
from cgos_server.core.rating.cgos_elo import CgosElo
from cgos_server.errors import Refused

SYSTEMS = ("cgos-elo",)
_NUMBERS = ("min_k", "max_k", "provisional_k")


def rating_system(name: str, initial: float, options: Mapping[str, Any]) -> RatingSystem:
    """The system called `name`; a new version starts at `initial` Elo.

    Options of ``cgos-elo``: ``min_k``, ``max_k``, ``provisional_k`` (numbers, Elo), ``compat`` (true or false).
    Raises Refused where name, option or value is impossible; the sentence lists the choices.
    """
    if name not in SYSTEMS:
        raise Refused("rating-system", f"There is no rating system {name!r}. Choose one of: {', '.join(SYSTEMS)}.")
    if not math.isfinite(initial):
        raise Refused("rating-initial", f"A new version cannot start at {initial}. Give a number, such as 1800.")
    for key, value in options.items():
        if key in _NUMBERS:
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise Refused("rating-option", f"{name}: {key} must be a number, not {value!r}.")
        elif key != "compat":
            choices = ", ".join((*_NUMBERS, "compat"))
            raise Refused("rating-option", f"{name} has no option {key!r}. Choose from: {choices}.")
        elif not isinstance(value, bool):
            raise Refused("rating-option", f"{name}: compat must be true or false, not {value!r}.")
    system = CgosElo(initial, **options)
    if not 0 < system.min_k < system.max_k:
        raise Refused("rating-option", f"{name}: min_k must be above 0 and below max_k ({system.max_k:g}).")
    if not system.min_k <= system.provisional_k <= system.max_k:
        raise Refused("rating-option", f"{name}: provisional_k must lie between min_k and max_k.")
    return system


def label(rating: Rating) -> str:
    """A rating as the CGOS lines show it: an integer, never negative, with ``?`` while provisional."""
    return f"{max(0, round(rating.mean))}{'?' if rating.provisional else ''}"
