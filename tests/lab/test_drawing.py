"""Pictures of reports: the same bytes every time, nothing half-written, and what cannot be drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from cgos_protocol.errors import Refused
from cgos_server.lab.drawing import draw, require_drawable
from cgos_server.lab.report import Chart, Heat, Line, Report

CHART = Chart(
    key="c",
    title="Error against games",
    x_label="games",
    y_label="RMSE, Elo",
    lines=(
        Line(name="bayes", x=(1.0, 10.0), y=(2.0, 1.0), low=(1.5, 0.5), high=(2.5, 1.5)),
        Line(name="limit", x=(1.0, 10.0), y=(1.0, 0.5), dashed=True),
        Line(name="published", x=(1.0,), y=(2.0,), low=(1.0,), high=(3.0,), points=True),
    ),
    log_x=True,
    log_y=True,
)
NAMED = Chart(
    key="n",
    title="N",
    x_label="",
    y_label="tau",
    lines=(Line(name="x", x=(0.0,), y=(1.0,), points=True),),
    names=("dutch",),
)
HEAT = Heat(
    key="h",
    title="Who meets whom",
    rows=("1", "2"),
    columns=("1", "2"),
    values=((None, 2.0), (2.0, None)),
    label="x",
    digits=1,
)
REPORT = Report(tables=(), pictures=(CHART, NAMED, HEAT))


def test_the_same_report_is_the_same_picture(tmp_path: Path) -> None:
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    for path in (one, other):
        draw(REPORT, path)
    assert one.read_bytes() == other.read_bytes()
    texts = "".join(ElementTree.parse(one).getroot().itertext())
    assert all(word in texts for word in ("Error against games", "RMSE, Elo", "Who meets whom", "dutch", "limit"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.svg", "other.svg"]


def test_figures_on_an_axis_of_logarithms_are_plain(tmp_path: Path) -> None:
    draw(Report(tables=(), pictures=(CHART,)), tmp_path / "one.svg")
    texts = {"".join(text.itertext()).strip() for text in ElementTree.parse(tmp_path / "one.svg").iter() if text.text}
    assert {"1", "10"} <= texts
    assert "mathdefault" not in (tmp_path / "one.svg").read_text()


def test_a_line_of_one_point_can_be_seen(tmp_path: Path) -> None:
    def drawn(line: Line) -> bytes:
        chart = Chart(key="c", title="", x_label="", y_label="", lines=(line,))
        draw(Report(tables=(), pictures=(chart,)), tmp_path / "one.svg")
        return (tmp_path / "one.svg").read_bytes()

    assert drawn(Line(name="l", x=(1.0,), y=(1.0,))).count(b"<use") > drawn(Line(name="l", x=(), y=())).count(b"<use")


def test_a_png_is_one(tmp_path: Path) -> None:
    draw(REPORT, tmp_path / "one.png")
    with Image.open(tmp_path / "one.png") as image:
        assert image.format == "PNG"
        assert min(image.size) > 400


def test_what_cannot_be_drawn_is_refused_before_anything_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Refused, match="is to end with"):
        require_drawable(tmp_path / "one.gif")
    with pytest.raises(Refused, match="no folder"):
        require_drawable(tmp_path / "missing" / "one.svg")
    require_drawable(tmp_path / "one.PNG")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(Refused, match="pip install"):
        require_drawable(tmp_path / "one.svg")


def test_nothing_to_draw_leaves_the_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "one.svg"
    path.write_text("before")
    with pytest.raises(Refused, match="nothing to draw"):
        draw(Report(tables=()), path)
    assert path.read_text() == "before"
