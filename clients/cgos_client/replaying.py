"""Computes every published rating of a venue again, from what a server exports, and says how far the numbers are apart.

The ledger is all that ratings follow from. A system that refits (``bayes``, ``whole-history``) improves its numbers
besides; where each refit began and where it was put in is in the export of refits, and it is taken there again. Under
the build that computed the published numbers the same bits come out; set ``OPENBLAS_NUM_THREADS=1`` for that. Must not
know: HTTP, the formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from cgos_client.api import Server
from cgos_client.errors import ServerFault
from cgos_protocol.api.bulk import ExportedChange, ExportedRefit
from cgos_protocol.api.figures import LedgerEntry
from cgos_server.core.rating.base import Entry, Kind, Rating, RatingSystem, Refitting
from cgos_server.core.rating.registry import rating_system


class Replayed(NamedTuple):
    """What came of it.

    :ivar entries: entries of the ledger that were folded
    :ivar compared: published ratings that were computed again, by entries and by refits
    :ivar largest: the largest difference of a mean or a spread, Elo (or points)
    :ivar ratings: version -> its rating after all of them
    """

    system: str
    entries: int
    refits: int
    compared: int
    largest: float
    ratings: dict[str, Rating]


def replay(server: Server, venue: str, system: str | None = None) -> Replayed:
    """Download and compute; memory grows with the refits, not with the games.

    :param system: None for the venue's headline
    :raises ApiRefused: and what else :class:`Server` raises
    :raises ServerFault: where the exports do not belong together
    """
    told = server.venue(venue)
    name = system or told.systems[0]
    initial = 1800.0 if told.initial is None else told.initial
    # In this order: what is published meanwhile is left out.
    refits = list(server.export_refits(venue, system=name))
    under_way = _Replay(rating_system(name, initial, told.rating_options.get(name, {})), refits)
    changes = _by_entry(server.export_ratings(venue, system=name))
    seq, published = next(changes, (0, []))
    for line in server.export_ledger(venue):
        if line.seq > seq and line.seq > under_way.last_applied:
            break
        under_way.take(line, published if line.seq == seq else [])
        if line.seq == seq:
            seq, published = next(changes, (0, []))
    return under_way.result()


def _by_entry(changes: Iterator[ExportedChange]) -> Iterator[tuple[int, list[ExportedChange]]]:
    """The changes of one entry together."""
    together: list[ExportedChange] = []
    for change in changes:
        if together and together[0].seq != change.seq:
            yield together[0].seq, together
            together = []
        together.append(change)
    if together:
        yield together[0].seq, together


class _Replay:
    """One under way.

    :ivar last_applied: the entry after which the last refit was put in
    """

    def __init__(self, system: RatingSystem, refits: list[ExportedRefit]) -> None:
        self._system = system
        self._state: Any = system.start()
        self._due = {refit.number: refit for refit in refits}
        self._begins: dict[tuple[int, int], list[ExportedRefit]] = defaultdict(list)
        for refit in refits:
            self._begins[refit.included, refit.base].append(refit)
        self._begun: dict[int, Any] = {}
        # Inside versions are numbers. Any will do; here they are numbered as they come.
        self._numbers: dict[str, int] = {}
        self._entries = self._refits = self._compared = 0
        self._largest = 0.0
        self.last_applied = max((refit.applied for refit in refits), default=0)
        self._meet(0)

    def take(self, line: LedgerEntry, published: list[ExportedChange]) -> None:
        """The next entry with what was published of it."""
        self._state, changes = self._system.fold(self._state, self._entry(line))
        after = {change.version: change.after for change in changes}
        for change in published:
            self._compare(change.version, change.after_mean, change.after_spread, after)
        self._entries = line.seq
        self._meet(line.seq)

    def result(self) -> Replayed:
        """What came of it."""
        names = {number: name for name, number in self._numbers.items()}
        ratings = {names[number]: rating for number, rating in self._system.standings(self._state).items()}
        return Replayed(
            system=self._system.name,
            entries=self._entries,
            refits=self._refits,
            compared=self._compared,
            largest=self._largest,
            ratings=ratings,
        )

    def _entry(self, line: LedgerEntry) -> Entry:
        version, black, white, other = map(self._number, (line.version, line.black, line.white, line.other))
        return Entry(
            seq=line.seq,
            kind=Kind(line.kind),
            version=version,
            black=black,
            white=white,
            score2=line.score2,
            value=line.value,
            sd=line.sd,
            other=other,
            was2=line.was2,
            repeat=line.repeat,
            at=line.at,
        )

    def _number(self, name: str | None) -> int | None:
        return None if name is None else self._numbers.setdefault(name, len(self._numbers) + 1)

    def _meet(self, seq: int) -> None:
        """Begin and put in what is recorded for this place, as it was done then."""
        while self._begins or self._due:
            for refit in self._begins.pop((seq, self._refits), ()):
                notes = msgspec.json.encode(refit.notes).decode()
                self._begun[refit.number] = self._refitting().job(self._state, refit.cold, notes)
            due = self._due.get(self._refits + 1)
            if due is None or due.applied != seq:
                return
            if due.number not in self._begun:
                raise ServerFault(f"Refit {due.number} is put in before it can have begun.")
            fit = self._refitting().refit(self._begun.pop(due.number))
            self._state = self._refitting().install(self._state, fit)
            self._refits = due.number
            ratings = self._system.standings(self._state)
            for moved in due.moved:
                self._compare(moved.version, moved.mean, moved.spread, ratings)

    def _refitting(self) -> Refitting:
        if not isinstance(self._system, Refitting):
            raise ServerFault(f"{self._system.name} does not refit, but refits of it are recorded.")
        return self._system

    def _compare(self, version: str, mean: float, spread: float, here: Any) -> None:
        rating = here.get(self._numbers.get(version))
        if rating is None:
            raise ServerFault(f"A rating of {version} is published after entry {self._entries}, where it has none.")
        self._largest = max(self._largest, abs(rating.mean - mean), abs(rating.spread - spread))
        self._compared += 1
