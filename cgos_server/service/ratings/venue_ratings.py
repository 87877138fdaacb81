"""A venue's ratings in memory and the records that every entry of its ledger leaves behind.

The live server and commands that work on a closed database use this one class, so that both number and fold alike. A
venue has one headline system, which alone decides what bots are told and how they are paired, and any number of views
from the same results. Must not know: how results come about, the event loop's other work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import structlog

from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.core.rating.base import Change, Entry, Kind, Outcome, Rating, RatingSystem, Refitting, Wanted
from cgos_server.core.rating.lineage import Lineage, Predecessor
from cgos_server.core.rating.ranks import Ranks
from cgos_server.core.rating.registry import rating_system, systems
from cgos_server.core.rating.repeats import Repeats
from cgos_server.core.rating.together import JointRatings, separate_ratings
from cgos_server.core.venue import Venue
from cgos_server.service.ratings.build import under
from cgos_server.service.ratings.ledger_fold import Begun, RefitHere, Retrace, Run
from cgos_server.service.ratings.models import Earlier, earlier_model
from cgos_server.service.ratings.odds import Joint
from cgos_server.service.ratings.venue_ranks import Ranking, VenueRanks
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import (
    BuildSeen,
    LedgerAdded,
    RatingMoved,
    RatingNow,
    RatingPluginSeen,
    Record,
    StateSaved,
)
from cgos_server.storage.writing.refitting import RefitAdded, RefitMoved

log = structlog.get_logger(__name__)

CHUNK = 20_000
"""Entries that are read and folded at once at the start."""

MOST_FOLLOWED = 1_000
"""Recorded refits that are computed again at a start. A saved state leaves some seconds' worth of them; without one, of
another release or other options, there may be months of them, and one cold refit does as well."""

WORTH_SAVING = 2_000
"""Entries folded at the start from which on the state is saved at once."""


class Applied(NamedTuple):
    """What one entry did.

    :ivar entry: the entry with its number
    :ivar changes: the headline's ratings that moved
    :ivar records: what to commit, together with the event that caused it
    """

    entry: Entry
    changes: tuple[Change, ...]
    records: list[Record]


class VenueRatings:
    """The folds of one venue's ledger, and the next number.

    An entry, and a refit, is applied in memory at once; its records must be submitted to the store in the same order.

    :param headline: decides what bots are told
    :param views: further systems by their own names
    :param build: text of :func:`cgos_server.service.ratings.build.this_build`, recorded with every refit
    :param view_failed: told of a view that broke; it is left out from then on, since no view may spoil a game
    :param refilled: told of a system, by its name, whose earlier model computed what is published: its ratings are
        filled again, from so many entries
    :ivar lineage: who succeeds whom
    """

    def __init__(
        self,
        venue_id: VenueId,
        headline: RatingSystem,
        views: Sequence[RatingSystem] = (),
        build: str = "",
        view_failed: Callable[[str, Exception], None] = lambda _name, _error: None,
        refilled: Callable[[str, Earlier, int], None] = lambda _name, _earlier, _entries: None,
    ) -> None:
        self.venue_id = venue_id
        self.system = headline
        self.seq = 0
        self._build = build
        self._view_failed = view_failed
        self._refilled = refilled
        self._headline = Run(headline)
        self._runs = {headline.name: self._headline} | {view.name: Run(view) for view in views}
        self._saved: dict[str, tuple[int, int]] = {}
        self._builds: dict[str, str] = {}
        self._repeats = Repeats()
        self.lineage = Lineage()
        self._ranks = VenueRanks(venue_id)

    async def load(self, store: Store, at: int, progress: Callable[[int], None] = lambda _seq: None) -> None:
        """Begin from the saved states and the stored ledger.

        A system that has not seen all of the ledger is filled from it, and what it finds is published.

        :param at: Unix ms, for what has to be recorded
        :param progress: told up to which entry the ledger is folded
        :raises OurFault: where the ledger makes no sense
        """
        venue_id = self.venue_id
        seen = 0
        while digests := await store.history.ledger.digests(venue_id, seen, CHUNK):
            for seen, black, white, digest in digests:  # noqa: B007 - the last one is where to go on
                self._repeats.add(black, white, digest)
        for entry in await store.history.ledger.links(venue_id):
            self.lineage.fold(entry)
        published = await store.history.ratings.last_published(venue_id)
        traces = [
            _Filling(await self._traced(store, run), published.get(name, 0), at) for name, run in self._runs.items()
        ]
        folded = 0
        while entries := await store.history.ledger.entries(
            venue_id, min(run.seq for run in self._runs.values()), CHUNK
        ):
            for filling in list(traces):
                try:
                    records = await asyncio.to_thread(self._catch_up, filling, entries)
                except Exception as error:
                    self._leave_out(filling.trace.run, error)
                    traces.remove(filling)
                    continue
                if records:
                    await store.commit(records)
            folded += len(entries)
            self.seq = max(self.seq, entries[-1].seq)
            progress(min(run.seq for run in self._runs.values()))
        self.seq = max(self.seq, *(run.seq for run in self._runs.values()))
        for filling in traces:
            if filling.afresh:
                # What the refit moves them from is what everybody sees.
                run = filling.trace.run
                run.shown(await store.history.ratings.shown(venue_id, run.system.name))
                await store.commit(await asyncio.to_thread(self._refit_afresh, filling))
        for name, run in self._runs.items():
            unseen = run.shown(await store.history.ratings.shown(venue_id, name))
            if unseen:
                await store.commit(
                    [_now(venue_id, name, version=version, rating=now, seq=run.seq) for version, now in unseen.items()]
                )
        await self._ranks.load(store, self.system.name, list(self._runs.values()))
        if folded >= WORTH_SAVING:
            await store.commit(self.states(at))
        origins = {name: systems().origin(name) for name in self._runs}
        plugins = [RatingPluginSeen(venue_id, name, origin, self.seq) for name, origin in origins.items() if origin]
        if plugins:
            await store.commit(plugins)

    def standings(self) -> Mapping[VersionId, Rating]:
        """Version id -> rating in the headline system, as published."""
        return self._headline.ratings

    def knows(self, version: VersionId) -> bool:
        """True once the version has entered this venue."""
        return version in self.standings()

    def rating(self, version: VersionId) -> Rating:
        """Raises KeyError for a version that never entered."""
        return self.standings()[version]

    def predict(self, black: VersionId, white: VersionId) -> Outcome:
        """The next game of these two in the headline system. Raises KeyError for a version that never entered."""
        return self.system.predict(self._headline.state, black, white)

    @property
    def draws(self) -> float:
        """The share of their games, 0..1, that equals draw, as the headline system has learned it; 0 where it learns
        none, and takes a draw for half a win."""
        return self.system.draws(self._headline.state) if isinstance(self.system, Joint) else 0.0

    def together(self, versions: Sequence[VersionId]) -> Any:
        """What the headline system knows of these versions together: a snapshot whose ``compute()`` may run in another
        thread and gives ``covariance`` and ``gram`` (see :mod:`cgos_server.core.rating.together`); None where it
        knows each on its own only. Raises KeyError for a version that never entered."""
        snapshot = getattr(self.system, "snapshot", None)
        return None if snapshot is None else snapshot(self._headline.state, versions)

    def joint_ratings(self, versions: Sequence[VersionId]) -> JointRatings:
        """What the headline system knows of these versions and of the first move. Raises KeyError for a stranger."""
        if isinstance(self.system, Joint):
            return self.system.joint_ratings(self._headline.state, versions)
        return separate_ratings([self.rating(version) for version in versions], self.system.sure)

    def anchor_residuals(self) -> list[Any]:
        """What the games say of each anchor (:class:`cgos_server.core.rating.bayes.system.AnchorResidual`); empty where
        the headline system cannot tell."""
        residuals = getattr(self.system, "anchor_residuals", None)
        return [] if residuals is None else list(residuals(self._headline.state))

    # -- entries

    def enter(self, version: VersionId, value: float, at: int, predecessor: Predecessor | None = None) -> Applied:
        """A version joins the pool at rating `value`, or as successor of `predecessor`; `at` in Unix ms."""
        entry = Entry(self.seq + 1, Kind.ENTER, version, value=value, at=at)
        return self._apply(entry if predecessor is None else _linked(entry, predecessor))

    def game(
        self, game: GameId, black: VersionId, white: VersionId, score2: int, at: int, digest: int | None = None
    ) -> Applied:
        """A rated game ended with `score2` half points for Black.

        :param digest: :func:`cgos_server.core.rating.repeats.game_digest` of a game that may be the same as another
        """
        repeat = digest is not None and self._repeats.add(black, white, digest)
        entry = Entry(self.seq + 1, Kind.GAME, black=black, white=white, score2=score2, repeat=repeat, at=at)
        try:
            return self._apply(entry, game, digest)
        except Exception:
            if digest is not None and not repeat:
                self._repeats.discard(black, white, digest)  # the game is void: the next one like it is the first
            raise

    def anchor(self, version: VersionId, value: float, at: int, sd: float | None = None) -> Applied:
        """The version's rating is `value` from now on, known to `sd` (None: as the system has it)."""
        return self._apply(Entry(self.seq + 1, Kind.ANCHOR, version, value=value, sd=sd, at=at))

    def unanchor(self, version: VersionId, at: int) -> Applied:
        """The version is an ordinary one again."""
        return self._apply(Entry(self.seq + 1, Kind.UNANCHOR, version, at=at))

    def link(self, version: VersionId, predecessor: Predecessor, at: int) -> Applied:
        """The version succeeds `predecessor`, and no version that it succeeded before."""
        return self._apply(_linked(Entry(self.seq + 1, Kind.LINK, version, at=at), predecessor))

    def unlink(self, version: VersionId, other: VersionId, at: int) -> Applied:
        """The version has nothing to do with version `other` any more."""
        return self._apply(Entry(self.seq + 1, Kind.UNLINK, version, other=other, at=at))

    def correct(
        self,
        game: GameId,
        black: VersionId,
        white: VersionId,
        was2: int | None,
        score2: int | None,
        at: int,
        repeat: bool = False,
    ) -> Applied:
        """The game counted as `was2` and counts as `score2` from now on; `repeat` as in :class:`Entry`."""
        entry = Entry(self.seq + 1, Kind.CORRECTION, black=black, white=white, score2=score2, was2=was2, repeat=repeat)
        return self._apply(entry._replace(at=at), game)

    def forget(self, black: VersionId, white: VersionId, digest: int) -> None:
        """No game of these with this digest counts any more, by corrections: the next one will be no repeat."""
        self._repeats.discard(black, white, digest)

    def _apply(self, entry: Entry, game: GameId | None = None, digest: int | None = None) -> Applied:
        changes = self._headline.fold(entry)
        self.seq = entry.seq
        self.lineage.fold(entry)
        self._ranks.activity.note(entry)
        records: list[Record] = [
            LedgerAdded(
                venue_id=self.venue_id,
                seq=entry.seq,
                at=entry.at,
                kind=entry.kind.value,
                game_id=game,
                version_id=entry.version,
                black_id=entry.black,
                white_id=entry.white,
                score2=entry.score2,
                value=entry.value,
                sd=entry.sd,
                other_id=entry.other,
                was2=entry.was2,
                repeat=int(entry.repeat),
                digest=digest,
                surely=int(entry.surely),
            )
        ]
        records += self._moved(self._headline, entry, changes)
        for run in list(self._runs.values()):
            if run is not self._headline:
                try:
                    records += self._moved(run, entry, run.fold(entry))
                except Exception as error:
                    self._leave_out(run, error)
        return Applied(entry, changes, records)

    def _leave_out(self, run: Run, error: Exception) -> None:
        """Go on without a view that failed. Raises the error where it is the headline's."""
        if run is self._headline:
            raise error
        del self._runs[run.system.name]
        self._view_failed(run.system.name, error)

    def _moved(self, run: Run, entry: Entry, changes: Iterable[Change]) -> list[Record]:
        """What entry `entry` did to the ratings of one system."""
        venue, name, records = self.venue_id, run.system.name, list[Record]()
        for version, before, after in changes:
            records.append(
                RatingMoved(
                    venue_id=venue,
                    system=name,
                    seq=entry.seq,
                    version_id=version,
                    before_mean=before.mean,
                    before_spread=before.spread,
                    after_mean=after.mean,
                    after_spread=after.spread,
                    games=after.games,
                    before_lower=before.lower,
                    before_upper=before.upper,
                    after_lower=after.lower,
                    after_upper=after.upper,
                )
            )
            records.append(_now(venue, name, version=version, rating=after, seq=entry.seq))
        return records

    # -- refits

    def wanted(self) -> dict[str, Wanted]:
        """What the systems with refits would like; those that want nothing are left out."""
        wishes = {name: run.wanted() for name, run in self._runs.items()}
        return {name: wanted for name, wanted in wishes.items() if wanted.results or wanted.cold}

    def refitting(self, system: str) -> Refitting:
        """The system with refits of this name. Raises KeyError for any other."""
        refitting = self._runs[system].refitting
        if refitting is None:
            raise KeyError(system)
        return refitting

    def refitted(self, system: str) -> bool:
        """True once a refit of this system is in place."""
        return self._runs[system].refits > 0

    def begin(self, system: str, cold: bool) -> Begun:
        """What a refit of this system needs, as of now."""
        return self._runs[system].begin(cold)

    def finish(self, begun: Begun, fit: Any, at: int, took_us: int) -> list[Record] | None:
        """Put a refit in place: what to commit; None where something later has overtaken it. `at` in Unix ms."""
        run = self._runs.get(begun.system)
        if run is None:
            return None
        try:
            moved = run.install(fit)
        except Exception as error:
            self._leave_out(run, error)
            return None
        return None if moved is None else self._recorded(run, RefitHere(begun, fit, moved), at, took_us)

    def _recorded(self, run: Run, refit: RefitHere, at: int, took_us: int) -> list[Record]:
        """What a refit that is in place leaves behind."""
        begun, fit, moved = refit
        venue, name = self.venue_id, run.system.name
        records: list[Record] = []
        if name not in self._builds:
            build = under(self._build, run.system)
            self._builds[name] = build.id
            records.append(BuildSeen(*build))
        records.append(
            RefitAdded(
                venue_id=venue,
                system=name,
                number=run.refits,
                included=begun.included,
                base=begun.base,
                applied=run.seq,
                cold=int(fit.cold),
                notes=fit.notes,
                build=self._builds[name],
                at=at,
                took_us=took_us,
            )
        )
        for version, now in moved.items():
            records.append(
                RefitMoved(
                    venue_id=venue,
                    system=name,
                    version_id=version,
                    number=run.refits,
                    applied=run.seq,
                    mean=now.mean,
                    spread=now.spread,
                    lower=now.lower,
                    upper=now.upper,
                )
            )
            records.append(_now(venue, name, version=version, rating=now, seq=run.seq))
        return records

    # -- ranks

    def missing_ranks(self) -> list[Ranking]:
        """See :meth:`VenueRanks.missing`."""
        return self._ranks.missing(list(self._runs.values()))

    def ranking(self, begun: Begun, fit: Any) -> Ranking | None:
        """The ranks to be computed after a refit that is in place; None where its system says nothing of ranks."""
        run = self._runs.get(begun.system)
        return None if run is None else self._ranks.ranking(run, begun, fit)

    def ranked(self, ranking: Ranking, computed: Ranks) -> list[Record]:
        """What to commit of ranks that were computed, after the records of their refit."""
        return self._ranks.records(ranking, computed)

    # -- saved states

    def states(self, at: int) -> list[Record]:
        """The states that changed since they were saved last, to be submitted while no refit is under way: one that
        began before the saved state could not be computed again from it."""
        records: list[Record] = []
        for name, run in list(self._runs.items()):
            if self._saved.get(name) == (run.seq, run.refits):
                continue
            try:
                records.append(
                    StateSaved(
                        venue_id=self.venue_id,
                        system=name,
                        seq=run.seq,
                        refit=run.refits,
                        at=at,
                        state=run.system.dump(run.state),
                    )
                )
            except Exception as error:
                self._leave_out(run, error)
            self._saved[name] = (run.seq, run.refits)
        return records

    # -- the start

    async def _traced(self, store: Store, run: Run) -> Retrace:
        """The run at its saved state, or at the very beginning, and the refits that are recorded after it."""
        history, venue_id, name = store.history, self.venue_id, run.system.name
        saved = await history.refits.state(venue_id, name)
        if saved is not None:
            try:
                await asyncio.to_thread(run.resume, saved.seq, saved.refit, saved.state)
            except ValueError:
                saved = None  # of another release: everything is computed again
        first = run.refits
        refits = await history.refits.after(venue_id, name, first, MOST_FOLLOWED + 1)
        if saved is not None and any(refit.included < run.seq for refit in refits):
            saved = None  # one was under way when the state was saved
        if saved is None:
            run.restart()
            earlier = await earlier_model(history, venue_id, run.system)
            if earlier is not None and earlier.until is None:
                self._refilled(name, earlier, await history.ledger.last_entry(venue_id))
            run.refits = 0 if earlier is None else earlier.refits
            if run.refits != first:
                refits = await history.refits.after(venue_id, name, run.refits, MOST_FOLLOWED + 1)
        if len(refits) > MOST_FOLLOWED:
            log.warning(
                "no usable saved state: the ratings are computed from the results, without the old refits", system=name
            )
            return _without_refits(run, await history.refits.last(venue_id, name))
        try:
            return await asyncio.to_thread(Retrace, run, refits)  # a node must go on saying that it lives
        except Exception as error:
            _unfit(run, error)
            return _without_refits(run, await history.refits.last(venue_id, name))

    def _catch_up(self, filling: _Filling, entries: Sequence[Entry]) -> list[Record]:
        """Fold these entries into a system that has not seen them; what has to be published, all at once."""
        run, records = filling.trace.run, list[Record]()
        for entry in entries:
            if entry.seq <= run.seq:
                continue
            following = not filling.trace.done
            try:
                changes, _ = filling.trace.step(entry)
            except Exception as error:
                if not following:
                    raise
                _unfit(run, error)
                filling.begin_again()
                return []
            if entry.seq > filling.published:
                records += self._moved(run, entry, changes)
                if filling.trace.done:
                    records += self._refitted_here(run, filling.at, run.refit_where_due)
        return records

    def _refitted_here(self, run: Run, at: int, refit: Callable[[], RefitHere | None]) -> list[Record]:
        """What a refit here and now leaves behind; nothing where none was due, or where it failed."""
        try:
            done = refit()
        except Exception as error:
            log.error(
                "a refit failed; the ratings go on without it", system=run.system.name, entry=run.seq, exc_info=error
            )
            return []
        return [] if done is None else self._recorded(run, done, at, took_us=0)

    def _refit_afresh(self, filling: _Filling) -> list[Record]:
        """After a fold without the recorded refits: a cold one, lest anybody is shown what single steps make of it."""
        run = filling.trace.run
        if run.refitting is None or not run.wanted().results:
            return []
        return self._refitted_here(run, filling.at, partial(run.refit_now, cold=True))


async def load_ratings(
    store: Store, venue: Venue, build: str, at: int, progress: Callable[[int], None]
) -> VenueRatings:
    """The venue's ratings under its headline system and its views. Raises Refused, StoreError.

    :param at: Unix ms
    :param progress: told up to which entry the ledger is folded; what it raises ends it
    """
    headline, *views = (
        rating_system(name, venue.initial, venue.rating_options.get(name, {})) for name in (venue.rating, *venue.views)
    )

    def view_failed(name: str, error: Exception) -> None:
        log.error(
            "a view of the ratings failed and is left out until the next start",
            venue=venue.name,
            system=name,
            exc_info=error,
        )

    def refilled(name: str, earlier: Earlier, entries: int) -> None:
        log.warning(
            "the ratings were computed by an earlier model and are filled again from the results; what was published "
            "stays",
            venue=venue.name,
            system=name,
            model=earlier.model,
            results=entries,
        )

    ratings = VenueRatings(venue.id, headline, views, build, view_failed=view_failed, refilled=refilled)
    await ratings.load(store, at, progress)
    return ratings


class _Filling:
    """A system on its way to the ledger's end.

    :ivar published: the last entry whose changes it has published
    :ivar afresh: True where the recorded refits are not followed
    """

    def __init__(self, trace: Retrace, published: int, at: int) -> None:
        self.trace = trace
        self.published = published
        self.at = at
        self.afresh = trace.done and trace.run.seq == 0 < trace.run.refits

    def begin_again(self) -> None:
        self.trace = _without_refits(self.trace.run, self.trace.last)
        self.afresh = True


def _without_refits(run: Run, last: int) -> Retrace:
    """From the first entry, and without the recorded refits: the next one will be cold, and come after `last`."""
    run.restart()
    run.refits = last
    return Retrace(run, ())


def _unfit(run: Run, error: Exception) -> None:
    log.error(
        "the recorded refits do not fit the results; the ratings are computed without them",
        system=run.system.name,
        entry=run.seq,
        error=str(error),
    )


def _linked(entry: Entry, predecessor: Predecessor) -> Entry:
    return entry._replace(other=predecessor.version, sd=predecessor.sd, surely=predecessor.surely)


def _now(venue: VenueId, system: str, version: VersionId, rating: Rating, seq: int) -> RatingNow:
    return RatingNow(
        venue_id=venue,
        system=system,
        version_id=version,
        mean=rating.mean,
        spread=rating.spread,
        games=rating.games,
        provisional=int(rating.provisional),
        anchor=int(rating.anchor),
        seq=seq,
        lower=rating.lower,
        upper=rating.upper,
    )
