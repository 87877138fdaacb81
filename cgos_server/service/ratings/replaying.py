"""Computes a venue's published ratings again, entry by entry and refit by refit, and says where they differ.

The past is read in windows, so that a venue of any age needs the same memory. Must not know: how what was found is
shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from cgos_protocol.errors import OurFault
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Change, Entry, Rating, RatingSystem
from cgos_server.core.rating.registry import systems
from cgos_server.service.ratings.build import under
from cgos_server.service.ratings.current_state import WINDOW, Progress, RecordedRefits, unheard
from cgos_server.service.ratings.ledger_fold import Retrace, Retraced, Run
from cgos_server.storage.reading.answers import PublishedChange, PublishedRefit
from cgos_server.storage.reading.history import History

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
    version: VersionId
    published: Numbers | None
    computed: Numbers | None


class Replayed(msgspec.Struct, frozen=True):
    """What a replay found.

    :ivar entries: entries of the ledger that were folded
    :ivar changes: published changes that were compared
    :ivar refits: recorded refits that were computed again
    :ivar points: published ratings after refits that were compared
    :ivar differing: changes and points that are not the same to the last bit, those on one side only included
    :ivar unlike: those of them that are on one side only, or with another number of games
    :ivar paths: refits whose recorded notes (hyperparameters, iterations) came out otherwise
    :ivar largest: the largest difference of a mean or a spread, Elo
    :ivar first: where the first difference is
    :ivar stopped: why the replay could not go on to the end; empty where it did
    :ivar builds: what computed the recorded refits, with their number
    :ivar build: what computed them now
    :ivar plugins: distributions and versions that computed what was published, the latest one last; of a plug-in only
    :ivar plugin: the one that is installed; empty where the system is none of a plug-in
    """

    system: str
    entries: int
    changes: int
    refits: int
    points: int
    differing: int
    unlike: int
    paths: int
    largest: float
    first: Difference | None
    stopped: str
    builds: dict[str, int]
    build: str
    plugins: list[str] = []
    plugin: str = ""

    @property
    def exact(self) -> bool:
        """True where everything is the same to the last bit."""
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
    """

    def __init__(self, system: RatingSystem, build: str) -> None:
        self._run = Run(system)
        self._trace = Retrace(self._run, ())
        self._waiting: dict[int, PublishedRefit] = {}
        self._build = under(build, system).text
        self._builds: Counter[str] = Counter()
        self._changes = self._points = self._differing = self._unlike = self._paths = 0
        self._largest = 0.0
        self._first: Difference | None = None
        self._stopped = ""

    @property
    def stopped(self) -> bool:
        """True once it cannot go on."""
        return bool(self._stopped)

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
        :param refits: its recorded refits that began after one of them, in any order
        """
        published: dict[int, dict[VersionId, Numbers]] = {}
        for change in changes:
            numbers = Numbers(change.after_mean, change.after_spread, change.games)
            published.setdefault(change.seq, {})[change.version] = numbers
        begun = {refit.refit.number: refit for refit in refits}
        self._waiting |= begun
        self._trace.expect([refit.refit for refit in begun.values()])
        for entry in entries:
            if self._stopped:
                return
            try:
                changed, met = self._trace.step(entry)
            except (OurFault, KeyError, ValueError, ArithmeticError) as error:
                self._stopped = f"Entry {entry.seq} ({entry.kind.value}) cannot be applied: {error}"
                return
            self._entry(entry.seq, published.get(entry.seq, {}), changed)
            for again in met:
                self._refit(self._waiting.pop(again.refit.number), again)

    def result(self) -> Replayed:
        """What was found."""
        return Replayed(
            system=self._run.system.name,
            entries=self._run.seq,
            changes=self._changes,
            refits=self._run.refits,
            points=self._points,
            differing=self._differing,
            unlike=self._unlike,
            paths=self._paths,
            largest=self._largest,
            first=self._first,
            stopped=self._stopped,
            builds=dict(self._builds),
            build=self._build,
        )

    def _entry(self, seq: int, published: Mapping[VersionId, Numbers], changed: Sequence[Change]) -> None:
        computed = {version: Numbers(after.mean, after.spread, after.games) for version, _, after in changed}
        for version in sorted(published.keys() | computed.keys()):
            self._changes += version in published
            self._compare(seq, None, version=version, published=published.get(version), computed=computed.get(version))

    def _refit(self, recorded: PublishedRefit, again: Retraced) -> None:
        """Which versions have a point is no matter: that depends on where the server was stopped in between."""
        self._builds[recorded.build] += 1
        self._paths += recorded.refit.notes != again.notes
        for point in recorded.points:
            self._points += 1
            now: Rating | None = again.ratings.get(point.version)
            computed = None if now is None else Numbers(now.mean, now.spread, None)
            published = Numbers(point.mean, point.spread, None)
            self._compare(
                recorded.refit.applied,
                recorded.refit.number,
                version=point.version,
                published=published,
                computed=computed,
            )

    def _compare(
        self, seq: int, refit: int | None, version: VersionId, published: Numbers | None, computed: Numbers | None
    ) -> None:
        if published == computed:
            return
        self._differing += 1
        if published is not None and computed is not None and published.games == computed.games:
            by = max(abs(published.mean - computed.mean), abs(published.spread - computed.spread))
            self._largest = max(self._largest, by)
        else:
            self._unlike += 1
        if self._first is None:
            self._first = Difference(seq=seq, refit=refit, version=version, published=published, computed=computed)


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
    refits = RecordedRefits(
        history=history, venue=venue, system=system.name, after=0, last=recorded[-1].number if recorded else 0
    )
    under_way = Replay(system, build)
    done = 0
    while done < last and not under_way.stopped:
        entries = await history.ledger.entries(venue, done, min(WINDOW, last - done))
        if not entries:
            break
        changes = await history.ledger.published(venue, system.name, done, entries[-1].seq - done)
        under_way.take(entries, changes, await refits.begun(entries[-1].seq))
        done = entries[-1].seq
        progress(done, last)
    plugins = await history.refits.plugins(venue, system.name)
    return msgspec.structs.replace(under_way.result(), plugins=plugins, plugin=systems().origin(system.name))
