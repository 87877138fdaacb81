"""Simulated pools of known strengths: who is in them, who meets whom, who wins; and what could be reached at best.

Knows nothing of any rating system. Elo everywhere.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from zlib import crc32

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]

INITIAL = 2000.0
"""Where an unrated version starts."""

GAMES = (5, 10, 20, 40, 80, 160)
"""After how many games a version everything is measured."""

LIMIT_GAMES = (5, 10, 20, 40, 80, 160, 320)
LIMITS: Mapping[str, Sequence[float]] = MappingProxyType(
    {
        "one newcomer, all opponents equal and known": (142, 105, 76, 54, 39, 27, 19),
        "normal of 16": (168, 131, 99, 74, 54, 39, 28),
        "normal": (155, 118, 87, 64, 46, 33, 23),
        "bimodal": (180, 136, 101, 73, 53, 38, 27),
    }
)
"""RMSE after LIMIT_GAMES games a version of the best schedule that could exist, for an estimator that is told the true
prior: fractional A-optimal design, where one game carries at most (ln 10 / 400)^2 / 4 of information."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Where true strengths come from, and what the game is like.

    :ivar name: key and word in the tables
    :ivar text: the distribution in words
    :ivar versions: how many
    :ivar groups: (share, mean, sd) of normals; the sizes of the groups are the shares, rounded, in every replicate
    :ivar span: (lowest, highest) of a uniform distribution instead
    :ivar nu: Davidson's draw parameter: a draw has weight nu beside 10^(d/800) for a win and 10^(-d/800) for a loss
    :ivar advantage: what the first move is worth, Elo
    :ivar limit: the row of LIMITS that holds for it
    """

    name: str
    text: str
    versions: int = 64
    groups: tuple[tuple[float, float, float], ...] = ()
    span: tuple[float, float] | None = None
    nu: float = 0.0
    advantage: float = 0.0
    limit: str | None = None

    def draw(self, rng: Generator) -> Floats:
        """(versions,) true strengths, Elo."""
        if self.span is not None:
            return rng.uniform(*self.span, self.versions)
        ends = np.rint(np.cumsum([share for share, _, _ in self.groups]) * self.versions).astype(int)
        sizes = np.diff(ends, prepend=0)
        parts = [rng.normal(mean, sd, size) for (_, mean, sd), size in zip(self.groups, sizes, strict=True)]
        return np.concatenate(parts)


NORMAL = ((1.0, 2000.0, 350.0),)
BIMODAL = ((0.75, 1700.0, 300.0), (0.25, 2900.0, 200.0))
THREE = ((1 / 3, 1200.0, 120.0), (1 / 3, 2000.0, 120.0), (1 / 3, 2800.0, 120.0))

POOLS: Mapping[str, Pool] = MappingProxyType(
    {
        pool.name: pool
        for pool in (
            Pool(name="normal", text="N(2000, 350)", groups=NORMAL, limit="normal"),
            Pool(name="bimodal", text="75 % N(1700, 300) + 25 % N(2900, 200)", groups=BIMODAL, limit="bimodal"),
            Pool(name="normal-draws", text="N(2000, 350), about 40 % draws", groups=NORMAL, nu=1.7),
            Pool(name="bimodal-draws", text="bimodal, about 40 % draws", groups=BIMODAL, nu=1.7),
            Pool(name="normal-first", text="N(2000, 350), first move worth 60 Elo", groups=NORMAL, advantage=60.0),
            Pool(name="bimodal-first", text="bimodal, first move worth 60 Elo", groups=BIMODAL, advantage=60.0),
            Pool(name="narrow", text="N(2000, 120)", groups=((1.0, 2000.0, 120.0),)),
            Pool(name="wide", text="N(2000, 900)", groups=((1.0, 2000.0, 900.0),)),
            Pool(name="uniform", text="uniform 800-3200", span=(800.0, 3200.0)),
            Pool(name="three", text="thirds of N(1200, 120), N(2000, 120), N(2800, 120)", groups=THREE),
            Pool(name="bimodal-16", text="16 versions, bimodal", versions=16, groups=BIMODAL),
            Pool(name="normal-8", text="8 versions, N(2000, 350)", versions=8, groups=NORMAL),
        )
    }
)


def generator(seed: int, *words: str | int) -> Generator:
    """A stream of random numbers of its own for each combination of words."""
    return np.random.default_rng([seed, *(crc32(str(word).encode()) for word in words)])


def anchors(truth: Floats) -> tuple[int, int]:
    """Who stands at the 1/3 and at the 2/3 quantile of the pool."""
    order = np.argsort(truth, kind="stable")
    last = len(truth) - 1
    return int(order[round(last / 3)]), int(order[round(2 * last / 3)])


def score2(rng: Generator, pool: Pool, difference: float) -> int:
    """Half points of the side that moves first and is `difference` Elo stronger."""
    return half_points(rng.random(), difference + pool.advantage, pool.nu)


def half_points(lot: float, difference: float, nu: float = 0.0) -> int:
    """Half points of who is `difference` Elo stronger, advantages included: Bradley and Terry (1952), with draws
    Davidson (1970).

    :param lot: uniform from 0 to 1
    :param nu: see :class:`Pool`
    """
    half = 10.0 ** (difference / 800.0)
    at = lot * (half + nu + 1.0 / half)
    return 2 if at < half else 1 if at < half + nu else 0


def window(ratings: Floats) -> float:
    """How far the permuted window reaches: 500 Elo, or 1.5 times the largest gap to the 4th next version."""
    ranked = np.sort(ratings)
    return max(500.0, 1.5 * float(np.max(ranked[4:] - ranked[:-4]))) if len(ranked) > 4 else 3000.0


def permuted_window(rng: Generator, ratings: Floats, reach: float | None = None) -> list[tuple[int, int]]:
    """Pairs of neighbors after a uniform variate of the width of the window (or of `reach`, if given) was added to
    each rating."""
    width = window(ratings) if reach is None else reach
    order = np.argsort(ratings + rng.uniform(0.0, width, len(ratings)), kind="stable").tolist()
    return list(zip(order[::2], order[1::2], strict=False))


class Colors:
    """The side with fewer games of that color against this opponent moves first; by lot where they are equal."""

    def __init__(self, rng: Generator) -> None:
        self._rng = rng
        self._ahead: dict[tuple[int, int], int] = {}

    def first(self, first: int, second: int) -> tuple[int, int]:
        """The two in the order of their moves."""
        low, high = min(first, second), max(first, second)
        ahead = self._ahead.get((low, high), 0)
        low_first = ahead < 0 or (ahead == 0 and self._rng.random() < 0.5)
        self._ahead[low, high] = ahead + (1 if low_first else -1)
        return (low, high) if low_first else (high, low)


def limit_games(row: str, rmse: float) -> float:
    """After how many games the best schedule has this RMSE; straight lines in the logarithms, beyond the ends too."""
    games, limits = [math.log(games) for games in LIMIT_GAMES], [math.log(limit) for limit in LIMITS[row]]
    at = math.log(rmse)
    place = min(max(sum(limit > at for limit in limits), 1), len(games) - 1)
    (g0, g1), (l0, l1) = games[place - 1 : place + 1], limits[place - 1 : place + 1]
    return math.exp(g0 + (at - l0) * (g1 - g0) / (l1 - l0))


def limit_at(row: str, games: int) -> float:
    """The RMSE of the best schedule after so many games a version."""
    return float(LIMITS[row][LIMIT_GAMES.index(games)])
