"""Computes a venue's published ratings again, entry by entry and refit by refit, and says where they differ.

The past is read in windows, so that a venue of any age needs the same memory. Must not know: how what was found is
shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Change, Entry, Rating, RatingSystem
from cgos_server.core.rating.registry import systems
from cgos_server.service.ratings.build import under
from cgos_server.service.ratings.current_state import Progress, RecordedRefits, unheard, windows
from cgos_server.service.ratings.ledger_fold import Retrace, Retraced, Run
from cgos_server.service.ratings.models import Earlier, earlier_model
from cgos_server.storage.reading.answers import PublishedChange, PublishedPoint, PublishedRefit
from cgos_server.storage.reading.history import History

TOLERANCE: Final = 1e-6
"""Elo: how far numbers may differ that another build computed; under the same build they are the same bits."""


class Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """A rating after a change: mean, spread and both ends of its interval in Elo (or points; None where there is no
    interval), number of games (None after a refit)."""

    mean: float
    spread: float
    lower: float | None
    upper: float | None
    games: int | None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """A place where published and computed are not the same.

    :ivar seq: the entry, or for a refit the one after which it was put in
    :ivar refit: its number, None for the entry itself
    :ivar version: version id
    :ivar published: None where nothing was
    :ivar computed: None where nothing is to be published
    """

    seq: int
    refit: int | None
    version: VersionId
    published: Numbers | None
    computed: Numbers | None


class Replayed(msgspec.Struct, kw_only=True):
    """What a replay found.

    :ivar entries: entries of the ledger that were folded
    :ivar changes: published changes that were compared
    :ivar refits: recorded refits that were computed again
    :ivar points: published ratings after refits that were compared
    :ivar differing: changes and points that are not the same to the last bit, those on one side only included
    :ivar unlike: those of them that are on one side only, or with another number of games
    :ivar paths: refits whose recorded notes (hyperparameters, iterations) came out otherwise
    :ivar largest: the largest difference of a mean, a spread or an end of an interval, Elo
    :ivar first: where the first difference is
    :ivar stopped: why the replay could not go on to the end; empty where it did
    :ivar builds: what computed the recorded refits, with their number
    :ivar build: what computed them now
    :ivar plugins: distributions and versions that computed what was published, the latest one last; of a plug-in only
    :ivar plugin: the one that is installed; empty where the system is none of a plug-in
    :ivar earlier_model: number of the model that published the first part of it, which this program cannot compute
        again and does not compare; None where there is no such part
    :ivar earlier_changes: published changes of that part
    :ivar earlier_refits: recorded refits of that part
    :ivar earlier_until: the last entry of that part; None: it is all of it
    """

    system: str
    entries: int = 0
    changes: int = 0
    refits: int = 0
    points: int = 0
    differing: int = 0
    unlike: int = 0
    paths: int = 0
    largest: float = 0.0
    first: Difference | None = None
    stopped: str = ""
    builds: dict[str, int] = {}
    build: str
    plugins: list[str] = []
    plugin: str = ""
    earlier_model: int | None = None
    earlier_changes: int = 0
    earlier_refits: int = 0
    earlier_until: int | None = None

    @property
    def exact(self) -> bool:
        """True where everything that this model published is the same to the last bit."""
        return not self.differing and not self.paths and not self.stopped

    @property
    def agrees(self) -> bool:
        """True where it is exact, or as near as another build can come."""
        elsewhere = set(self.builds) != {self.build}
        near = not self.stopped and not self.unlike and self.largest <= TOLERANCE
        return self.exact or (elsewhere and near)


class Replay:
    """A replay under way.

    :param build: text of :func:`cgos_server.service.ratings.build.this_build`
    :param earlier: what an earlier model published: it is neither compared nor are its refits taken again
    :ivar replayed: what was found so far
    """

    def __init__(self, system: RatingSystem, build: str, earlier: Earlier | None = None) -> None:
        self._run = Run(system)
        self._earlier = earlier
        self._waiting: dict[int, PublishedRefit] = {}
        self.replayed = Replayed(system=system.name, build=under(build, system).text)
        if earlier is not None:
            self._run.refits = self.replayed.earlier_refits = earlier.refits
            self.replayed.earlier_model, self.replayed.earlier_until = earlier.model, earlier.until
        self._trace = Retrace(self._run, ())

    @property
    def ratings(self) -> Mapping[VersionId, Rating]:
        """Version id -> its rating as computed so far."""
        return self._run.ratings

    def take(
        self, entries: Sequence[Entry], changes: Iterable[PublishedChange], refits: Iterable[PublishedRefit]
    ) -> None:
        """The next window of the past.

        :param entries: the next entries of the ledger
        :param changes: all that the system published for them
        :param refits: its recorded refits that began after one of them, in any order; none of an earlier model
        """
        published: dict[int, dict[VersionId, Numbers]] = {}
        for change in changes:
            numbers = Numbers(
                mean=change.after_mean,
                spread=change.after_spread,
                lower=change.after_lower,
                upper=change.after_upper,
                games=change.games,
            )
            published.setdefault(change.seq, {})[change.version] = numbers
        begun = {refit.refit.number: refit for refit in refits}
        self._waiting |= begun
        self._trace.expect([refit.refit for refit in begun.values()])
        replayed = self.replayed
        for entry in entries:
            if replayed.stopped:
                return
            try:
                changed, met = self._trace.step(entry)
            except (OurFault, KeyError, ValueError, ArithmeticError) as error:
                replayed.stopped = f"Entry {entry.seq} ({entry.kind.value}) cannot be applied: {error}"
                return
            finally:
                replayed.entries, replayed.refits = self._run.seq, self._run.refits - replayed.earlier_refits
            self._entry(entry.seq, published.get(entry.seq, {}), changed)
            for again in met:
                self._refit(self._waiting.pop(again.refit.number), again)

    def _entry(self, seq: int, published: Mapping[VersionId, Numbers], changed: Sequence[Change]) -> None:
        if self._earlier is not None and self._earlier.published(seq):
            self.replayed.earlier_changes += len(published)
            return
        computed = {version: _numbers(after, after.games) for version, _, after in changed}
        for version in sorted(published.keys() | computed.keys()):
            self.replayed.changes += version in published
            before, now = published.get(version), computed.get(version)
            self._compare(Difference(seq=seq, refit=None, version=version, published=before, computed=now))

    def _refit(self, recorded: PublishedRefit, again: Retraced) -> None:
        """Which versions have a point is no matter: that depends on where the server was stopped in between."""
        builds = self.replayed.builds
        builds[recorded.build] = builds.get(recorded.build, 0) + 1
        self.replayed.paths += recorded.refit.notes != again.notes
        for point in recorded.points:
            self.replayed.points += 1
            now: Rating | None = again.ratings.get(point.version)
            computed = None if now is None else _numbers(now)
            self._compare(
                Difference(
                    seq=recorded.refit.applied,
                    refit=recorded.refit.number,
                    version=point.version,
                    published=_numbers(point),
                    computed=computed,
                )
            )

    def _compare(self, place: Difference) -> None:
        """Count what differs at a place, if anything does."""
        replayed, published, computed = self.replayed, place.published, place.computed
        if published == computed:
            return
        replayed.differing += 1
        if published is not None and computed is not None and published.games == computed.games:
            replayed.largest = max(replayed.largest, *_apart(published, computed))
        else:
            replayed.unlike += 1
        if replayed.first is None:
            replayed.first = place


def _numbers(rating: Rating | PublishedPoint, games: int | None = None) -> Numbers:
    return Numbers(mean=rating.mean, spread=rating.spread, lower=rating.lower, upper=rating.upper, games=games)


def _apart(one: Numbers, other: Numbers) -> Iterator[float]:
    """How far each number that both have is from the other's."""
    for name in ("mean", "spread", "lower", "upper"):
        here, there = getattr(one, name), getattr(other, name)
        if here is not None and there is not None:
            yield abs(here - there)


async def replay(
    history: History, venue: str, system: RatingSystem, build: str, progress: Progress = unheard
) -> Replayed:
    """Replay what `system` published in a venue, up to its last publication.

    :param system: with the options under which it published
    :param build: text of :func:`cgos_server.service.ratings.build.this_build`
    :raises Refused: where there is no such venue
    """
    # In this order: what is being published meanwhile by a live server is left out wholly.
    last = max((row.seq for row in await history.ratings.standings(venue, system.name)), default=0)
    recorded = await history.refits.recorded(venue, system.name, limit=1)
    earlier = await earlier_model(history, venue, system)
    refits = RecordedRefits(
        history=history,
        venue=venue,
        system=system.name,
        after=0 if earlier is None else earlier.refits,
        last=recorded[-1].number if recorded else 0,
    )
    under_way = Replay(system, build, earlier)
    replayed = under_way.replayed
    async for entries in windows(history, venue, 0, last, progress=progress):
        after = entries[0].seq - 1
        changes = await history.ledger.published(venue, system.name, after, entries[-1].seq - after)
        under_way.take(entries, changes, await refits.begun(entries[-1].seq))
        if replayed.stopped:
            break
    replayed.plugins = await history.refits.plugins(venue, system.name)
    replayed.plugin = systems().origin(system.name)
    return replayed
