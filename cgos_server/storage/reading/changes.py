"""The read side's answers about how ratings came about: every change by entries and refits, which games did it, and a
version's history thinned to what a picture shows.

Histories are thinned in the database, in an index alone; only the rows that are kept are read. Must not know: the
formulas, pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    BindParameter,
    Column,
    ColumnElement,
    RowMapping,
    Select,
    Subquery,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
)

from cgos_protocol.api.messages import RatingPoint
from cgos_protocol.ids import VenueId
from cgos_server.storage import tables
from cgos_server.storage.functions import latest
from cgos_server.storage.intervals import NUMBERS, change_intervals, interval
from cgos_server.storage.parameters import AFTER, ALL, SOME, SYSTEM, VENUE, bounded, limited, portions
from cgos_server.storage.reading.answers import ChangeRow, VersionGame
from cgos_server.storage.reading.ledger import entry_of_change, is_game
from cgos_server.storage.reading.refits import refit_of_point
from cgos_server.storage.reading.source import Read, Subject, VenueKey, value, venue_id, version_id

_versions, _ledger, _changes = tables.versions, tables.ledger, tables.rating_changes
_refits, _points = tables.refits, tables.refit_points

REFIT: Final = "refit"
"""What a :class:`ChangeRow` is called that no entry made."""

_EXTRA: Final = 8
"""Points of a band besides those at equal distances: of entries and of refits one over, the last, the lowest and the
highest."""

_SEQS_AT_ONCE: Final = 500

_ME: BindParameter[int] = bindparam("me", type_=BigInteger)
_REFIT = bindparam("refit", type_=BigInteger)

_under = _changes.c.system == SYSTEM
_my_changes = (_changes.c.version_id == _ME, _changes.c.venue_id == VENUE)
_my_points = (_points.c.venue_id == VENUE, _points.c.system == SYSTEM, _points.c.version_id == _ME)
_newest = (_changes.c.seq.desc(), _changes.c.system.desc())


def _keys(*conditions: ColumnElement[bool]) -> Select[Any]:
    """The keys of a version's changes. They are found in the index alone: asked for whole rows, or without a limit,
    SQLite would walk through all changes of the venue."""
    return select(*_changes.primary_key.columns).where(*_my_changes, *conditions)


def _with_entries(keys: Select[Any]) -> Select[Any]:
    """The changes of these keys with what their entries say."""
    some = keys.subquery()
    black = _ledger.c.black_id == _ME
    mine = or_(black, _ledger.c.white_id == _ME)
    other = case((black, _ledger.c.white_id), (_ledger.c.white_id == _ME, _ledger.c.black_id))
    return (
        select(
            _changes,
            _ledger.c.at,
            _ledger.c.kind,
            _ledger.c.game_id.label("game"),
            _versions.c.wire_name.label("opponent"),
            case((black, _ledger.c.score2), (mine, 2 - _ledger.c.score2)).label("score2"),
        )
        .join_from(some, _changes, _same_change(some))
        .join(_ledger, entry_of_change)
        .outerjoin(_versions, _versions.c.id == other)
        .order_by(_changes.c.seq, _changes.c.system)
    )


def _same_change(keys: Subquery) -> ColumnElement[bool]:
    return and_(*(keys.c[column.name] == column for column in _changes.primary_key.columns))


def _refitted_at() -> ColumnElement[int]:
    """When a refit was put in, by its key: joined, SQLite might walk through all refits."""
    return select(_refits.c.at).where(refit_of_point).correlate(_points).scalar_subquery()


def _games_by() -> ColumnElement[int]:
    """How many rated games a version had when a refit was put in."""
    last = (
        select(func.max(_changes.c.seq))
        .where(
            _changes.c.version_id == _ME,
            _changes.c.venue_id == VENUE,
            _changes.c.seq <= _points.c.applied,
            _changes.c.system == SYSTEM,
        )
        .correlate(_points)
        .scalar_subquery()
    )
    return (
        select(_changes.c.games)
        .where(
            _changes.c.venue_id == VENUE,
            _changes.c.seq == last,
            _changes.c.system == SYSTEM,
            _changes.c.version_id == _ME,
        )
        .correlate(_points)
        .scalar_subquery()
    )


class _Way(NamedTuple):
    """What can be asked of one kind of a version's points: how many there are, the keys of each so-manieth one, of the
    lowest and of the highest, and the points of some keys."""

    size: Select[Any]
    each: Select[Any]
    lowest: Select[Any]
    highest: Select[Any]
    points: Select[Any]


def _way(key: Column[int], mean: Column[float], points: Select[Any], mine: Sequence[ColumnElement[bool]]) -> _Way:
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
_CHANGES: Final = _with_entries(_keys().order_by(*_newest).limit(SOME))
_CHANGES_UNDER: Final = _with_entries(_keys(_under).order_by(*_newest).limit(SOME))
_CHANGES_AFTER: Final = _with_entries(_keys(_under, _changes.c.seq > AFTER).order_by(_changes.c.seq).limit(SOME))
_last = _keys(_under, _changes.c.seq <= bindparam("applied")).order_by(*_newest).limit(1).subquery()
_LAST_CHANGE: Final = select(_changes).join_from(_last, _changes, _same_change(_last))
_refit_points = select(_points, _refits.c.at).join_from(_points, _refits, refit_of_point).where(*_my_points)
_REFIT_POINTS: Final = _refit_points.order_by(_points.c.number.desc()).limit(SOME)
# Refits are put in by number.
_REFIT_POINTS_AFTER: Final = (
    _refit_points.where(_points.c.applied >= AFTER, _points.c.number > _REFIT).order_by(_points.c.number).limit(SOME)
)
_POINT_BEFORE: Final = (
    select(_points.c.applied, *(_points.c[name] for name in NUMBERS))
    .where(*_my_points, _points.c.number < _REFIT)
    .order_by(_points.c.number.desc())
    .limit(1)
)
_first_refit = select(_refits.c.system).where(_refits.c.venue_id == VENUE).order_by(_refits.c.system)
_FIRST_REFITTED: Final = _first_refit.limit(1)
_NEXT_REFITTED: Final = _first_refit.where(_refits.c.system > bindparam("after")).limit(1)
# A version's changes lead to its games: there is one at least for each.
_SEQS: Final = (
    select(_changes.c.seq)
    .where(*_my_changes, _changes.c.seq < bindparam("before"))
    .distinct()
    .order_by(_changes.c.seq.desc())
    .limit(SOME)
)
_later = _ledger.alias("later")
_corrected = latest(
    _later.c.seq,
    where=[_later.c.game_id == _ledger.c.game_id, _later.c.kind == literal_column("'correction'")],
    by=_later.c.seq,
    of=_ledger,
)
_my_games = (
    select(_ledger, _corrected.label("corrected"))
    .where(
        _ledger.c.venue_id == VENUE,
        _ledger.c.seq.in_(bindparam("seqs", expanding=True)),
        is_game,
        or_(_ledger.c.black_id == _ME, _ledger.c.white_id == _ME),
    )
    .subquery()
)
# Latest first, with what they count as now.
_GAMES: Final = (
    select(
        _my_games, case((_my_games.c.corrected.is_not(None), _later.c.score2), else_=_my_games.c.score2).label("counts")
    )
    .outerjoin_from(
        _my_games, _later, and_(_later.c.venue_id == _my_games.c.venue_id, _later.c.seq == _my_games.c.corrected)
    )
    .order_by(_my_games.c.seq.desc())
)
_BY_ENTRIES: Final = _way(
    key=_changes.c.seq,
    mean=_changes.c.after_mean,
    points=select(
        *(_changes.c[name] for name in ("seq", "games")),
        *(_changes.c[f"after_{name}"].label(name) for name in NUMBERS),
        _ledger.c.at,
    ).join_from(_changes, _ledger, and_(_ledger.c.venue_id == VENUE, _ledger.c.seq == _changes.c.seq)),
    mine=(*_my_changes, _under),
)
_BY_REFITS: Final = _way(
    key=_points.c.number,
    mean=_points.c.mean,
    points=select(
        *(_points.c[name] for name in ("applied", "number", *NUMBERS)),
        _refitted_at().label("at"),
        _games_by().label("games"),
    ),
    mine=_my_points,
)


class Changes(Subject):
    """The changes of ratings."""

    async def latest(
        self, version: str, venue: VenueKey, limit: int | None = None, system: str | None = None
    ) -> list[ChangeRow]:
        """Every change of a version's ratings in a venue by entries and by refits, or the latest `limit` ones; oldest
        first. Under all rating systems unless one is named."""
        some = limited(limit)
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            if system is None:
                changes = await read(_CHANGES, venue=at, me=me, some=some)
            else:
                changes = await read(_CHANGES_UNDER, venue=at, me=me, system=system, some=some)
            rows = [_Changed(row["seq"], 0, row["system"], row) for row in changes]
            for each in await _refitted(read, at) if system is None else [system]:
                points = await read(_REFIT_POINTS, venue=at, me=me, system=each, some=some)
                rows += [_Changed(row["applied"], row["number"], each, row) for row in points]
            rows.sort(key=lambda changed: changed[:3])
            return await _points_of(read, at, me, rows[-some:] if some else [])

    async def page(
        self, version: str, venue: VenueKey, system: str, after: tuple[int, int] = (0, 0), limit: int = 200
    ) -> list[ChangeRow]:
        """Changes of a version's rating in a venue by entries and by refits, oldest first, `limit` at most; the next
        portion is `after` the last one's (seq, refit or 0)."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            seq, refit = map(bounded, after)
            mine = {"venue": at, "me": me, "system": system, "after": seq, "some": limit}
            changes = await read(_CHANGES_AFTER, **mine)
            points = await read(_REFIT_POINTS_AFTER, refit=refit, **mine)
            rows = [_Changed(row["seq"], 0, system, row) for row in changes]
            rows += [_Changed(row["applied"], row["number"], system, row) for row in points]
            rows.sort(key=lambda changed: changed[:2])
            return await _points_of(read, at, me, rows[:limit])

    async def band(self, venue: VenueKey, version: str, system: str, points: int = 300) -> list[RatingPoint]:
        """A version's rating under a system over time, in order: every change by entries and refits, or where there are
        more than `points` of those each so-manieth. The first, the last, the lowest and the highest are kept.

        :param points: how many at most, but 16 at least
        """
        most = max(points, 2 * _EXTRA) - _EXTRA
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            mine = {"me": me, "venue": at, "system": system}
            sizes = [(await read(way.size, **mine))[0]["rows"] for way in (_BY_ENTRIES, _BY_REFITS)]
            step = 1 if sum(sizes) <= points else -(-sum(sizes) // most)
            seqs = await _thinned(read, _BY_ENTRIES, mine=mine, size=sizes[0], step=step)
            numbers = await _thinned(read, _BY_REFITS, mine=mine, size=sizes[1], step=step)
            marks = [
                (row["seq"], 0, row)
                for part in portions(seqs)
                for row in await read(_BY_ENTRIES.points, keys=part, **mine)
            ]
            marks += [
                (row["applied"], row["number"], row)
                for part in portions(numbers)
                for row in await read(_BY_REFITS.points, keys=part, **mine)
            ]
        return [
            RatingPoint(
                seq=seq,
                at=row["at"],
                mean=row["mean"],
                spread=row["spread"],
                games=row["games"] or 0,
                **interval(system, row),
            )
            for seq, _, row in sorted(marks, key=lambda mark: mark[:2])
        ]

    async def games(self, version: str, venue: VenueKey, limit: int | None = None) -> list[VersionGame]:
        """A version's rated games in the order of their entries, or the latest `limit` ones; corrections included."""
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            most = limited(limit)
            games: list[VersionGame] = []
            before = ALL
            while len(games) < most:
                some = min(most, _SEQS_AT_ONCE)
                part = [row["seq"] for row in await read(_SEQS, venue=at, me=me, before=before, some=some)]
                if not part:
                    break
                before = part[-1]
                games += [_version_game(row, me) for row in await read(_GAMES, venue=at, me=me, seqs=part)]
        return games[:most][::-1]


class _Changed(NamedTuple):
    """A row that changed a rating: by entry `seq`, or by refit number `refit` after it (0: none)."""

    seq: int
    refit: int
    system: str
    row: RowMapping


class _Was(NamedTuple):
    """A rating as it was last published, its interval as stored."""

    mean: float
    spread: float
    lower: float | None
    upper: float | None
    games: int


async def _points_of(read: Read, venue: VenueId, me: int, changes: Sequence[_Changed]) -> list[ChangeRow]:
    """These changes as they are told, in their order: those by refits with where the rating was before."""
    points: list[ChangeRow] = []
    before: dict[str, _Was] = {}
    for seq, refit, system, row in changes:
        if not refit:
            score = None if row["score2"] is None else row["score2"] / 2
            points.append(value(ChangeRow, row, refit=None, score=score, **change_intervals(system, row)))
            before[system] = _was_of(row, row["games"], "after_")
            continue
        was = before.get(system) or await _was(read, venue, me=me, system=system, applied=seq, refit=refit)
        now = before[system] = _was_of(row, 0 if was is None else was.games)
        earlier = was or now
        points.append(
            ChangeRow(
                system=system,
                seq=seq,
                at=row["at"],
                kind=REFIT,
                game=None,
                opponent=None,
                score=None,
                before_mean=earlier.mean,
                before_spread=earlier.spread,
                after_mean=now.mean,
                after_spread=now.spread,
                games=now.games,
                refit=refit,
                **interval(system, earlier._asdict(), "before_"),
                **interval(system, now._asdict(), "after_"),
            )
        )
    return points


async def _refitted(read: Read, venue: VenueId) -> list[str]:
    """The systems that have refits, found by steps in an index."""
    systems: list[str] = []
    rows = await read(_FIRST_REFITTED, venue=venue)
    while rows:
        systems.append(rows[0]["system"])
        rows = await read(_NEXT_REFITTED, venue=venue, after=systems[-1])
    return systems


async def _was(read: Read, venue: VenueId, me: int, system: str, applied: int, refit: int) -> _Was | None:
    """A version's rating before a refit; None where it had none."""
    mine = {"venue": venue, "me": me, "system": system}
    points = await read(_POINT_BEFORE, refit=refit, **mine)
    changes = await read(_LAST_CHANGE, applied=applied, **mine)
    games = int(changes[0]["games"]) if changes else 0
    if changes and not (points and points[0]["applied"] >= changes[0]["seq"]):
        return _was_of(changes[0], games, "after_")
    return _was_of(points[0], games) if points else None


def _was_of(row: RowMapping, games: int, prefix: str = "") -> _Was:
    return _Was(games=games, **{name: row[prefix + name] for name in NUMBERS})


def _version_game(row: RowMapping, me: int) -> VersionGame:
    black, counts = row["black_id"] == me, row["counts"]
    return VersionGame(
        seq=row["seq"],
        game=row["game_id"],
        at=row["at"],
        opponent=row["white_id"] if black else row["black_id"],
        color="black" if black else "white",
        score2=counts if black or counts is None else 2 - counts,
        repeat=bool(row["repeat"]) and row["corrected"] is None,
    )


async def _thinned(read: Read, way: _Way, mine: Mapping[str, Any], size: int, step: int) -> list[int]:
    """The keys of each `step`-th row in their order, and of the last, the lowest and the highest one."""
    if size == 0:
        return []
    keys = {row["key"] for row in await read(way.each, step=step, rest=1 % step, last=size, **mine)}
    for end in (way.lowest, way.highest) if step > 1 else ():
        (row,) = await read(end, **mine)
        keys.add(row["key"])
    return sorted(keys)
