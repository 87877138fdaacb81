"""Is P(B is stronger) true? Of those of whom it is said to be 70 %, B is the stronger one in 70 of 100 cases.

It is Bayesian: the ladder's joint posterior and the question's own games. A question is asked of every pair of A and B
(blindly), and of those pairs alone in which B leads the ladder. It is a test; P is looked at before its first game,
after some pairs, and when it is over. Must not know: how a ladder is carried out, how P is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.random import Generator

from cgos_protocol.ids import VersionId
from cgos_server.core.questions.posterior import Games, Prior, superiority
from cgos_server.core.questions.tally import Score
from cgos_server.core.sequential import Hypotheses, first_decision
from cgos_server.lab.questions import ladders
from cgos_server.lab.questions.asked import PAIRED, Asked, Bools, Game, Ints, clustered, grouped
from cgos_server.lab.ratings.draws import Family, Strengths, normals
from cgos_server.lab.ratings.pools import Floats, generator
from cgos_server.lab.report import Chart, Check, Column, Line, Mean, Report, Table, close, line_of

STUDY: Final = "posterior"

TEST: Final = Hypotheses(lower=0.0, upper=50.0)
"""That is asked."""

EARLY: Final = 10
"""Pairs of games after which P is looked at."""

BUDGET: Final = 200
"""Pairs of games of a question, at most."""

BINS: Final = 10
"""Cases by P: so many intervals of the same width from 0 to 1."""

ALLOWED: Final = 0.03
"""So far P may be from the share of those that are stronger, on average over bins."""

ENOUGH: Final = 1000
"""Cases in a bin that is checked by itself: it is not farther off than that by more than two standard errors."""

WHEN: Final = ("before a game", f"after {EARLY} pairs", "at its end")

WAYS: Final[Mapping[str, bool]] = MappingProxyType({"blindly": False, "since it leads": True})
"""Word -> whether only those are asked about who lead the ladder."""

POOLS: Final[Mapping[str, tuple[str, Callable[[Generator, int], Strengths]]]] = MappingProxyType(
    {
        "successors": ("A is N(2000, 350), B its successor and N(20, 60) above it", Family(size=2, step=20.0, sd=60.0)),
        "strangers": ("A and B are N(2000, 120), and nothing connects them", partial(normals, ((1.0, 2000.0, 120.0),))),
        "clusters": (
            "A and B are N(1700, 80) or N(2300, 80), half of each, and nothing connects them",
            partial(normals, ((0.5, 1700.0, 80.0), (0.5, 2300.0, 80.0))),
        ),
    }
)
"""Word -> text, strengths of so many versions."""


class Task(Struct, frozen=True, kw_only=True):
    """A ladder, and a question of each of its pairs."""

    study: str = STUDY
    pool: str
    versions: int
    rounds: int
    game: Game
    seed: int
    replicate: int


class Answer(NamedTuple):
    """What n pairs of one ladder come to.

    :ivar stronger: (n,) whether B is, in truth
    :ivar leads: (n,) whether it leads the ladder
    :ivar said: (3, n) P at WHEN
    """

    stronger: Bools
    leads: Bools
    said: Floats


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All ladders."""
    return [
        Task(pool=pool, versions=asked.versions, rounds=asked.rounds, game=asked.game, seed=seed, replicate=replicate)
        for pool in POOLS
        for replicate in range(asked.ladders)
    ]


def answer(task: Task) -> Answer:
    """A ladder, and the questions that follow."""
    stream = partial(generator, task.seed, STUDY, task.pool)
    strengths = POOLS[task.pool][1](stream("truth", task.replicate), task.versions)
    ladder = ladders.played(stream("ladder", task.replicate), strengths, task.game, task.rounds)
    rng, said = stream("questions", task.replicate), []
    outcome_at = partial(ladder.system.outcome_at, ladder.driven.state)
    for pair, difference in enumerate(ladder.differences.tolist()):
        new, old = VersionId(2 * pair + 1), VersionId(2 * pair)
        prior = Prior(*ladder.system.joint_difference(ladder.driven.state, new, old))
        halves = np.array([task.game.on_one_opening(rng, difference, 2) for _ in range(BUDGET)])
        end = first_decision(halves.sum(axis=1).tolist(), PAIRED, TEST) or BUDGET
        said.append([superiority(prior, _games(halves[:pairs]), outcome_at) for pairs in (0, min(EARLY, end), end)])
    return Answer(ladder.differences > 0.0, ladder.leads, np.array(said).T)


def _games(halves: Ints) -> Games:
    """Half points of B, (pairs, 2): as Black, as White."""
    black, white = (Score(*(int(np.count_nonzero(one == points)) for points in (2, 1, 0))) for one in halves.T)
    return Games(black, white)


class _Cases(NamedTuple):
    """Of one pool, asked in one way, looked at at one time.

    :ivar parts: of each ladder: what is said, and whether it is so
    """

    pool: str
    way: str
    when: str
    parts: Sequence[tuple[Floats, Bools]]

    @property
    def number(self) -> int:
        """How many cases there are."""
        return sum(len(said) for said, _ in self.parts)

    @property
    def where(self) -> str:
        """In words."""
        return f"{self.pool}, asked {self.way}, {self.when}"

    @property
    def by_bin(self) -> list[_Cases]:
        """Those of each bin alone."""
        bins = [np.minimum((said * BINS).astype(np.int64), BINS - 1) for said, _ in self.parts]
        return [
            self._replace(
                parts=[
                    (said[its == which], true[its == which]) for (said, true), its in zip(self.parts, bins, strict=True)
                ]
            )
            for which in range(BINS)
        ]

    @property
    def mean_error(self) -> float:
        """How far the bins are off on average, each as often as it has cases."""
        return sum(abs(one.excess.mean) * one.number for one in self.by_bin if one.number) / self.number

    @property
    def said(self) -> Mean:
        """What is said on average."""
        return Mean(clustered((said.sum(), len(said)) for said, _ in self.parts).mean)

    @property
    def true(self) -> Mean:
        """The share of those of whom it is so."""
        return clustered((true.sum(), len(true)) for _, true in self.parts)

    @property
    def excess(self) -> Mean:
        """What is said above what is so."""
        return clustered((said.sum() - true.sum(), len(said)) for said, true in self.parts)


def report(answers: Mapping[Task, Answer]) -> Report:
    """Said beside true by bins, of each pool and way to ask."""
    listed = [
        _Cases(pool, way, when, [_chosen(answer, way, look) for answer in those.values()])
        for pool, those in grouped(answers, lambda task: task.pool).items()
        for way in WAYS
        for look, when in enumerate(WHEN)
    ]
    every = [cases for cases in listed if cases.number]
    return Report(
        tables=(_summary(every), *(_bins([one for one in every if one.pool == pool], pool) for pool in POOLS)),
        checks=tuple(check for one in every for check in _checks(one)),
        pictures=(_chart([one for one in every if one.when == WHEN[-1]]),),
    )


def _chosen(answer: Answer, way: str, look: int) -> tuple[Floats, Bools]:
    """What is said of those who are asked about, and whether it is so."""
    asked = answer.leads if WAYS[way] else np.ones_like(answer.leads)
    return answer.said[look][asked], answer.stronger[asked]


def _checks(cases: _Cases) -> list[Check]:
    """On average over the bins, without any error besides; and the bin that is farthest off of those with enough
    cases."""
    listed = [close(f"{cases.where}: mean error of the bins", Mean(cases.mean_error), 0.0, ALLOWED)]
    if enough := [one.excess for one in cases.by_bin if one.number >= ENOUGH]:
        farthest = max(enough, key=lambda excess: abs(excess.mean))
        claim = f"{cases.where}: farthest of {len(enough)} bins with {ENOUGH} cases"
        listed.append(close(claim, farthest, 0.0, ALLOWED, errors=2.0))
    return listed


def _summary(every: Sequence[_Cases]) -> Table:
    return Table(
        key="posterior",
        title="P(B is stronger) on average, and how often B is",
        columns=(
            Column(name="pool"),
            Column(name="asked"),
            Column(name="looked at"),
            Column(name="cases"),
            Column(name="P said"),
            Column(name="B stronger"),
            Column(name="said too much", signed=True),
            Column(name="mean error of bins"),
        ),
        rows=tuple(
            (
                one.pool,
                one.way,
                one.when,
                one.number,
                one.said,
                one.true,
                one.excess,
                one.mean_error,
            )
            for one in every
        ),
    )


def _bins(every: Sequence[_Cases], pool: str) -> Table:
    """What is said beside what is so, bin by bin, when the question is over."""
    return Table(
        key=f"posterior-{pool}",
        title=f"{POOLS[pool][0]}: P(B is stronger), and how often B is",
        columns=(
            Column(name="asked"),
            Column(name="looked at"),
            Column(name="P"),
            Column(name="cases"),
            Column(name="P said"),
            Column(name="B stronger"),
            Column(name="said too much", signed=True),
        ),
        rows=tuple(
            (
                cases.way,
                cases.when,
                f"{which / BINS:g} to {(which + 1) / BINS:g}",
                one.number,
                one.said,
                one.true,
                one.excess,
            )
            for cases in every
            for which, one in enumerate(cases.by_bin)
            if one.number
        ),
    )


def _chart(every: Sequence[_Cases]) -> Chart:
    lines = [
        line_of(
            f"{cases.pool}, {cases.way}",
            [one.said.mean for one in cases.by_bin if one.number],
            [one.true for one in cases.by_bin if one.number],
            errors=2.0,
            points=True,
        )
        for cases in every
    ]
    return Chart(
        key="posterior",
        title=f"P(B is stronger) {WHEN[-1]}, and how often B is",
        x_label="P",
        y_label="share of those that are stronger",
        lines=(*lines, Line(name="true", x=(0.0, 1.0), y=(0.0, 1.0), dashed=True)),
    )
