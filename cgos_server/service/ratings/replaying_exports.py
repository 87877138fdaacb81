"""Computes a venue's published ratings again from what its server exports, without its database.

The ledger is all that ratings follow from; a system that refits (``bayes``, ``whole-history``) improves its numbers
besides, and the export of refits says where each began and where it was put in. Under the build that computed the
published numbers the same bits come out; set ``OPENBLAS_NUM_THREADS=1`` for that. Must not know: HTTP, storage, the
formulas.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Protocol

from cgos_protocol.api.bulk import ExportedChange, ExportedRefit
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.messages import Venue
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind, Rating
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.ratings.build import this_build
from cgos_server.service.ratings.models import earlier_of
from cgos_server.service.ratings.replaying import Replay, Replayed
from cgos_server.storage.reading.answers import PublishedChange, PublishedPoint, PublishedRefit
from cgos_server.storage.reading.stored import StoredRefit


class Exports(Protocol):
    """What a replay reads: :class:`cgos_client.api.Server`, or whatever else has a server's exports."""

    def venue(self, venue: str, /) -> Venue:
        """The venue, with its rating systems and their options."""

    def export_ledger(self, venue: str, /) -> Iterable[LedgerEntry]:
        """The whole ledger, in order."""

    def export_ratings(self, venue: str, /, *, system: str | None) -> Iterable[ExportedChange]:
        """Every change of every rating under `system`, by the ledger's entries."""

    def export_refits(self, venue: str, /, *, system: str | None) -> Iterable[ExportedRefit]:
        """Every refit of `system`, in the order of their numbers."""


def replay(server: Exports, venue: str, system: str | None = None) -> tuple[Replayed, dict[str, Rating]]:
    """Download and compute: what was found, and each version's rating after all of it.

    Memory grows with the refits, not with the games. Raises whatever `server` raises.

    :param system: None for the venue's headline
    """
    about = server.venue(venue)
    name = system or about.systems[0]
    initial = 1800.0 if about.initial is None else about.initial
    numbers = _Numbers()
    # In this order: what is published meanwhile is left out.
    refits = [numbers.refit(refit) for refit in server.export_refits(venue, system=name)]
    changes = _by_entry(server.export_ratings(venue, system=name))
    rating = rating_system(name, initial, about.rating_options.get(name, {}))
    earlier = earlier_of([refit.refit for refit in refits], rating)
    under_way = Replay(rating, this_build().text, earlier)
    under_way.take((), (), refits[0 if earlier is None else earlier.refits :])
    last_applied = max((refit.refit.applied for refit in refits), default=0)
    seq, published = next(changes, (0, []))
    for line in server.export_ledger(venue):
        if line.seq > max(seq, last_applied) or under_way.replayed.stopped:
            break
        due = line.seq == seq
        under_way.take([numbers.entry(line)], map(numbers.change, published if due else ()), ())
        if due:
            seq, published = next(changes, (0, []))
    names = {number: version for version, number in numbers.by_name.items()}
    return under_way.replayed, {names[number]: rating for number, rating in under_way.ratings.items()}


def _by_entry(changes: Iterable[ExportedChange]) -> Iterator[tuple[int, list[ExportedChange]]]:
    """The changes of one entry together."""
    for seq, together in groupby(changes, key=lambda change: change.seq):
        yield seq, list(together)


class _Numbers:
    """Exported lines as the values that a replay takes. Inside, versions are numbers: any will do."""

    def __init__(self) -> None:
        self.by_name: dict[str, VersionId] = {}

    def entry(self, line: LedgerEntry) -> Entry:
        return Entry(
            seq=line.seq,
            kind=Kind(line.kind),
            version=self._number(line.version),
            black=self._number(line.black),
            white=self._number(line.white),
            score2=line.score2,
            value=line.value,
            sd=line.sd,
            other=self._number(line.other),
            was2=line.was2,
            repeat=line.repeat,
            at=line.at,
            surely=line.surely,
        )

    def change(self, change: ExportedChange) -> PublishedChange:
        return PublishedChange(
            seq=change.seq,
            version=self._known(change.version),
            before_mean=change.before_mean,
            before_spread=change.before_spread,
            after_mean=change.after_mean,
            after_spread=change.after_spread,
            games=change.games,
            after_lower=change.after_lower,
            after_upper=change.after_upper,
        )

    def refit(self, refit: ExportedRefit) -> PublishedRefit:
        stored = StoredRefit(
            number=refit.number,
            included=refit.included,
            base=refit.base,
            applied=refit.applied,
            cold=refit.cold,
            notes=json.dumps(refit.notes, separators=(",", ":")),
            build=refit.build,
        )
        points = [
            PublishedPoint(
                version=self._known(moved.version),
                mean=moved.mean,
                spread=moved.spread,
                lower=moved.lower,
                upper=moved.upper,
            )
            for moved in refit.moved
        ]
        return PublishedRefit(refit=stored, build=refit.build, points=points, at=refit.at)

    def _known(self, name: str) -> VersionId:
        return self.by_name.setdefault(name, VersionId(len(self.by_name) + 1))

    def _number(self, name: str | None) -> VersionId | None:
        return None if name is None else self._known(name)
