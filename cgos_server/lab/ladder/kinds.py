"""The pools of the ladder: where true strengths come from, and what an estimator is told that knows everything.

Must not know: speeds, who comes and goes, rating systems.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np

from cgos_server.lab.ratings.draws import STAR, Draw, Family, equals, heavy_tails, normals, star
from cgos_server.lab.ratings.pools import BIMODAL, NORMAL, THREE
from cgos_server.lab.ratings.told import Prior

CLONES: Final = 0.9
CLONES_WIDTH: Final = 5.0
"""Share of the near-clones, and how far apart they are at most, Elo."""

KNOWN_EXACTLY: Final = 1.0
"""Elo."""

FAMILIES: Final = Family(size=8, step=40.0, sd=25.0, interleaved=True)


class Kind(NamedTuple):
    """A pool.

    :ivar text: its distribution in words
    :ivar draw: strengths of so many versions
    :ivar prior: what the oracle is told of as many, in the same order
    :ivar exact: that is the distribution itself
    :ivar once: the result of two versions is always the same with the same colors
    :ivar limit: the row of :data:`cgos_server.lab.ratings.pools.LIMITS` that holds for 64 of them
    """

    text: str
    draw: Draw
    prior: Callable[[int], Prior]
    exact: bool = True
    once: bool = False
    limit: str | None = None


def _of(values: Sequence[tuple[float, float]]) -> Prior:
    prior = Prior(len(values))
    for at, (mean, sd) in enumerate(values):
        prior.value(at, mean, sd)
    return prior


def _groups(groups: tuple[tuple[float, float, float], ...], versions: int) -> Prior:
    """Of each version the group it is of, in the order in which they are drawn."""
    ends = np.rint(np.cumsum([share for share, _, _ in groups]) * versions).astype(int)
    sizes = np.diff(ends, prepend=0).tolist()
    return _of([(mean, sd) for (_, mean, sd), size in zip(groups, sizes, strict=True) for _ in range(size)])


def _star(versions: int) -> Prior:
    return _of([(2000.0, 150.0)] * (versions - 1) + [(STAR, KNOWN_EXACTLY)])


def _clones(versions: int) -> Prior:
    near = round(CLONES * versions)
    return _of([(2000.0, CLONES_WIDTH / np.sqrt(12.0))] * near + [(2000.0, 350.0)] * (versions - near))


KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "normal": Kind("N(2000, 350)", partial(normals, NORMAL), partial(_groups, NORMAL), limit="normal"),
        "bimodal": Kind(
            "75 % N(1700, 300) + 25 % N(2900, 200)",
            partial(normals, BIMODAL),
            partial(_groups, BIMODAL),
            limit="bimodal",
        ),
        "clusters": Kind(
            "thirds of N(1200, 120), N(2000, 120), N(2800, 120)", partial(normals, THREE), partial(_groups, THREE)
        ),
        "heavy-tails": Kind(
            "Student's t with 3 degrees of freedom, mean 2000, sd 350",
            heavy_tails,
            partial(_groups, NORMAL),
            exact=False,
        ),
        "near-clones": Kind(
            "90 % within 5 Elo of one another, the others N(2000, 350)", partial(equals, CLONES, CLONES_WIDTH), _clones
        ),
        "families": Kind(
            "families of 8 or so, roots N(2000, 350), each version N(40, 25) above the one before, linked",
            FAMILIES,
            FAMILIES.prior,
        ),
        "star": Kind(f"one at {STAR:.0f}, who always wins, over N(2000, 150)", star, _star),
        "deterministic": Kind(
            "N(2000, 350), and the result of two versions is always the same with the same colors",
            partial(normals, NORMAL),
            partial(_groups, NORMAL),
            once=True,
        ),
    }
)
"""By word. The oracle is told all that the text says, and of each version which of several groups it is of; of heavy
tails it is told mean and sd only, as its distributions are normal."""
