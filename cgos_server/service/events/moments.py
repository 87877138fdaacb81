"""Moments as people write them: a date, a time of a day, or a span from now.

Must not know: what happens then, clocks: now comes in.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from cgos_protocol.errors import Code, Invalid

FORMS: Final = "Write 2026-01-31, 2026-01-31T18:00 (UTC), now, or a span such as now+2h or now+1d12h"

_SPAN: Final = re.compile(
    r"now\s*(?:\+\s*(?:(?P<days>\d{1,4})d)?(?:(?P<hours>\d{1,5})h)?(?:(?P<minutes>\d{1,6})m)?(?:(?P<seconds>\d{1,8})s)?)?",
    re.ASCII,
)
_MS: Final = (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000), ("seconds", 1_000))
_LAST_YEAR: Final = 9000


def moment(text: str, now_ms: int) -> int:
    """Unix milliseconds. Raises Refused (``event-setting``) where nobody can tell when that is.

    :param now_ms: Unix milliseconds
    """
    written = text.strip()
    span = _SPAN.fullmatch(written)
    if span is not None and not written.endswith("+"):
        return now_ms + sum(int(span[word] or 0) * each_ms for word, each_ms in _MS)
    try:
        given = datetime.fromisoformat(written)
    except ValueError:
        given = None
    if given is None or given.year > _LAST_YEAR:
        raise Invalid(Code.EVENT_SETTING, f"{text[:40]!r} is no time. {FORMS}.")
    return round((given if given.tzinfo else given.replace(tzinfo=UTC)).timestamp() * 1000)


def in_words(at_ms: int) -> str:
    """``2026-01-31 18:00 UTC``."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d %H:%M} UTC"
