"""Rating systems beside each other: all see the same results of a pool of known strengths, and are told nothing of it.

64 versions (in some pools fewer), two anchors at the 1/3 and 2/3 quantiles, all others unrated at first; each plays one
game a round; neighbors meet after noise was added to the ratings of one of the systems, the permuted window of CGOS.
Must not know: how a system rates, how figures are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from cgos_server.core.rating.base import Z95
from cgos_server.lab.accuracy.asked import (
    HEADLINE,
    MAIN_POOLS,
    Asked,
    Group,
    Task,
    average,
    by_games,
    replicates,
    root,
)
from cgos_server.lab.ratings.pools import LIMIT_GAMES, LIMITS, POOLS, limit_at, limit_games
from cgos_server.lab.ratings.runs import pool_run
from cgos_server.lab.report import Cell, Chart, Column, Mean, Picture, Table, line_of

STUDY: Final = "systems"

PEER: Final = "cgos-elo, compat"

DRIVING: Final[Mapping[str, tuple[tuple[str, str, Mapping[str, Any]], ...]]] = MappingProxyType(
    {
        HEADLINE: tuple((name, name, {}) for name in (HEADLINE, "cgos-elo", "gor", "egf2021", "glicko2")),
        PEER: ((PEER, "cgos-elo", {"compat": True}), ("cgos-elo", "cgos-elo", {})),
    }
)
"""By the system whose ratings make the pairs: all systems that see the results, it first, as (label, name, options)."""

POINTS: Final = ("gor", "egf2021")
"""Systems whose points are not Elo: they are also held against the straight line that fits best."""

TITLE: Final = "RMSE (Elo) after so many games a version"


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All replicates, the main pools first."""
    listed: list[Task] = []
    for name, pool in POOLS.items():
        if not asked.wants_pool(name):
            continue
        fewer = 1 if name in MAIN_POOLS else 8 if pool.nu or pool.advantage else 12
        for row in DRIVING if name in MAIN_POOLS else (HEADLINE,):
            listed += replicates(
                asked,
                fewer,
                study=STUDY,
                pool=name,
                row=row,
                versions=asked.versions or pool.versions,
                games=asked.games,
                seed=seed,
            )
    return sorted(listed, key=lambda task: task.pool not in MAIN_POOLS)


def replicate(task: Task) -> dict[str, Any]:
    """See :func:`cgos_server.lab.ratings.runs.pool_run`; without what depends on the machine."""
    figures = pool_run(
        task.made_pool(), task.seed, replicate=task.replicate, systems=DRIVING[task.row], rounds=task.games
    )
    del figures["cpu"]
    return figures


def tables(groups: Mapping[tuple[str, str], Group]) -> list[Table]:
    """Errors pool by pool; intervals, and what was learned, of all pools; the limit."""
    pools = list(dict.fromkeys(pool for pool, _ in groups))
    driven = {pool: groups[pool, HEADLINE] for pool in pools if (pool, HEADLINE) in groups}
    return [
        *(_errors(pool, {row: group for (name, row), group in groups.items() if name == pool}) for pool in pools),
        *([_intervals(driven), _widths(driven), _learned(driven)] if driven else []),
        Table(
            key="limit",
            title="The limit: RMSE of the best schedule, told the true distribution, after so many games",
            columns=(Column(name="pool"), *by_games(LIMIT_GAMES, 0)),
            rows=tuple((name, *map(float, values)) for name, values in LIMITS.items()),
        ),
    ]


def _looks(group: Group) -> list[int]:
    """After how many games a version everything was measured."""
    return [int(games) for games in group[1][0]["at"]]


def _of(group: Group, label: str, key: str) -> list[list[float]]:
    """By look: one value a replicate, of those that have it."""
    by_look = [[answer["at"][str(games)][label][key] for answer in group[1]] for games in _looks(group)]
    return [[value for value in values if value is not None] for values in by_look]


def _squares(group: Group, label: str, key: str = "mse") -> list[Mean]:
    return [root(values) for values in _of(group, label, key)]


def _means(group: Group, label: str, key: str) -> list[Mean | None]:
    return [average(values) if values else None for values in _of(group, label, key)]


def _limit(task: Task) -> str | None:
    """The row of LIMITS that holds."""
    pool = POOLS[task.pool]
    return pool.limit if task.versions == pool.versions else None


def _errors(pool: str, rows: Mapping[str, Group]) -> Table:
    first, of_replicates = next(iter(rows.values()))
    looks = _looks((first, of_replicates))
    limit = _limit(first)
    cells: list[tuple[Cell, ...]] = []
    if limit:
        cells.append(("the limit", "", *(limit_at(limit, games) for games in looks)))
    for row, group in rows.items():
        for label, _, _ in DRIVING[row]:
            errors = _squares(group, label)
            cells.append((label, row, *errors))
            if label in POINTS:
                errors = _squares(group, label, "line")
                cells.append((f"{label}, best line", row, *errors))
            if limit:
                cells.append((f"{label}: games / the limit's", row, *_games_used(limit, looks, errors)))
    drawn = average(answer["draws"] for answer in of_replicates).mean
    size = f"{first.versions} versions, {len(of_replicates)} replicates, {drawn:.0%} draws"
    return Table(
        key=f"error-{pool}",
        title=f"{POOLS[pool].text}, {size}: {TITLE}",
        columns=(Column(name="system"), Column(name="pairs by"), *by_games(looks, 1)),
        rows=tuple(cells),
    )


def _games_used(limit: str, looks: Sequence[int], errors: Iterable[Mean]) -> list[float]:
    return [games / limit_games(limit, error.mean) for games, error in zip(looks, errors, strict=True)]


def _intervals(driven: Mapping[str, Group]) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for pool, group in driven.items():
        for key, what in (("inside", "ratings"), ("pairs", "differences"), ("seen", "(differences looked at)")):
            cells.append((POOLS[pool].text, len(group[1]), what, *_means(group, HEADLINE, key)))
    return Table(
        key="intervals",
        title=f"{HEADLINE}: share of 95 % intervals that hold the truth, after so many games a version",
        columns=(
            Column(name="pool"),
            Column(name="replicates"),
            Column(name="intervals of"),
            *by_games(_looks(next(iter(driven.values()))), 3),
        ),
        rows=tuple(cells),
    )


def _widths(driven: Mapping[str, Group]) -> Table:
    cells: list[tuple[Cell, ...]] = []
    for pool, group in driven.items():
        cells.append((POOLS[pool].text, "half-width of 95 % intervals", *_means(group, HEADLINE, "halfwidth")))
        offsets = [root(value**2 for value in values) for values in _of(group, HEADLINE, "offset")]
        cells.append((POOLS[pool].text, "offset (rms)", *offsets))
    return Table(
        key="widths",
        title=f"{HEADLINE}: how wide intervals are, and the mean error, which is not in the RMSE (Elo)",
        columns=(Column(name="pool"), Column(name="figure"), *by_games(_looks(next(iter(driven.values()))), 1)),
        rows=tuple(cells),
    )


def _learned(driven: Mapping[str, Group]) -> Table:
    """What the last cold refit learned, on average; and how many refits there were."""
    every = [answer["learned"] for _, answers in driven.values() for answer in answers]
    words = [
        word
        for word in sorted(set.intersection(*map(set, every)))
        if all(isinstance(learned[word], int | float) for learned in every)
    ]
    return Table(
        key="learned",
        title=f"{HEADLINE}: what its last cold refit learned, and cold and warm refits (means)",
        columns=(Column(name="pool"), *(Column(name=word) for word in (*words, "cold", "warm"))),
        rows=tuple(
            (
                POOLS[pool].text,
                *(average(answer["learned"][word] for answer in answers).mean for word in words),
                *(average(answer["refits"][part] for answer in answers).mean for part in (0, 1)),
            )
            for pool, (_, answers) in driven.items()
        ),
    )


def pictures(groups: Mapping[tuple[str, str], Group]) -> list[Picture]:
    """Errors by games, of the main pools if there are any; intervals by games, of all."""
    pools = list(dict.fromkeys(pool for pool, _ in groups))
    drawn = [pool for pool in pools if pool in MAIN_POOLS] or pools
    charts: list[Picture] = [
        _error_chart(pool, {row: group for (name, row), group in groups.items() if name == pool}) for pool in drawn
    ]
    lines = []
    for (pool, row), group in groups.items():
        if row == HEADLINE:
            means = [Mean(mean.mean) for mean in _means(group, HEADLINE, "inside") if mean is not None]
            lines.append(line_of(pool, _looks(group), means, errors=Z95))
    if lines:
        looks = sorted({games for each in lines for games in each.x})
        charts.append(
            Chart(
                key="intervals",
                title=f"95 % intervals of {HEADLINE} that hold the truth",
                x_label="games a version",
                y_label="share",
                lines=(*lines, line_of("95 %", looks, [Mean(0.95)] * len(looks), errors=Z95, dashed=True)),
                log_x=True,
            )
        )
    return charts


def _error_chart(pool: str, rows: Mapping[str, Group]) -> Chart:
    task, _ = group = next(iter(rows.values()))
    limit, looks = _limit(task), _looks(group)
    lines = []
    if limit:
        lines.append(
            line_of("the limit", looks, [Mean(limit_at(limit, games)) for games in looks], errors=Z95, dashed=True)
        )
    for row, its in rows.items():
        for label, _, _ in DRIVING[row] if row == HEADLINE else DRIVING[row][:1]:
            is_points = label in POINTS
            figures = _squares(its, label, "line" if is_points else "mse")
            lines.append(line_of(f"{label}, best line" if is_points else label, looks, figures, errors=Z95))
    return Chart(
        key=f"error-{pool}",
        title=f"{POOLS[pool].text}: how far off ratings are",
        x_label="games a version",
        y_label="RMSE (Elo), offset removed",
        lines=tuple(lines),
        log_x=True,
        log_y=True,
    )
