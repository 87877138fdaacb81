"""Computes a venue's published ratings again, entry by entry and refit by refit, and says where they differ.

The past comes in windows, so that a venue of any age needs the same memory. Must not know: where the past is stored,
how what was found is shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from cgos_server.core.rating.base import Change, Entry, Rating, RatingSystem
from cgos_server.errors import OurFault
from cgos_server.service.retracing import Retrace, Retraced, Run
from cgos_server.storage.answers import PublishedChange, PublishedRefit

TOLERANCE: Final = 1e-6
"""Elo: how far numbers may differ that another build computed; under the same build they are the same bits."""


class Numbers(msgspec.Struct, frozen=True):
    """A rating after a change: mean and spread in Elo (or points), number of games (None after a refit)."""

    mean: float
    spread: float
    games: int | None


class Difference(msgspec.Struct, frozen=True):
    """A place where published and computed are not the same.

    :ivar seq: the entry, or for a refit the one after which it was put in
    :ivar refit: its number, None for the entry itself
    :ivar version: version id
    :ivar published: None where nothing was
    :ivar computed: None where nothing is to be published
    """

    seq: int
    refit: int | None
    version: int
    published: Numbers | None
    computed: Numbers | None


class Replayed(msgspec.Struct, frozen=True):
    """What a replay found.

    :ivar entries: entries of the ledger that were folded
    :ivar changes: published changes that were compared
    :ivar refits: recorded refits that were computed again
    :ivar points: published ratings after refits that were compared
    :ivar differing: changes and points that are not the same to the last bit, those on one side only included
    :ivar paths: refits whose recorded notes (hyperparameters, iterations) came out otherwise
    :ivar largest: the largest difference of a mean or a spread, Elo
    :ivar first: where the first difference is
    :ivar stopped: why the replay could not go on to the end; empty where it did
    :ivar builds: what computed the recorded refits, with their number
    :ivar build: what computed them now
    """

    system: str
    entries: int
    changes: int
    refits: int
    points: int
    differing: int
    paths: int
    largest: float
    first: Difference | None
    stopped: str
    builds: dict[str, int]
    build: str

    @property
    def exact(self) -> bool:
        """True where everything is the same to the last bit."""
        return not self.differing and not self.paths and not self.stopped

    @property
    def agrees(self) -> bool:
        """True where it is exact, or as near as another build can come."""
        elsewhere = set(self.builds) != {self.build}
        return self.exact or (elsewhere and not self.stopped and self.largest <= TOLERANCE)


class Replay:
    """A replay under way.

    :param build: text of :func:`cgos_server.service.build.this_build`
    """

    def __init__(self, system: RatingSystem, build: str) -> None:
        self._run = Run(system)
        self._trace = Retrace(self._run, ())
        self._build = build
        self._builds: Counter[str] = Counter()
        self._changes = self._refits = self._points = self._differing = self._paths = 0
        self._largest = 0.0
        self._first: Difference | None = None
        self._stopped = ""

    @property
    def stopped(self) -> bool:
        """True once it cannot go on."""
        return bool(self._stopped)

    def take(
        self, entries: Sequence[Entry], changes: Iterable[PublishedChange], refits: Sequence[PublishedRefit]
    ) -> None:
        """The next window of the past.

        :param entries: the next entries of the ledger
        :param changes: what the system published for them
        :param refits: its refits that include one of them as the last, in any order
        """
        if self._stopped:
            return
        published: dict[int, dict[int, PublishedChange]] = {}
        for change in changes:
            published.setdefault(change.seq, {})[change.version] = change
        self._trace.expect([refit.refit for refit in refits])
        self._waiting = getattr(self, "_waiting", {}) | {refit.refit.number: refit for refit in refits}
        for entry in entries:
            try:
                changed, met = self._trace.step(entry)
            except (OurFault, KeyError, ValueError, ArithmeticError) as error:
                self._stopped = f"entry {entry.seq} ({entry.kind.value}) cannot be applied: {error}"
                return
            self._compare_entry(entry.seq, published.get(entry.seq, {}), changed)
            for again in met:
                self._compare_refit(self._waiting.pop(again.refit.number), again)

    def result(self) -> Replayed:
        """What was found."""
        return Replayed(
            self._run.system.name,
            self._run.seq,
            self._changes,
            self._refits,
            self._points,
            self._differing,
            self._paths,
            self._largest,
            self._first,
            self._stopped,
            dict(self._builds),
            self._build,
        )
