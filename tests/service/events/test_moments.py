"""Times as people write them."""

from __future__ import annotations

import pytest

from cgos_protocol.errors import Refused
from cgos_server.service.events.moments import in_words, moment

NOW = 1_700_000_000_000
HOUR = 3_600_000


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("now", NOW),
        ("now+2h", NOW + 2 * HOUR),
        ("now + 1d12h", NOW + 36 * HOUR),
        ("now+90m", NOW + 90 * 60_000),
        ("now+1h30m5s", NOW + 90 * 60_000 + 5_000),
        ("2026-01-31", 1_769_817_600_000),
        ("2026-01-31T18:00", 1_769_882_400_000),
        (" 2026-01-31 18:00 ", 1_769_882_400_000),
        ("2026-01-31T19:00+01:00", 1_769_882_400_000),
    ],
)
def test_times_that_can_be_read(text: str, at: int) -> None:
    assert moment(text, NOW) == at


@pytest.mark.parametrize(
    "text", ["", "soon", "now+", "now-2h", "now+2", "+2h", "31.1.2026", "2026-13-01", "9999-12-31"]
)
def test_what_is_no_time_is_refused_with_what_is_one(text: str) -> None:
    with pytest.raises(Refused, match=r"is no time\. Write 2026-01-31, .*now\+2h") as raised:
        moment(text, NOW)
    assert raised.value.code == "event-setting"


def test_a_time_in_words() -> None:
    assert in_words(moment("2026-01-31T18:00", NOW)) == "2026-01-31 18:00 UTC"
