"""A store in memory that keeps what a venue's ratings leave behind, and answers as the real ones do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage.reading.answers import SavedState
from cgos_server.storage.reading.stored import RankRow, RanksRow, Shown, StoredRefit
from cgos_server.storage.sharing import Alone
from cgos_server.storage.writing.records import LedgerAdded, RatingMoved, RatingNow, Record, StateSaved
from cgos_server.storage.writing.refitting import RankMoved, RanksSummed, RefitAdded, RefitMoved
from support.storage.subjects import Subjects


class LedgerStore:
    """One venue. Every group is committed at once.

    :ivar groups: what was committed, in order; a crash is a store made of the first so many
    """

    def __init__(self, groups: Sequence[Sequence[Record]] = ()) -> None:
        self.history: Any = Subjects(self)
        self.sharing = Alone()
        self.groups: list[list[Record]] = []
        self.entries: list[LedgerAdded] = []
        self.moved: dict[tuple[int, str, int], RatingMoved] = {}
        self.points: list[RefitMoved] = []
        self.now: dict[tuple[str, int], RatingNow] = {}
        self.recorded: list[RefitAdded] = []
        self.ranks: list[RankMoved] = []
        self.summed: list[RanksSummed] = []
        self.states: dict[str, StateSaved] = {}
        for group in groups:
            self.submit(group)

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        self.groups.append(list(records))
        for record in records:
            match record:
                case LedgerAdded():
                    assert record.seq == len(self.entries) + 1
                    self.entries.append(record)
                case RatingMoved():
                    key = (record.seq, record.system, record.version_id)
                    assert key not in self.moved
                    assert record.seq <= len(self.entries)
                    self.moved[key] = record
                case RatingNow():
                    self.now[record.system, record.version_id] = record
                case RefitAdded():
                    mine = [refit for refit in self.recorded if refit.system == record.system]
                    assert record.number == len(mine) + 1
                    self.recorded.append(record)
                case RefitMoved():
                    self.points.append(record)
                case RankMoved():
                    self.ranks.append(record)
                case RanksSummed():
                    self.summed.append(record)
                case StateSaved():
                    self.states[record.system] = record
        if then is not None:
            then()

    async def commit(self, records: Sequence[Record]) -> None:
        self.submit(records)

    async def ledger_entries(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        rows = self.entries[after : None if limit is None else after + limit]
        return [
            Entry(
                row.seq, Kind(row.kind), row.version_id, row.black_id, row.white_id, row.score2, row.value, row.sd,
                row.other_id, row.was2, bool(row.repeat), row.at, bool(row.surely),
            )
            for row in rows
        ]  # fmt: skip

    async def ledger_links(self, venue_id: int) -> list[Entry]:
        return [entry for entry in await self.ledger_entries(venue_id) if entry.other is not None]

    async def ledger_last_entry(self, venue_id: int) -> int:
        return len(self.entries)

    async def ledger_digests(
        self, venue_id: int, after: int = 0, limit: int | None = None
    ) -> list[tuple[int, int, int, int]]:
        digests = [
            (row.seq, row.black_id, row.white_id, row.digest)
            for row in self.entries
            if row.digest is not None and row.black_id is not None and row.white_id is not None and row.seq > after
        ]
        return digests[:limit]

    async def ratings_last_games(self, venue_id: int, system: str) -> dict[int, int]:
        games = [row for row in self.entries if row.kind == "game"]
        return {version: row.at for row in games for version in (row.black_id, row.white_id) if version is not None}

    async def ranks_last(self, venue_id: int, system: str) -> dict[int, RankRow]:
        return {row.version_id: RankRow(*row[4:]) for row in self.ranks if row.system == system}

    async def ranks_last_summary(self, venue_id: int, system: str) -> RanksRow | None:
        return next((RanksRow(*row[3:]) for row in reversed(self.summed) if row.system == system), None)

    async def ratings_last_published(self, venue_id: int) -> dict[str, int]:
        seqs: dict[str, int] = {}
        for (system, _), row in self.now.items():
            seqs[system] = max(seqs.get(system, 0), row.seq)
        return seqs

    async def ratings_shown(self, venue_id: int, system: str) -> dict[int, Shown]:
        return {
            version: Shown(row.mean, row.spread, bool(row.provisional), bool(row.anchor), row.lower, row.upper)
            for (name, version), row in self.now.items()
            if name == system
        }

    async def refits_state(self, venue_id: int, system: str) -> SavedState | None:
        saved = self.states.get(system)
        return None if saved is None else SavedState(seq=saved.seq, refit=saved.refit, at=saved.at, state=saved.state)

    async def refits_last(self, venue_id: int, system: str) -> int:
        return max((row.number for row in self.recorded if row.system == system), default=0)

    async def refits_after(
        self, venue_id: int, system: str, after: int = 0, limit: int | None = None
    ) -> list[StoredRefit]:
        refits = [
            StoredRefit(row.number, row.included, row.base, row.applied, bool(row.cold), row.notes, row.build)
            for row in self.recorded
            if row.system == system and row.number > after
        ]
        return refits[:limit]
