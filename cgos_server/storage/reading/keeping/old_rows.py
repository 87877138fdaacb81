"""The read side's answers about what is old: rows that need not be kept for ever, oldest first, in portions.

Every question goes on from a key in the order of a primary key or an index, so that none walks through a table twice.
Must not know: how long what is kept, who removes it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, Select, Table, bindparam, case, exists, func, select, tuple_

from cgos_protocol.ids import ConnectionId, GameId, VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.parameters import AFTER, SOME, SYSTEM, VENUE
from cgos_server.storage.reading.source import Subject, value

_connections, _rounds, _games, _analysis = tables.connections, tables.rounds, tables.games, tables.analysis
_refits, _ratings, _audit = tables.refits, tables.ratings, tables.audit
_summaries = tables.rank_summaries

_FIRST, _LAST = bindparam("first", type_=BigInteger), bindparam("last", type_=BigInteger)
_VERSION, _UNTIL = bindparam("version", type_=BigInteger), bindparam("until", type_=BigInteger)
_PLY = bindparam("ply", type_=BigInteger)


class OldConnection(NamedTuple):
    """A connection. `followed`: its version signed in again later."""

    id: ConnectionId
    opened_at: int
    closed_at: int | None
    address: str
    followed: bool


class OldAnalysis(NamedTuple):
    """What a mover said, by its key, and when the game was played; `ended_at` None while it is unfinished."""

    game_id: GameId
    ply: int
    started_at: int
    ended_at: int | None


class Dated(NamedTuple):
    """A row by its number, and when it was written (Unix ms)."""

    id: int
    at: int


class SystemKey(NamedTuple):
    """A rating system in a venue."""

    venue_id: VenueId
    system: str


class Point(NamedTuple):
    """A row of what refits moved."""

    number: int
    version_id: VersionId


# Built once.
_later = _connections.alias("later")
_CONNECTIONS: Final = (
    select(
        *(_connections.c[name] for name in ("id", "opened_at", "closed_at", "address")),
        exists()
        .where(_later.c.version_id == _connections.c.version_id, _later.c.id > _connections.c.id)
        .label("followed"),
    )
    .where(_connections.c.id > AFTER)
    .order_by(_connections.c.id)
    .limit(SOME)
)


def _of_game(name: str) -> Any:
    of = _games.alias(f"of_{name}")
    return select(of.c[name]).where(of.c.id == _analysis.c.game_id).scalar_subquery().label(name)


_ANALYSES: Final = (
    select(_analysis.c.game_id, _analysis.c.ply, _of_game("started_at"), _of_game("ended_at"))
    .where(tuple_(_analysis.c.game_id, _analysis.c.ply) > tuple_(AFTER, _PLY))
    .order_by(_analysis.c.game_id, _analysis.c.ply)
    .limit(SOME)
)


def _dated(table: Table) -> Select[Any]:
    return select(table.c.id, table.c.at).where(table.c.id > AFTER).order_by(table.c.id).limit(SOME)


_ROUNDS: Final = _dated(_rounds)
_AUDIT: Final = _dated(_audit)
_LAST_ROUND, _LAST_AUDITED = (select(func.coalesce(func.max(table.c.id), 0).label("id")) for table in (_rounds, _audit))
_ROUND_EMPTY: Final = (
    select(_rounds.c.id, case((_rounds.c.inputs == "", 1), else_=0).label("empty"))
    .where(_rounds.c.id >= _FIRST)
    .order_by(_rounds.c.id)
    .limit(1)
)
_SYSTEMS: Final = select(_ratings.c.venue_id, _ratings.c.system).distinct().order_by(*_ratings.c[:2])
_here = (_refits.c.venue_id == VENUE, _refits.c.system == SYSTEM)
_NEXT_REFIT: Final = (
    select(_refits.c.number.label("id"), _refits.c.at)
    .where(*_here, _refits.c.number > AFTER)
    .order_by(_refits.c.number)
    .limit(1)
)
_REFIT_SINCE: Final = (
    select(_refits.c.number)
    .where(*_here, _refits.c.number > AFTER, _refits.c.at >= _UNTIL)
    .order_by(_refits.c.number)
    .limit(1)
)
_LAST_REFIT: Final = select(_refits.c.number).where(*_here).order_by(_refits.c.number.desc()).limit(1)


def _superseded(table: Table) -> Select[Any]:
    """Rows between two refits that a later one of the same version follows there."""
    later = table.alias("later")
    same = [later.c[name] == table.c[name] for name in ("venue_id", "system", "version_id")]
    followed = exists().where(*same, later.c.number > table.c.number, later.c.number <= _LAST)
    key = (table.c.number, table.c.version_id)
    return (
        select(*key)
        .where(
            *(table.c.venue_id == VENUE, table.c.system == SYSTEM, table.c.number >= _FIRST, table.c.number <= _LAST),
            tuple_(*key) > tuple_(_FIRST, _VERSION),
            followed,
        )
        .order_by(*key)
        .limit(SOME)
    )


_POINTS: Final = _superseded(tables.refit_points)
_RANKS: Final = _superseded(tables.rank_points)
_SUMS: Final = (
    select(_summaries.c.number)
    .where(
        _summaries.c.venue_id == VENUE,
        _summaries.c.system == SYSTEM,
        _summaries.c.number >= _FIRST,
        _summaries.c.number <= _LAST,
    )
    .order_by(_summaries.c.number)
)


class Keeping(Subject):
    """What is old."""

    async def connections(self, after: int, some: int) -> list[OldConnection]:
        """The next `some` connections after this one."""
        rows = await self._source.rows(_CONNECTIONS, after=after, some=some)
        return [value(OldConnection, row) for row in rows]

    async def analyses(self, after: tuple[int, int], some: int) -> list[OldAnalysis]:
        """The next `some` analyses after that of this game and ply."""
        rows = await self._source.rows(_ANALYSES, after=after[0], ply=after[1], some=some)
        return [value(OldAnalysis, row) for row in rows]

    async def rounds(self, after: int, some: int) -> list[Dated]:
        """The next `some` pairing passes after this one."""
        return [value(Dated, row) for row in await self._source.rows(_ROUNDS, after=after, some=some)]

    async def last_emptied_round(self) -> int:
        """The last pairing pass whose inputs are kept no longer, 0 for none: they are emptied in the order of their
        numbers, so that halving finds it."""
        low, high = 0, (await self._source.rows(_LAST_ROUND))[0]["id"]
        while low < high:
            middle = (low + high + 1) // 2
            (row,) = await self._source.rows(_ROUND_EMPTY, first=middle)
            low, high = (row["id"], high) if row["empty"] else (low, middle - 1)
        return int(low)

    async def audit(self, after: int, some: int) -> list[Dated]:
        """The next `some` entries of the audit after this one."""
        return [value(Dated, row) for row in await self._source.rows(_AUDIT, after=after, some=some)]

    async def last_audited(self) -> int:
        """The number of the audit's last entry, 0 for none."""
        return int((await self._source.rows(_LAST_AUDITED))[0]["id"])

    async def systems(self) -> list[SystemKey]:
        """Every rating system that has published in a venue."""
        return [value(SystemKey, row) for row in await self._source.rows(_SYSTEMS)]

    async def next_refit(self, of: SystemKey, after: int) -> Dated | None:
        """The first refit after number `after`; None where there is none."""
        rows = await self._source.rows(_NEXT_REFIT, venue=of.venue_id, system=of.system, after=after)
        return value(Dated, rows[0]) if rows else None

    async def last_refit_before(self, of: SystemKey, after: int, until: int) -> int:
        """The last of the refits from number `after` on that was put in before `until` (Unix ms); it is one."""
        here = {"venue": of.venue_id, "system": of.system}
        rows = await self._source.rows(_REFIT_SINCE, after=after, until=until, **here)
        if rows:
            return int(rows[0]["number"]) - 1
        return int((await self._source.rows(_LAST_REFIT, **here))[0]["number"])

    async def moves(self, of: SystemKey, after: Point, last: int, some: int) -> list[Point]:
        """What refits from that of `after` to number `last` moved that a later one of them moved again: the next `some`
        rows after this one."""
        return await self._points(_POINTS, of, after, last=last, some=some)

    async def ranks(self, of: SystemKey, after: Point, last: int, some: int) -> list[Point]:
        """The same of ranks."""
        return await self._points(_RANKS, of, after, last=last, some=some)

    async def sums(self, of: SystemKey, first: int, last: int) -> list[int]:
        """The refits from number `first` to `last` that said something of all ranks together, but for the last one."""
        rows = await self._source.rows(_SUMS, venue=of.venue_id, system=of.system, first=first, last=last)
        return [row["number"] for row in rows[:-1]]

    async def _points(self, asked: Select[Any], of: SystemKey, after: Point, *, last: int, some: int) -> list[Point]:
        here = {"venue": of.venue_id, "system": of.system}
        rows = await self._source.rows(
            asked, first=after.number, version=after.version_id, last=last, some=some, **here
        )
        return [value(Point, row) for row in rows]
