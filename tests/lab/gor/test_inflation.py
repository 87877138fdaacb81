"""A pool of fixed strengths: what its mean does, against what its games let expect."""

from __future__ import annotations

import pytest

from cgos_server.core.rating.incremental.gor import EPS, con
from cgos_server.lab.gor import inflation as gor_inflation
from cgos_server.lab.gor.inflation import (
    ALONE,
    LOOKS,
    MATCHMAKERS,
    Course,
    Pool,
    Task,
    inflation,
    looks,
    play,
    strengths,
)
from cgos_server.lab.report import Mean
from cgos_server.lab.running import Work

SMALL = Pool(versions=6, rounds=5, replicates=2)


def task(eps: float, matchmaker: str = "permuted", replicate: int = 0) -> Task:
    return Task(pool=SMALL, matchmaker=matchmaker, eps=eps, replicate=replicate, seed=7)


def test_means_are_looked_at_until_the_end() -> None:
    assert looks(5) == [1, 2, 3, 4, 5]
    assert len(looks(1000)) == LOOKS
    assert looks(1000)[-1] == 1000


def test_the_mean_rises_by_the_points_of_the_games() -> None:
    course = play(task(EPS))
    assert len(course.means) == 5
    assert course.means[-1] == pytest.approx(course.points * SMALL.rounds / 2.0)


def test_the_first_round_puts_in_epsilon_times_con_of_the_stronger() -> None:
    """Everybody begins at its strength, so that what the truth lets expect is what epsilon puts in."""
    pool = Pool(versions=6, rounds=1, replicates=1)
    course = play(Task(pool=pool, matchmaker="entropy", eps=EPS, replicate=0, seed=7))
    assert course.expected == pytest.approx(course.of_stronger)
    truth = strengths(pool, 7, 0)
    assert EPS * con(float(truth.max())) <= course.of_stronger <= EPS * con(float(truth.min()))
    none = play(Task(pool=pool, matchmaker="entropy", eps=0.0, replicate=0, seed=7))
    assert none.expected == pytest.approx(0.0, abs=1e-12)
    assert (none.of_stronger, none.of_thesis) == (0.0, 0.0)


def test_every_matchmaker_meets_the_same_strengths() -> None:
    assert (strengths(SMALL, 7, 0) == strengths(SMALL, 7, 0)).all()
    assert (strengths(SMALL, 7, 0) != strengths(SMALL, 7, 1)).any()


def test_as_many_processes_give_the_same() -> None:
    report = inflation(SMALL, Work(seed=2))
    assert inflation(SMALL, Work(seed=2, jobs=2)) == report
    assert [(row[0], row[1]) for row in report.tables[0].rows] == [
        (name, eps) for eps in (EPS, 0.0) for name in MATCHMAKERS
    ]
    assert ALONE in MATCHMAKERS
    assert report.holds


def test_a_drift_that_the_truth_does_not_explain_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def drifting(task: Task) -> Course:
        return Course(means=(1.0,), points=1.0, expected=0.5, variance=1e-4, of_stronger=0.5, of_thesis=0.5, gap=10.0)

    monkeypatch.setattr(gor_inflation, "play", drifting)
    report = inflation(Pool(versions=6, rounds=1, replicates=3), Work())
    assert not any(check.holds for check in report.checks)
    assert report.tables[0].rows[0][2] == Mean(1.0, 0.0)


def test_interrupted_at_once_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(_task: Task) -> Course:
        raise KeyboardInterrupt

    monkeypatch.setattr(gor_inflation, "play", stopped)
    report = inflation(SMALL, Work())
    assert report.interrupted
    assert not report.tables
