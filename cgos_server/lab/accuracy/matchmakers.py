"""What the server's matchmakers are worth to the ratings: pools of known strengths, a row for each matchmaker.

As in the study of systems, rated by `bayes` with its defaults; but the pairs are the server's, under the barrier policy
and with a venue's default constraints. Nobody has owners or families, so in force are: not the last opponent, limits on
repeated opponents, costs of colors, of anchors and newcomers among themselves, and for `information` the largest
expected score of 0.95. Must not know: how a matchmaker pairs, how figures are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from cgos_server.core.rating.base import Z95
from cgos_server.lab.accuracy.asked import (
    HEADLINE,
    LARGE,
    LARGE_VERSIONS,
    Asked,
    Group,
    Task,
    average,
    by_games,
    replicates,
    root,
)
from cgos_server.lab.ratings.matchmakers import METHODS, Rounds
from cgos_server.lab.ratings.pools import POOLS, limit_at
from cgos_server.lab.ratings.runs import pool_run
from cgos_server.lab.report import Cell, Chart, Column, Mean, Picture, Table, line_of

STUDY: Final = "matchmakers"

VERSIONS: Final[Mapping[str, int]] = MappingProxyType({"normal": 64, "bimodal": 64, LARGE: LARGE_VERSIONS})
"""Pool -> how many."""

MAIN: Final = ("information", "permuted")

IN_LARGE: Final = ("information", "permuted", "birk, fifth", "entropy")
"""Rows of the large pool."""

DRAWN_FROM: Final = 20
"""Games from which on errors are drawn: before, they are of another size."""


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All replicates, the main rows first."""
    listed: list[Task] = []
    for pool, versions in VERSIONS.items():
        rows = IN_LARGE if pool == LARGE else METHODS
        for row in rows:
            if asked.wants_pool(pool) and asked.wants_method(row):
                listed += replicates(
                    asked,
                    12 if pool == LARGE else 1 if row in MAIN else 3,
                    study=STUDY,
                    pool=pool,
                    row=row,
                    versions=asked.versions or versions,
                    games=asked.games,
                    seed=seed,
                )
    return sorted(listed, key=lambda task: task.row not in MAIN)


def replicate(task: Task) -> dict[str, Any]:
    """By number of games, what :func:`cgos_server.lab.ratings.runs.figures` says."""
    name, options = METHODS[task.row]

    def meet(rng: Generator) -> Rounds:
        return Rounds(name, options, rng)

    figures = pool_run(
        task.made_pool(),
        task.seed,
        replicate=task.replicate,
        systems=((HEADLINE, HEADLINE, {}),),
        rounds=task.games,
        meet=meet,
    )
    return {games: row[HEADLINE] for games, row in figures["at"].items()}


def tables(groups: Mapping[tuple[str, str], Group]) -> list[Table]:
    """Errors pool by pool; medians, offsets and intervals of all."""
    pools = [pool for pool in VERSIONS if any(name == pool for name, _ in groups)]
    by_pool = {pool: {row: groups[pool, row] for row in METHODS if (pool, row) in groups} for pool in pools}
    games = [int(number) for number in next(iter(groups.values()))[1][0]]
    more: list[tuple[Cell, ...]] = []
    intervals: list[tuple[Cell, ...]] = []
    for pool, rows in by_pool.items():
        for row, group in rows.items():
            medians = [float(np.sqrt(sorted(values)[len(values) // 2])) for values in _of(group, "mse").values()]
            offsets = [root(value**2 for value in values) for values in _of(group, "offset").values()]
            more += [(pool, row, "median of the RMSE", *medians), (pool, row, "offset (rms)", *offsets)]
            for key, what in (("inside", "ratings"), ("pairs", "differences")):
                means = [average(values) if values else None for values in _of(group, key).values()]
                intervals.append((pool, row, what, *means))
    who = (Column(name="pool"), Column(name="matchmaker"))
    return [
        *(_errors(pool, rows) for pool, rows in by_pool.items()),
        Table(
            key="matchmakers-more",
            title="Medians over the replicates, and the mean error, which is not in the RMSE (Elo)",
            columns=(*who, Column(name="figure"), *by_games(games, 1)),
            rows=tuple(more),
        ),
        Table(
            key="matchmakers-intervals",
            title="Share of 95 % intervals that hold the truth, after so many games a version",
            columns=(*who, Column(name="intervals of"), *by_games(games, 3)),
            rows=tuple(intervals),
        ),
    ]


def _of(group: Group, key: str) -> dict[int, list[float]]:
    """By number of games: one value a replicate, of those that have it."""
    _, answers = group
    return {
        int(games): [answer[games][key] for answer in answers if answer[games][key] is not None] for games in answers[0]
    }


def _squares(group: Group) -> dict[int, Mean]:
    return {games: root(values) for games, values in _of(group, "mse").items()}


def _errors(pool: str, rows: Mapping[str, Group]) -> Table:
    task, answers = next(iter(rows.values()))
    made = task.made_pool()
    cells: list[tuple[Cell, ...]] = [(row, len(group[1]), *_squares(group).values()) for row, group in rows.items()]
    games = [int(number) for number in answers[0]]
    if made.limit and task.versions == POOLS[made.name].versions:
        cells.insert(0, ("the limit", None, *(limit_at(made.limit, number) for number in games)))
    return Table(
        key=f"matchmakers-{pool}",
        title=f"{made.text}, {task.versions} versions: RMSE (Elo) after so many games a version",
        columns=(Column(name="matchmaker"), Column(name="replicates"), *by_games(games, 1)),
        rows=tuple(cells),
    )


def pictures(groups: Mapping[tuple[str, str], Group]) -> list[Picture]:
    """Errors after 20, 40 ... games, pool by pool, matchmaker by matchmaker."""
    charts: list[Picture] = []
    for pool in VERSIONS:
        rows = {row: _squares(groups[pool, row]) for row in METHODS if (pool, row) in groups}
        if not rows:
            continue
        every = list(next(iter(rows.values())))
        shown = [games for games in every if games >= DRAWN_FROM] or every
        charts.append(
            Chart(
                key=f"matchmakers-{pool}",
                title=f"{POOLS.get(pool, POOLS['normal']).text}{' (large)' if pool == LARGE else ''}: by matchmaker",
                x_label="",
                y_label="RMSE (Elo)",
                lines=tuple(
                    line_of(
                        f"after {games} games",
                        range(len(rows)),
                        [figures[games] for figures in rows.values()],
                        errors=Z95,
                        points=True,
                    )
                    for games in shown
                ),
                log_y=True,
                names=tuple(rows),
            )
        )
    return charts
