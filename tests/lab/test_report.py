"""Reports: how figures are written, what a check holds, and that a report survives JSON."""

from __future__ import annotations

import math
import statistics

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.lab.report import (
    Cell,
    Chart,
    Check,
    Column,
    Heat,
    Line,
    Mean,
    Report,
    Table,
    close,
    line_of,
    mean_of,
    table_of_checks,
    written,
)


@pytest.mark.parametrize(
    ("cell", "column", "text"),
    [
        (None, Column(name="x"), ""),
        ("fifth", Column(name="x"), "fifth"),
        (7, Column(name="x"), "7"),
        (0.12345, Column(name="x"), "0.123"),
        (0.12345, Column(name="x", digits=1, percent=True), "12.3 %"),
        (1, Column(name="x", digits=0, percent=True), "100 %"),
        (0.5, Column(name="x", digits=1, signed=True), "+0.5"),
        (-0.5, Column(name="x", digits=1, signed=True), "-0.5"),
        (math.nan, Column(name="x"), ""),
        (Mean(0.62371, 0.00149), Column(name="x", digits=4), "0.6237 ± 0.0015"),
        (Mean(0.5), Column(name="x", digits=1), "0.5"),
        (Mean(0.5, 0.25), Column(name="x", digits=2, signed=True), "+0.50 ± 0.25"),
    ],
)
def test_a_cell_is_written_as_its_column_says(cell: Cell, column: Column, text: str) -> None:
    assert written(cell, column) == text


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_a_mean_has_its_standard_error(values: list[float]) -> None:
    mean = mean_of(values)
    assert mean.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    assert mean.error == pytest.approx(statistics.stdev(values) / math.sqrt(len(values)), abs=1e-6)


def test_one_value_has_no_error() -> None:
    assert mean_of([3.0]) == Mean(3.0, None)


@pytest.mark.parametrize(("measured", "holds"), [(0.627, True), (0.6281, False), (0.6199, False)])
def test_a_figure_is_close_or_not(measured: float, holds: bool) -> None:
    check = close("tau", Mean(measured, 0.0005), 0.624, 0.003, errors=2.0)
    assert (check.holds, check.allowed) == (holds, pytest.approx(0.004))


def test_a_line_has_a_band_where_all_errors_are_known() -> None:
    line = line_of("tau", [1, 2], [Mean(0.5, 0.125), Mean(0.25, 0.0)], errors=2.0, points=True)
    assert (line.x, line.y, line.points, line.dashed) == ((1.0, 2.0), (0.5, 0.25), True, False)
    assert (line.low, line.high) == ((0.25, 0.25), (0.75, 0.25))
    line = line_of("tau", [1, 2], [Mean(0.5, 0.125), Mean(0.25)], errors=2.0, dashed=True)
    assert (line.low, line.high, line.dashed) == ((), (), True)


def test_a_report_holds_where_all_its_checks_do() -> None:
    good, bad = Check(claim="one", holds=True), Check(claim="two", holds=False)
    assert Report(tables=()).holds
    assert Report(tables=(), checks=(good,)).holds
    assert not Report(tables=(), checks=(good, bad)).holds
    assert table_of_checks((good, bad)).rows == (("one", None, None, None, "yes"), ("two", None, None, None, "no"))


def test_a_report_survives_json() -> None:
    report = Report(
        tables=(
            Table(key="t", title="T", columns=(Column(name="a"),), rows=((Mean(1.5, 0.5),), ("b",), (3,), (None,))),
        ),
        checks=(close("c", Mean(1.0), 1.0, 0.1),),
        pictures=(
            Chart(key="c", title="C", x_label="x", y_label="y", lines=(Line(name="l", x=(0.0,), y=(1.0,)),)),
            Heat(key="h", title="H", rows=("r",), columns=("c",), values=((None,),), label="l"),
        ),
        notes=("A sentence.",),
    )
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report
