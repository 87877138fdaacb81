"""How often sequential tests err, what they cost, and how true their estimates are.

Five true differences for each pair of bounds; every test goes on to its end. Must not know: ladders, how tests are
carried out, how figures are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, isinf
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from cgos_server.core.sequential import Cost, Estimate, Hypotheses, estimate, expected, fixed_estimate, fixed_length
from cgos_server.lab.questions.asked import (
    Asked,
    Bools,
    Game,
    Ints,
    at_most,
    grouped,
    logistic_of,
    named,
    share_of,
)
from cgos_server.lab.questions.walks import MARGIN, drawn, walked
from cgos_server.lab.ratings.pools import Floats, generator
from cgos_server.lab.report import Chart, Check, Column, Mean, Report, Table, close, line_of, mean_of

STUDY: Final = "errors"

TRUTHS: Final = (-0.5, 0.0, 0.5, 1.0, 1.5)
"""True differences: from the lower bound (0) to the upper one (1)."""

CHUNK: Final = 1000
"""Tests in a task, at most."""

ESTIMATED: Final = 10
"""One of so many tests is estimated after its end."""

NEAR_THEORY: Final = 0.05
"""So far, as a share, games may be from what theory has, which takes ratios for Brownian motions."""

LONG: Final = 0.95
"""So many tests are over after the games that the table tells."""

NEAR_MEDIAN: Final = 0.03
NEAR_COVERAGE: Final = 0.02


class Task(Struct, frozen=True, kw_only=True):
    """Some tests at one true difference.

    :ivar at: of TRUTHS
    """

    study: str = STUDY
    test: Hypotheses
    at: float
    tests: int
    game: Game
    seed: int
    replicate: int

    @property
    def truth(self) -> float:
        """The true difference, normalized Elo."""
        return self.test.lower + self.at * (self.test.upper - self.test.lower)

    @property
    def chances(self) -> Floats:
        """(5,) of the results of a pair."""
        return self.game.pair(self.game.difference_at(self.truth))


class Answer(NamedTuple):
    """How n tests ended.

    :ivar accepted: (n,) whether
    :ivar pairs: (n,) how many they took
    :ivar held: (m, 4) of those that were estimated: whether the estimate after a sequential test is above the truth,
        whether its 95 % interval holds it, and both of the plain score
    :ivar off: see :class:`cgos_server.lab.questions.walks.Ends`
    """

    accepted: Bools
    pairs: Ints
    held: Bools
    off: float


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All tests, some at a time."""
    return [
        Task(
            test=test,
            at=at,
            tests=min(CHUNK, asked.tests - begin),
            game=asked.game,
            seed=seed,
            replicate=begin // CHUNK,
        )
        for test in asked.hypotheses
        for at in TRUTHS
        for begin in range(0, asked.tests, CHUNK)
    ]


def answer(task: Task) -> Answer:
    """The tests of a task, each to its end."""
    test = task.test
    rng = generator(task.seed, STUDY, f"{test.lower:g} {test.upper:g} {task.at:g}", task.replicate)
    chances = task.chances
    ends = walked(drawn(rng, chances), task.tests, test)
    truth = logistic_of(chances)
    held = [
        (*_held(estimate(counts, test), truth), *_held(fixed_estimate(counts), truth))
        for counts in ends.counts[::ESTIMATED].tolist()
    ]
    return Answer(ends.accepted, ends.pairs, np.array(held), ends.off)


def _held(found: Estimate, truth: float) -> tuple[bool, bool]:
    """Whether an estimate is above the truth, and whether its interval holds it. Without a number it is unbounded."""
    lower = -inf if found.lower is None else found.lower
    upper = inf if found.upper is None else found.upper
    middle = found.elo if found.elo is not None else lower + upper if isinf(lower) != isinf(upper) else 0.0
    return middle > truth, lower <= truth <= upper


def report(answers: Mapping[Task, Answer]) -> Report:
    """Error rates, games, estimates; all of them checked."""
    rows = [_Row.of(those) for those in grouped(answers, lambda task: (task.test, task.at)).values()]
    tests = dict.fromkeys(row.task.test for row in rows)
    return Report(
        tables=(_errors(rows), _estimates(rows)),
        checks=tuple(check for row in rows for check in row.checks()),
        pictures=tuple(_chart(test, [row for row in rows if row.task.test == test]) for test in tests),
    )


class _Row(NamedTuple):
    """All tests at one true difference.

    :ivar task: the first of them
    """

    task: Task
    answer: Answer

    @staticmethod
    def of(answers: Mapping[Task, Answer]) -> _Row:
        """Of several tasks."""
        accepted, pairs, held, off = zip(*answers.values(), strict=True)
        return _Row(
            next(iter(answers)), Answer(np.concatenate(accepted), np.concatenate(pairs), np.concatenate(held), max(off))
        )

    @property
    def cost(self) -> Cost:
        """By theory."""
        return expected(self.task.test, None, self.task.chances.tolist())

    @property
    def fixed(self) -> float:
        """Games of a test of fixed length."""
        return 2.0 * fixed_length(self.task.test, None, self.task.chances.tolist())

    @property
    def games(self) -> Mean:
        """On average."""
        return mean_of((2.0 * self.answer.pairs).tolist())

    @property
    def where(self) -> str:
        """In words."""
        return f"{named(self.task.test)}, true {self.task.truth:g}"

    def checks(self) -> list[Check]:
        """What is claimed of it."""
        task, answer, games = self.task, self.answer, self.games
        listed = []
        if task.at <= 0.0:
            listed.append(at_most(f"{self.where}: accepted", share_of(answer.accepted), task.test.alpha))
        if task.at >= 1.0:
            listed.append(at_most(f"{self.where}: rejected", share_of(~answer.accepted), task.test.beta))
        error = None if games.error is None else games.error / self.cost.pairs / 2.0
        ratio = Mean(games.mean / self.cost.pairs / 2.0, error)
        listed.append(close(f"{self.where}: games / theory", ratio, 1.0, NEAR_THEORY, errors=2.0))
        listed.append(
            Check(
                claim=f"{self.where}: fewer games than a test of fixed length",
                holds=games.mean < self.fixed,
                measured=games,
                expected=self.fixed,
            )
        )
        above, inside = (share_of(answer.held[:, which]) for which in (0, 1))
        listed.append(close(f"{self.where}: estimates above the truth", above, 0.5, NEAR_MEDIAN, errors=2.0))
        listed.append(close(f"{self.where}: intervals that hold it", inside, 0.95, NEAR_COVERAGE, errors=2.0))
        listed.append(
            Check(
                claim=f"{self.where}: the screen is off by less than half its margin",
                holds=answer.off < MARGIN / 2.0,
                measured=Mean(answer.off),
                allowed=MARGIN / 2.0,
            )
        )
        return listed


def _errors(rows: Sequence[_Row]) -> Table:
    cells = [
        (
            named(row.task.test),
            row.task.truth,
            logistic_of(row.task.chances),
            len(row.answer.accepted),
            share_of(row.answer.accepted),
            row.cost.accepted,
            row.games,
            2.0 * row.cost.pairs,
            float(np.quantile(2 * row.answer.pairs, LONG)),
            row.fixed,
        )
        for row in rows
    ]
    return Table(
        key="errors",
        title="Sequential tests with error rates of 5 %, each to its end",
        columns=(
            Column(name="bounds, nElo"),
            Column(name="true nElo", digits=0, signed=True),
            Column(name="true Elo", digits=1, signed=True),
            Column(name="tests"),
            Column(name="accepted", digits=2, percent=True),
            Column(name="theory", digits=2, percent=True),
            Column(name="games", digits=0),
            Column(name="theory", digits=0),
            Column(name="95 % take at most", digits=0),
            Column(name="fixed length", digits=0),
        ),
        rows=tuple(cells),
    )


def _estimates(rows: Sequence[_Row]) -> Table:
    return Table(
        key="estimates",
        title="Estimates after sequential tests, and what the plain score would say",
        columns=(
            Column(name="bounds, nElo"),
            Column(name="true nElo", digits=0, signed=True),
            Column(name="tests"),
            Column(name="estimates above the truth", digits=1, percent=True),
            Column(name="95 % intervals that hold it", digits=1, percent=True),
            Column(name="plain scores above it", digits=1, percent=True),
            Column(name="their intervals that hold it", digits=1, percent=True),
        ),
        rows=tuple(
            (
                named(row.task.test),
                row.task.truth,
                len(row.answer.held),
                *(share_of(row.answer.held[:, which]) for which in range(4)),
            )
            for row in rows
        ),
    )


def _chart(test: Hypotheses, rows: Sequence[_Row]) -> Chart:
    """Games by true difference."""
    x = [row.task.truth for row in rows]
    return Chart(
        key=f"games-{test.upper:g}",
        title=f"Games of a test, {named(test)}",
        x_label="true difference (normalized Elo)",
        y_label="games",
        lines=(
            line_of("simulated", x, [row.games for row in rows], errors=2.0, points=True),
            line_of("theory", x, [Mean(2.0 * row.cost.pairs) for row in rows], errors=2.0),
            line_of("fixed length", x, [Mean(row.fixed) for row in rows], errors=2.0, dashed=True),
        ),
    )
