"""The read side's answers about ratings over time: a version's history thinned to what a picture shows, and which entry
was the last one at a time.

Histories are thinned in the database, in an index alone; only the rows that are kept are read. Must not know: formulas,
pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, BindParameter, Column, ColumnElement, Select, and_, bindparam, func, or_, select

from cgos_server.storage import tables
from cgos_server.storage.game_answers import BandPoint
from cgos_server.storage.ledger_history import last_entry, refit_of_point
from cgos_server.storage.reading import Read, Reader, number, venue_id, version_id

_ledger, _changes, _refits, _points = tables.ledger, tables.rating_changes, tables.refits, tables.refit_points

_EXTRA = 8
"""Points besides those at equal distances: of entries and of refits one over, the last, the lowest and the highest."""


_ME: BindParameter[int] = bindparam("me")
_VENUE: BindParameter[int] = bindparam("venue")
_SYSTEM: BindParameter[str] = bindparam("system")


def _refitted_at() -> ColumnElement[int]:
    """When a refit was put in, by its key: joined, SQLite might walk through all refits."""
    return select(_refits.c.at).where(refit_of_point).correlate(_points).scalar_subquery()


def _games_by() -> ColumnElement[int]:
    """How many rated games a version had when a refit was put in."""
    last = (
        select(func.max(_changes.c.seq))
        .where(
            _changes.c.version_id == _ME,
            _changes.c.venue_id == _VENUE,
            _changes.c.seq <= _points.c.applied,
            _changes.c.system == _SYSTEM,
        )
        .correlate(_points)
        .scalar_subquery()
    )
    return (
        select(_changes.c.games)
        .where(
            _changes.c.venue_id == _VENUE,
            _changes.c.seq == last,
            _changes.c.system == _SYSTEM,
            _changes.c.version_id == _ME,
        )
        .correlate(_points)
        .scalar_subquery()
    )


class _Way(NamedTuple):
    """What is asked of one kind of a version's points: how many there are, the keys of each so-manieth one, of the
    lowest and of the highest, and the points of some keys."""

    size: Select[Any]
    each: Select[Any]
    lowest: Select[Any]
    highest: Select[Any]
    points: Select[Any]


def _way(key: Column[int], mean: Column[float], points: Select[Any], *mine: ColumnElement[bool]) -> _Way:
    place = func.row_number().over(order_by=key)
    placed = select(key.label("key"), place.label("place")).where(*mine).subquery()
    step, rest, last = (bindparam(name, type_=BigInteger) for name in ("step", "rest", "last"))
    lowest, highest = (
        select(key.label("key")).where(*mine).order_by(order, key).limit(1) for order in (mean, mean.desc())
    )
    return _Way(
        size=select(func.count().label("rows")).select_from(key.table).where(*mine),
        each=select(placed.c.key).where(or_(placed.c.place % step == rest, placed.c.place == last)),
        lowest=lowest,
        highest=highest,
        points=points.where(*mine, key.in_(bindparam("keys", expanding=True))),
    )


# Built once: to build them takes longer than most answers.
_BY_ENTRIES: Final = _way(
    _changes.c.seq,
    _changes.c.after_mean,
    select(*(_changes.c[name] for name in ("seq", "after_mean", "after_spread", "games")), _ledger.c.at).join_from(
        _changes, _ledger, and_(_ledger.c.venue_id == _VENUE, _ledger.c.seq == _changes.c.seq)
    ),
    _changes.c.version_id == _ME,
    _changes.c.venue_id == _VENUE,
    _changes.c.system == _SYSTEM,
)
_BY_REFITS: Final = _way(
    _points.c.number,
    _points.c.mean,
    select(
        *(_points.c[name] for name in ("applied", "number", "mean", "spread")),
        _refitted_at().label("at"),
        _games_by().label("games"),
    ),
    _points.c.venue_id == _VENUE,
    _points.c.system == _SYSTEM,
    _points.c.version_id == _ME,
)


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
            mine = {"me": me, "venue": at, "system": system}
            sizes = [(await read(way.size, **mine))[0]["rows"] for way in (_BY_ENTRIES, _BY_REFITS)]
            step = 1 if sum(sizes) <= points else -(-sum(sizes) // most)
            seqs = await _thinned(read, _BY_ENTRIES, mine=mine, size=sizes[0], step=step)
            numbers = await _thinned(read, _BY_REFITS, mine=mine, size=sizes[1], step=step)
            marks = [
                (row["seq"], 0, row["at"], row["after_mean"], row["after_spread"], row["games"])
                for part in _portions(seqs)
                for row in await read(_BY_ENTRIES.points, keys=part, **mine)
            ]
            marks += [
                (row["applied"], row["number"], row["at"], row["mean"], row["spread"], row["games"])
                for part in _portions(numbers)
                for row in await read(_BY_REFITS.points, keys=part, **mine)
            ]
        return [
            BandPoint(seq=seq, at=when, mean=mean, spread=spread, games=games or 0)
            for seq, _, when, mean, spread, games in sorted(marks)
        ]

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


async def _thinned(read: Read, way: _Way, mine: Mapping[str, Any], size: int, step: int) -> list[int]:
    """The keys of each `step`-th row in their order, and of the last, the lowest and the highest one."""
    if size == 0:
        return []
    keys = {row["key"] for row in await read(way.each, step=step, rest=1 % step, last=size, **mine)}
    for end in (way.lowest, way.highest) if step > 1 else ():
        (row,) = await read(end, **mine)
        keys.add(row["key"])
    return sorted(keys)


def _portions(keys: Sequence[int], size: int = 500) -> list[Sequence[int]]:
    return [keys[at : at + size] for at in range(0, len(keys), size)]
