"""Pools as real servers have them, with their goals; and the games of a replicate.

A replicate's games are made once and kept in a file, so that all who rate them rate the same ones. Who meets whom is
then decided by the permuted window on the ratings of `told.fixed_prior`, which belongs to no rating system. Must not
know: any rating system.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.random import Generator

from cgos_server.lab.ratings import told
from cgos_server.lab.ratings.draws import Draw, Family, Strengths, equals, heavy_tails, normals, star, uniform
from cgos_server.lab.ratings.pools import (
    BIMODAL,
    NORMAL,
    THREE,
    Colors,
    Floats,
    Pool,
    anchors,
    generator,
    permuted_window,
    score2,
)

LOOKS: Final = (2, 5, 10, 20, 40, 80)
"""After how many games a version everything is measured."""

JOIN_ROUNDS: Final = 10
"""Between two parts of a pool that joins by parts."""

Game = tuple[int, int, int]
"""Who moves first, who second, and the first one's half points."""


def _normal_prior(versions: int) -> told.Prior:
    prior = told.Prior(versions)
    for number in range(versions):
        prior.value(number, 2000.0, 350.0)
    return prior


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalPool:
    """A pool with its goals.

    :ivar draw: its strengths
    :ivar stated: whether the rating systems are told of predecessors
    :ivar games_of: the pool whose strengths and games these are
    :ivar nu: Davidson's draw parameter
    :ivar looks: after how many rounds everything is measured
    :ivar revised_after: after so many rounds, and not before, the rating systems are told of predecessors, and of
        results that were wrong; 0: of predecessors at once
    :ivar misreported_every: one of so many results is told the wrong way round until then; 0: none
    :ivar generations: so many parts of the pool join one after the other, in the order of numbers, JOIN_ROUNDS apart
    :ivar prior: of an estimator that is told everything, where that is a normal distribution
    :ivar goals: RMSE by number of games
    """

    name: str
    text: str
    draw: Draw
    versions: int = 64
    stated: bool = True
    games_of: str = ""
    nu: float = 0.0
    looks: tuple[int, ...] = LOOKS
    revised_after: int = 0
    misreported_every: int = 0
    generations: int = 1
    prior: Callable[[int], told.Prior] | None = None
    goals: Mapping[int, float] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The pool whose strengths and games these are."""
        return self.games_of or self.name

    def strengths(self, seed: int, replicate: int, versions: int) -> Strengths:
        """Of one replicate."""
        return self.draw(generator(seed, self.source, "truth", replicate), versions)

    def present(self, number: int, versions: int) -> int:
        """How many of so many versions, the first ones, play in a round; rounds are numbered from 1."""
        return versions * min((number - 1) // JOIN_ROUNDS + 1, self.generations) // self.generations

    def rounds(
        self, strengths: Strengths, rng: Generator, ratings: Callable[[], Floats], count: int
    ) -> Iterator[list[Game]]:
        """Games of so many rounds. `ratings` is asked before each of them: the window looks at these."""
        colors, kind = Colors(rng), Pool(name=self.name, text=self.text, nu=self.nu)
        truth = strengths.truth
        for number in range(1, count + 1):
            games: list[Game] = []
            for pair in permuted_window(rng, ratings()[: self.present(number, len(truth))]):
                first, second = colors.first(*pair)
                games.append((first, second, score2(rng, kind, float(truth[first] - truth[second]))))
            yield games


FAMILIES = Family(size=8, step=40.0, sd=25.0)
ONE_FAMILY = Family(size=0, step=15.0, sd=15.0)
GROWING = Family(size=8, step=40.0, sd=25.0, interleaved=True)
WRONG = Family(size=8, step=40.0, sd=25.0, wrong_every=7, wrong_by=440.0)

GOAL_POOLS: Mapping[str, GoalPool] = MappingProxyType(
    {
        pool.name: pool
        for pool in (
            GoalPool(
                name="families",
                text="8 families of 8, roots N(2000, 350), steps N(40, 25), linked",
                draw=FAMILIES,
                prior=FAMILIES.prior,
                goals={5: 115, 10: 75, 20: 58, 40: 45, 80: 32},
            ),
            GoalPool(name="ladder", text="the same, not linked", draw=FAMILIES, stated=False, games_of="families"),
            GoalPool(
                name="linked-late",
                text="the same, linked after 20 games",
                draw=FAMILIES,
                revised_after=20,
                games_of="families",
            ),
            GoalPool(
                name="growing",
                text="the 8 families, linked; their second versions join after 10 rounds, and so on",
                draw=GROWING,
                prior=GROWING.prior,
                looks=(10, 15, 35, 55, 75, 90),
                generations=8,
            ),
            GoalPool(
                name="one-family",
                text="one family of 64, root N(2000, 350), steps N(15, 15), linked",
                draw=ONE_FAMILY,
                prior=ONE_FAMILY.prior,
                goals={5: 85, 10: 52, 20: 40, 40: 32, 80: 22},
            ),
            GoalPool(
                name="wrong-links",
                text="the 8 families, a seventh of the links wrong by 440 (who comes later follows), linked",
                draw=WRONG,
                goals={5: 170, 10: 130, 20: 110, 40: 72, 80: 50},
            ),
            GoalPool(
                name="wrong-unlinked",
                text="the same, not linked",
                draw=WRONG,
                stated=False,
                games_of="wrong-links",
            ),
            GoalPool(
                name="star",
                text="one at 3500 over N(2000, 150)",
                draw=star,
                goals={20: 137, 40: 82, 80: 52},
            ),
            GoalPool(
                name="equals",
                text="90 % within 5 Elo, the others N(2000, 350)",
                draw=partial(equals, 0.9, 5.0),
                goals={20: 62, 40: 45, 80: 28},
            ),
            GoalPool(
                name="twenty",
                text="twenty versions within 3 Elo",
                versions=20,
                draw=partial(equals, 1.0, 3.0),
                looks=(20, 80, 200),
            ),
            GoalPool(name="normal", text="N(2000, 350)", draw=partial(normals, NORMAL), prior=_normal_prior),
            GoalPool(
                name="corrected",
                text="the same, a tenth of the first 20 results wrong until then",
                draw=partial(normals, NORMAL),
                revised_after=20,
                misreported_every=10,
                games_of="normal",
            ),
            GoalPool(
                name="draws",
                text="N(2000, 350), about half of the games drawn",
                nu=2.6,
                draw=partial(normals, NORMAL),
                prior=_normal_prior,
            ),
            GoalPool(name="bimodal", text="75 % N(1700, 300) + 25 % N(2900, 200)", draw=partial(normals, BIMODAL)),
            GoalPool(
                name="three", text="thirds of N(1200, 120), N(2000, 120), N(2800, 120)", draw=partial(normals, THREE)
            ),
            GoalPool(name="uniform", text="uniform 800-3200", draw=uniform),
            GoalPool(name="t3", text="Student's t with 3 degrees of freedom, sd 350", draw=heavy_tails),
        )
    }
)


class Record(NamedTuple):
    """A replicate's games.

    :ivar fixed: the two anchors
    :ivar rounds: of games
    """

    strengths: Strengths
    fixed: tuple[int, int]
    rounds: Sequence[Sequence[Game]]


def made(pool: GoalPool, *, seed: int, replicate: int, versions: int, rounds: int) -> Record:
    """A replicate's games, paired by the window on the ratings of :func:`told.fixed_prior`."""
    strengths = pool.strengths(seed, replicate, versions)
    fixed = anchors(strengths.truth[: pool.present(1, versions)])
    driver = told.Told(told.fixed_prior(versions), {at: float(strengths.truth[at]) for at in fixed}, pool.nu)
    rng = generator(seed, pool.source, "games", replicate)
    games = []
    for its in pool.rounds(strengths, rng, lambda: driver.mode, rounds):
        driver.count(its)
        games.append(its)
    return Record(strengths, fixed, games)


def recorded(folder: Path, pool: GoalPool, *, seed: int, replicate: int, versions: int, rounds: int) -> Path:
    """The file with a replicate's games; made if it is not there."""
    path = folder / f"{pool.source}-{versions}-{rounds}-{seed}-{replicate}.json"
    if not path.exists():
        record = made(pool, seed=seed, replicate=replicate, versions=versions, rounds=rounds)
        content = {
            "truth": record.strengths.truth.tolist(),
            "predecessors": record.strengths.predecessors,
            "fixed": record.fixed,
            "rounds": record.rounds,
        }
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".part", delete=False, encoding="utf-8") as file:
            json.dump(content, file)
        os.replace(file.name, path)  # another worker may have made the same one
    return path


def read(path: Path) -> Record:
    """What :func:`recorded` wrote."""
    content = json.loads(path.read_text(encoding="utf-8"))
    return Record(
        strengths=Strengths(np.array(content["truth"]), tuple(content["predecessors"])),
        fixed=(content["fixed"][0], content["fixed"][1]),
        rounds=[[(first, second, score) for first, second, score in games] for games in content["rounds"]],
    )
