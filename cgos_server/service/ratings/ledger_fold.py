"""One rating system that folds one venue's ledger, live or again: with refits at the places where they are recorded.

The live server, the start after a stop, and the commands that replay use these same steps, so that they agree to the
last bit. Must not know: the event loop, where entries and refits come from, what becomes of the changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Change, Entry, Fit, Rating, RatingSystem, Refitting, Wanted
from cgos_server.storage.reading.stored import Shown, StoredRefit

NOTICED = 0.1
"""Elo: a refit's change of a version's mean, spread or interval below this is not published by itself."""

SPARSE = 20
"""While old results are folded: a refit after every twentieth part of what there is, a cold one when it has doubled.
The single steps in between are exact to some thousandths of a standard deviation."""


class Begun(NamedTuple):
    """A refit under way.

    :ivar system: its system's name
    :ivar job: what :meth:`Refitting.refit` takes
    :ivar included: the last entry that it counts
    :ivar base: number of the refit that was in place when it began
    """

    system: str
    job: Any
    included: int
    base: int
    cold: bool


class RefitHere(NamedTuple):
    """A refit that was done and put in place.

    :ivar moved: the versions that it moved noticeably
    """

    begun: Begun
    fit: Fit
    moved: dict[VersionId, Rating]


class Run:
    """A system at work on a venue.

    :ivar refitting: the system where it has refits
    :ivar seq: the last entry that was folded
    :ivar refits: number of the last refit that was installed
    :ivar ratings: version id -> rating as published: both players after their game, everybody after a refit
    """

    def __init__(self, system: RatingSystem) -> None:
        self.system = system
        self.refitting = system if isinstance(system, Refitting) else None  # asked once: it takes longer than a fold
        self.restart()

    def restart(self) -> None:
        """Before the first entry."""
        self.state: Any = self.system.start()
        self.seq = 0
        self.refits = 0
        self.ratings: dict[VersionId, Rating] = {}
        self._recorded: dict[VersionId, Rating] = {}
        self._refitted_at = self._cold_at = 0

    def resume(self, seq: int, refits: int, data: bytes) -> None:
        """Go on from a saved state. Raises ValueError where it is none of this system's."""
        self.state = self.system.load(data)
        self.seq, self.refits = seq, refits
        self.ratings = dict(self.system.standings(self.state))
        self._recorded = dict(self.ratings)

    def fold(self, entry: Entry) -> tuple[Change, ...]:
        """Apply the next entry. Raises OurFault where a rating became no number, which nobody could store."""
        self.state, changes = self.system.fold(self.state, entry)
        for change in changes:
            _check(change.version, change.after)
        self.seq = entry.seq
        for version, _, after in changes:
            self.ratings[version] = self._recorded[version] = after
        return changes

    def wanted(self) -> Wanted:
        """What the system would like; nothing where it has no refits."""
        refitting = self.refitting
        return Wanted(0, False) if refitting is None else refitting.wanted(self.state)

    def begin(self, cold: bool, follow: str | None = None) -> Begun:
        """Take what a refit needs, as of now. Only for systems with refits."""
        refitting = self.refitting
        assert refitting is not None
        return Begun(
            system=self.system.name,
            job=refitting.job(self.state, cold, follow),
            included=self.seq,
            base=self.refits,
            cold=cold,
        )

    def shown(self, rows: Mapping[VersionId, Shown]) -> dict[VersionId, Rating]:
        """After a start: take note of what everybody sees.

        After other options, or a state of another release, that is not what the ratings are. The refit that is wanted
        will tell.

        :param rows: version id -> what is stored of its rating
        :return: what should be shown instead, where no refit is to come
        """
        seen = {version: (row, self.ratings[version]) for version, row in rows.items() if version in self.ratings}
        wanted = self.wanted()
        if wanted.results or wanted.cold:
            for version, (row, now) in seen.items():
                self._recorded[version] = now._replace(
                    mean=row.mean, spread=row.spread, lower=row.lower, upper=row.upper
                )
            return {}
        return {
            version: now
            for version, (row, now) in seen.items()
            if _noticed(row, now) or (row.provisional, row.anchor) != (now.provisional, now.anchor)
        }

    def install(self, fit: Any) -> dict[VersionId, Rating] | None:
        """Put a refit in: what it moved noticeably; None where something later has overtaken it. Raises OurFault where
        a rating became no number."""
        refitting = self.refitting
        assert refitting is not None
        if refitting.stale(self.state, fit):
            return None
        self.state = refitting.install(self.state, fit)
        ratings = dict(self.system.standings(self.state))
        moved: dict[VersionId, Rating] = {}
        for version, now in ratings.items():
            _check(version, now)
            before = self._recorded.get(version)
            if before is None or _noticed(before, now):
                moved[version] = now
        self.refits += 1
        self.ratings = ratings
        self._recorded |= moved
        return moved

    def refit_where_due(self) -> RefitHere | None:
        """While old results are folded: a refit where one is due, done here and now; None where none was due."""
        if self.seq - self._refitted_at < max(len(self.ratings) // 4, self.seq // SPARSE, 1):
            return None
        wanted = self.wanted()
        if not (wanted.results or wanted.cold):
            return None
        return self.refit_now(wanted.cold and self.seq >= 2 * self._cold_at)

    def refit_where_wanted(self) -> None:
        """After old results were folded: a last refit here and now, where it would make use of any."""
        wanted = self.wanted()
        if wanted.results:
            self.refit_now(wanted.cold)

    def refit_now(self, cold: bool) -> RefitHere:
        """A refit here and now. Only for systems with refits."""
        refitting = self.refitting
        assert refitting is not None
        self._refitted_at = self.seq
        begun = self.begin(cold)
        fit = refitting.refit(begun.job)
        moved = self.install(fit)
        assert moved is not None
        if fit.cold:
            self._cold_at = self.seq
        return RefitHere(begun, fit, moved)


def _noticed(before: Rating | Shown, now: Rating) -> bool:
    # Written out: a refit asks this of every version, most of which have moved.
    return (
        abs(now.mean - before.mean) > NOTICED
        or abs(now.spread - before.spread) > NOTICED
        or _end_noticed(before.lower, now.lower)
        or _end_noticed(before.upper, now.upper)
    )


def _end_noticed(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and abs(now - before) > NOTICED


def _check(version: VersionId, rating: Rating) -> None:
    # None is no end; 0.0 in its place is as finite as one.
    if not (
        isfinite(rating.mean)
        and isfinite(rating.spread)
        and isfinite(rating.lower or 0.0)
        and isfinite(rating.upper or 0.0)
    ):
        raise OurFault(
            f"the rating of version {version} became {rating.mean} with spread {rating.spread}, "
            f"from {rating.lower} to {rating.upper}"
        )


class Retraced(NamedTuple):
    """A recorded refit that was computed and installed again.

    :ivar ratings: everybody's rating right after it; not to be kept beyond the next step
    """

    refit: StoredRefit
    notes: str
    ratings: dict[VersionId, Rating]


class Retrace:
    """Folds entries into a run, with the recorded refits at their places.

    :param refits: recorded refits with numbers above the run's, in order; every one began at the run's entry or later
    """

    def __init__(self, run: Run, refits: Sequence[StoredRefit]) -> None:
        self.run = run
        self._left: list[StoredRefit] = []
        self._begins: dict[tuple[int, int], list[StoredRefit]] = {}
        self._begun: dict[int, Begun] = {}
        self.expect(refits)
        self._meet()

    def expect(self, refits: Sequence[StoredRefit]) -> None:
        """Further recorded refits, each before the run comes to the entry where it began."""
        self._left = sorted((*self._left, *refits), key=lambda refit: -refit.number)
        for refit in refits:
            self._begins.setdefault((refit.included, refit.base), []).append(refit)

    @property
    def last(self) -> int:
        """Number of the last refit that is recorded."""
        return self._left[0].number if self._left else self.run.refits

    @property
    def done(self) -> bool:
        """True once every recorded refit is installed."""
        return not self._left

    def step(self, entry: Entry) -> tuple[tuple[Change, ...], list[Retraced]]:
        """Apply the next entry and what is recorded to come right after it."""
        changes = self.run.fold(entry)
        return changes, self._meet()

    def _meet(self) -> list[Retraced]:
        """Begin and install whatever is recorded at this place. The order is the live one: a refit begins when both
        the entries that it includes and the refit that it builds on are in place."""
        run, met = self.run, list[Retraced]()
        while True:
            for refit in self._begins.pop((run.seq, run.refits), ()):
                self._begun[refit.number] = run.begin(refit.cold, refit.notes)
            if not self._left or self._left[-1].applied != run.seq:
                return met
            refit = self._left[-1]
            begun = self._begun.pop(refit.number, None)
            refitting = run.refitting
            if begun is None or refitting is None:
                raise ValueError(f"refit {refit.number} of {run.system.name} is recorded where it cannot have begun")
            fit = refitting.refit(begun.job)
            if run.install(fit) is None:
                raise ValueError(f"refit {refit.number} of {run.system.name} is recorded, but was out of date")
            self._left.pop()
            met.append(Retraced(refit, fit.notes, run.ratings))
