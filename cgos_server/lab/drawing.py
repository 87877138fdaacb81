"""A report's pictures as one file, drawn by matplotlib, which the extra ``[lab]`` brings.

Must not know: any experiment.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.report import Chart, Heat, Line, Picture, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

ENDINGS: Final = (".svg", ".png")

WIDTH: Final = 7.0
HEIGHT: Final = 4.2
"""Of one picture, inches."""

FONT: Final = "DejaVu Sans"
"""One, since an SVG file repeats at every number of a heat map the names of all that might do."""

ABREAST: Final = 2
"""Pictures side by side."""


def require_drawable(path: Path) -> None:
    """Raises Refused where nothing can be drawn into that file, so that it is known before hours of work."""
    if path.suffix.lower() not in ENDINGS:
        raise Invalid(Code.PICTURE, f"{path} is to end with {' or '.join(ENDINGS)}, which says how it is drawn.")
    if not path.absolute().parent.is_dir():
        raise Invalid(Code.PICTURE, f"There is no folder {path.absolute().parent}. Make it, or name another one.")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise Invalid(
            Code.PICTURE, "Pictures are drawn by matplotlib, which is not installed: pip install 'cgos-server[lab]'."
        ) from error


def draw(report: Report, path: Path) -> None:
    """All pictures of the report as one file; the same report is the same bytes. Raises Refused where it has none."""
    if not report.pictures:
        raise Invalid(Code.PICTURE, f"There is nothing to draw of what was done, so {path} was not written.")
    import matplotlib
    from matplotlib.figure import Figure

    count = len(report.pictures)
    columns = min(count, ABREAST)
    rows = -(-count // columns)
    with matplotlib.rc_context(
        {"svg.hashsalt": "cgos-server", "svg.fonttype": "none", "font.size": 9.0, "font.sans-serif": [FONT]}
    ):
        figure = Figure(figsize=(WIDTH * columns, HEIGHT * rows), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for picture, place in zip(report.pictures, axes, strict=False):
            _draw_one(picture, place)
        for place in axes[count:]:
            place.set_axis_off()
        beside = path.with_name(f".{path.name}.new")
        try:
            figure.savefig(beside, format=path.suffix.lower().lstrip("."), metadata=_metadata(path), dpi=120)
            os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)


def _metadata(path: Path) -> dict[str, str | None]:
    """No time of day, or the same report would not be the same file."""
    return {"Date": None, "Creator": "cgos-server"} if path.suffix.lower() == ".svg" else {"Software": "cgos-server"}


def _draw_one(picture: Picture, axes: Axes) -> None:
    axes.set_title(picture.title, loc="left", fontweight="bold", fontsize=10.0)
    if isinstance(picture, Chart):
        _draw_chart(picture, axes)
    else:
        _draw_heat(picture, axes)


def _draw_chart(chart: Chart, axes: Axes) -> None:
    for line in chart.lines:
        _draw_line(line, axes)
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    if chart.log_x:
        axes.set_xscale("log")
        _write_plainly(axes.xaxis)
    if chart.log_y:
        axes.set_yscale("log")
        _write_plainly(axes.yaxis)
    if chart.names:
        axes.set_xticks(range(len(chart.names)), chart.names, rotation=30, ha="right")
    axes.grid(visible=True, alpha=0.3)
    if len(chart.lines) > 1:
        axes.legend(fontsize=8.0, framealpha=0.7)


def _write_plainly(axis: Axis) -> None:
    """60 on an axis of logarithms, not 6 x 10^1."""
    from matplotlib.ticker import LogFormatter

    axis.set_major_formatter(LogFormatter())
    axis.set_minor_formatter(LogFormatter())


def _draw_line(line: Line, axes: Axes) -> None:
    if line.points:
        errors = None
        if line.low:
            errors = [
                [max(0.0, y - low) for y, low in zip(line.y, line.low, strict=True)],
                [max(0.0, high - y) for y, high in zip(line.y, line.high, strict=True)],
            ]
        axes.errorbar(line.x, line.y, yerr=errors, fmt="o", markersize=4.0, capsize=2.0, label=line.name)
        return
    style, marker = "--" if line.dashed else "-", "o" if len(line.x) == 1 else None  # a line of one point is none
    (drawn,) = axes.plot(line.x, line.y, linestyle=style, marker=marker, linewidth=1.4, label=line.name)
    if line.low:
        axes.fill_between(line.x, line.low, line.high, alpha=0.18, color=drawn.get_color(), linewidth=0.0)


def _draw_heat(heat: Heat, axes: Axes) -> None:
    values = [[float("nan") if value is None else value for value in row] for row in heat.values]
    image = axes.imshow(values, aspect="auto", cmap="viridis")
    axes.set_xticks(range(len(heat.columns)), heat.columns)
    axes.set_yticks(range(len(heat.rows)), heat.rows)
    if heat.digits is not None:
        known = [value for row in heat.values for value in row if value is not None]
        middle = (min(known) + max(known)) / 2.0
        for at, row in enumerate(heat.values):
            for column, value in enumerate(row):
                if value is not None:
                    ink = "white" if value < middle else "black"
                    text = f"{value:.{heat.digits}f}"
                    axes.text(column, at, text, ha="center", va="center", color=ink, fontsize=6.5)
    axes.figure.colorbar(image, ax=axes, label=heat.label)
