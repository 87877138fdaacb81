"""The tables of a ladder: ratings, when goals are reached, how it is to play there.

Must not know: how a replicate is played, how tables are printed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Final

from cgos_server.lab.ladder.course import STEP, Look
from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.ladder.play import Figures
from cgos_server.lab.ladder.summary import (
    Series,
    calibration,
    log_loss,
    miscalibration,
    newcomers_until,
    root,
    until,
)
from cgos_server.lab.ratings.newcomers import GOALS
from cgos_server.lab.ratings.pools import POOLS, limit_games
from cgos_server.lab.report import Cell, Column, Mean, Table

GOAL: Final = 50.0
"""RMSE of the whole pool, Elo."""

SHOWN: Final = 3
"""One in so many looks is a row of the table."""

_POOL: Final = Column(name="pool")
_ROW: Final = Column(name="row")


def tables(series: Sequence[Series], versions: int) -> tuple[Table, ...]:
    """All of them; those without rows are left out."""
    rated = [each for each in series if each.courses]
    every = (
        _goals(rated, versions),
        _ratings(rated),
        _course(rated),
        _newcomers(rated),
        _play(series),
        _mix(series),
    )
    return tuple(table for table in every if table.rows)


def _goals(rated: Sequence[Series], versions: int) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in rated:
        own = [until(each, GOAL, time, lambda look: look.mse) for time in (_hours, _games)]
        told = [until(each, GOAL, time, lambda look: look.told_mse) for time in (_hours, _games)]
        rows.append((each.pool, each.row.label, len(each.outcomes), *own, *told))
    for pool in dict.fromkeys(each.pool for each in rated):
        limit = KINDS[pool].limit
        if limit is not None and versions == POOLS[limit].versions:
            rows.append((pool, "the best schedule there could be", None, None, limit_games(limit, GOAL), None, None))
    return Table(
        key="goals",
        title=f"Until the RMSE of the whole pool is {GOAL:g} Elo; the oracle rates the same games",
        columns=(
            _POOL,
            _ROW,
            Column(name="replicates"),
            Column(name="hours", digits=2),
            Column(name="games of a version", digits=1),
            Column(name="oracle: hours", digits=2),
            Column(name="oracle: games", digits=1),
        ),
        rows=tuple(rows),
    )


def _ratings(rated: Sequence[Series]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in rated:
        ends, of = each.ends, calibration(each)
        rows.append(
            (
                each.pool,
                each.row.label,
                each.at_end(lambda look: look.hours),
                each.at_end(lambda look: look.games),
                root([look.mse for look in ends]),
                root([look.line for look in ends]),
                root([look.told_mse for look in ends]),
                each.at_end(lambda look: look.kendall),
                each.at_end(lambda look: look.spearman),
                each.at_end(lambda look: look.inside),
                each.at_end(lambda look: look.told_inside),
                None if of is None else miscalibration(of),
                log_loss(each),
            )
        )
    return Table(
        key="ratings",
        title="The ratings at the end of each replicate; the oracle rates the same games",
        columns=(
            _POOL,
            _ROW,
            Column(name="hours", digits=1),
            Column(name="games of a version", digits=1),
            Column(name="RMSE", digits=1),
            Column(name="RMSE about a line", digits=1),
            Column(name="oracle's RMSE", digits=1),
            Column(name="Kendall"),
            Column(name="Spearman"),
            Column(name="in the 95 % interval", percent=True, digits=1),
            Column(name="oracle's", percent=True, digits=1),
            Column(name="calibration error", digits=4),
            Column(name="log loss", digits=4),
        ),
        rows=tuple(rows),
    )


def _course(rated: Sequence[Series]) -> Table:
    labels = list(dict.fromkeys(each.row.label for each in rated))
    rows: list[tuple[Cell, ...]] = []
    for pool in dict.fromkeys(each.pool for each in rated):
        by_label = {
            each.row.label: {looks[0].hours: looks for looks in each.looks} for each in rated if each.pool == pool
        }
        every = sorted({hours for moments in by_label.values() for hours in moments}, reverse=True)
        for hours in reversed(every[::SHOWN]):
            cells: list[Cell] = []
            for label in labels:
                looks = by_label.get(label, {}).get(hours, [])
                cells += [_rms(looks, lambda look: look.mse), _rms(looks, lambda look: look.told_mse)]
            rows.append((pool, hours, *cells))
    return Table(
        key="course",
        title="RMSE after so many hours, Elo",
        columns=(
            _POOL,
            Column(name="hours", digits=2),
            *(Column(name=name, digits=1) for label in labels for name in (label, f"{label}: oracle")),
        ),
        rows=tuple(rows),
    )


def _rms(looks: Sequence[Look], square: Callable[[Look], float]) -> Mean | None:
    return root([square(look) for look in looks]) if looks else None


def _newcomers(rated: Sequence[Series]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in rated:
        arrived = sum(course.by_games.counts[0] for course in each.courses)
        if not arrived:
            continue
        games = [newcomers_until(each, goal, lambda course: course.by_games) for goal in GOALS]
        hours = [newcomers_until(each, goal, lambda course: course.by_hours, STEP) for goal in GOALS]
        rows.append((each.pool, each.row.label, arrived, *games, *hours))
    return Table(
        key="newcomers",
        title="Until the RMSE of newcomers is so many Elo",
        columns=(
            _POOL,
            _ROW,
            Column(name="newcomers"),
            *(Column(name=f"games to {goal:g}", digits=1) for goal in GOALS),
            *(Column(name=f"hours to {goal:g}", digits=2) for goal in GOALS),
        ),
        rows=tuple(rows),
    )


def _play(series: Sequence[Series]) -> Table:
    columns: tuple[tuple[Column, Callable[[Figures], float | None]], ...] = (
        (Column(name="games", digits=0), lambda play: play.games),
        (Column(name="idle", percent=True, digits=1), lambda play: 1.0 - play.utilization),
        (Column(name="most idle one", percent=True, digits=1), lambda play: 1.0 - play.lowest_utilization),
        (Column(name="opponents of a version", digits=1), lambda play: play.opponents),
        (Column(name="wait s, p50", digits=1), lambda play: play.wait_p50),
        (Column(name="p90", digits=1), lambda play: play.wait_p90),
        (Column(name="p99", digits=1), lambda play: play.wait_p99),
        (Column(name="longest", digits=0), lambda play: play.wait_max),
        (Column(name="longest, mean games", digits=1), lambda play: play.wait_max_games),
        (Column(name="passed over, most", digits=1), lambda play: play.passed_over),
        (Column(name="passes", digits=0), lambda play: play.passes),
    )
    return Table(
        key="play",
        title="Play and waiting",
        columns=(_POOL, _ROW, Column(name="replicates"), *(column for column, _ in columns)),
        rows=tuple(
            (each.pool, each.row.label, len(each.outcomes), *(each.of_play(figure) for _, figure in columns))
            for each in series
        ),
    )


def _mix(series: Sequence[Series]) -> Table:
    columns: tuple[tuple[Column, Callable[[Figures], float | None]], ...] = (
        (Column(name="games of a version: least", digits=1), lambda play: min(play.games_of)),
        (Column(name="median", digits=1), lambda play: statistics.median(play.games_of)),
        (Column(name="most", digits=1), lambda play: max(play.games_of)),
        (Column(name="least over median", digits=2), lambda play: play.least_games),
        *(
            (Column(name=f"{name}{other}", percent=True, digits=1), _third(third, other - 1))
            for third, name in ((0, "fastest third against third "), (2, "slowest third against third "))
            for other in (1, 2, 3)
        ),
        (
            Column(name="most frequent opponent of 100 games", percent=True, digits=1),
            lambda play: play.most_often or None,
        ),
        (Column(name="worth of a game"), lambda play: play.worth),
    )
    return Table(
        key="mix",
        title="Who meets whom; thirds by speed, the first is the fastest",
        columns=(_POOL, _ROW, *(column for column, _ in columns)),
        rows=tuple((each.pool, each.row.label, *(each.of_play(figure) for _, figure in columns)) for each in series),
    )


def _third(third: int, other: int) -> Callable[[Figures], float]:
    return lambda play: play.thirds[third][other]


def _hours(look: Look) -> float:
    return look.hours


def _games(look: Look) -> float:
    return look.games
