"""What an experiment has to say: tables, checks against what was published, pictures, sentences. Values, as JSON too.

Decides how a figure is written. Must not know: any experiment, terminals, files, how a picture is drawn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct


class Mean(Struct, frozen=True):
    """A measured figure.

    :ivar error: its standard error; None: it has none, or that is not known
    """

    mean: float
    error: float | None = None


Cell: TypeAlias = Mean | str | float | int | None
"""None: there is none."""


class Column(Struct, frozen=True, kw_only=True):
    """:ivar digits: of its figures, behind the point
    :ivar signed: figures above 0 have a plus
    :ivar percent: figures are shares, shown in percent
    """

    name: str
    digits: int = 3
    signed: bool = False
    percent: bool = False


class Table(Struct, frozen=True, kw_only=True):
    """:ivar key: a word for it, of its own in the report
    :ivar title: one line
    :ivar rows: as many cells each as there are columns
    """

    key: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Check(Struct, frozen=True, kw_only=True):
    """A claim that was checked.

    :ivar claim: in a few words
    :ivar measured: what came out; None: it is no number, or there is none
    :ivar expected: what the source has, or has to come out
    :ivar allowed: how far the two may be apart
    """

    claim: str
    holds: bool
    measured: Mean | None = None
    expected: float | None = None
    allowed: float | None = None


class Line(Struct, frozen=True, kw_only=True):
    """One row of points of a chart.

    :ivar low: where the band (of a line) or the bar of errors (of points) begins, beside each y; with `high`
    :ivar points: points, not a line
    :ivar dashed: a line for comparison
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    points: bool = False
    dashed: bool = False


class Chart(Struct, frozen=True, kw_only=True, tag="chart"):
    """:ivar names: of x = 0, 1, 2 ..., in place of numbers"""

    key: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    names: tuple[str, ...] = ()


class Heat(Struct, frozen=True, kw_only=True, tag="heat"):
    """A map of values, row by row from above; None: a hole.

    :ivar digits: of each value, written into its field; None: not written
    """

    key: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    label: str
    digits: int | None = None


Picture: TypeAlias = Chart | Heat


class Report(Struct, frozen=True, kw_only=True):
    """What came of an experiment.

    :ivar notes: sentences: what was fitted, what is known to be misprinted, what is not known
    :ivar interrupted: it is of what was done until somebody ended it
    """

    tables: tuple[Table, ...]
    checks: tuple[Check, ...] = ()
    pictures: tuple[Picture, ...] = ()
    notes: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(check.holds for check in self.checks)


def joined(parts: Sequence[Report]) -> Report:
    """One report of several, in their order."""
    return Report(
        tables=tuple(table for part in parts for table in part.tables),
        checks=tuple(check for part in parts for check in part.checks),
        pictures=tuple(picture for part in parts for picture in part.pictures),
        notes=tuple(note for part in parts for note in part.notes),
        interrupted=any(part.interrupted for part in parts),
    )


def close(claim: str, measured: Mean, expected: float, allowed: float, *, errors: float = 0.0) -> Check:
    """That a figure is within `allowed` of the expected one, and within so many of its standard errors besides."""
    reach = allowed + errors * (measured.error or 0.0)
    holds = abs(measured.mean - expected) <= reach
    return Check(claim=claim, holds=holds, measured=measured, expected=expected, allowed=reach)


def mean_of(values: Sequence[float]) -> Mean:
    """Of at least one independent value, with its standard error where there are two."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return Mean(mean)
    squares = math.fsum((value - mean) ** 2 for value in values)
    return Mean(mean, math.sqrt(squares / (len(values) - 1) / len(values)))


def line_of(
    name: str, x: Iterable[float], means: Sequence[Mean], *, errors: float, points: bool = False, dashed: bool = False
) -> Line:
    """Means in a band of so many standard errors to either side; without it unless all of them have an error."""
    band = [(mean, errors * mean.error) for mean in means if mean.error is not None]
    if len(band) < len(means):
        band = []
    return Line(
        name=name,
        x=tuple(map(float, x)),
        y=tuple(mean.mean for mean in means),
        low=tuple(mean.mean - half for mean, half in band),
        high=tuple(mean.mean + half for mean, half in band),
        points=points,
        dashed=dashed,
    )


def written(cell: Cell, column: Column) -> str:
    """A cell as text; empty where there is none."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Mean):
        text = _number(cell.mean, column)
        return text if cell.error is None else f"{text} ± {_number(cell.error, column, is_error=True)}"
    return str(cell) if isinstance(cell, int) and not column.percent else _number(cell, column)


def _number(value: float, column: Column, is_error: bool = False) -> str:
    if math.isnan(value):
        return ""
    sign = "+" if column.signed and not is_error else ""
    if column.percent:
        return f"{100.0 * value:{sign}.{column.digits}f} %"
    return f"{value:{sign}.{column.digits}f}"


CHECKS = (
    Column(name="claim"),
    Column(name="ours", digits=4),
    Column(name="expected", digits=4),
    Column(name="allowed", digits=4),
    Column(name="holds"),
)


def table_of_checks(checks: Sequence[Check]) -> Table:
    """The checks as a table."""
    return Table(
        key="checks",
        title="What was checked",
        columns=CHECKS,
        rows=tuple(
            (check.claim, check.measured, check.expected, check.allowed, "yes" if check.holds else "no")
            for check in checks
        ),
    )
