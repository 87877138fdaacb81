"""Bots that are better with one color than with the other: do 95 % intervals of differences hold the truth?

A pool from N(2000, 350), paired as in `cgos-server lab accuracy`. Each version's strength is higher with the first move
and lower without it, or the other way round, by half of a preference of its own; its rating is of both colors together.
The same games are rated without and with the option `color_sd`, which is told how far preferences differ. Takes a
quarter of a minute a replicate.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import sys
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.random import Generator

from benchmarks.reporting import program
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.bayes.system import Bayes
from cgos_server.lab.ratings.pools import POOLS, Colors, Floats, anchors, generator, permuted_window, score2
from cgos_server.lab.ratings.runs import PAIRS, Driven, aligned, rms, share

GAMES = (5, 10, 20, 40, 80, 160)
"""After how many games a version everything is measured."""

COLUMNS = ("both colors", "given colors, without", "given colors, with")
"""Intervals of differences: of ratings; of strengths in a game with given colors, without and with the option."""


class Truth(NamedTuple):
    """(n,) strengths of both colors together, and (n,) strength with the first move minus strength without; Elo."""

    strength: Floats
    preference: Floats

    def ahead(self, first: int, second: int) -> float:
        """How far the first mover is ahead in a game of these two."""
        together = self.strength[first] - self.strength[second]
        return float(together + 0.5 * (self.preference[first] + self.preference[second]))


def held(driven: Driven, truth: Truth, pairs: Sequence[tuple[int, int]], by_color: bool) -> float:
    """The share of 95 % intervals with the truth in them."""
    system = driven.system
    assert isinstance(system, Bayes)
    inside = 0
    for first, second in pairs:
        black, white = VersionId(first), VersionId(second)
        if by_color:
            mean, sd = system.difference_by_color(driven.state, black, white)
            inside += abs(mean - truth.ahead(first, second)) <= Z95 * sd
        else:
            mean, sd = system.difference(driven.state, black, white)
            inside += abs(mean - float(truth.strength[first] - truth.strength[second])) <= Z95 * sd
    return inside / len(pairs)


def replicate(number: int, seed: int, preference: float, rounds: int) -> dict[int, dict[str, float]]:
    """By number of games: the mean square error of ratings, and the share that holds for each of COLUMNS."""
    pool = POOLS["normal"]
    draw = generator(seed, "colors", "truth", number)
    truth = Truth(pool.draw(draw), draw.normal(0.0, 1.0, pool.versions) * preference)
    rng, looks = (generator(seed, "colors", use, number) for use in ("games", "looks"))
    fixed, colors = anchors(truth.strength), Colors(rng)
    free = [version for version in range(pool.versions) if version not in fixed]
    without, with_option = Driven("bayes"), Driven("bayes", {"color_sd": preference})
    both = (without, with_option)
    for system in both:
        for version in range(pool.versions):
            system.enter(float(truth.strength[version]) if version in fixed else None)
        system.refit_if_due()
    at = {}
    for games in range(1, rounds + 1):
        for pair in permuted_window(rng, without.ratings()[0]):
            first, second = colors.first(*pair)
            score = score2(rng, pool, truth.ahead(first, second))
            for system in both:
                system.game(first, second, score)
        for system in both:
            system.refit_if_due()
        if games in GAMES:
            pairs = _pairs(looks, free)
            shares = (
                held(without, truth, pairs, by_color=False),
                held(without, truth, pairs, by_color=True),
                held(with_option, truth, pairs, by_color=True),
            )
            error = (with_option.ratings()[0] - truth.strength)[free]
            at[games] = {"mse": aligned(error), **dict(zip(COLUMNS, shares, strict=True))}
    return at


def _pairs(rng: Generator, free: Sequence[int]) -> list[tuple[int, int]]:
    chosen = (rng.choice(np.array(free), 2, replace=False) for _ in range(PAIRS))
    return [(int(first), int(second)) for first, second in chosen]


def run(
    replicates: int = 24,
    preference: Annotated[float, "between versions, sd of strength with the first move minus without, Elo"] = 60.0,
    rounds: Annotated[int, "games a version"] = 160,
    seed: int = 2027,
) -> list[dict[str, Any]]:
    """A row for each number of games."""
    done = []
    for number in range(replicates):
        print(f"replicate {number + 1} of {replicates}", file=sys.stderr)
        done.append(replicate(number, seed, preference=preference, rounds=rounds))
    rows = []
    print(f"{'games':>5}  {'RMSE':>12}" + "".join(f"  {column:>22}" for column in COLUMNS))
    for games in done[0]:
        error = rms([each[games]["mse"] for each in done])
        shares = {column: share([each[games][column] for each in done]) for column in COLUMNS}
        cells = "".join(f"  {mean:>14.3f} ± {se:.3f}" for mean, se in shares.values())
        print(f"{games:5}  {error[0]:6.1f} ± {error[1]:3.1f}{cells}")
        rows.append({"games": games, "rmse": error, "held": shares})
    return rows


main = program(run, replicates=1, rounds=5)


if __name__ == "__main__":
    main()
