"""Interval bars lie where their ratings are."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.web.drawing.interval_svg import WIDTH, interval_svg, scale

elo = st.floats(-4000, 5000)


@given(st.lists(elo, min_size=1, max_size=20), st.floats(0, 3000))
def test_a_bar_is_inside_and_round_its_mean(means: list[float], half: float) -> None:
    on = scale(means)
    for mean in means:
        picture = ET.fromstring(interval_svg(on, mean, (mean - half, mean + 2 * half), 'a <word> & "more"'))
        assert picture.get("aria-label") == 'a <word> & "more"'
        bar, dot = picture[0], picture[1]
        left, width = float(bar.get("x", "")), float(bar.get("width", ""))
        at = float(dot.get("cx", ""))
        assert 0 <= left <= at <= WIDTH
        assert at <= left + width + 0.2
        assert left + width <= WIDTH + 1.1


@given(elo, st.floats(1, 500))
def test_better_is_to_the_right_and_surer_is_narrower(mean: float, more: float) -> None:
    on = scale([mean, mean + more])
    assert on.place(mean) < on.place(mean + more)

    def width(half: float) -> float:
        return float(ET.fromstring(interval_svg(on, mean, (mean - half, mean + half), ""))[0].get("width", ""))

    assert width(20.0) <= width(80.0)


def test_nobody() -> None:
    on = scale([])
    assert on.low < on.high
