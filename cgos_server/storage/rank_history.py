"""The part of the read side that is about places: how many are rated, and where a few versions stand among all.

Reads the published ratings alone, a short row for each version. Must not know: the formulas, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import and_, func, select

from cgos_server.storage import tables
from cgos_server.storage.answers import Value
from cgos_server.storage.functions import bytewise
from cgos_server.storage.reading import Reader, value, venue_id

_ratings, _versions, _venues = tables.ratings, tables.versions, tables.venues


class RankedRow(Value, frozen=True):
    """A version's published rating in a venue under a rating system, and its place there by mean: 1 is the best."""

    venue: str
    system: str
    version: str
    mean: float
    spread: float
    games: int
    provisional: bool
    anchor: bool
    seq: int
    rank: int


class RankHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about places."""

    async def rated_counts(self, venue: str) -> dict[str, int]:
        """Rating system -> how many versions it has rated in a venue."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            rows = await read(
                select(_ratings.c.system, func.count().label("versions"))
                .where(_ratings.c.venue_id == at)
                .group_by(_ratings.c.system)
            )
        return {row["system"]: row["versions"] for row in rows}

    async def ranked(self, versions: Sequence[str]) -> list[RankedRow]:
        """Where these versions stand in all venues under all rating systems; by venue, system and rank."""
        others, names = _ratings.alias("others"), _versions.alias("names")
        beside = and_(others.c.venue_id == _ratings.c.venue_id, others.c.system == _ratings.c.system)
        better = select(func.count()).where(beside, others.c.mean > _ratings.c.mean)
        # Names are looked up for equals alone, of which there are few.
        equal = (
            select(func.count())
            .select_from(others)
            .join(names, names.c.id == others.c.version_id)
            .where(
                beside,
                others.c.mean == _ratings.c.mean,
                bytewise(names.c.wire_name) < bytewise(_versions.c.wire_name),
            )
        )
        before = better.correlate(_ratings).scalar_subquery() + equal.correlate(_ratings, _versions).scalar_subquery()
        async with self._snapshot() as read:
            rows = await read(
                select(
                    _ratings,
                    _versions.c.wire_name.label("version"),
                    _venues.c.name.label("venue"),
                    (1 + before).label("rank"),
                )
                .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
                .join(_venues, _venues.c.id == _ratings.c.venue_id)
                .where(_versions.c.wire_name.in_(versions), _ratings.c.venue_id.in_(select(_venues.c.id)))
                .order_by(_ratings.c.venue_id, _ratings.c.system, _ratings.c.mean.desc())
            )
        return [value(RankedRow, row, provisional=bool(row["provisional"]), anchor=bool(row["anchor"])) for row in rows]

    async def means(self, venue: str, system: str, versions: Collection[str]) -> dict[str, float]:
        """The published means of these versions, by wire name; those that are not rated there are left out."""
        wanted = set(versions)
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            rows = await read(
                select(_versions.c.wire_name, _ratings.c.mean)
                .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
                .where(_ratings.c.venue_id == at, _ratings.c.system == system)
            )
        return {row["wire_name"]: row["mean"] for row in rows if row["wire_name"] in wanted}
