"""Ladders of several pools under several servers, replicate by replicate, and the report of them.

Must not know: how a replicate is played, command lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.ladder.course import Look
from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.ladder.pictures import pictures
from cgos_server.lab.ladder.players import Population
from cgos_server.lab.ladder.replicate import Outcome, Row, Task, check, do
from cgos_server.lab.ladder.summary import Series
from cgos_server.lab.ladder.tables import tables
from cgos_server.lab.report import Check, Report, mean_of
from cgos_server.lab.running import Work, carry_out

LOOKS: Final = 24
"""How often the ratings are looked at, each time after so much more of the hours."""

FIRST_LOOK: Final = 1.0 / 96.0
"""Of the hours."""

ALLOWED: Final = 4.0
"""Standard errors by which the oracle's mean square error may be above that of a rating system."""

LEAST_CHECKED: Final = 5
"""Replicates from which on standard errors are good enough to hold anything against."""


class Ladders(Struct, frozen=True, kw_only=True):
    """What is simulated.

    :ivar population: how each pool is drawn; its word stands for each of `pools`
    :ivar rows: no label is twice
    :ivar until: a replicate ends at the first look at which its RMSE is at most this, Elo; 0: at the end of the hours
    :ivar interval: seconds between two passes
    :ivar settle: seconds from a game's end until its versions are ready again
    """

    pools: tuple[str, ...]
    rows: tuple[Row, ...]
    population: Population
    replicates: int
    until: float = 0.0
    interval: float = 1.0
    settle: float = 0.5


def run(ladders: Ladders, work: Work) -> Report:
    """All of it.

    :raises Refused: where a row or a pool cannot be
    """
    labels = [row.label for row in ladders.rows]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise Invalid(Code.LAB, f"These rows are there twice: {', '.join(twice)}. Leave one of them out.")
    for row in ladders.rows:
        check(row, ladders.population)
    outcomes: dict[tuple[str, str], list[Outcome]] = {}

    def take(task: Task, outcome: Outcome) -> None:
        outcomes.setdefault((task.population.pool, task.row.label), []).append(outcome)

    number = len(ladders.pools) * len(ladders.rows) * ladders.replicates
    interrupted = carry_out(do, _tasks(ladders, work.seed), take, work, everything=number)
    series = [
        Series(pool, row, tuple(outcomes[pool, row.label]))
        for pool in ladders.pools
        for row in ladders.rows
        if (pool, row.label) in outcomes
    ]
    return Report(
        tables=tables(series, ladders.population.versions),
        checks=tuple(made for each in series if (made := _against_oracle(each)) is not None),
        pictures=pictures(series, ladders.population),
        notes=tuple(f"Pool {pool}: {KINDS[pool].text}." for pool in ladders.pools),
        interrupted=interrupted,
    )


def looks(hours: float) -> tuple[float, ...]:
    """When the ratings are looked at, hours: at the end at last."""
    return (*(hours * FIRST_LOOK ** (1.0 - at / (LOOKS - 1)) for at in range(LOOKS - 1)), hours)


def _tasks(ladders: Ladders, seed: int) -> Iterator[Task]:
    """Replicate by replicate, so that an interruption leaves all rows with about as many."""
    for replicate in range(ladders.replicates):
        for pool in ladders.pools:
            for row in ladders.rows:
                yield Task(
                    population=replace(ladders.population, pool=pool),
                    row=row,
                    seed=seed,
                    replicate=replicate,
                    looks=looks(ladders.population.hours),
                    until=ladders.until,
                    interval=ladders.interval,
                    settle=ladders.settle,
                )


def _against_oracle(series: Series) -> Check | None:
    """That nobody rates better than the oracle, who is told what nobody knows; None where that cannot be judged: it is
    not told the very distribution, or there are too few replicates."""
    courses = series.courses
    if not KINDS[series.pool].exact or len(courses) < LEAST_CHECKED:
        return None
    worse = mean_of([_excess(course.looks) for course in courses])
    allowed = ALLOWED * (worse.error or 0.0)
    return Check(
        claim=f"{series.pool}, {series.row.label}: the oracle's mean square is no larger",
        holds=worse.mean <= allowed,
        measured=worse,
        allowed=allowed,
    )


def _excess(seen: Sequence[Look]) -> float:
    """By how much the oracle's mean square error is above the ratings', as a share of the latter, over all looks."""
    return mean_of([(look.told_mse - look.mse) / look.mse for look in seen]).mean
