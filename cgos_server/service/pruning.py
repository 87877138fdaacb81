"""What is kept how long, and the removal of what need not be kept any longer: a few rows a commit, oldest first.

What is removed is named here, kind by kind; everything else stays for ever. Nothing that ratings are computed from is
among it. A run may be cut off anywhere, the next one goes on. Must not know: configuration, SQL, when a run begins.
"""

from __future__ import annotations

import enum
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from cgos_protocol.ids import VersionId
from cgos_server.service.people.sessions import DAY_MS
from cgos_server.storage.reading.keeping.old_rows import Keeping, Point, SystemKey
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import (
    AnalysisForgotten,
    AuditForgotten,
    ConnectionAddress,
    ConnectionForgotten,
    Record,
    RoundInputs,
)
from cgos_server.storage.writing.refitting import RankMoveForgotten, RankSumForgotten, RefitMoveForgotten

AT_ONCE: Final = 50
"""Rows that one commit removes."""

ROUNDS_AT_ONCE: Final = 4
"""Pairing passes whose inputs one commit removes: those of a thousand versions are a megabyte."""

_READ: Final = 200
"""Rows that one question looks at: more would hold up the event loop."""


class Kind(enum.Enum):
    """What may be kept for some time only."""

    CONNECTIONS = "connections"
    """Sign-ins that have ended. The last one of each version stays, without its address."""
    ROUNDS = "rounds"
    """What pairing passes were decided from. The passes, their pairs and the reasons stay."""
    ANALYSES = "analyses"
    """What bots said about their moves."""
    REFITS = "refits"
    """What refits moved, of ratings and ranks. Of each version the last row of a day (UTC) stays."""
    AUDIT = "audit"
    """Who did what to the server. The last entry stays."""


TABLES: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "connections": Kind.CONNECTIONS,
        "rounds": Kind.ROUNDS,
        "analysis": Kind.ANALYSES,
        "refit_points": Kind.REFITS,
        "rank_points": Kind.REFITS,
        "rank_summaries": Kind.REFITS,
        "audit": Kind.AUDIT,
    }
)
"""Table -> the kind of which it holds; the other tables are kept for ever."""

Days = Mapping[Kind, float]
"""How many days a kind is kept; for ever where it is not named."""

Portions = AsyncIterator[Sequence[Record]]
"""Records that each remove one row, some at a time."""


async def _no_pause(_seconds: float) -> None:
    """For whoever has the database to itself."""


class Pruner:
    """Removes what is older than it need be. One a server, or one a command on a closed database.

    :param days: how long things are kept, asked anew at every run
    :param now_ms: Unix milliseconds
    :param pause: awaited after every commit, with the seconds that it took
    :param counted: told of every commit: the kind and the number of rows
    """

    def __init__(
        self,
        store: Store,
        days: Callable[[], Days],
        *,
        now_ms: Callable[[], int],
        pause: Callable[[float], Awaitable[object]] = _no_pause,
        counted: Callable[[Kind, int], object] = lambda _kind, _rows: None,
    ) -> None:
        self._store = store
        self._days = days
        self._now_ms = now_ms
        self._pause = pause
        self._counted = counted
        self._old = OldRows(store.history.keeping)

    async def begin(self) -> dict[Kind, int] | None:
        """As :meth:`prune`; None where it is done in the background from now on."""
        return await self.prune()

    async def prune(self) -> dict[Kind, int]:
        """Remove all of it; rows by kind, of the kinds that are not kept for ever. Raises StoreError, CommitFailed."""
        removed: dict[Kind, int] = {}
        for kind, before_ms in _bounds(self._days(), self._now_ms()).items():
            removed[kind] = 0
            async for records in self._old.portions(kind, before_ms):
                began = time.monotonic()
                await self._store.commit(records)
                removed[kind] += len(records)
                self._counted(kind, len(records))
                await self._pause(time.monotonic() - began)
        return removed


async def would_go(keeping: Keeping, days: Days, now_ms: int) -> dict[Kind, int]:
    """Rows by kind that a run would remove now, of the kinds that are not kept for ever."""
    old = OldRows(keeping)
    return {
        kind: sum([len(records) async for records in old.portions(kind, before_ms)])
        for kind, before_ms in _bounds(days, now_ms).items()
    }


def _bounds(days: Days, now_ms: int) -> dict[Kind, int]:
    """Kind -> Unix ms; what is older goes."""
    return {kind: now_ms - round(days[kind] * DAY_MS) for kind in Kind if kind in days}


class OldRows:
    """Walks through what is old, oldest first. It remembers how far the moves of refits are thinned."""

    def __init__(self, keeping: Keeping) -> None:
        self._keeping = keeping
        self._thinned: dict[SystemKey, int] = {}

    async def portions(self, kind: Kind, before_ms: int) -> Portions:
        """What removes the rows of a kind that are older than `before_ms` (Unix ms) and need not be kept."""
        walk = {
            Kind.CONNECTIONS: self._connections,
            Kind.ROUNDS: self._rounds,
            Kind.ANALYSES: self._analyses,
            Kind.REFITS: self._refits,
            Kind.AUDIT: self._audit,
        }[kind]
        size = ROUNDS_AT_ONCE if kind is Kind.ROUNDS else AT_ONCE
        async for records in walk(before_ms):
            for at in range(0, len(records), size):
                yield records[at : at + size]

    async def _connections(self, before_ms: int) -> Portions:
        """In the order in which they began. The last one of all is the last of its version: numbers go on after it."""
        after = 0
        while rows := await self._keeping.connections(after, _READ):
            after = rows[-1].id
            ended = [row for row in rows if row.closed_at is not None and row.closed_at < before_ms]
            yield [
                ConnectionForgotten(row.id) if row.followed else ConnectionAddress("", row.id)
                for row in ended
                if row.followed or row.address
            ]
            if rows[-1].opened_at >= before_ms:
                return

    async def _rounds(self, before_ms: int) -> Portions:
        after = await self._keeping.last_emptied_round()
        while rows := await self._keeping.rounds(after, _READ):
            after = rows[-1].id
            yield [RoundInputs("", row.id) for row in rows if row.at < before_ms]
            if rows[-1].at >= before_ms:
                return

    async def _analyses(self, before_ms: int) -> Portions:
        """In the order in which the games began; those of unfinished ones stay."""
        after = (0, 0)
        while rows := await self._keeping.analyses(after, _READ):
            after = rows[-1].game_id, rows[-1].ply
            ended = [row for row in rows if row.ended_at is not None and row.ended_at < before_ms]
            yield [AnalysisForgotten(row.game_id, row.ply) for row in ended]
            if rows[-1].started_at >= before_ms:
                return

    async def _refits(self, before_ms: int) -> Portions:
        """System by system, day by day; only days that are wholly older."""
        keeping = self._keeping
        for of in await keeping.systems():
            after = self._thinned.get(of, 0)
            while (refit := await keeping.next_refit(of, after)) is not None:
                day = refit.at // DAY_MS
                if day >= before_ms // DAY_MS:
                    break
                last = await keeping.last_refit_before(of, refit.id, (day + 1) * DAY_MS)
                async for records in self._moved_between(of, refit.id, last):
                    yield records
                after = self._thinned[of] = last

    async def _moved_between(self, of: SystemKey, first: int, last: int) -> Portions:
        """What these refits and those between them moved, without the last row of each version."""
        keeping = self._keeping
        for ask, forgotten in ((keeping.moves, RefitMoveForgotten), (keeping.ranks, RankMoveForgotten)):
            after = Point(first, VersionId(0))
            while points := await ask(of, after, last, _READ):
                after = points[-1]
                yield [forgotten(*of, point.version_id, point.number) for point in points]
        yield [RankSumForgotten(*of, number) for number in await keeping.sums(of, first, last)]

    async def _audit(self, before_ms: int) -> Portions:
        """But for the last one: numbers go on after it."""
        last = await self._keeping.last_audited()
        after = 0
        while rows := await self._keeping.audit(after, _READ):
            after = rows[-1].id
            yield [AuditForgotten(row.id) for row in rows if row.at < before_ms and row.id != last]
            if rows[-1].at >= before_ms:
                return
