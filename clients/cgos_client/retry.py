"""When to try again: growing pauses, and which refusals pass by themselves.

Must not know: what is tried.
"""

from __future__ import annotations

import random
import re

REFUSALS = 5
"""Refusals in a row, of the kind that waiting does not heal, after which the client gives up."""
SHORT = 8
"""Pauses that are short: some twelve seconds, within which another node of a cluster has taken over, or a server was
started again."""
SETTLED_SECONDS = 10.0
"""A session that lasted this long, or had a game, was a good one: the next pause is short again."""

WRONG_SETTINGS = frozenset(("ca-file", "proxy"))
"""Codes of errors that no further attempt heals."""
_PASSING = (
    *("already", "again in", "again later", "please try again", "another login", "another sign-in", "too many"),
    *("busy", "is full", "just now", "shutting down", "going down", "restart"),
)
"""What refusals say that pass: a name that is still signed in, a server that is full or going down."""


_NAMED = re.compile(r"\bin (\d{1,3}) (s|min)\b")


class Pauses:
    """Growing pauses with jitter, so that a thousand clients do not come back at the same moment.

    :param first: upper end of the first pauses, seconds
    :param alike: how many of them; each next one is twice as long as the one before, up to `longest`
    """

    def __init__(self, rng: random.Random, first: float = 2.0, longest: float = 60.0, alike: int = 1) -> None:
        self._rng = rng
        self._first = first
        self._longest = longest
        self._alike = alike
        self._count = 0
        self._step = first

    def next(self, at_least: float = 0.0) -> float:
        """The next pause in seconds: between half the step and the step, and a little over `at_least`."""
        step = self._step
        self._count += 1
        if self._count >= self._alike:
            self._step = min(self._longest, step * 2)
        return max(step * (0.5 + 0.5 * self._rng.random()), at_least * (1.0 + 0.1 * self._rng.random()))

    def soon(self) -> float:
        """A pause before all others, after a session that was good: anything up to half the first step. A server that
        was upgraded takes whoever comes."""
        return self._first / 2 * self._rng.random()

    def reset(self) -> None:
        """Begin anew."""
        self._step, self._count = self._first, 0


class Retries:
    """When to connect again after a connection has ended, and when there is no use in it.

    :param pauses: between attempts that may succeed at any time; None: the usual ones
    """

    def __init__(self, rng: random.Random, pauses: Pauses | None = None) -> None:
        self._pauses = pauses or Pauses(rng, alike=SHORT)
        self._refusal_pauses = Pauses(rng, first=20.0)
        self._was_good = False
        self.refusals = 0
        """Those in a row that waiting does not heal."""

    def signed_in(self, seconds: float, had_game: bool) -> None:
        """A connection ended on which the bot was signed in and which lasted so long: a good one begins all anew."""
        if had_game or seconds >= SETTLED_SECONDS:
            self._pauses.reset()
            self._refusal_pauses.reset()
            self.refusals = 0
            self._was_good = True

    def pause(self, at_least: float = 0.0) -> float:
        """Seconds before the next attempt, where waiting may help: next to none after a good session."""
        was_good, self._was_good = self._was_good, False
        return self._pauses.soon() if was_good and not at_least else self._pauses.next(at_least)

    def pause_after_refusal(self, at_least: float = 0.0) -> float | None:
        """The same after a refusal that waiting does not heal; None where it was one too many."""
        self.refusals += 1
        return None if self.refusals >= REFUSALS else self._refusal_pauses.next(at_least)


def pause_named(sentence: str) -> float:
    """The seconds that a refusal in words names, as in ``try again in 30 s``; 0 where it names none."""
    match = _NAMED.search(sentence)
    return 0.0 if match is None else float(match[1]) * (60 if match[2] == "min" else 1)


def heals_by_waiting(sentence: str) -> bool:
    """True for a refusal that the same sign-in may not meet the next time."""
    text = sentence.lower()
    return any(word in text for word in _PASSING)
