"""The read side's answers about recorded refits and saved states: what a rating system starts from, what a replay does
again, and what refits said of ranks.

Must not know: the formulas, what a saved state holds, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import BigInteger, ColumnElement, FromClause, RowMapping, and_, bindparam, select

from cgos_protocol.api.bulk import ExportedRank
from cgos_protocol.api.messages import RankGroup, RankPoint, RankSummary
from cgos_protocol.ids import VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise, latest
from cgos_server.storage.intervals import interval
from cgos_server.storage.parameters import AFTER, SOME, SYSTEM, VENUE, bounded, limited, number, portions
from cgos_server.storage.reading.answers import PublishedPoint, PublishedRefit, RefitRow, SavedState
from cgos_server.storage.reading.source import Read, Subject, VenueKey, value, venue_id, version_id
from cgos_server.storage.reading.stored import RankRow, RanksRow, StoredRefit

_refits, _points, _builds, _states = tables.refits, tables.refit_points, tables.builds, tables.rating_states
_plugins = tables.rating_plugins

refit_of_point = and_(*(_refits.c[name] == _points.c[name] for name in ("venue_id", "system", "number")))

# Built once: to build them takes longer than most answers.
_HERE = (_refits.c.venue_id == VENUE, _refits.c.system == SYSTEM)
_STATE: Final = select(_states).where(_states.c.venue_id == VENUE, _states.c.system == SYSTEM)
_PLACE: Final = _STATE.with_only_columns(_states.c.seq, _states.c.refit)
_AFTER: Final = (
    select(*(_refits.c[name] for name in StoredRefit._fields))
    .where(*_HERE, _refits.c.number > AFTER)
    .order_by(_refits.c.number)
    .limit(SOME)
)
_LAST: Final = select(_refits.c.number).where(*_HERE).order_by(_refits.c.number.desc()).limit(1)
_WITH_BUILD: Final = select(_refits, _builds.c.text).join_from(_refits, _builds, _builds.c.id == _refits.c.build)

_PLUGINS: Final = (
    select(_plugins.c.plugin)
    .where(_plugins.c.venue_id == VENUE, _plugins.c.system == SYSTEM)
    .order_by(_plugins.c.seq, _plugins.c.plugin)
)


class Refits(Subject):
    """Refits and states of rating systems."""

    async def recorded(self, venue: VenueKey, system: str, limit: int | None = None) -> list[RefitRow]:
        """The recorded refits of a system, or the latest `limit` ones; oldest first."""
        latest = _WITH_BUILD.where(*_HERE).order_by(_refits.c.number.desc()).limit(limit)
        rows = await self._source.venue_rows(venue, latest, system=system)
        return [value(RefitRow, row, build=row["text"]) for row in reversed(rows)]

    async def published(
        self, venue: VenueKey, system: str, after: int = 0, limit: int | None = None, cold: bool | None = None
    ) -> list[PublishedRefit]:
        """The refits from number `after` + 1 on, in order, `limit` at most, each with what it moved.

        :param cold: only cold ones, or only warm ones
        """
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            wanted = _WITH_BUILD.where(*_HERE, _refits.c.number > number(after))
            if cold is not None:
                wanted = wanted.where(_refits.c.cold == int(cold))
            refits = await read(wanted.order_by(_refits.c.number).limit(limit), venue=at, system=system)
            points: dict[int, list[PublishedPoint]] = {row["number"]: [] for row in refits}
            for first, last in _runs(points):
                for row in await read(
                    select(_points, _points.c.version_id.label("version"))
                    .where(
                        _points.c.venue_id == at,
                        _points.c.system == system,
                        _points.c.number >= first,
                        _points.c.number <= last,
                    )
                    .order_by(_points.c.number, _points.c.version_id)
                ):
                    points[row["number"]].append(value(PublishedPoint, row, **interval(system, row)))
        return [
            PublishedRefit(
                refit=value(StoredRefit, row),
                build=row["text"],
                points=points[row["number"]],
                at=row["at"],
            )
            for row in refits
        ]

    async def state(self, venue: VenueKey, system: str) -> SavedState | None:
        """The saved state of this system, or None."""
        rows = await self._source.venue_rows(venue, _STATE, system=system)
        return value(SavedState, rows[0]) if rows else None

    async def state_place(self, venue: VenueKey, system: str) -> tuple[int, int] | None:
        """After which entry and which refit this system's state was saved last; None where it never was."""
        rows = await self._source.venue_rows(venue, _PLACE, system=system)
        return (rows[0]["seq"], rows[0]["refit"]) if rows else None

    async def plugins(self, venue: VenueKey, system: str) -> list[str]:
        """Distributions and versions that computed a system of a plug-in in this venue, the latest one last."""
        return [row["plugin"] for row in await self._source.venue_rows(venue, _PLUGINS, system=system)]

    async def after(self, venue: VenueKey, system: str, after: int = 0, limit: int | None = None) -> list[StoredRefit]:
        """The recorded refits with numbers above `after`, in order, `limit` at most, as they can be taken again."""
        some = limited(limit)
        rows = await self._source.venue_rows(venue, _AFTER, system=system, after=bounded(after), some=some)
        return [value(StoredRefit, row) for row in rows]

    async def last(self, venue: VenueKey, system: str) -> int:
        """Number of the last recorded refit, 0 for none."""
        rows = await self._source.venue_rows(venue, _LAST, system=system)
        return int(rows[0]["number"]) if rows else 0


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive numbers, which are in order."""
    runs: list[tuple[int, int]] = []
    for each in numbers:
        if runs and runs[-1][1] == each - 1:
            runs[-1] = (runs[-1][0], each)
        else:
            runs.append((each, each))
    return runs


# -- ranks

_ratings, _versions = tables.ratings, tables.versions
_ranks, _summaries = tables.rank_points, tables.rank_summaries

_ME = bindparam("me", type_=BigInteger)
_RANKED_HERE: Final = (_ranks.c.venue_id == VENUE, _ranks.c.system == SYSTEM)
_refit_of_ranks = and_(*(_refits.c[name] == _ranks.c[name] for name in ("venue_id", "system", "number")))


def rank_point(of: FromClause, *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    """The number of the last refit that said something of the rank of each rated version of `of`."""
    mine = [_ranks.c[name] == of.c[name] for name in ("venue_id", "system", "version_id")]
    return latest(_ranks.c.number, where=[*mine, *conditions], by=_ranks.c.number, of=of)


def same_point(of: FromClause) -> ColumnElement[bool]:
    """That a row of `rank_points` is the one that `of` names by its column `rank_point`."""
    mine = [_ranks.c[name] == of.c[name] for name in ("venue_id", "system", "version_id")]
    return and_(_ranks.c.number == of.c.rank_point, *mine)


RANKED: Final = tuple(_ranks.c[name] for name in RankRow._fields)
"""The columns of `rank_points` that say something of a rank."""


def _last(*conditions: ColumnElement[bool]) -> Any:
    rated = (
        select(_ratings, rank_point(_ratings, *conditions).label("rank_point"))
        .where(_ratings.c.venue_id == VENUE, _ratings.c.system == SYSTEM)
        .subquery()
    )
    return select(_ranks.c.version_id, *RANKED).join_from(rated, _ranks, same_point(rated))


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
    select(_ranks, _ranks.c.number.label("refit"), _refits.c.applied.label("seq"), _refits.c.at)
    .join_from(_ranks, _refits, _refit_of_ranks)
    .where(*_RANKED_HERE, _ranks.c.version_id == _ME, _ranks.c.number > AFTER)
    .order_by(_ranks.c.number)
    .limit(SOME)
)
_OF_REFITS: Final = (
    select(_ranks, _refits.c.at, _versions.c.wire_name.label("version"))
    .join_from(_ranks, _refits, _refit_of_ranks)
    .join(_versions, _versions.c.id == _ranks.c.version_id)
    .where(*_RANKED_HERE, _ranks.c.number > AFTER, _ranks.c.number <= bindparam("last", type_=BigInteger))
    .order_by(_ranks.c.number, bytewise(_versions.c.wire_name))
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
    rows = await read(_last(_ranks.c.number <= number(refit)), venue=venue, system=system)
    return {row["version_id"]: row for row in rows}
