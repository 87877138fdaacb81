"""What a backup in the folder is called, and which of them are kept: pure functions of names and instants.

Must not know: files, databases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from typing import Final, Literal

import msgspec

_NAME: Final = re.compile(r"cgos-(\d{8}T\d{6})Z(?:-before-(?:upgrade|downgrade)-to-(\w+))?\.sqlite")
_FORM: Final = "%Y%m%dT%H%M%S"


_MONTH_MS: Final = 31 * 86_400_000

Change = Literal["upgrade", "downgrade"]


class Keep(msgspec.Struct, frozen=True, kw_only=True):
    """Of how many days, weeks and months the last backup is kept. Only those that have one are counted, so that a pause
    of a year removes nothing."""

    days: int
    weeks: int
    months: int


def name_of(at_ms: int, before: tuple[Change, str] | None = None) -> str:
    """The name of a backup taken at `at_ms` (Unix milliseconds).

    :param before: the change of the schema before which it is taken, and the revision to which that leads
    """
    purpose = "" if before is None else f"-before-{before[0]}-to-{before[1]}"
    return f"cgos-{datetime.fromtimestamp(at_ms // 1000, UTC):{_FORM}}Z{purpose}.sqlite"


def instant_of(name: str) -> int | None:
    """When a backup of this name was taken (Unix milliseconds, to the second); None for any other name."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    try:
        taken = datetime.strptime(match[1], _FORM).replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(taken.timestamp() * 1000)


def is_before_change(name: str) -> bool:
    """Whether a backup of this name was taken before a change of the schema."""
    match = _NAME.fullmatch(name)
    return match is not None and match[2] is not None


def outdated(names: Iterable[str], keep: Keep) -> list[str]:
    """Those of a folder's files that are to be removed, oldest first.

    Kept are the last backup of each of the latest days, weeks (from Monday) and months, in UTC, and the newest of all.
    One that was taken before a change of the schema counts for none of these: it stays for as many months (of 31 days,
    and for one at least) from then to the newest. A name that is no backup's is never among those to be removed.
    """
    taken = {name: instant for name in names if (instant := instant_of(name)) is not None}
    every = sorted(taken, key=lambda name: taken[name], reverse=True)
    newest_first = [name for name in every if not is_before_change(name)]
    kept = set(newest_first[:1])
    since = taken[every[0]] - max(keep.months, 1) * _MONTH_MS if every else 0
    kept.update(name for name in every if is_before_change(name) and taken[name] >= since)
    periods: tuple[tuple[int, Callable[[date], object]], ...] = (
        (keep.days, lambda day: day),
        (keep.weeks, lambda day: day.isocalendar()[:2]),
        (keep.months, lambda day: (day.year, day.month)),
    )
    for number, period_of in periods:
        last: dict[object, str] = {}
        for name in newest_first:
            last.setdefault(period_of(datetime.fromtimestamp(taken[name] // 1000, UTC).date()), name)
        kept.update(list(last.values())[:number])
    return [name for name in reversed(every) if name not in kept]


def last_due(now_ms: int, minute: int) -> int:
    """When the latest backup was due (Unix milliseconds), of one a day at that minute of the day (UTC)."""
    day_ms = 86_400_000
    today = now_ms // day_ms * day_ms + minute * 60_000
    return today if today <= now_ms else today - day_ms
