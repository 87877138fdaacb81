"""The part of the read side that is about places: how many are rated, and where a few versions stand among all.

Reads the published ratings alone, a short row for each version. Must not know: the formulas, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import BindParameter, Select, and_, bindparam, case, func, select

from cgos_server.storage import tables
from cgos_server.storage.answers import Value
from cgos_server.storage.functions import bytewise
from cgos_server.storage.reading import Reader, value, venue_id

_ratings, _versions, _venues = tables.ratings, tables.versions, tables.venues


_AT_ONCE = 500
_FEW = 4
"""Versions for which those before them are counted; for more, all are ranked."""


def _ranked() -> Select[Any]:
    """Ratings with their places, by counting who is before."""
    others, names = _ratings.alias("others"), _versions.alias("names")
    beside = and_(others.c.venue_id == _ratings.c.venue_id, others.c.system == _ratings.c.system, others.c.games > 0)
    better = select(func.count()).where(beside, others.c.mean > _ratings.c.mean)
    # Names are looked up for equals alone, of which there are few.
    equal = (
        select(func.count())
        .select_from(others)
        .join(names, names.c.id == others.c.version_id)
        .where(beside, others.c.mean == _ratings.c.mean, bytewise(names.c.wire_name) < bytewise(_versions.c.wire_name))
    )
    before = better.correlate(_ratings).scalar_subquery() + equal.correlate(_ratings, _versions).scalar_subquery()
    return _with_names(select(_ratings, case((_ratings.c.games > 0, 1 + before)).label("rank")))


def _all_ranked() -> Select[Any]:
    """Ratings with their places, by sorting all."""
    place = func.row_number().over(
        partition_by=(_ratings.c.venue_id, _ratings.c.system, _ratings.c.games > 0),
        order_by=(_ratings.c.mean.desc(), bytewise(_versions.c.wire_name)),
    )
    rank = case((_ratings.c.games > 0, place)).label("rank")
    placed = _with_names(select(_ratings, rank)).order_by(None).subquery("placed")
    return (
        select(placed)
        .where(placed.c.version.in_(_NAMES))
        .order_by(placed.c.venue_id, placed.c.system, placed.c.mean.desc())
    )


def _with_names(asked: Select[Any]) -> Select[Any]:
    return (
        asked.add_columns(_versions.c.wire_name.label("version"), _venues.c.name.label("venue"))
        .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
        .join(_venues, _venues.c.id == _ratings.c.venue_id)
        .order_by(_ratings.c.venue_id, _ratings.c.system, _ratings.c.mean.desc())
    )


_NAMES: BindParameter[Any] = bindparam("versions", expanding=True)
_RATED: Final = (
    select(_ratings.c.system, func.count().label("versions"))
    .where(_ratings.c.venue_id == bindparam("venue"))
    .group_by(_ratings.c.system)
)
_RANKED: Final = _ranked().where(_versions.c.wire_name.in_(_NAMES), _ratings.c.venue_id.in_(select(_venues.c.id)))
_ALL_RANKED: Final = _all_ranked()
_MEANS: Final = (
    select(_versions.c.wire_name, _ratings.c.mean)
    .join_from(_versions, _ratings, _versions.c.id == _ratings.c.version_id)
    .where(
        _ratings.c.venue_id == bindparam("venue"),
        _ratings.c.system == bindparam("system"),
        _versions.c.wire_name.in_(_NAMES),
    )
)


class RankedRow(Value, frozen=True):
    """A version's published rating in a venue under a rating system, and its place there by mean among all that have a
    rated game: 1 is the best, None is without one."""

    venue: str
    system: str
    version: str
    mean: float
    spread: float
    games: int
    provisional: bool
    anchor: bool
    seq: int
    rank: int | None


class RankHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about places."""

    async def rated_counts(self, venue: str) -> dict[str, int]:
        """Rating system -> how many versions it has rated in a venue."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            rows = await read(_RATED, venue=at)
        return {row["system"]: row["versions"] for row in rows}

    async def ranked(self, versions: Sequence[str]) -> list[RankedRow]:
        """Where these versions stand in all venues under all rating systems; by venue, system and rank."""
        wanted = list(dict.fromkeys(versions))
        async with self._snapshot() as read:
            rows = await read(_RANKED if len(wanted) <= _FEW else _ALL_RANKED, versions=wanted)
        return [value(RankedRow, row, provisional=bool(row["provisional"]), anchor=bool(row["anchor"])) for row in rows]

    async def means(self, venue: str, system: str, versions: Collection[str]) -> dict[str, float]:
        """The published means of these versions, by wire name; those that are not rated there are left out."""
        wanted = sorted(set(versions))
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            rows = [
                row
                for first in range(0, len(wanted), _AT_ONCE)
                for row in await read(_MEANS, venue=at, system=system, versions=wanted[first : first + _AT_ONCE])
            ]
        return {row["wire_name"]: row["mean"] for row in rows}
