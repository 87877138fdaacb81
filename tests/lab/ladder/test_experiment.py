"""Ladders as wholes: the same in one process and in two, the oracle beside, what cannot be is refused."""

from __future__ import annotations

import itertools
import math

import pytest
from msgspec.structs import replace

from cgos_protocol.errors import Refused
from cgos_server.core.venue import Policy
from cgos_server.lab.ladder import experiment
from cgos_server.lab.ladder.experiment import LOOKS, Ladders, looks, run
from cgos_server.lab.ladder.players import Population
from cgos_server.lab.ladder.replicate import SERVERS, Outcome, Row, Task, do
from cgos_server.lab.report import Mean, Report
from cgos_server.lab.running import Work


def row(matchmaker: str, rating: str, policy: Policy = Policy.BARRIER) -> Row:
    return Row(label=f"{matchmaker}/{rating}/{policy}", matchmaker=matchmaker, rating=rating, policy=policy)


SMALL = Ladders(
    pools=("normal",),
    rows=(SERVERS["cgos"], row("birk", "cgos-elo", Policy.ROLLING)),
    population=Population(versions=8, hours=2.0, fastest=60.0, spread=4.0),
    replicates=2,
    interval=10.0,
)


def table(report: Report, key: str) -> list[dict[str, object]]:
    its = next(each for each in report.tables if each.key == key)
    return [dict(zip((column.name for column in its.columns), cells, strict=True)) for cells in its.rows]


def test_any_number_of_processes_finds_the_same() -> None:
    population = replace(SMALL.population, hours=1.0, arrivals=48.0)
    ladders = replace(SMALL, pools=("normal", "deterministic"), replicates=1, population=population)
    done: list[int] = []
    report = run(ladders, Work(3, 2, lambda each, _all: done.append(each)))
    assert report == run(ladders, Work(3, 1))
    assert done == list(range(5))
    assert {each.key for each in report.tables} == {"goals", "ratings", "course", "newcomers", "play", "mix"}
    assert [each["pool"] for each in table(report, "play")] == ["normal"] * 2 + ["deterministic"] * 2
    assert len(report.pictures) == 8
    assert report != run(ladders, Work(4, 1))


def outcome(of: Row, pool: str = "normal", hours: float = 2.0, **of_population: float) -> Outcome:
    population = replace(SMALL.population, pool=pool, hours=hours, **of_population)
    return do(Task(population=population, row=of, seed=1, replicate=0, looks=looks(hours), interval=10.0))


@pytest.mark.parametrize("of", [SERVERS["ours"], row("information", "told"), row("random", "glicko2")])
def test_ratings_come_to_be_true(of: Row) -> None:
    course = outcome(of, hours=0.7 if of.rating == "bayes" else 3.0).course
    assert course is not None
    assert course.looks[-1].mse < 0.5 * course.looks[0].mse
    assert course.looks[-1].kendall > course.looks[0].kendall
    assert course.looks[-1].games > course.looks[0].games
    for each in course.looks:
        assert each.line <= each.mse + 1e-9
        assert each.inside is not None
        assert 0.0 <= each.inside <= 1.0
    assert (sum(course.calibration.games) > 0) == (of.rating != "told")


def test_what_is_known_from_the_beginning_is_play_alone() -> None:
    ladders = replace(SMALL, rows=(row("random", "known"),), population=replace(SMALL.population, versions=2))
    report = run(ladders, Work())
    assert [each.key for each in report.tables] == ["play", "mix"]
    assert [each.key for each in report.pictures] == ["normal-idle"]


def test_an_oracle_that_rates_by_itself_rates_the_same_as_the_one_beside_it() -> None:
    """Both are told the same of the same games; the one that decides who meets whom has not yet seen the last few."""
    course = outcome(row("random", "told"), hours=4.0).course
    assert course is not None
    assert math.sqrt(course.looks[-1].mse) == pytest.approx(math.sqrt(course.looks[-1].told_mse), rel=0.3)


def test_the_oracle_is_no_worse_on_the_average() -> None:
    report = run(replace(SMALL, rows=SMALL.rows[1:], replicates=5), Work(1))
    assert len(report.checks) == 1
    assert report.holds
    assert all(check.measured is not None and check.measured.mean < 0.0 for check in report.checks)
    goals = table(report, "goals")
    assert [each["replicates"] for each in goals] == [5]
    for each in table(report, "ratings"):
        own, told = each["RMSE"], each["oracle's RMSE"]
        assert isinstance(own, Mean)
        assert isinstance(told, Mean)
        assert told.mean < own.mean


def test_where_the_oracle_is_not_told_all_nothing_is_held_against_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "LEAST_CHECKED", 1)
    for pool, checks in (("heavy-tails", 0), ("star", 1)):
        assert len(run(replace(SMALL, pools=(pool,), rows=SMALL.rows[:1]), Work()).checks) == checks


def test_a_replicate_may_end_when_its_ratings_are_true_enough() -> None:
    whole = run(SMALL, Work(1))
    early = run(replace(SMALL, until=1000.0), Work(1))
    hours = [table(report, "ratings")[0]["hours"] for report in (whole, early)]
    assert hours == [Mean(2.0, 0.0), Mean(pytest.approx(looks(2.0)[0]), 0.0)]


def test_looks_come_closer_to_the_beginning() -> None:
    times = looks(24.0)
    assert len(times) == LOOKS
    assert times[0] == pytest.approx(0.25)
    assert times[-1] == 24.0
    ratios = [later / earlier for earlier, later in itertools.pairwise(times)]
    assert max(ratios) == pytest.approx(min(ratios))


@pytest.mark.parametrize(
    ("ladders", "sentence"),
    [
        (replace(SMALL, rows=SMALL.rows * 2), "These rows are there twice: birk/cgos-elo/rolling, cgos."),
        (replace(SMALL, rows=(row("magic", "bayes"),)), "magic"),
        (replace(SMALL, rows=(row("birk", "magic"),)), "magic"),
        (
            replace(SMALL, population=replace(SMALL.population, versions=3)),
            "Ratings of 3 versions cannot be judged: two are anchors. Take 4 or more.",
        ),
        (
            replace(SMALL, rows=(replace(row("birk", "known"), rating_options={"min_k": 1.0}),)),
            "The rating 'known' has no options. Leave them out.",
        ),
    ],
)
def test_what_cannot_be_is_refused(ladders: Ladders, sentence: str) -> None:
    with pytest.raises(Refused) as refusal:
        run(ladders, Work())
    assert sentence in str(refusal.value)
