"""A rating over time as a picture: what it shows, its ticks, what it says of itself."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.web.drawing.band_svg import HEIGHT, WIDTH, Mark, Point, band_svg, describe, time_ticks

T0 = int(datetime(2026, 11, 1, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000


def rated(at: float, mean: float, below: float | None = None, above: float | None = None) -> Point:
    """A point whose interval reaches so far below and above its mean, equally far unless both are given."""
    if below is None:
        return Point(at, mean, None, None)
    return Point(at, mean, mean - below, mean + (below if above is None else above))


points = st.lists(
    st.builds(
        rated,
        st.floats(0, 4e12),
        st.floats(-500, 5000),
        st.one_of(st.none(), st.floats(0, 2000)),
        st.one_of(st.none(), st.floats(0, 3000)),
    ),
    min_size=1,
    max_size=30,
).map(lambda unsorted: sorted(unsorted, key=lambda point: point.at))


@given(points, st.booleans(), st.text(max_size=20).filter(lambda text: text.isprintable()))
def test_every_picture_is_sound_and_stays_in_its_frame(drawn: list[Point], over_time: bool, title: str) -> None:
    svg = ET.fromstring(band_svg(drawn, over_time, title, [Mark(drawn[0].at, title)]))
    assert svg[0].text == title or (title == "" and svg[0].text is None)
    for path in svg.iter("path"):
        if path.get("class") in ("mean", "range"):
            numbers = [float(number) for number in re.findall(r"-?[0-9.]+", path.get("d") or "")]
            assert all(0 <= x <= WIDTH for x in numbers[::2])
            assert all(0 <= y <= HEIGHT for y in numbers[1::2])


def test_higher_ratings_are_higher_up_and_later_ones_to_the_right() -> None:
    drawn = [rated(0, 1800, 100), rated(10, 1900, 50), rated(20, 1850, 40)]
    svg = ET.fromstring(band_svg(drawn, False, "x"))
    (line,) = (path.get("d") or "" for path in svg.iter("path") if path.get("class") == "mean")
    places = [tuple(map(float, point.split())) for point in line[1:].split("L")]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert places[0][1] > places[2][1] > places[1][1]
    assert sum(path.get("class") == "range" for path in svg.iter("path")) == 1


def test_the_last_interval_is_seen_whole() -> None:
    svg = ET.fromstring(band_svg([rated(0, 1800, 900), rated(5, 1830, 600), rated(9, 1820, 300)], False, "x"))
    (band,) = (path.get("d") or "" for path in svg.iter("path") if path.get("class") == "range")
    places = [tuple(map(float, point.split())) for point in band.strip("MZ").split("L")]
    (mean,) = (float(dot.get("cy", "")) for dot in svg.iter("circle"))
    above, below = (y for _, y in places[2:4])
    assert above < mean < below
    assert mean - above == pytest.approx(below - mean, abs=0.3)
    assert len({y for _, y in places[:3]}) < 3, "what was wider before is cut"


def test_a_system_without_intervals_has_no_band() -> None:
    svg = band_svg([rated(0, 1800, None), rated(1, 1810, None)], False, "x")
    assert 'class="range"' not in svg
    assert 'class="mean"' in svg


def test_marks_and_titles_are_escaped() -> None:
    svg = band_svg([rated(0, 1, 1), rated(9, 2, 1)], False, "<script>", [Mark(5, "<b>&"), Mark(50, "outside")])
    assert "<script>" not in svg
    assert "&lt;b&gt;&amp;" in svg
    assert "outside" not in svg


def test_nothing_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="nothing"):
        band_svg([], True, "x")


def test_it_says_what_it_shows() -> None:
    drawn = [rated(T0, 1800, 300), rated(T0 + DAY, 1650, 100), rated(T0 + 2 * DAY, 1900, 42)]
    assert describe(drawn, True) == (
        "From 1800 ± 300 on 2026-11-01 to 1900 ± 42 on 2026-11-03. "
        "Lowest 1650 on 2026-11-02, highest 1900 on 2026-11-03."
    )
    assert "after 3 games" in describe([rated(3, 1800, None)], False)


@given(st.integers(0, 2_000_000_000_000), st.integers(4_000, 20 * 365 * DAY))
def test_times_are_few_and_within(low: int, span: int) -> None:
    marks = time_ticks(low, low + span)
    assert 1 <= len(marks) <= 11
    assert all(label != other for (_, label), (_, other) in itertools.pairwise(marks))
    assert all(low <= at <= low + span for at, _ in marks)


def test_words_of_times_follow_the_distance() -> None:
    assert [word for _, word in time_ticks(T0, T0 + 40_000)] == ["00:00:00", "00:00:15", "00:00:30"]
    assert all(":" in word for _, word in time_ticks(T0, T0 + DAY // 4))
    assert [word for _, word in time_ticks(T0 + 1, T0 + 2 * DAY)] == ["12:00", "Nov 02", "12:00", "Nov 03"]
    assert ("Nov 03") in [word for _, word in time_ticks(T0, T0 + 8 * DAY)]
    assert any(word.endswith(("2026", "2027")) for _, word in time_ticks(T0, T0 + 700 * DAY))


def test_marks_that_would_lie_on_each_other_are_left_out() -> None:
    points = [rated(T0, 1800, 90.0), rated(T0 + DAY, 1810, 60.0)]
    near = [Mark(T0 + DAY // 2 + second * 1000, f"v{second}") for second in range(200)]
    picture = band_svg(points, True, "many", [*near, Mark(T0 + DAY // 10, "early")])
    assert picture.count('class="mark"') == 2
    assert ">early<" in picture
    assert ">v0<" in picture
