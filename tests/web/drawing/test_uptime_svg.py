"""When somebody was there, as a strip."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from cgos_server.web.drawing.uptime_svg import WIDTH, uptime_svg

spans = st.lists(st.tuples(st.integers(-50, 150), st.integers(0, 60)).map(lambda pair: (pair[0], pair[0] + pair[1])))


@given(spans)
def test_bars_lie_within_and_never_overlap(given_spans: list[tuple[int, int]]) -> None:
    svg = ET.fromstring(uptime_svg(given_spans, 0, 100, "words"))
    bars = [path.get("d") or "" for path in svg.iter("path")]
    reached = 0.0
    for bar in bars:
        match = re.fullmatch(r"M([0-9.]+) 0h([0-9.]+)v16h-([0-9.]+)z", bar)
        assert match is not None
        left, width = float(match[1]), float(match[2])
        assert left >= reached - 0.11
        assert width > 0
        reached = left + width
    assert reached <= WIDTH + 0.8
    touching = [span for span in given_spans if span[1] > 0 and span[0] < 100]
    assert bool(bars) <= bool([span for span in given_spans if span[1] >= 0])
    assert bool(touching) <= bool(bars)


def test_the_last_minute_of_a_month_is_seen() -> None:
    month = 30 * 24 * 60
    (bar,) = ET.fromstring(uptime_svg([(month - 1, month)], 0, month, "words")).iter("path")
    left, width = (float(number) for number in re.findall(r"M([0-9.]+) 0h([0-9.]+)v", bar.get("d") or "")[0])
    assert width >= 1
    assert left + width <= WIDTH


def test_half_of_the_time_is_half_of_the_strip() -> None:
    svg = uptime_svg([(25, 75)], 0, 100, "half <&>")
    assert f"M{WIDTH / 4:.1f} 0h{WIDTH / 2:.1f}v" in svg
    assert 'aria-label="half &lt;&amp;&gt;"' in svg
