"""How a rating with its 95 % interval is written for people: the one place that decides it.

An interval is two numbers. It is even where both ends are as far from the rating, within a tenth; only then half of it
says all. An end is open where the games say nothing of it: whoever has won every game may be much stronger than the
rating, and its far end comes of what is known about all players. Must not know: how intervals are computed, ratings of
the CGOS lines.
"""

from __future__ import annotations

from typing import Final, Literal

_EVEN: Final = 1.1
"""The larger side is at most so many times the smaller one where half of the interval stands for both."""

_OPEN: Final = 2.0
"""A side that is more than so many times the other one is open."""

Side = Literal["above", "below"]


def half_width(lower: float | None, upper: float | None) -> float | None:
    """Half of the interval, Elo; None without one."""
    return None if lower is None or upper is None else (upper - lower) / 2


def even(mean: float, lower: float, upper: float) -> bool:
    """Whether `mean` ± half of the interval says all of it: both ends lie as far away, within a tenth."""
    below, above = mean - lower, upper - mean
    return min(below, above) >= 0 and max(below, above) <= _EVEN * min(below, above)


def open_end(mean: float, lower: float | None, upper: float | None) -> Side | None:
    """Which side of the rating no game bounds, judged by the numbers alone: the upper one where it is more than twice
    as long as the lower one (a version that never lost), and the other way round; None for neither."""
    if lower is None or upper is None:
        return None
    below, above = mean - lower, upper - mean
    return "above" if above > _OPEN * below else "below" if below > _OPEN * above else None


def beside(mean: float, lower: float | None, upper: float | None, digits: int = 0) -> str:
    """What stands beside a rating: ``± 42`` where the interval is even, else ``1820 to 2100``, nothing without one.

    :param digits: behind the point
    """
    if lower is None or upper is None:
        return ""
    if even(mean, lower, upper):
        return f"± {_number((upper - lower) / 2, digits)}"
    return f"{_number(lower, digits)} to {_number(upper, digits)}"


def written(
    mean: float, lower: float | None, upper: float | None, *, provisional: bool = False, digits: int = 0
) -> str:
    """A rating as people read it: ``1873 ± 42``, ``2750, 2320 to 4600`` where the interval is not even, ``1873``
    without one; ``1873? ± 142`` while it is provisional."""
    rating = _number(mean, digits) + ("?" if provisional else "")
    interval = beside(mean, lower, upper, digits)
    return f"{rating} {interval}" if interval.startswith("±") else f"{rating}, {interval}" if interval else rating


def one_sided(mean: float, lower: float | None, upper: float | None) -> str:
    """What the games say of a rating with an open end: ``at least 2320``, ``at most 1300``; nothing for any other."""
    return _with_word("at least", "at most", mean=mean, lower=lower, upper=upper)


def in_short(mean: float, lower: float | None, upper: float | None, *, provisional: bool = False) -> str:
    """A rating where space is short: ``1873 ± 42``, ``> 2320`` or ``< 1300`` where an end is open, ``1820 to 2100``
    where the interval is not even for other reasons."""
    if sided := _with_word(">", "<", mean=mean, lower=lower, upper=upper):
        return sided
    interval = beside(mean, lower, upper)
    return interval if " to " in interval else written(mean, lower, upper, provisional=provisional)


def _with_word(least: str, most: str, *, mean: float, lower: float | None, upper: float | None) -> str:
    end = open_end(mean, lower, upper)
    if end == "above" and lower is not None:
        return f"{least} {_number(lower)}"
    return f"{most} {_number(upper)}" if end == "below" and upper is not None else ""


def _number(value: float, digits: int = 0) -> str:
    return f"{round(value)}" if digits == 0 else f"{value:z.{digits}f}"
