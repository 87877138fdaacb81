"""Hours of the week, in UTC: how people write them, whether a moment lies in them, and when that changes.

Only UTC: no hour comes twice or not at all, and a week is the same everywhere. Values in, values out. Must not know:
whose hours they are, what time it is.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final, NamedTuple

from cgos_protocol.errors import Code, Invalid

TEXT_MAX: Final = 200
"""Characters in which somebody may say hours."""

DAY: Final = 1440
"""Minutes."""
WEEK: Final = 7 * DAY
_MINUTE_MS: Final = 60_000
_EPOCH: Final = 3 * DAY
"""Unix time begins on a Thursday."""

_DAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_TIME: Final = r"(\d{1,2})(?::(\d{2}))?"
_PIECE: Final = re.compile(rf"(?:([A-Za-z]{{3}})(?: ?- ?([A-Za-z]{{3}}))?)?(?:^| |$)(?:{_TIME} ?- ?{_TIME})?", re.ASCII)
_HOW: Final = "Write hours as 22-6, 8:30-12, Mon-Fri 18-24 or Sat, in UTC, with commas between them."


class Hours(NamedTuple):
    """Some of the minutes of a week.

    :ivar spans: (begin, end) in minutes from Monday 0:00, `end` not included: sorted, apart from each other, within
        0 to :data:`WEEK`
    """

    spans: tuple[tuple[int, int], ...] = ((0, WEEK),)

    def holds(self, at_ms: int) -> bool:
        """True where `at_ms` (Unix milliseconds) lies in these hours."""
        minute = _minute(at_ms)
        return any(begin <= minute < end for begin, end in self.spans[self._after(minute) - 1 :][:1])

    def changes(self, at_ms: int) -> int | None:
        """The first moment after `at_ms` at which :meth:`holds` answers otherwise (Unix milliseconds); None: never."""
        if self in (ALWAYS, NEVER):
            return None
        minute = _minute(at_ms)
        index = self._after(minute)
        inside = self.holds(at_ms)
        if inside:
            to = self.spans[index - 1][1]
            if to == WEEK and self.spans[0][0] == 0:
                to += self.spans[0][1]
        else:
            to = self.spans[index][0] if index < len(self.spans) else self.spans[0][0] + WEEK
        return (at_ms // _MINUTE_MS + to - minute) * _MINUTE_MS

    def both(self, other: Hours) -> Hours:
        """The hours that are in both."""
        if self in (ALWAYS, other):
            return other
        if other == ALWAYS:
            return self
        common: list[tuple[int, int]] = []
        mine, theirs = 0, 0
        while mine < len(self.spans) and theirs < len(other.spans):
            (begin, end), (start, stop) = self.spans[mine], other.spans[theirs]
            if max(begin, start) < min(end, stop):
                common.append((max(begin, start), min(end, stop)))
            if end < stop:
                mine += 1
            else:
                theirs += 1
        return Hours(tuple(common))

    def __str__(self) -> str:
        """As people write them: :func:`parse` reads it. Empty for all hours, and ``never`` for none."""
        if self == ALWAYS:
            return ""
        days: dict[tuple[int, int], list[int]] = {}
        for begin, end in self._whole():
            for day, start, stop in _by_day(begin, end):
                days.setdefault((start, stop), []).append(day)
        order = sorted(days.items(), key=lambda item: (min(item[1]), item[0]))
        return ", ".join(_words(sorted(on), *span) for span, on in order) or "never"

    def _after(self, minute: int) -> int:
        """The first span that begins after `minute`; 0 means that none begins before."""
        return bisect_right(self.spans, (minute, WEEK))

    def _whole(self) -> Iterator[tuple[int, int]]:
        """The spans, where one that goes on over Sunday's midnight is in one piece (end beyond :data:`WEEK`)."""
        spans = list(self.spans)
        if len(spans) > 1 and spans[0][0] == 0 and spans[-1][1] == WEEK:
            spans = [*spans[1:-1], (spans[-1][0], WEEK + spans[0][1])]
        return iter(spans)


ALWAYS: Final = Hours()
NEVER: Final = Hours(())


def parse(text: str) -> Hours:
    """The hours that `text` says: pieces with commas between them, each of days (``Mon``, ``Mon-Fri``, ``Sat-Mon``;
    without them every day), of times (``22-6``, ``8:30-12``; without them the whole day) or of both. Times that end
    before they begin go on over midnight, and belong to the day on which they begin. Empty: all hours.

    :raises Refused: ``hours``, with a sentence that says how to write them
    """
    if len(text) > TEXT_MAX:
        raise Invalid(Code.HOURS, f"Say hours in at most {TEXT_MAX} characters. {_HOW}")
    return read(text)


def read(text: str) -> Hours:
    """As :func:`parse`, of any length: what ``str`` made of hours may be longer than what they were said with."""
    if not text.strip():
        return ALWAYS
    return Hours(_joined(span for piece in text.split(",") for span in _piece(" ".join(piece.split()))))


def notice(hours: Hours, now_ms: int) -> str:
    """What a bot is told outside its hours.

    :param now_ms: Unix milliseconds
    """
    to = hours.changes(now_ms)
    if to is None:
        return "You get no game: the hours that your owner allows and those that you say yourself have none in common."
    moment = datetime.fromtimestamp(to / 1000, UTC).strftime("%Y-%m-%d %H:%M")
    return f"You get no new game outside your hours ({hours}, UTC). They begin again at {moment} UTC."


def _piece(text: str) -> Iterator[tuple[int, int]]:
    match = _PIECE.fullmatch(text)
    if match is None or not text:
        raise Invalid(Code.HOURS, f"{text[:40]!r} are no hours. {_HOW}")
    first, last, *times = match.groups()
    since = _day(first) if first else 0
    until = _day(last) if last else (since if first else 6)
    days = [(since + step) % 7 for step in range((until - since) % 7 + 1)]
    begin, end = 0, DAY
    if times[0] is not None:
        begin, end = _time(*times[:2]), _time(*times[2:])
        if begin in (end, DAY):
            raise Invalid(Code.HOURS, f"{text!r} begin and end at once. The whole day is 0-24. {_HOW}")
        end += DAY if end < begin else 0
    for day in days:
        start, stop = day * DAY + begin, day * DAY + end
        yield start, min(stop, WEEK)
        if stop > WEEK:
            yield 0, stop - WEEK


def _day(word: str) -> int:
    name = word.title()
    if name not in _DAYS:
        raise Invalid(Code.HOURS, f"{word!r} is no day: {', '.join(_DAYS)}.")
    return _DAYS.index(name)


def _time(hour: str, minute: str | None) -> int:
    """Minutes since midnight."""
    minutes = int(hour) * 60 + int(minute or 0)
    if minutes > DAY or int(minute or 0) > 59:
        raise Invalid(Code.HOURS, f"There is no {hour}:{minute or '00'}: a day has times from 0:00 to 24:00.")
    return minutes


def _joined(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Sorted, and those that touch in one."""
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((begin, end))
    return tuple(joined)


def _by_day(begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """(day, begin, end) in minutes of that day: what is shorter than a day stays in one piece over midnight."""
    while begin < end:
        day, start = divmod(begin, DAY)
        over = end - begin < DAY or end <= (day + 1) * DAY
        stop = end if over else (day + 1) * DAY
        yield day % 7, start, (stop - 1) % DAY + 1
        begin = stop


def _words(days: list[int], begin: int, end: int) -> str:
    times = "" if (begin, end) == (0, DAY) else f"{_clock(begin)}-{_clock(end)}"
    if len(days) == 7:
        return times
    runs: list[list[int]] = []
    for day in days:
        if runs and runs[-1][-1] == day - 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    named = (_DAYS[run[0]] + (f"-{_DAYS[run[-1]]}" if len(run) > 1 else "") for run in runs)
    return ", ".join(f"{name} {times}".strip() for name in named)


def _clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}" if minute % 60 else f"{minute // 60}"


def _minute(at_ms: int) -> int:
    """The minute of the week."""
    return (at_ms // _MINUTE_MS + _EPOCH) % WEEK
