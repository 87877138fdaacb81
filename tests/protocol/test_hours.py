"""Hours of the week: what people write, what lies in them, when that changes, over midnight and over Sunday."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import Refused
from cgos_protocol.hours import ALWAYS, DAY, NEVER, TEXT_MAX, WEEK, Hours, notice, parse, read

MINUTE = 60_000
MONDAY = datetime(2026, 11, 16, tzinfo=UTC)

minutes = st.integers(0, WEEK - 1)
some_hours = st.sets(minutes, max_size=12).map(
    lambda marks: Hours(
        tuple(zip(*[iter(sorted(marks)[: len(marks) // 2 * 2])] * 2, strict=True))  # disjoint, sorted, apart
    )
)
moments = st.integers(0, 4_000_000_000_000)


def at(day: int, hour: int, minute: int = 0) -> int:
    """Unix milliseconds of that time in one week."""
    return round((MONDAY + timedelta(days=day, hours=hour, minutes=minute)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("22-6", [at(0, 22), at(0, 23, 59), at(1, 0), at(6, 23), at(0, 5, 59)], [at(0, 6), at(3, 12), at(6, 21, 59)]),
        ("8:30-12, 14-18", [at(2, 8, 30), at(2, 17, 59)], [at(2, 8, 29), at(2, 12), at(2, 13), at(2, 18)]),
        ("Fri 22-6", [at(4, 22), at(5, 5, 59)], [at(4, 3), at(5, 6), at(5, 22)]),
        ("Sun 22-6", [at(6, 22), at(0, 5)], [at(0, 6), at(1, 5), at(5, 22)]),
        ("Sat-Mon", [at(5, 0), at(6, 12), at(0, 23, 59)], [at(1, 0), at(4, 23, 59)]),
        ("mon-fri 18 - 24, SAT", [at(0, 18), at(4, 23, 59), at(5, 0), at(5, 23)], [at(0, 0), at(6, 0), at(6, 20)]),
        ("22-0", [at(0, 22), at(0, 23, 59)], [at(1, 0), at(0, 21, 59)]),
    ],
)
def test_what_people_write(text: str, inside: list[int], outside: list[int]) -> None:
    hours = parse(text)
    assert [hours.holds(moment) for moment in inside] == [True] * len(inside)
    assert [hours.holds(moment) for moment in outside] == [False] * len(outside)


@pytest.mark.parametrize("text", ["", "  ", "0-24", "Mon-Sun", "0-12, 12-24", "Sat, Sun-Fri", "6-0, 0-6"])
def test_all_hours(text: str) -> None:
    assert parse(text) == ALWAYS
    assert str(ALWAYS) == ""


@pytest.mark.parametrize(
    "text",
    [
        "6-6", "0-0", "24-24", "24-6", "25-3", "1-24:01", "1:60-2", "22", "-", ",", "1-2,", "Mon,", "Foo 1-2", "Mon-",
        "1-2 Mon", "Mon1-2", "-1-2", "1-2-3", "٢-٣", "1–2", "1e1-2", "x" * TEXT_MAX, "1-2," * TEXT_MAX, "never",
        "Mon Tue", "1-2\0",
    ],
)  # fmt: skip
def test_what_nobody_means(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse(text)
    assert refusal.value.code == "hours"
    assert refusal.value.sentence.endswith(".")
    assert len(refusal.value.sentence) < 300


@given(st.text(alphabet="0123456789:-, MonTueSat", max_size=30) | st.text(max_size=30))
def test_whatever_is_written_is_understood_or_refused(text: str) -> None:
    try:
        hours = parse(text)
    except Refused:
        return
    assert hours != NEVER
    assert all(0 <= begin < end <= WEEK for begin, end in hours.spans)
    assert all(first[1] < second[0] for first, second in zip(hours.spans, hours.spans[1:], strict=False))


@given(some_hours)
def test_what_is_shown_can_be_written(hours: Hours) -> None:
    if hours == NEVER:
        assert str(hours) == "never"
    else:
        assert read(str(hours)) == hours


@given(st.integers(0, DAY), st.integers(0, DAY), st.integers(0, 6), moments)
def test_a_day_of_hours_is_as_long_as_its_times(begin: int, end: int, day: int, moment: int) -> None:
    text = f"{begin // 60}:{begin % 60:02}-{end // 60}:{end % 60:02}"
    if begin in (end, DAY):
        with pytest.raises(Refused):
            parse(text)
        return
    length = (end - begin) % DAY or DAY
    hours = parse(text)
    assert sum(stop - start for start, stop in hours.spans) == 7 * length
    midnight = moment // (DAY * MINUTE) * DAY * MINUTE
    assert hours.holds(midnight + begin * MINUTE)
    assert hours.holds(moment) == ((moment // MINUTE - begin) % DAY < length)
    assert hours.holds(moment) == hours.holds(moment + DAY * MINUTE)
    named = parse(f"{datetime.fromtimestamp(midnight / 1000, UTC):%a} {text}")
    assert named.holds(midnight + begin * MINUTE + (length - 1) * MINUTE)
    assert sum(stop - start for start, stop in named.spans) == length


@given(some_hours, moments)
def test_it_changes_when_it_says_and_not_before(hours: Hours, moment: int) -> None:
    now, to = hours.holds(moment), hours.changes(moment)
    if to is None:
        assert hours in (ALWAYS, NEVER)
        return
    assert moment < to <= moment + WEEK * MINUTE
    assert hours.holds(to) is not now
    assert hours.holds(to - 1) is now
    for step in range(1, 20):
        assert hours.holds(moment + (to - 1 - moment) * step // 20) is now


@given(some_hours, some_hours, moments)
def test_both(first: Hours, second: Hours, moment: int) -> None:
    both = first.both(second)
    assert both.holds(moment) == (first.holds(moment) and second.holds(moment))
    assert both == second.both(first)
    assert first.both(ALWAYS) == first
    assert first.both(NEVER) == NEVER
    assert both == NEVER or read(str(both)) == both


def test_a_bot_is_told_when_its_hours_begin() -> None:
    sentence = notice(parse("22-6"), at(2, 12, 34))
    assert "(22-6, UTC)" in sentence
    assert "2026-11-18 22:00 UTC" in sentence
    assert "none in common" in notice(NEVER, at(2, 12))
