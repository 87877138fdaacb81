"""The read side's answers about ranks: what refits said of them, now, then, and over time.

Must not know: how ranks are computed, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import BigInteger, ColumnElement, FromClause, RowMapping, and_, bindparam, select

from cgos_protocol.api.bulk import ExportedRank
from cgos_protocol.api.messages import RankGroup, RankPoint, RankSummary
from cgos_protocol.ids import VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise, latest
from cgos_server.storage.parameters import AFTER, SOME, SYSTEM, VENUE, bounded, limited, number, portions
from cgos_server.storage.reading.source import Read, Subject, VenueKey, value, venue_id, version_id
from cgos_server.storage.reading.stored import RankRow, RanksRow

_ratings, _refits, _versions = tables.ratings, tables.refits, tables.versions
_points, _summaries = tables.rank_points, tables.rank_summaries

_ME = bindparam("me", type_=BigInteger)
_HERE: Final = (_points.c.venue_id == VENUE, _points.c.system == SYSTEM)
_refit_of_point = and_(*(_refits.c[name] == _points.c[name] for name in ("venue_id", "system", "number")))


def rank_point(of: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """The number of the last refit that said something of the rank of each rated version of `of`."""
    mine = [_points.c[name] == of.c[name] for name in ("venue_id", "system", "version_id")]
    return latest(_points.c.number, where=[*mine, *conditions], by=_points.c.number, of=of)


def same_point(of: FromClause) -> ColumnElement[bool]:
    """That a row of `rank_points` is the one that `of` names by its column `rank_point`."""
    mine = [_points.c[name] == of.c[name] for name in ("venue_id", "system", "version_id")]
    return and_(_points.c.number == of.c.rank_point, *mine)


RANKED: Final = tuple(_points.c[name] for name in RankRow._fields)
"""The columns of `rank_points` that say something of a rank."""


def _last(*conditions: ColumnElement[bool]) -> Any:
    rated = (
        select(_ratings, rank_point(_ratings, *conditions).label("rank_point"))
        .where(_ratings.c.venue_id == VENUE, _ratings.c.system == SYSTEM)
        .subquery()
    )
    return select(_points.c.version_id, *RANKED).join_from(rated, _points, same_point(rated))


# Built once: to build them takes longer than most answers.
_NOW: Final = _last()
_NAMES: Final = select(_versions.c.id, _versions.c.wire_name)
_SUMMARY: Final = (
    select(_summaries)
    .where(_summaries.c.venue_id == VENUE, _summaries.c.system == SYSTEM)
    .order_by(_summaries.c.number.desc())
    .limit(1)
)
_OF_VERSION: Final = (
    select(_points, _points.c.number.label("refit"), _refits.c.applied.label("seq"), _refits.c.at)
    .join_from(_points, _refits, _refit_of_point)
    .where(*_HERE, _points.c.version_id == _ME, _points.c.number > AFTER)
    .order_by(_points.c.number)
    .limit(SOME)
)
_OF_REFITS: Final = (
    select(_points, _refits.c.at, _versions.c.wire_name.label("version"))
    .join_from(_points, _refits, _refit_of_point)
    .join(_versions, _versions.c.id == _points.c.version_id)
    .where(*_HERE, _points.c.number > AFTER, _points.c.number <= bindparam("last", type_=BigInteger))
    .order_by(_points.c.number, bytewise(_versions.c.wire_name))
)


class Ranks(Subject):
    """What refits said of ranks."""

    async def last(self, venue: VenueKey, system: str) -> dict[VersionId, RankRow]:
        """Version id -> what was last said of its rank under this system."""
        rows = await self._source.venue_rows(venue, _NOW, system=system)
        return {row["version_id"]: value(RankRow, row) for row in rows}

    async def last_summary(self, venue: VenueKey, system: str) -> RanksRow | None:
        """What was last said of all ranks together."""
        rows = await self._source.venue_rows(venue, _SUMMARY, system=system)
        return value(RanksRow, rows[0]) if rows else None

    async def summary(self, venue: VenueKey, system: str, as_of: int | None = None) -> RankSummary | None:
        """The same in names, now or by the refits that came before entry `as_of` + 1; None where nothing was said."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            statement = _SUMMARY
            if as_of is not None:
                statement = statement.where(_summaries.c.number <= await last_refit(read, at, system, as_of))
            rows = await read(statement, venue=at, system=system)
            if not rows:
                return None
            names: dict[VersionId, str] = {}
            summed = value(RanksRow, rows[0])
            for some in portions(sorted({summed.leader_id, *(each for group in runs(summed) for each in group[:2])})):
                named = await read(_NAMES.where(_versions.c.id.in_(some)))
                names |= {row["id"]: row["wire_name"] for row in named}
        return in_names(summed, names, rows[0]["number"])

    async def page(
        self, version: str, venue: VenueKey, system: str, after: int = 0, limit: int | None = None
    ) -> list[RankPoint]:
        """What was said of a version's rank by refits above number `after`, in order, `limit` at most.

        :raises Refused: where there is no such version or venue
        """
        async with self._source.snapshot() as read:
            at, me = await venue_id(read, venue), await version_id(read, version)
            rows = await read(_OF_VERSION, venue=at, system=system, me=me, after=bounded(after), some=limited(limit))
        return [value(RankPoint, row) for row in rows]

    async def of_refits(self, venue: VenueKey, system: str, after: int, last: int) -> list[ExportedRank]:
        """What the refits above number `after` up to number `last` said of ranks, by number and name."""
        rows = await self._source.venue_rows(venue, _OF_REFITS, system=system, after=bounded(after), last=bounded(last))
        return [value(ExportedRank, row) for row in rows]


def runs(summed: RanksRow) -> list[tuple[VersionId, VersionId, int]]:
    """The first and the last version of each run that cannot be told apart, and how many are in it."""
    return msgspec.json.decode(summed.groups, type=list[tuple[VersionId, VersionId, int]])


def in_names(summed: RanksRow, names: Mapping[VersionId, str], refit: int | None) -> RankSummary:
    """What is said of all ranks together, by wire names."""
    return RankSummary(
        refit=refit,
        leader=names[summed.leader_id],
        versions=summed.versions,
        neighbors=summed.versions - 1,
        apart=summed.apart,
        turned=summed.turned,
        groups=[RankGroup(first=names[a], last=names[b], versions=size) for a, b, size in runs(summed)],
    )


async def last_refit(read: Read, venue: VenueId, system: str, as_of: int) -> int:
    """Number of the last refit that was put in before entry `as_of` + 1; 0 for none."""
    rows = await read(
        select(_refits.c.number)
        .where(_refits.c.venue_id == venue, _refits.c.system == system, _refits.c.applied <= number(as_of))
        .order_by(_refits.c.applied.desc(), _refits.c.number.desc())
        .limit(1)
    )
    return int(rows[0]["number"]) if rows else 0


async def ranked_then(read: Read, venue: VenueId, system: str, refit: int) -> dict[VersionId, RowMapping]:
    """Version id -> what the refits up to this one had last said of its rank."""
    rows = await read(_last(_points.c.number <= number(refit)), venue=venue, system=system)
    return {row["version_id"]: row for row in rows}
