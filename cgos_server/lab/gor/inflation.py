"""A pool of engines whose strength never changes, rated by GoR: how far its ratings rise, and by whose pairing.

The server's matchmakers pair every round, its GoR rates the games. Strengths are GoR points; the weaker one wins as
GoR's curve without epsilon has it, so that chances sum to 1. All begin at their strength. Must not know: tables of the
thesis, command lines.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from msgspec import Struct

from cgos_server.core.pairing.constraints import FREE
from cgos_server.core.pairing.methods.change import total_change
from cgos_server.core.pairing.methods.entropy import gor_win
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import flat
from cgos_server.core.rating.incremental.gor import EPS, con, expectancy
from cgos_server.lab.ratings.matchmakers import Rounds
from cgos_server.lab.ratings.pools import Floats, generator
from cgos_server.lab.ratings.runs import Driven
from cgos_server.lab.report import Cell, Chart, Check, Column, Mean, Report, Table, close, line_of, mean_of
from cgos_server.lab.running import Work, carry_out

ALONE: Final = "expected-change, alone"

MATCHMAKERS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        "expected-change": ("expected-change", {}),
        ALONE: ("expected-change", flat(FREE, Waiting())),
        "entropy": ("entropy", {}),
        "permuted": ("permuted", {}),
    }
)
"""Row -> method and its options: a venue's wishes, or none, so that nothing but the expected change decides."""
EPSILONS: Final = (EPS, 0.0)

MEAN: Final = 1500.0
SPREAD: Final = 400.0
WEAKEST: Final = 400.0
STRONGEST: Final = 2600.0
"""Strengths are normal, held between these, points."""

LOOKS: Final = 20
"""So often the pool's mean is looked at."""

ERRORS: Final = 5.0

_COLUMNS: Final = (
    Column(name="matchmaker"),
    Column(name="epsilon", digits=3),
    Column(name="rise of the mean", digits=2, signed=True),
    Column(name="points a game", digits=3, signed=True),
    Column(name="expected by the truth", digits=3, signed=True),
    Column(name="epsilon x con of the stronger", digits=3),
    Column(name="thesis's formula", digits=3),
    Column(name="gap of strengths", digits=1),
)


class Pool(Struct, frozen=True, kw_only=True):
    """:ivar versions: an even number
    :ivar rounds: in each of which everybody plays
    """

    versions: int
    rounds: int
    replicates: int


class Task(Struct, frozen=True, kw_only=True):
    """One replicate under one matchmaker and one epsilon."""

    pool: Pool
    matchmaker: str
    eps: float
    replicate: int
    seed: int


class Course(Struct, frozen=True, kw_only=True):
    """What became of a pool.

    :ivar means: mean rating minus mean strength, at :func:`looks`
    :ivar points: what a game added to the sum of both ratings, on the average
    :ivar expected: the same, from the ratings before each game and the true chances
    :ivar variance: of `points` about `expected`
    :ivar of_stronger: epsilon times con of the higher rated, on the average of all games
    :ivar of_thesis: the thesis's expected total change, likewise; 0 without epsilon
    :ivar gap: of the two players' strengths, on the average
    """

    means: tuple[float, ...]
    points: float
    expected: float
    variance: float
    of_stronger: float
    of_thesis: float
    gap: float


def looks(rounds: int) -> list[int]:
    """After which rounds the mean is looked at, the last one included."""
    return sorted({math.ceil(rounds * at / LOOKS) for at in range(1, LOOKS + 1)})


def strengths(pool: Pool, seed: int, replicate: int) -> Floats:
    """(versions,) the same for every matchmaker and epsilon."""
    drawn = generator(seed, "gor", "truth", replicate).normal(MEAN, SPREAD, pool.versions)
    return np.clip(drawn, WEAKEST, STRONGEST)


def play(task: Task) -> Course:
    """One replicate."""
    pool, truth = task.pool, strengths(task.pool, task.seed, task.replicate)
    rng = generator(task.seed, "gor", task.matchmaker, str(task.eps), task.replicate)
    driven = Driven("gor", {"variant": "thesis", "eps": task.eps})
    for strength in truth:
        driven.enter_at(float(strength))
    meetings = Rounds(*MATCHMAKERS[task.matchmaker], rng)
    means, points, gaps, sums = [], 0.0, 0.0, np.zeros(4)
    looked = set(looks(pool.rounds))
    for played in range(1, pool.rounds + 1):
        before = driven.ratings()[0]
        for pair in meetings.pairs(driven):
            low, high = sorted(pair, key=lambda number: (before[number], number))
            chance = float(gor_win(truth[low], truth[high]))
            sums += _of_game(float(before[low]), float(before[high]), chance, task.eps)
            gaps += abs(float(truth[low] - truth[high]))
            meetings.began(low, high)
            driven.game(low, high, 2 if rng.random() < chance else 0)
        after = driven.ratings()[0]
        points += float(after.sum() - before.sum())
        if played in looked:
            means.append(float(after.mean() - truth.mean()))
    games = pool.rounds * (pool.versions // 2)
    expected, variance, of_stronger, of_thesis = (sums / games).tolist()
    return Course(
        means=tuple(means),
        points=points / games,
        expected=expected,
        variance=variance / games,
        of_stronger=of_stronger,
        of_thesis=of_thesis,
        gap=gaps / games,
    )


def _of_game(low: float, high: float, chance: float, eps: float) -> Floats:
    """Of a game between two ratings: the expected change of their sum, its variance, what epsilon puts in if ratings
    are true, and what the thesis has for that.

    :param chance: that the lower rated one wins, in truth
    """
    s_low, s_high = expectancy(low, high, variant="thesis", eps=eps)
    of_low, of_high = con(low), con(high)
    expected = of_low * (chance - s_low) + of_high * (1.0 - chance - s_high)
    variance = (of_low - of_high) ** 2 * chance * (1.0 - chance)
    of_thesis = float(total_change(low, high)) if eps else 0.0
    return np.array([expected, variance, eps * of_high, of_thesis])


def inflation(pool: Pool, work: Work) -> Report:
    """All matchmakers with and without epsilon. Ctrl-C leaves what is done."""
    conditions = [(matchmaker, eps) for eps in EPSILONS for matchmaker in MATCHMAKERS]
    done: dict[tuple[str, float], list[Course]] = {condition: [] for condition in conditions}

    def all_tasks() -> Iterator[Task]:
        for replicate in range(pool.replicates):
            for matchmaker, eps in conditions:
                yield Task(pool=pool, matchmaker=matchmaker, eps=eps, replicate=replicate, seed=work.seed)

    interrupted = carry_out(
        play,
        all_tasks(),
        lambda task, course: done[task.matchmaker, task.eps].append(course),
        work,
        everything=pool.replicates * len(conditions),
    )
    courses = {condition: each for condition, each in done.items() if each}
    if not courses:
        return Report(tables=(), interrupted=interrupted)
    return Report(
        tables=(_table(pool, courses),),
        checks=tuple(check for condition, each in courses.items() for check in _checks(condition, each)),
        pictures=(_chart(pool, courses),),
        notes=(
            "Strengths never change, so that every rise is inflation. `expected by the truth` follows from the ratings "
            "before each game and the true chances; the two columns after it are what epsilon puts in if ratings are "
            "true, with probabilities that sum to 1 and by the thesis's formula. The server's GoR has epsilon 0 unless "
            "it is configured.",
            "Con is larger for a rating that has fallen than for one that has risen, so that luck lifts a pool without "
            "epsilon too.",
            f"`{ALONE}` pairs by nothing else; the others heed a venue's wishes too: new opponents, colors.",
        ),
        interrupted=interrupted,
    )


def _table(pool: Pool, courses: dict[tuple[str, float], list[Course]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (matchmaker, eps), each in courses.items():
        cells = (
            mean_of([course.means[-1] for course in each]),
            mean_of([course.points for course in each]),
            mean_of([course.expected for course in each]),
            _mean([course.of_stronger for course in each]),
            _mean([course.of_thesis for course in each]),
            _mean([course.gap for course in each]),
        )
        rows.append((matchmaker, eps, *cells))
    return Table(
        key="inflation",
        title=f"{pool.versions} engines of fixed strength, {pool.rounds} games each, replicates: "
        f"{pool.replicates}; GoR points",
        columns=_COLUMNS,
        rows=tuple(rows),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _chart(pool: Pool, courses: dict[tuple[str, float], list[Course]]) -> Chart:
    x = looks(pool.rounds)
    lines = []
    for (matchmaker, eps), each in courses.items():
        means = [mean_of(column) for column in zip(*(course.means for course in each), strict=True)]
        lines.append(line_of(f"{matchmaker}, epsilon {eps:g}", x, means, errors=2.0, dashed=not eps))
    return Chart(
        key="inflation",
        title="Mean rating of a pool of fixed strengths",
        x_label="games a version",
        y_label="mean rating - mean strength",
        lines=tuple(lines),
    )


def _checks(condition: tuple[str, float], courses: Sequence[Course]) -> list[Check]:
    """What came is what the ratings and the true chances let expect: differences of games do not correlate."""
    matchmaker, eps = condition
    error = math.sqrt(math.fsum(course.variance for course in courses)) / len(courses)
    difference = _mean([course.points - course.expected for course in courses])
    claim = f"{matchmaker}, epsilon {eps:g}: points a game beyond those expected by the truth"
    return [close(claim, Mean(difference, error), 0.0, 1e-9, errors=ERRORS)]
