"""A rating with its interval, written for people, can be read as it is meant."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol import intervals
from cgos_protocol.intervals import beside, half_width, in_short, one_sided, open_end, written

_WRITTEN = re.compile(r"(-?\d+)(\??)(?: ± (\d+)|, (-?\d+) to (-?\d+))?")

elo = st.floats(-500, 4500)
side = st.floats(0, 3000)


@pytest.mark.parametrize(
    ("mean", "lower", "upper", "text", "short"),
    [
        (1873.2, 1831.6, 1914.8, "1873 ± 42", "1873 ± 42"),
        (1873.2, 1833.0, 1916.0, "1873 ± 42", "1873 ± 42"),
        (1873.2, 1820.3, 1959.9, "1873, 1820 to 1960", "1820 to 1960"),
        (1873.2, 1820.3, 2099.6, "1873, 1820 to 2100", "> 1820"),
        (2750.0, 2320.0, 4600.0, "2750, 2320 to 4600", "> 2320"),
        (1250.0, 400.0, 1300.0, "1250, 400 to 1300", "< 1300"),
        (1872.5, None, None, "1872", "1872"),
        (-0.2, -0.6, 0.2, "0 ± 0", "0 ± 0"),
        (2000.0, 2000.0, 2000.0, "2000 ± 0", "2000 ± 0"),
    ],
)
def test_ratings_as_people_read_them(
    mean: float, lower: float | None, upper: float | None, text: str, short: str
) -> None:
    assert written(mean, lower, upper) == text
    assert in_short(mean, lower, upper) == short


def test_while_it_is_provisional_and_to_a_tenth() -> None:
    assert written(1873.2, 1731.6, 2014.8, provisional=True) == "1873? ± 142"
    assert written(2750, 2320, 4600, provisional=True) == "2750?, 2320 to 4600"
    assert written(-3.2, None, None, provisional=True) == in_short(-3.2, None, None, provisional=True) == "-3?"
    assert written(1873.42, 1831.4, 1915.44, digits=1) == "1873.4 ± 42.0"
    assert written(2750.04, 2320.5, 4600.1, digits=1) == "2750.0, 2320.5 to 4600.1"
    assert one_sided(2750, 2320.4, 4600) == "at least 2320"
    assert one_sided(1250, 400, 1300) == "at most 1300"
    assert one_sided(1873, 1820, 1960) == one_sided(1873, None, None) == ""


@given(elo, side, side, st.booleans())
def test_what_is_written_says_the_interval(mean: float, below: float, above: float, provisional: bool) -> None:
    lower, upper = mean - below, mean + above
    match = _WRITTEN.fullmatch(written(mean, lower, upper, provisional=provisional))
    assert match is not None
    rating, mark, half, first, last = match.groups()
    assert abs(int(rating) - mean) <= 0.5
    assert bool(mark) is provisional
    if half is not None:
        # Whoever reads a half-width is at no end further off than a tenth of it, and what rounding makes of it.
        assert abs(int(rating) - int(half) - lower) <= 0.1 * below + 1
        assert abs(int(rating) + int(half) - upper) <= 0.1 * above + 1
    else:
        assert max(below, above) > 1.09 * min(below, above)
        assert abs(int(first) - lower) <= 0.5
        assert abs(int(last) - upper) <= 0.5


def test_zero_has_no_sign() -> None:
    assert written(-0.04, -0.01, 0.01, digits=1).startswith("0.0")


@given(elo, side, side)
def test_no_form_shows_a_half_width_where_the_interval_is_uneven(mean: float, below: float, above: float) -> None:
    lower, upper = mean - below, mean + above
    forms = {
        written(mean, lower, upper),
        written(mean, lower, upper, digits=1),
        beside(mean, lower, upper),
        in_short(mean, lower, upper),
        one_sided(mean, lower, upper),
    }
    if not intervals.even(mean, lower, upper):
        assert not any("±" in form for form in forms)
        assert abs((upper - mean) - (mean - lower)) > 0.09 * min(upper - mean, mean - lower)


@given(elo, side, side)
def test_an_open_end_is_seen_from_either_side(mean: float, below: float, above: float) -> None:
    lower, upper = mean - below, mean + above
    end = open_end(mean, lower, upper)
    mirrored = {"above": "below", "below": "above", None: None}[open_end(-mean, -upper, -lower)]
    assert end == mirrored
    assert in_short(mean, lower, upper).startswith((">", "<")) is (end is not None)
    assert half_width(lower, upper) == (upper - lower) / 2
