"""The pause after wrong passwords: bots, operators and people share one count, for each name from each address (of
IPv6: each /64); and what is done where a name's password is guessed from many addresses.

No pause is for a name from everywhere: with it, anybody could keep its owner out. Instead, while a name is guessed at,
networks from which it has not signed in lately have one wrong password each before a long pause. Whoever knows the
password comes in with the first attempt from anywhere, and from the usual address as always. Must not know: what the
passwords are, who checks them.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

import structlog

from cgos_protocol.errors import Code, RateLimited, Unauthenticated
from cgos_protocol.names import fold
from cgos_server.core.addresses import neighborhood, party

log = structlog.get_logger(__name__)

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")

GUESSED_PAUSES: Final = 10
"""A name is guessed at where strangers sent so many times as many wrong passwords within an hour as one address may
before its pause. Our choice: more than slips, less than guesses worth making."""

GUESSED_MS: Final = 3_600_000
"""How long that is remembered after the latest wrong password, and within which they are counted."""

STRANGERS_PAUSE_MS: Final = 900_000
"""How long a strange network is then refused for that name. Our choice."""

_WINDOW_MS = 60_000
REMEMBERED: Final = 10_000
"""How many (address, name) pairs with wrong passwords, names, pairs with right ones, and addresses that made an account
are kept of each; the longest untouched is forgotten first."""


@dataclass(slots=True, kw_only=True)
class _Record:
    """Wrong passwords of one (address, name), or of one name. Times in Unix milliseconds."""

    wrong: int = 0
    in_flight: int = 0
    since: int = 0
    until: int = 0


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
        self._guessed: OrderedDict[str, _Record] = OrderedDict()
        """Wrong passwords of strangers, by name."""
        self._known: OrderedDict[tuple[str, str], None] = OrderedDict()
        """From where which name has signed in."""

    @contextlib.contextmanager
    def attempt(self, address: str, name: str) -> Iterator[None]:
        """One look at a password: wrong where Refused (``wrong-password``) comes out of it, right where nothing does.

        :raises RateLimited: ``too-many-failures`` during the pause
        """
        who = (party(address), fold(name))
        strange = who not in self._known
        # A strange network counts as one while the name is guessed at.
        guarded = strange and self._is_guessed(who[1])
        record = self._begin((neighborhood(address), who[1]) if guarded else who, name, 1 if guarded else self._allowed)
        try:
            yield
        except Unauthenticated as refusal:
            if refusal.code is Code.WRONG_PASSWORD:
                if strange:
                    self._stranger_was_wrong(who[1], name)
                self._wrong(record, *((1, STRANGERS_PAUSE_MS) if guarded else (self._allowed, self._pause_ms)))
            raise
        else:
            record.wrong = 0
            touched(self._known, who, lambda: None)
        finally:
            record.in_flight -= 1

    def _begin(self, key: tuple[str, str], name: str, allowed: int) -> _Record:
        record = touched(self._records, key, _Record)
        now = self._now_ms()
        if record.wrong and now - record.since > _WINDOW_MS:
            record.wrong = 0
        if now < record.until or record.wrong + record.in_flight >= allowed:
            wait = max(1, -(-(record.until - now) // 1000))
            raise RateLimited(
                Code.TOO_MANY_FAILURES,
                f"Too many wrong passwords for {name} from your address. Try again in {wait} s.",
                float(wait),
            )
        record.in_flight += 1
        return record

    def _wrong(self, record: _Record, allowed: int, pause_ms: int) -> None:
        now = self._now_ms()
        record.since = record.since if record.wrong else now
        record.wrong += 1
        if record.wrong >= allowed:
            record.wrong = 0
            record.until = now + pause_ms

    def _is_guessed(self, key: str) -> bool:
        guessed = self._guessed.get(key)
        return guessed is not None and self._now_ms() < guessed.until

    def _stranger_was_wrong(self, key: str, name: str) -> None:
        now, record = self._now_ms(), touched(self._guessed, key, _Record)
        if now - record.since > GUESSED_MS and now >= record.until:
            record.wrong, record.since = 0, now
        record.wrong += 1
        if record.wrong >= GUESSED_PAUSES * self._allowed:
            if now >= record.until:
                log.warning("somebody guesses a password", name=name, wrong=record.wrong)
            record.until = now + GUESSED_MS


def touched(kept: OrderedDict[KeyT, ValueT], key: KeyT, new: Callable[[], ValueT]) -> ValueT:
    """What is kept under `key`, made where there is nothing, as the latest; the longest untouched goes."""
    if key not in kept:
        kept[key] = new()
    value = kept[key]
    kept.move_to_end(key)
    if len(kept) > REMEMBERED:
        kept.popitem(last=False)
    return value
