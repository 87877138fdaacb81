"""Tests that are asked for only because the new version leads the ladder: do they err more often?

A test counts its own games alone, so that what made its owner ask cannot mislead it. Beside its error rates stands how
often the ladder itself would have been 95 % sure. Must not know: how a ladder or a test is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from cgos_protocol.ids import VersionId
from cgos_server.core.sequential import Hypotheses
from cgos_server.lab.questions import ladders
from cgos_server.lab.questions.asked import (
    Asked,
    Bools,
    Game,
    Ints,
    at_most,
    clustered,
    grouped,
    named,
    normalized_of,
)
from cgos_server.lab.questions.walks import drawn, walked
from cgos_server.lab.ratings.draws import Family, Strengths
from cgos_server.lab.ratings.pools import Floats, generator
from cgos_server.lab.report import Chart, Check, Column, Mean, Report, Table, line_of

STUDY: Final = "leading"

STEP: Final = (20.0, 60.0)
"""Mean and standard deviation of what B is stronger where true differences vary, Elo."""

SURE: Final = 0.95


class Task(Struct, frozen=True, kw_only=True):
    """A ladder, and tests of those who lead it.

    :ivar truth: by how much every B is stronger, normalized Elo; None: it varies
    :ivar tests: of each pair of A and B that is asked about, for each pair of bounds
    """

    study: str = STUDY
    bounds: tuple[Hypotheses, ...]
    truth: float | None
    tests: int
    versions: int
    rounds: int
    game: Game
    seed: int
    replicate: int

    def strengths(self, rng: np.random.Generator) -> Strengths:
        """Of the ladder, which is not told who succeeds whom."""
        step, sd = STEP if self.truth is None else (self.game.difference_at(self.truth), 0.0)
        truth = Family(size=2, step=step, sd=sd)(rng, self.versions).truth
        return Strengths(truth, (None,) * self.versions)


class Answer(NamedTuple):
    """What n pairs of A and B of one ladder come to.

    :ivar truth: (n,) by how much B is stronger, normalized Elo
    :ivar leads: (n,) whether it leads; only then it is asked about
    :ivar sure: (n,) how sure the ladder is that B is stronger, 0..1
    :ivar accepted: (bounds, n) how many tests accepted; `rejected` likewise
    """

    truth: Floats
    leads: Bools
    sure: Floats
    accepted: Ints
    rejected: Ints


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All ladders. About half of the versions B lead."""
    tests = max(1, round(asked.tests / (asked.ladders * asked.versions / 4)))
    truths = dict.fromkeys((*(each for test in asked.hypotheses for each in (test.lower, test.upper)), None))
    return [
        Task(
            bounds=asked.hypotheses,
            truth=truth,
            tests=tests,
            versions=asked.versions,
            rounds=asked.rounds,
            game=asked.game,
            seed=seed,
            replicate=replicate,
        )
        for truth in truths
        for replicate in range(asked.ladders)
    ]


def answer(task: Task) -> Answer:
    """A ladder, and all tests that follow from it."""
    stream = partial(generator, task.seed, STUDY, f"{task.truth}")
    ladder = ladders.played(
        stream("ladder", task.replicate), task.strengths(stream("truth", task.replicate)), task.game, task.rounds
    )
    chances = np.array([task.game.pair(difference) for difference in ladder.differences.tolist()])
    leads = ladder.leads
    asked = np.flatnonzero(leads)
    ended = np.zeros((2, len(task.bounds), ladder.pairs), dtype=np.int64)
    for number, test in enumerate(task.bounds):
        which = np.repeat(asked, task.tests)
        rng = stream(f"tests {named(test)}", task.replicate)
        ends = walked(drawn(rng, chances[which]), len(which), test)
        for row, ones in enumerate((ends.accepted, ~ends.accepted)):
            np.add.at(ended[row, number], which[ones], 1)
    sure = [
        ladder.system.superiority(ladder.driven.state, VersionId(2 * pair + 1), VersionId(2 * pair))
        for pair in range(ladder.pairs)
    ]
    truth = np.array([normalized_of(each) for each in chances])
    return Answer(truth, leads, np.array(sure), *ended)


def report(answers: Mapping[Task, Answer]) -> Report:
    """How often tests are wrong, by bounds and truth; both error rates are checked."""
    rows = [
        _Row(test=test, number=number, truth=truth, accepts=accepts, answers=tuple(those.values()))
        for truth, those in grouped(answers, lambda task: task.truth).items()
        for number, test in enumerate(next(iter(those)).bounds)
        for accepts in (True, False)
        if truth is None or truth == (test.lower if accepts else test.upper)
    ]
    rows = [row for row in rows if row.tests]
    rows.sort(key=lambda row: (row.number, not row.accepts))
    return Report(tables=(_table(rows),), checks=tuple(row.check() for row in rows), pictures=(_chart(rows),))


class _Row(NamedTuple):
    """Tests that are wrong in one way.

    :ivar number: of the bounds
    :ivar truth: see :class:`Task`
    :ivar accepts: they accept, and the lower bound or less is true; else they reject, and the upper one or more is
    """

    test: Hypotheses
    number: int
    truth: float | None
    accepts: bool
    answers: Sequence[Answer]

    def _meant(self, answer: Answer) -> Bools:
        """Which pairs of a ladder these are."""
        if self.truth is not None:
            return np.ones(len(answer.truth), dtype=np.bool_)
        return answer.truth <= self.test.lower if self.accepts else answer.truth >= self.test.upper

    @property
    def wrong(self) -> Mean:
        """The share of those tests that decide wrongly."""
        parts = []
        for answer in self.answers:
            meant = self._meant(answer)
            wrong, right = (answer.accepted, answer.rejected) if self.accepts else (answer.rejected, answer.accepted)
            tests = wrong[self.number][meant].sum() + right[self.number][meant].sum()
            parts.append((wrong[self.number][meant].sum(), tests))
        return clustered(parts)

    @property
    def tests(self) -> int:
        """How many there are."""
        return sum(
            int((answer.accepted + answer.rejected)[self.number][self._meant(answer)].sum()) for answer in self.answers
        )

    @property
    def leading(self) -> Mean:
        """The share of versions B that lead."""
        return clustered(
            (answer.leads[self._meant(answer)].sum(), self._meant(answer).sum()) for answer in self.answers
        )

    @property
    def sure(self) -> Mean:
        """Of those, the share of whom the ladder is sure that they are stronger."""
        return clustered(
            ((answer.sure[these] >= SURE).sum(), these.sum())
            for answer in self.answers
            for these in [answer.leads & self._meant(answer)]
        )

    @property
    def where(self) -> str:
        """The true difference in words."""
        if self.truth is not None:
            return f"{self.truth:g}"
        return f"{self.test.lower:g} or less" if self.accepts else f"{self.test.upper:g} or more"

    @property
    def rate(self) -> float:
        """How often they may be wrong."""
        return self.test.alpha if self.accepts else self.test.beta

    def check(self) -> Check:
        """That they keep their error rate."""
        wrongly = "accepted" if self.accepts else "rejected"
        return at_most(f"{named(self.test)}, B leads, true {self.where}: {wrongly}", self.wrong, self.rate)


def _table(rows: Sequence[_Row]) -> Table:
    mean, sd = STEP
    return Table(
        key="leading",
        title="Tests of versions that lead the ladder: how often they err",
        columns=(
            Column(name="bounds, nElo"),
            Column(name="true nElo"),
            Column(name="differences"),
            Column(name="lead the ladder", digits=1, percent=True),
            Column(name=f"of these the ladder is {SURE:.0%} sure", digits=1, percent=True),
            Column(name="tests"),
            Column(name="wrong"),
            Column(name="share", digits=2, percent=True),
        ),
        rows=tuple(
            (
                named(row.test),
                row.where,
                f"N({mean:g}, {sd:g}) Elo" if row.truth is None else "all the same",
                row.leading,
                row.sure,
                row.tests,
                "accepted" if row.accepts else "rejected",
                row.wrong,
            )
            for row in rows
        ),
    )


def _chart(rows: Sequence[_Row]) -> Chart:
    x = range(len(rows))
    return Chart(
        key="leading",
        title="Tests of versions that lead the ladder",
        x_label="bounds and true difference (normalized Elo)",
        y_label="share of wrong decisions",
        lines=(
            line_of("wrong", x, [row.wrong for row in rows], errors=2.0, points=True),
            line_of("error rate", x, [Mean(row.rate) for row in rows], errors=2.0, dashed=True),
        ),
        names=tuple(f"{named(row.test)} {row.where}" for row in rows),
    )
