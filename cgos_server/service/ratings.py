"""A venue's ratings in memory and the records that every entry of its ledger leaves behind.

The live server and commands that work on a closed database use this one class, so that both number and fold alike.
Must not know: how results come about, the event loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cgos_server.core.rating.base import Change, Entry, Kind, Rating, RatingSystem
from cgos_server.storage.records import LedgerAdded, RatingMoved, RatingNow, Record
from cgos_server.storage.store import Store


class Applied(NamedTuple):
    """What one entry did.

    :ivar entry: the entry with its number
    :ivar changes: the ratings that moved
    :ivar records: what to commit, together with the event that caused it
    """

    entry: Entry
    changes: tuple[Change, ...]
    records: list[Record]


class VenueRatings:
    """The fold of one venue's ledger under its headline system, and the next number.

    An entry is applied in memory at once; its records must be submitted to the store in the same order.
    """

    def __init__(self, venue_id: int, system: RatingSystem) -> None:
        self.venue_id = venue_id
        self.system = system
        self.seq = 0
        self._state: Any = system.start()

    @classmethod
    async def load(cls, store: Store, venue_id: int, system: RatingSystem) -> VenueRatings:
        """Replay the stored ledger."""
        ratings = cls(venue_id, system)
        for entry in await store.ledger(venue_id):
            ratings._state, _ = system.fold(ratings._state, entry)
            ratings.seq = entry.seq
        return ratings

    def standings(self) -> Mapping[int, Rating]:
        """Version id -> rating, after the latest entry."""
        return self.system.standings(self._state)

    def knows(self, version: int) -> bool:
        """True once the version has entered this venue."""
        return version in self.standings()

    def rating(self, version: int) -> Rating:
        """Raises KeyError for a version that never entered."""
        return self.standings()[version]

    def enter(self, version: int, value: float, at: int) -> Applied:
        """A version joins the pool at rating `value`; `at` in Unix ms."""
        return self._apply(Entry(self.seq + 1, Kind.ENTER, version=version, value=value), None, at)

    def game(self, game: int, black: int, white: int, score2: int, at: int) -> Applied:
        """A rated game ended with `score2` half points for Black."""
        return self._apply(Entry(self.seq + 1, Kind.GAME, black=black, white=white, score2=score2), game, at)

    def anchor(self, version: int, value: float, at: int) -> Applied:
        """The version's rating is `value` from now on."""
        return self._apply(Entry(self.seq + 1, Kind.ANCHOR, version=version, value=value), None, at)

    def unanchor(self, version: int, at: int) -> Applied:
        """The version is an ordinary one again."""
        return self._apply(Entry(self.seq + 1, Kind.UNANCHOR, version=version), None, at)

    def _apply(self, entry: Entry, game: int | None, at: int) -> Applied:
        self._state, changes = self.system.fold(self._state, entry)
        self.seq = entry.seq
        records: list[Record] = [
            LedgerAdded(
                self.venue_id, entry.seq, at, entry.kind.value, game, entry.version, entry.black, entry.white,
                entry.score2, entry.value,
            )
        ]  # fmt: skip
        name = self.system.name
        for version, before, after in changes:
            records.append(
                RatingMoved(
                    self.venue_id, name, entry.seq, version, before.mean, before.spread, after.mean, after.spread,
                    after.games,
                )
            )  # fmt: skip
            records.append(
                RatingNow(
                    self.venue_id, name, version, after.mean, after.spread, after.games, int(after.provisional),
                    int(after.anchor), entry.seq,
                )
            )  # fmt: skip
        return Applied(entry, changes, records)
