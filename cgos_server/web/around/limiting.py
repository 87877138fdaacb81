"""How often, and how much at once, one address may ask: token buckets and slots, under the names of the API's limits.

Bounded memory whoever asks: addresses that were not heard for longest are forgotten first, and of IPv6 a whole /64 is
one address. Must not know: HTTP, what is asked for.
"""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from cgos_protocol.api.route import Limit
from cgos_protocol.errors import Code, RateLimited
from cgos_server.core.addresses import party
from cgos_server.presentation.settings import WebSettings

REMEMBERED: Final = 10_000
"""Addresses that are remembered for each limit."""

SIGN_INS_PER_MINUTE: Final = 10
RECOMPUTES_PER_MINUTE: Final = 4
STREAMS_OF_ALL: Final = 10
"""How many times as many streams all addresses may have together as one."""

_FULL_RETRY_S: Final = 10.0


class TooMuch(RateLimited):
    """A limit was reached.

    :ivar limit: its name
    """

    def __init__(self, limit: Limit, sentence: str, retry_after_s: float) -> None:
        super().__init__(Code.TOO_MANY, sentence, retry_after_s)
        self.limit = limit


class Bucket(NamedTuple):
    """What is left of an address's allowance, at a time (seconds of a monotonic clock)."""

    tokens: float
    at: float


class Buckets:
    """One limit of a number in a minute: a bucket that holds a minute's worth, filled evenly (Turner 1986).

    :param per_minute: 1 or more
    """

    def __init__(self, per_minute: int, remembered: int = REMEMBERED) -> None:
        self.per_minute = per_minute
        self._remembered = remembered
        self._left: OrderedDict[str, Bucket] = OrderedDict()

    def __len__(self) -> int:
        return len(self._left)

    def take(self, address: str, now: float) -> float:
        """Take one; 0.0 where there was one, otherwise seconds until there is."""
        bucket = self._left.pop(address, Bucket(float(self.per_minute), now))
        rate = self.per_minute / 60
        tokens = min(float(self.per_minute), bucket.tokens + max(0.0, now - bucket.at) * rate)
        taken = tokens >= 1
        self._left[address] = Bucket(tokens - taken, now)
        while len(self._left) > self._remembered:
            self._left.popitem(last=False)
        return 0.0 if taken else (1 - tokens) / rate


class Slots:
    """One limit of a number at once.

    :param each: for one address
    :param everybody: for all together
    """

    def __init__(self, each: int, everybody: int) -> None:
        self.each = each
        self.everybody = everybody
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many are taken."""
        return self._taken.total()

    def take(self, address: str) -> bool:
        """Take one; False where there is none left. Whoever took one gives it back."""
        if self._taken[address] >= self.each or self.taken >= self.everybody:
            return False
        self._taken[address] += 1
        return True

    def give(self, address: str) -> None:
        """Give one back."""
        self._taken[address] -= 1
        if self._taken[address] <= 0:
            del self._taken[address]


class Limits:
    """All limits of the pages and of the API.

    :param now: seconds of a monotonic clock
    """

    def __init__(self, settings: WebSettings, now: Callable[[], float]) -> None:
        self._now = now
        self._rates = {
            Limit.REQUESTS: Buckets(settings.requests_per_minute),
            Limit.SIGN_IN: Buckets(SIGN_INS_PER_MINUTE),
            Limit.RECOMPUTE: Buckets(RECOMPUTES_PER_MINUTE),
        }
        streams, exports = settings.streams_per_address, settings.exports_at_once
        self._slots = {
            Limit.STREAMS: Slots(streams, STREAMS_OF_ALL * streams),
            Limit.BULK: Slots(max(1, exports // 2), exports),
        }

    def spend(self, limit: Limit, address: str) -> None:
        """One more of `requests`, `sign-in` or `recompute` by this address. Raises TooMuch."""
        wait = self._rates[limit].take(party(address), self._now())
        if wait:
            sentence = f"Your address has reached the limit '{limit}': {self._rates[limit].per_minute} a minute."
            raise TooMuch(limit, f"{sentence} Please wait for {max(1, math.ceil(wait))} s.", wait)

    @contextmanager
    def slot(self, limit: Limit, address: str) -> Iterator[None]:
        """Hold one of `streams` or `bulk` for this address. Raises TooMuch."""
        who, slots = party(address), self._slots[limit]
        if not slots.take(who):
            sentence = (
                f"The limit '{limit}' is reached: {slots.each} at once for one address, {slots.everybody} for all."
            )
            raise TooMuch(limit, f"{sentence} Please end one, or try again in some seconds.", _FULL_RETRY_S)
        try:
            yield
        finally:
            slots.give(who)

    def taken(self, limit: Limit) -> int:
        """How many slots of `streams` or `bulk` are held."""
        return self._slots[limit].taken
