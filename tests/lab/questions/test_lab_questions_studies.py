"""Studies of questions at tiny sizes: their tables say what their tasks came to, checks find what is wrong."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest

from cgos_protocol.errors import Refused
from cgos_server.core.sequential import expected, fixed_length
from cgos_server.lab.questions import errors, gauntlet, leading, posterior
from cgos_server.lab.questions.asked import Asked
from cgos_server.lab.questions.studies import run
from cgos_server.lab.report import Check, Report
from cgos_server.lab.running import Work

TINY = Asked(bounds=("0,200",), tests=4, ladders=1, versions=4, rounds=2, within=250.0)


def rows(report: Report, key: str) -> list[tuple[Any, ...]]:
    return next([*each.rows] for each in report.tables if each.key == key)


def check(report: Report, claim: str) -> Check:
    return next(each for each in report.checks if each.claim == claim)


def test_the_same_figures_in_two_processes() -> None:
    asked = msgspec.structs.replace(TINY, studies=("leading", "posterior"), bounds=("0,400",), tests=2)
    one, two = (run(asked, Work(5, jobs)) for jobs in (1, 2))
    assert one == two
    assert {each.key for each in one.tables} == {
        "leading",
        "posterior",
        "posterior-successors",
        "posterior-strangers",
        "posterior-clusters",
    }
    assert msgspec.json.decode(msgspec.json.encode(one), type=Report) == one


def an_end(task: errors.Task, accepted: int, pairs: int) -> errors.Answer:
    """Made up: so many of four tests accept, all after so many pairs."""
    return errors.Answer(np.arange(4) < accepted, np.full(4, pairs), np.array([[True, True, False, False]]), 0.1)


def test_error_rates_are_told_and_checked() -> None:
    tasks = errors.tasks(TINY, 0)
    assert [task.truth for task in tasks] == [-100.0, 0.0, 100.0, 200.0, 300.0]
    theory = [expected(task.test, None, task.chances.tolist()) for task in tasks]
    kept = {
        task: an_end(task, accepted, round(cost.pairs))
        for task, accepted, cost in zip(tasks, (0, 0, 2, 4, 4), theory, strict=True)
    }
    report = errors.report(kept)
    assert all(each.holds for each in report.checks if each.claim.endswith((": accepted", ": rejected", "margin")))
    shown = {row[1]: row for row in rows(report, "errors")}
    assert shown[100.0][4].mean == 0.5
    assert shown[100.0][6].mean == 2 * round(theory[2].pairs)
    assert shown[100.0][9] == pytest.approx(2 * fixed_length(tasks[2].test, None, tasks[2].chances.tolist()))
    assert shown[0.0][2] == pytest.approx(0.0, abs=1e-6)
    wrong = errors.report(kept | {tasks[1]: an_end(tasks[1], 2, 1000), tasks[3]: an_end(tasks[3], 2, 10)})
    assert not check(wrong, "[0, 200], true 0: accepted").holds
    assert not check(wrong, "[0, 200], true 0: games / theory").holds
    assert not check(wrong, "[0, 200], true 0: fewer games than a test of fixed length").holds
    assert not check(wrong, "[0, 200], true 200: rejected").holds


def test_tests_are_as_many_as_were_asked_for() -> None:
    tasks = errors.tasks(msgspec.structs.replace(TINY, tests=2 * errors.CHUNK + 1), 0)
    assert [task.tests for task in tasks[:3]] == [errors.CHUNK, errors.CHUNK, 1]
    assert [task.replicate for task in tasks[:3]] == [0, 1, 2]


def test_only_leaders_are_tested() -> None:
    tasks = leading.tasks(msgspec.structs.replace(TINY, tests=8), 3)
    assert [task.truth for task in tasks] == [0.0, 200.0, None]
    for task in tasks[:2]:
        answer = leading.answer(task)
        assert answer.truth == pytest.approx([task.truth] * 2, abs=1e-6)
        ended = (answer.accepted + answer.rejected)[0]
        assert ended.tolist() == (task.tests * answer.leads).tolist()
        assert (answer.sure[answer.leads] > 0.5).all()


def made(truth: list[float], accepted: list[int], rejected: list[int]) -> leading.Answer:
    """A ladder that is made up, of which everybody leads."""
    n = len(truth)
    return leading.Answer(
        np.array(truth), np.ones(n, dtype=np.bool_), np.full(n, 0.99), np.array([accepted]), np.array([rejected])
    )


def test_wrong_decisions_are_those_of_the_true_difference() -> None:
    null, other, varying = leading.tasks(TINY, 0)
    report = leading.report(
        {
            null: made([0.0, 0.0], [1, 0], [9, 10]),
            other: made([200.0, 200.0], [9, 9], [1, 1]),
            varying: made([-5.0, 100.0, 300.0, 400.0], [0, 7, 8, 8], [10, 3, 2, 2]),
        }
    )
    shares = {(row[1], row[6]): (row[5], row[7].mean) for row in rows(report, "leading")}
    assert shares == {
        ("0", "accepted"): (20, 0.05),
        ("0 or less", "accepted"): (10, 0.0),
        ("200", "rejected"): (20, 0.1),
        ("200 or more", "rejected"): (20, 0.2),
    }
    assert [each.holds for each in report.checks] == [True, True, False, False]


def test_what_is_said_is_held_against_what_is_so() -> None:
    tasks = posterior.tasks(TINY, 0)
    said = np.tile(np.repeat([0.25, 0.75], 1000), (3, 1))
    true = np.tile([True, False, False, False], 250)
    leads = np.repeat([False, True], 1000)
    right = posterior.Answer(np.concatenate([true, ~true]), leads, said)
    report = posterior.report(dict.fromkeys(tasks, right))
    assert report.holds
    ended = [row for row in rows(report, "posterior-successors") if row[1] == posterior.WHEN[-1]]
    assert [(row[0], row[2], row[3], row[5].mean) for row in ended] == [
        ("blindly", "0.2 to 0.3", 1000, 0.25),
        ("blindly", "0.7 to 0.8", 1000, 0.75),
        ("since it leads", "0.7 to 0.8", 1000, 0.75),
    ]
    swapped = posterior.report(dict.fromkeys(tasks, right._replace(stronger=~right.stronger)))
    assert not any(each.holds for each in swapped.checks)
    summary = {row[:3]: row for row in rows(swapped, "posterior")}
    blindly = summary["successors", "blindly", posterior.WHEN[0]]
    assert blindly[6].mean == pytest.approx(0.0), "too much here, too little there"
    assert blindly[7] == pytest.approx(0.5)


def test_a_gauntlet_ends_where_it_is_precise_enough() -> None:
    ladder, *fields = gauntlet.tasks(msgspec.structs.replace(TINY, within=120.0), 1)[:-5]
    assert (ladder.way, ladder.newcomers) == (gauntlet.LADDER, 1)
    known: list[Any] = gauntlet.answer(fields[0])
    assert len(known) == gauntlet.PER_FIELD
    assert all(each.half_width <= 120.0 and each.games % 2 == 0 for each in known)
    assert min(each.games for each in known) >= gauntlet._least(120.0) - 10, "the prior is worth a few games"
    (one,) = gauntlet.answer(ladder)
    assert one.half_width <= 120.0
    far = gauntlet.report({ladder: [gauntlet.Known(10, 500.0, 120.0)] * 4, fields[0]: known})
    assert not far.checks[0].holds


@pytest.mark.parametrize("case", gauntlet.CASES)
def test_intervals_of_each_case_are_the_posteriors_own(case: str) -> None:
    asked = msgspec.structs.replace(TINY, within=100.0)
    (task,) = (task for task in gauntlet.tasks(asked, 1) if task.way == case)
    known: list[Any] = gauntlet.answer(task)
    apart, common, _, _ = gauntlet.CASES[case]
    assert all(each.half_width <= np.hypot(100.0, 1.96 * np.hypot(apart / 2, common)) for each in known)
    report = gauntlet.report({gauntlet.tasks(asked, 1)[1]: known, task: known})
    (row,) = rows(report, "coverage")
    assert row[0] == case
    assert row[-1].mean == pytest.approx(1.0, abs=0.05)
    claim = f"{case}: intervals are at most 1.1 times as wide as the posterior's own"
    assert check(report, claim).holds
    wide = [each._replace(half_width=1.2 * each.own, error=2.0 * each.half_width) for each in known]
    report = gauntlet.report({gauntlet.tasks(asked, 1)[1]: known, task: wide})
    assert not check(report, claim).holds
    assert not check(report, f"{case}: 95 % intervals hold the strength").holds


def test_an_unknown_way_to_ask_is_refused() -> None:
    with pytest.raises(Refused):
        run(Asked(bounds=("5",)), Work())
