"""The read side's answers about recorded refits and saved states: what a rating system starts from, and what a replay
does again.

Must not know: the formulas, what a saved state holds, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sqlalchemy import and_, select

from cgos_server.storage import tables
from cgos_server.storage.intervals import interval
from cgos_server.storage.parameters import AFTER, SOME, SYSTEM, VENUE, bounded, limited, number
from cgos_server.storage.reading.answers import PublishedPoint, PublishedRefit, RefitRow, SavedState
from cgos_server.storage.reading.source import Subject, VenueKey, value, venue_id
from cgos_server.storage.reading.stored import StoredRefit

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
