"""The pause after wrong passwords: bots, operators and people share one count, for each name from each address (of
IPv6: each /64).

Must not know: what the passwords are, who checks them.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator

from cgos_server.core.addresses import party
from cgos_server.errors import Refused
from cgos_server.protocol.names import fold

WRONG_PASSWORD = "wrong-password"
"""The code of a refusal that counts."""

_WINDOW_MS = 60_000
_REMEMBERED = 10_000
"""How many (address, name) pairs with wrong passwords are kept; the longest untouched is forgotten first."""


class _Record:
    """Wrong passwords of one (address, name). Times in Unix milliseconds."""

    __slots__ = ("in_flight", "since", "until", "wrong")

    def __init__(self) -> None:
        self.wrong = 0
        self.in_flight = 0
        self.since = 0
        self.until = 0


class Failures:
    """Counts wrong passwords and pauses who sends too many. Attempts under way count, lest many at once pass.

    :param allowed: wrong passwords within a minute, for one name from one address, before the pause
    :param pause_ms: how long that pair is then refused without a look at its password
    :param now_ms: Unix milliseconds
    """

    def __init__(self, allowed: int, pause_ms: int, now_ms: Callable[[], int]) -> None:
        self._allowed = allowed
        self._pause_ms = pause_ms
        self._now_ms = now_ms
        self._records: OrderedDict[tuple[str, str], _Record] = OrderedDict()

    @contextlib.contextmanager
    def attempt(self, address: str, name: str) -> Iterator[None]:
        """One look at a password: wrong where Refused (``wrong-password``) comes out of it, right where nothing does.

        :raises Refused: ``too-many-failures`` during the pause
        """
        record = self._begin(address, name)
        try:
            yield
        except Refused as refusal:
            if refusal.code == WRONG_PASSWORD:
                self._wrong(record)
            raise
        else:
            record.wrong = 0
        finally:
            record.in_flight -= 1

    def _begin(self, address: str, name: str) -> _Record:
        key = (party(address), fold(name))
        record = self._records.setdefault(key, _Record())
        self._records.move_to_end(key)
        if len(self._records) > _REMEMBERED:
            self._records.popitem(last=False)
        now = self._now_ms()
        if record.wrong and now - record.since > _WINDOW_MS:
            record.wrong = 0
        if now < record.until or record.wrong + record.in_flight >= self._allowed:
            wait = max(1, -(-(record.until - now) // 1000))
            raise Refused(
                "too-many-failures",
                f"Too many wrong passwords for {name} from your address. Try again in {wait} s.",
                float(wait),
            )
        record.in_flight += 1
        return record

    def _wrong(self, record: _Record) -> None:
        now = self._now_ms()
        record.since = record.since if record.wrong else now
        record.wrong += 1
        if record.wrong >= self._allowed:
            record.wrong = 0
            record.until = now + self._pause_ms
