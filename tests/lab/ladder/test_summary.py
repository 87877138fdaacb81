"""When goals are reached, by hand; standard errors are those of the field."""

from __future__ import annotations

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.core.venue import Policy
from cgos_server.lab.ladder.course import BINS, Calibration, Course, Curve, Look
from cgos_server.lab.ladder.play import Figures
from cgos_server.lab.ladder.replicate import Outcome, Row
from cgos_server.lab.ladder.summary import (
    Series,
    calibration,
    jackknife,
    log_loss,
    miscalibration,
    newcomers_until,
    reached,
    until,
)

ROW = Row(label="row", matchmaker="random", rating="bayes", policy=Policy.ROLLING)


def look(hours: float, rmse: float, games: float = 1.0) -> Look:
    return Look(
        hours=hours,
        games=games,
        mse=rmse**2,
        line=rmse**2,
        kendall=1.0,
        spearman=1.0,
        inside=0.9,
        told_mse=rmse**2 / 4.0,
        told_inside=0.95,
    )


def series(*courses: tuple[list[Look], Curve]) -> Series:
    own = Calibration(
        games=(0,) * 5 + (10,) + (0,) * 4,
        said=(0.0,) * 5 + (5.5,) + (0.0,) * 4,
        scored=(0.0,) * 5 + (7.0,) + (0.0,) * 4,
        loss=6.0,
    )
    play = Figures(
        games=1,
        games_of=(1, 1),
        least_games=1.0,
        utilization=0.5,
        lowest_utilization=0.5,
        idle_of=(0.5, 0.5),
        wait_p50=1.0,
        wait_p90=1.0,
        wait_p99=1.0,
        wait_max=1.0,
        wait_max_games=1.0,
        opponents=1.0,
        own_share=0.0,
        thirds=((0.0,) * 3,) * 3,
        most_often=0.0,
        passed_over=0,
        worth=1.0,
        passes=1,
    )
    return Series(
        "normal",
        ROW,
        tuple(
            Outcome(play, Course(looks=tuple(looks), calibration=own, by_games=curve, by_hours=curve))
            for looks, curve in courses
        ),
    )


EMPTY = Curve((), ())


def test_a_goal_is_reached_on_a_straight_line_of_the_logarithms() -> None:
    assert reached([1.0, 4.0], [100.0, 25.0], 50.0) == pytest.approx(2.0)
    assert reached([1.0, 4.0, 8.0], [100.0, 50.0, 10.0], 50.0) == pytest.approx(4.0)
    assert reached([1.0, 4.0], [100.0, 60.0], 50.0) is None
    assert reached([3.0, 4.0], [40.0, 60.0], 50.0) == 3.0
    assert reached([1.0, 4.0], [100.0, 0.0], 50.0) == 4.0
    assert reached([0.0, 4.0], [100.0, 25.0], 50.0) == pytest.approx(2.0)  # no game had ended at the first look
    assert reached([], [], 50.0) is None


@given(st.floats(0.1, 10.0), st.floats(60.0, 500.0), st.floats(0.1, 1.0))
def test_of_a_power_law_the_very_moment_is_found(factor: float, begins: float, power: float) -> None:
    times = [factor * 1.5**at for at in range(40)]
    errors = [begins * (time / factor) ** -power for time in times]
    found = reached(times, errors, 50.0)
    exact = factor * (begins / 50.0) ** (1.0 / power)
    assert (found is None) == (exact > times[-1] * (1 + 1e-12))
    if found is not None:
        assert found == pytest.approx(exact)


@given(st.lists(st.floats(-100.0, 100.0), min_size=2, max_size=12))
def test_the_jackknife_of_a_mean_is_its_standard_error(values: list[float]) -> None:
    found = jackknife(lambda which: statistics.fmean(values[each] for each in which), len(values))
    assert found is not None
    assert found.error == pytest.approx(statistics.stdev(values) / math.sqrt(len(values)), abs=1e-9)


def test_no_standard_error_where_a_replicate_cannot_be_left_out() -> None:
    assert jackknife(lambda which: 1.0 if 0 in which else None, 3) == jackknife(lambda _which: 1.0, 1)
    assert jackknife(lambda _which: None, 3) is None


def test_the_whole_pools_error_is_the_root_of_the_mean_square() -> None:
    of = series(([look(1.0, 80.0), look(2.0, 30.0)], EMPTY), ([look(1.0, 60.0), look(2.0, 40.0)], EMPTY))
    both = [math.sqrt((80**2 + 60**2) / 2), math.sqrt((30**2 + 40**2) / 2)]
    found = until(of, 50.0, lambda each: each.hours, lambda each: each.mse)
    assert found is not None
    assert found.mean == reached([1.0, 2.0], both, 50.0)
    assert found.error is not None


def test_a_replicate_that_has_ended_stays_as_it_was() -> None:
    of = series(
        ([look(1.0, 40.0, games=3.0)], EMPTY), ([look(1.0, 90.0, games=3.0), look(2.0, 20.0, games=5.0)], EMPTY)
    )
    assert len(of.looks) == 1
    assert [end.hours for end in of.ends] == [1.0, 2.0]
    ended = of.carried()[1][0]
    assert (ended.hours, ended.games, ended.mse) == (2.0, 6.0, 1600.0)
    found = until(of, 50.0, lambda each: each.hours, lambda each: each.mse)
    assert found is not None
    both = [math.sqrt((40**2 + 90**2) / 2), math.sqrt((40**2 + 20**2) / 2)]
    assert found.mean == reached([1.0, 2.0], both, 50.0)


def test_newcomers_are_told_of_while_there_are_enough() -> None:
    first = Curve((40_000.0, 12_000.0, 9_000.0, 100.0), (3, 3, 3, 1))
    other = Curve((40_000.0, 8_000.0, 3_000.0, 100.0), (3, 3, 3, 1))
    of = series(([look(1.0, 80.0)], first), ([look(1.0, 80.0)], other))
    assert newcomers_until(of, 100.0, lambda course: course.by_games).mean == 2.0  # type: ignore[union-attr]
    assert newcomers_until(of, 40.0, lambda course: course.by_games) is None
    assert newcomers_until(of, 50.0, lambda course: course.by_hours, 0.25).mean == 0.75  # type: ignore[union-attr]


def test_calibration_is_of_all_games() -> None:
    of = series(([look(1.0, 80.0)], EMPTY), ([look(1.0, 80.0)], EMPTY))
    own = calibration(of)
    assert own is not None
    assert sum(own.games) == 20
    assert len(own.games) == BINS
    assert miscalibration(own) == pytest.approx(0.15)
    assert log_loss(of).mean == pytest.approx(0.6)  # type: ignore[union-attr]
