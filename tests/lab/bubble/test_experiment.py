"""The bubble's experiment: the same figures in one process and two, its tables, checks and pictures, refusals."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from cgos_protocol.errors import Refused
from cgos_server.lab.bubble import experiment as module
from cgos_server.lab.bubble.experiment import Lists, Task, done, experiment
from cgos_server.lab.bubble.lists import Shape
from cgos_server.lab.bubble.runs import Methods
from cgos_server.lab.report import Mean, mean_of
from cgos_server.lab.running import Work

LISTS = Lists(sizes=(4, 8), scenarios=("right", "new"), events=3)
METHODS = Methods(active=3, matches=2, rounds=2)


@pytest.fixture(autouse=True)
def _short_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "NEWCOMERS", (12,))


def test_figures_are_the_same_for_any_number_of_processes() -> None:
    reports = [experiment(LISTS, Shape(), METHODS, Work(5, jobs)) for jobs in (1, 2)]
    assert reports[0] == reports[1]
    assert reports[0] != experiment(LISTS, Shape(), METHODS, Work(6))


def test_the_tables_have_the_means_of_all_lists() -> None:
    report = experiment(LISTS, Shape(), METHODS, Work(5))
    assert [table.key for table in report.tables] == ["right", "new"]
    rows = report.tables[1].rows
    assert [row[:2] for row in rows] == [(size, name) for size in (4, 8) for name in METHODS.names]
    answers = [
        done(Task(scenario="new", size=8, replicate=at, seed=5, shape=Shape(), methods=METHODS, model="elo"))
        for at in range(3)
    ]
    row = rows[len(METHODS.names) + 1]
    assert row[5] == mean_of([answer[1].tau for answer in answers])
    assert isinstance(row[2], Mean)
    assert row[2].mean == pytest.approx(sum(answer[1].games for answer in answers) / 3)
    assert isinstance(row[3], Mean)
    assert row[3].mean == pytest.approx(row[2].mean * 2 / 8)
    assert [picture.key for picture in report.pictures] == ["tau-right", "tau-new", "games"]
    assert report.holds


def test_one_size_is_drawn_too() -> None:
    report = experiment(replace(LISTS, sizes=(4,)), Shape(), METHODS, Work(5))
    assert [picture.key for picture in report.pictures] == ["tau-right", "tau-new", "games"]


def test_a_list_does_not_depend_on_the_methods() -> None:
    olds = [
        done(Task(scenario="mixed", size=9, replicate=0, seed=1, shape=Shape(), methods=methods, model="elo"))[0]
        for methods in (METHODS, Methods())
    ]
    assert olds[0] == olds[1]


def test_a_figure_that_is_not_the_published_one_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MATCHES", ((20, 180),))
    report = experiment(LISTS, Shape(), METHODS, Work())
    assert [check.holds for check in report.checks] == [False, True]
    assert report.checks[0].measured == Mean(179.0)


@pytest.mark.parametrize(
    ("lists", "methods", "sentence"),
    [
        (Lists(sizes=(8, 8)), METHODS, "A size or a scenario is given twice. Name each once."),
        (Lists(scenarios=("new", "new")), METHODS, "A size or a scenario is given twice. Name each once."),
        (
            LISTS,
            Methods(active=5, unpark=5),
            "bubble: unpark_below cannot be 5 where active_size is 5. Give a whole number from 1 to 4.",
        ),
    ],
)
def test_what_cannot_be_is_refused(lists: Lists, methods: Methods, sentence: str) -> None:
    with pytest.raises(Refused) as caught:
        experiment(lists, Shape(), methods, Work())
    assert str(caught.value) == sentence
