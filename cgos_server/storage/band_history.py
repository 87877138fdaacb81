"""The read side's answers about ratings over time: a version's history thinned to what a picture shows, and which entry
was the last one at a time.

Histories are thinned in the database, in an index alone; only the rows that are kept are read. Must not know: formulas,
pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, and_, func, or_, select

from cgos_server.storage import tables
from cgos_server.storage.game_answers import BandPoint
from cgos_server.storage.ledger_history import last_entry
from cgos_server.storage.reading import Read, Reader, number, venue_id, version_id

_ledger, _changes, _refits, _points = tables.ledger, tables.rating_changes, tables.refits, tables.refit_points

_EXTRA = 8
"""Points besides those at equal distances: of entries and of refits one over, the last, the lowest and the highest."""


class BandHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about ratings over time."""

    async def rating_band(self, venue: str, version: str, system: str, points: int = 300) -> list[BandPoint]:
        """A version's rating under a system over time, in order: every change by entries and refits, or where there are
        more than `points` of those each so-manieth. The first, the last, the lowest and the highest are kept.

        :param points: how many at most, but 16 at least
        """
        most = max(points, 2 * _EXTRA) - _EXTRA
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            changed = (_changes.c.version_id == me, _changes.c.venue_id == at, _changes.c.system == system)
            refitted = (_points.c.venue_id == at, _points.c.system == system, _points.c.version_id == me)
            sizes = [await _count(read, _changes, *changed), await _count(read, _points, *refitted)]
            step = 1 if sum(sizes) <= points else -(-sum(sizes) // most)
            seqs = await _thinned(read, _changes.c.seq, _changes.c.after_mean, changed, sizes[0], step)
            numbers = await _thinned(read, _points.c.number, _points.c.mean, refitted, sizes[1], step)
            marks = [
                (row["seq"], 0, row["at"], row["after_mean"], row["after_spread"], row["games"])
                for part in _portions(seqs)
                for row in await read(
                    select(
                        _changes.c.seq, _ledger.c.at, _changes.c.after_mean, _changes.c.after_spread, _changes.c.games
                    )
                    .join_from(_changes, _ledger, and_(_ledger.c.venue_id == at, _ledger.c.seq == _changes.c.seq))
                    .where(*changed, _changes.c.seq.in_(part))
                )
            ]
            marks += [
                (row["applied"], row["number"], row["at"], row["mean"], row["spread"], row["games"])
                for part in _portions(numbers)
                for row in await read(
                    select(
                        *(_points.c[name] for name in ("applied", "number", "mean", "spread")),
                        _refitted_at().label("at"),
                        _games_by(me, at, system).label("games"),
                    ).where(*refitted, _points.c.number.in_(part))
                )
            ]
        return [BandPoint(seq, when, mean, spread, games or 0) for seq, _, when, mean, spread, games in sorted(marks)]

    async def entry_at(self, venue: str, at_ms: int) -> int:
        """The number of a venue's last ledger entry at or before a time, 0 for none, by bisection: entries are taken to
        be in the order of their times."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            low, high = 0, await last_entry(read, at)
            # Entries are numbered without gaps.
            while low < high:
                middle = (low + high + 1) // 2
                rows = await read(select(_ledger.c.at).where(_ledger.c.venue_id == at, _ledger.c.seq == number(middle)))
                if rows[0]["at"] <= at_ms:
                    low = middle
                else:
                    high = middle - 1
        return low


async def _count(read: Read, table: Table, *asked: ColumnElement[bool]) -> int:
    (row,) = await read(select(func.count().label("rows")).select_from(table).where(*asked))
    return int(row["rows"])


async def _thinned(
    read: Read, key: ColumnElement[int], mean: ColumnElement[float], asked: Any, size: int, step: int
) -> list[int]:
    """The keys of each `step`-th row in their order, and of the last, the lowest and the highest one."""
    if size == 0:
        return []
    place = func.row_number().over(order_by=key)
    placed = select(key.label("key"), place.label("place")).where(*asked).subquery()
    rows = await read(select(placed.c.key).where(or_(placed.c.place % step == 1 % step, placed.c.place == size)))
    keys = {row["key"] for row in rows}
    for order in (mean, mean.desc()) if step > 1 else ():
        (row,) = await read(select(key.label("key")).where(*asked).order_by(order, key).limit(1))
        keys.add(row["key"])
    return sorted(keys)


def _refitted_at() -> ColumnElement[int]:
    """When a refit was put in, by its key: joined, SQLite might walk through all refits."""
    return (
        select(_refits.c.at)
        .where(
            _refits.c.venue_id == _points.c.venue_id,
            _refits.c.system == _points.c.system,
            _refits.c.number == _points.c.number,
        )
        .correlate(_points)
        .scalar_subquery()
    )


def _games_by(version: int, venue: int, system: str) -> ColumnElement[int]:
    """How many rated games a version had when a refit was put in."""
    last = (
        select(func.max(_changes.c.seq))
        .where(
            _changes.c.version_id == version,
            _changes.c.venue_id == venue,
            _changes.c.seq <= _points.c.applied,
            _changes.c.system == system,
        )
        .correlate(_points)
        .scalar_subquery()
    )
    return (
        select(_changes.c.games)
        .where(
            _changes.c.venue_id == venue,
            _changes.c.seq == last,
            _changes.c.system == system,
            _changes.c.version_id == version,
        )
        .correlate(_points)
        .scalar_subquery()
    )


def _portions(keys: Sequence[int], size: int = 500) -> list[Sequence[int]]:
    return [keys[at : at + size] for at in range(0, len(keys), size)]
