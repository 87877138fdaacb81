"""Old rankings to be put right: how strong everybody is, and where everybody stands.

Must not know: tournament systems, what comes of a list.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from msgspec import Struct
from numpy.random import Generator

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Floats
from cgos_server.tournaments.simulation.one_event import MOST_STRENGTH

Scenario: TypeAlias = Literal["right", "noisy", "improved", "new", "mixed"]

SCENARIOS: Final[tuple[Scenario, ...]] = get_args(Scenario)


class Shape(Struct, frozen=True, kw_only=True):
    """What lists are like.

    :ivar low: least true strength, Elo; strengths are uniform from it to `high`
    :ivar noise: standard deviation of what a noisy list takes strengths for, Elo, 0 or more
    :ivar changed: share of the engines that have improved, and of those that are new, above 0, at most 0.5
    :ivar places: so many places too low stand those who have improved; None: a quarter of the list
    """

    low: float = 1000.0
    high: float = 2600.0
    noise: float = 100.0
    changed: float = 0.1
    places: int | None = None

    def lowered(self, size: int) -> int:
        """How many places too low somebody stands in a list of so many."""
        return max(1, size // 4) if self.places is None else self.places


class Listed(NamedTuple):
    """An old ranking, best first.

    :ivar strengths: (n,) true strengths, Elo
    :ivar changed: places (0 = best) of those who have improved or are new
    """

    strengths: Floats
    changed: tuple[int, ...]


def require_shape(shape: Shape, sizes: tuple[int, ...]) -> None:
    """Raises Refused where no such list of one of these sizes can be."""
    for strength in (shape.low, shape.high):
        if not abs(strength) <= MOST_STRENGTH:
            raise Invalid(
                Code.LAB,
                f"{strength:g} can be no strength in Elo. Stay between -{MOST_STRENGTH:g} and {MOST_STRENGTH:g}.",
            )
    if not shape.low <= shape.high:
        raise Invalid(
            Code.LAB, f"Strengths from {shape.low:g} to {shape.high:g} are no range. Give the lower number first."
        )
    for size in sizes:
        if shape.lowered(size) >= size:
            raise Invalid(
                Code.LAB,
                f"In a list of {size} nobody stands {shape.lowered(size)} places too low. Give fewer places, or leave "
                f"out lists of {size}.",
            )


def listed(scenario: Scenario, size: int, shape: Shape, rng: Generator) -> Listed:
    """One list.

    `right`: in the true order. `noisy`: by strengths that are known with normal errors. `improved`: in the true order,
    but some, drawn by lot, stand so many places lower. `new`: in the true order, but some stand at the end, in an order
    by lot. `mixed`: all of this together.

    :param size: 2 or more
    """
    strengths = np.sort(rng.uniform(shape.low, shape.high, size))[::-1]
    known = strengths + (rng.normal(0.0, shape.noise, size) if scenario in ("noisy", "mixed") else 0.0)
    order: list[int] = np.argsort(-known, kind="stable").tolist()
    count = max(1, round(shape.changed * size))
    changed: set[int] = set()
    if scenario in ("improved", "mixed"):
        places = shape.lowered(size)
        chosen = sorted(rng.choice(size - places, min(count, size - places), replace=False).tolist())
        moved = [order[at] for at in chosen]
        order = [one for one in order if one not in moved]
        for at, one in zip(chosen, moved, strict=True):
            order.insert(at + places, one)
        changed.update(moved)
    if scenario in ("new", "mixed"):
        others = [one for one in order if one not in changed]
        new = rng.permutation(others)[:count].tolist()
        order = [one for one in order if one not in new] + new
        changed.update(new)
    return Listed(strengths[order], tuple(at for at, one in enumerate(order) if one in changed))
