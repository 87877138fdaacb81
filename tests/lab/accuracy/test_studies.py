"""Studies of accuracy on tiny pools: the tasks they consist of, and that tables say what the replicates came to."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_server.lab.accuracy import newcomers, systems
from cgos_server.lab.accuracy.asked import HEADLINE, LARGE, SEED, Asked, Task, average, root
from cgos_server.lab.accuracy.studies import FILE, STUDIES, run
from cgos_server.lab.ratings.matchmakers import METHODS
from cgos_server.lab.ratings.pools import LIMITS, POOLS, limit_games
from cgos_server.lab.report import Chart, Report, Table
from cgos_server.lab.running import Work


def table(report: Report, key: str) -> Table:
    return next(each for each in report.tables if each.key == key)


def rows(of: Table, labels: int) -> dict[tuple[Any, ...], tuple[Any, ...]]:
    return {row[:labels]: row[labels:] for row in of.rows}


TINY = Asked(studies=("systems",), pools=("normal",), replicates=2, versions=6, games=5)


def answers(folder: Path, row: str) -> list[dict[str, Any]]:
    """Of that row's replicates, as they were kept."""
    lines = map(json.loads, (folder / FILE).read_text().splitlines())
    return [line["answer"] for line in lines if line["task"]["row"] == row]


def test_errors_are_those_of_the_replicates(tmp_path: Path) -> None:
    pool = run(TINY, Work(SEED), tmp_path)
    assert [each.key for each in pool.tables] == ["error-normal", "intervals", "widths", "learned", "limit"]
    first, second = answers(tmp_path, HEADLINE)
    errors = rows(table(pool, "error-normal"), 2)
    for label in ("bayes", "cgos-elo", "gor", "egf2021", "glicko2"):
        squares = [each["at"]["5"][label]["mse"] for each in (first, second)]
        (figure,) = errors[label, HEADLINE]
        assert figure.mean == pytest.approx(math.sqrt(sum(squares) / 2))
        assert figure.error == pytest.approx(abs(squares[0] - squares[1]) / 2 / (2 * figure.mean))
    assert errors["gor, best line", HEADLINE][0].mean < errors["gor", HEADLINE][0].mean
    assert ("cgos-elo, compat", "cgos-elo, compat") in errors
    assert "cpu" not in first
    inside = rows(table(pool, "intervals"), 3)[POOLS["normal"].text, 2, "ratings"]
    assert inside[0].mean == pytest.approx(
        (first["at"]["5"]["bayes"]["inside"] + second["at"]["5"]["bayes"]["inside"]) / 2
    )
    learned = dict(
        zip([each.name for each in table(pool, "learned").columns], table(pool, "learned").rows[0], strict=True)
    )
    assert learned["cold"] == (first["refits"][0] + second["refits"][0]) / 2
    assert learned["versions"] == 6


def test_where_the_pool_is_as_large_as_its_limit_games_are_told() -> None:
    """Of answers that are made up: whoever is at the limit needs its games, once."""
    task = systems.tasks(Asked(pools=("normal",), replicates=1), SEED)[0]
    rated = {"offset": 0.0, "line": 1.0, "inside": 1.0, "pairs": None, "seen": 0.0, "halfwidth": 1.0}
    answer = {
        "at": {
            games: {
                label: rated | {"mse": float(LIMITS["normal"][at]) ** 2} for label, _, _ in systems.DRIVING[HEADLINE]
            }
            for at, games in enumerate(("5", "10", "20"))
        },
        "draws": 0.0,
        "refits": [1, 2],
        "learned": {"s": 350.0},
    }
    groups = {("normal", HEADLINE): (task, [answer])}
    errors, intervals, *_ = systems.tables(groups)
    of = rows(errors, 2)
    assert of["the limit", ""] == (155, 118, 87)
    assert of["bayes: games / the limit's", HEADLINE] == pytest.approx((1.0, 1.0, 1.0))
    assert of["gor: games / the limit's", HEADLINE][0] == pytest.approx(5 / limit_games("normal", 1.0)), "by the line"
    assert rows(intervals, 3)[POOLS["normal"].text, 1, "differences"] == (None, None, None), "none could be told"
    chart, _ = systems.pictures(groups)
    assert isinstance(chart, Chart)
    assert chart.lines[0].name == "the limit"
    assert chart.lines[0].dashed
    assert chart.lines[0].y == chart.lines[1].y


def test_newcomers_are_counted_by_setting() -> None:
    report = run(Asked(studies=("newcomers",), replicates=1, versions=4, games=5), Work(SEED))
    errors = rows(table(report, "newcomers"), 2)
    assert {row for row, _ in errors} == set(newcomers.SETTINGS)
    assert {label for row, label in errors if row == "stated"} == {"bayes", "cgos-elo", "glicko2"}
    assert len(errors["told", "told"]) == 3, "after 1, 2, 5 games"
    goals = rows(table(report, "newcomers-goals"), 2)
    assert {row[0] for row in goals.values()} == {4}
    assert all(5 < row[1] < 60 for row in goals.values())
    curves = {each.key: {line.name: line for line in each.lines} for each in report.pictures if isinstance(each, Chart)}
    assert curves["newcomers"]["bayes"].y[1] == errors["stated", "bayes"][1].mean
    assert set(curves["newcomers-settings"]) == set(newcomers.SETTINGS)


def test_matchmakers_are_held_against_each_other_and_kept(tmp_path: Path) -> None:
    asked = Asked(studies=("matchmakers",), pools=("normal",), methods=("permuted",), replicates=2, versions=4, games=5)
    report = run(asked, Work(SEED), tmp_path)
    assert [each.key for each in report.tables] == [
        "matchmakers-normal",
        "matchmakers-more",
        "matchmakers-intervals",
    ]
    assert [row[:2] for row in table(report, "matchmakers-normal").rows] == [("permuted", 2)]
    kept = (tmp_path / FILE).read_text()
    squares = [each["5"]["mse"] for each in answers(tmp_path, "permuted")]
    assert squares[0] != squares[1]
    (error,) = rows(table(report, "matchmakers-normal"), 2)["permuted", 2]
    assert error.mean == pytest.approx(math.sqrt(sum(squares) / 2))
    (median,) = rows(table(report, "matchmakers-more"), 3)["normal", "permuted", "median of the RMSE"]
    assert median == pytest.approx(math.sqrt(sorted(squares)[1]))
    chart = report.pictures[0]
    assert isinstance(chart, Chart)
    assert chart.names == ("permuted",)
    assert chart.lines[0].y[0] == error.mean

    assert run(asked, Work(SEED), tmp_path) == report
    assert (tmp_path / FILE).read_text() == kept
    assert msgspec.json.encode(run(asked, Work(SEED, jobs=2))) == msgspec.json.encode(report), "in any number of jobs"


def test_what_no_study_has_is_refused() -> None:
    with pytest.raises(Refused, match="No study of matchmakers has such pools and matchmakers"):
        run(Asked(studies=("matchmakers",), pools=("wide",)), Work())


def test_replicates_are_in_the_proportions_of_the_documented_figures() -> None:
    every = [task for study in STUDIES.values() for task in study.tasks(Asked(), SEED)]
    counts = Counter((task.study, task.pool, task.row) for task in every)
    assert counts["systems", "normal", HEADLINE] == counts["systems", "bimodal", systems.PEER] == 96
    assert counts["systems", "normal-draws", HEADLINE] == 12
    assert counts["systems", "uniform", HEADLINE] == 8
    of_newcomers = {row: count for (study, _, row), count in counts.items() if study == "newcomers"}
    assert list(of_newcomers.values()) == [16, 8, 2, 16, 16, 12, 12]
    assert counts["matchmakers", "normal", "information"] == 96
    assert counts["matchmakers", "bimodal", "random"] == 32
    assert counts["matchmakers", LARGE, "permuted"] == 8
    assert {row for study, pool, row in counts if (study, pool) == ("matchmakers", "normal")} == set(METHODS)
    assert {task.versions for task in every if task.pool == LARGE} == {256}
    assert {task.versions for task in every if task.pool == "normal-8"} == {8}


@given(fewer=st.integers(1, 30), more=st.integers(0, 30))
def test_more_replicates_go_on_where_fewer_ended(fewer: int, more: int) -> None:
    def of(count: int) -> set[Task]:
        return {task for study in STUDIES.values() for task in study.tasks(Asked(replicates=count), SEED)}

    assert of(fewer) <= of(fewer + more)


@given(st.lists(st.floats(0.1, 100.0), min_size=1, max_size=9))
def test_means_have_an_error_from_two_values_on(values: list[float]) -> None:
    for figure in (root(value**2 for value in values), average(values)):
        assert (figure.error is None) == (len(values) == 1)
        assert min(values) <= figure.mean * (1 + 1e-9)
        assert figure.mean <= max(values) * (1 + 1e-9)
