"""The curves: well-formed, within the picture, and apart only where both are known."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.web.drawing.curves_svg import HEIGHT, WIDTH, apart, curve, curves_svg

values = st.dictionaries(st.integers(1, 60), st.floats(-3, 3), max_size=12)


def places(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


@given(values, values)
def test_everything_is_within_the_picture(black: dict[int, float], white: dict[int, float]) -> None:
    svg = ET.fromstring(curves_svg(black, white, plies=60, ply=7, bound=1.0, kind="winrate", title="<what & why>"))
    assert svg.get("aria-label") == "<what & why>"
    for path in svg.iter("path"):
        for x, y in places(path.get("d", "")):
            assert 0 <= x <= WIDTH
            assert 0 <= y <= HEIGHT


@given(values)
def test_a_curve_goes_through_its_values_in_order(chosen: dict[int, float]) -> None:
    points = places(curve(chosen, 60, 3.0))
    assert [x for x, _ in points] == [10.0 * ply for ply in sorted(chosen)]
    heights = [chosen[ply] for ply in sorted(chosen)]
    for first, second, (_, y), (_, z) in zip(heights, heights[1:], points, points[1:], strict=False):
        assert (first >= second) <= (y <= z)  # upwards is more


@given(values, values)
def test_the_area_is_between_the_ends_that_both_have(black: dict[int, float], white: dict[int, float]) -> None:
    points = places(apart(black, white, 60, 3.0))
    if points:
        assert min(x for x, _ in points) == 10.0 * max(min(black), min(white))
        assert max(x for x, _ in points) == 10.0 * min(max(black), max(white))


def test_the_area_is_empty_where_one_side_says_nothing() -> None:
    assert apart({1: 0.5}, {}, 60, 1.0) == ""
    assert apart({1: 0.5, 3: 0.5}, {2: 0.1}, 60, 1.0) == ""


def test_the_area_follows_both_lines() -> None:
    height = HEIGHT / 2 - 3
    assert places(apart({0: 0.0, 2: 1.0}, {0: 0.0, 1: 0.0, 2: 0.0}, 2, 1.0)) == [
        (0, HEIGHT / 2),
        (WIDTH / 2, HEIGHT / 2 - height / 2),
        (WIDTH, HEIGHT / 2 - height),
        (WIDTH, HEIGHT / 2),
        (WIDTH / 2, HEIGHT / 2),
        (0, HEIGHT / 2),
    ]
