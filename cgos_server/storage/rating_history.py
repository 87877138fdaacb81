"""The read side's answers about ratings: who stands or stood where, and which games and refits moved them.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
formulas, what a saved state holds, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
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

from cgos_protocol.errors import Code, NotFound
from cgos_server.core.rating.base import Kind
from cgos_server.storage import tables
from cgos_server.storage.answers import RatingPoint, Standing, VersionGame
from cgos_server.storage.functions import bytewise, greater
from cgos_server.storage.ledger_history import LedgerHistory, entry_of_change, is_game, last_entry, refit_of_point
from cgos_server.storage.reading import ALL, Read, number, value, venue_id, version_id

_games, _versions, _ledger, _changes = tables.games, tables.versions, tables.ledger, tables.rating_changes
_ratings, _refits, _points = tables.ratings, tables.refits, tables.refit_points

REFIT = "refit"
"""What a :class:`RatingPoint` is called that no entry made."""

_is_about_anchors = _ledger.c.kind.in_([literal_column("'anchor'"), literal_column("'unanchor'")])


def _standings(*asked: ColumnElement[bool]) -> Select[Any]:
    """The first `some` standings. Last games are looked for only for those."""
    first = (
        select(_ratings, _versions.c.wire_name.label("version"))
        .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
        .where(_ratings.c.venue_id == bindparam("venue"), *asked)
        .order_by(_ratings.c.mean.desc(), bytewise(_versions.c.wire_name))
        .limit(bindparam("some", type_=BigInteger))
        .subquery("first")
    )
    latest = greater(_latest(_games.c.black_id, first), _latest(_games.c.white_id, first))
    rated = select(first, latest.label("last_game")).subquery("rated")
    return (
        select(rated, func.coalesce(_games.c.ended_at, _games.c.started_at).label("last_game_at"))
        .join_from(rated, _games, _games.c.id == rated.c.last_game, isouter=True)
        .order_by(rated.c.mean.desc(), bytewise(rated.c.version))
    )


def _latest(side: Column[int], rated: Subquery) -> ColumnElement[int]:
    """The latest game of a rated version on one side of the board, 0 for none: a step in that side's index."""
    latest = (
        select(_games.c.id)
        .where(side == rated.c.version_id, _games.c.venue_id == rated.c.venue_id)
        .order_by(_games.c.id.desc())
        .limit(1)
        .correlate(rated)
        .scalar_subquery()
    )
    return func.coalesce(latest, 0)


def _same_change(keys: Subquery) -> ColumnElement[bool]:
    return and_(*(keys.c[column.name] == column for column in _changes.primary_key.columns))


def _told(keys: Subquery) -> Select[Any]:
    """The changes of these keys with what their entries say."""
    me: BindParameter[int] = bindparam("me", type_=BigInteger)
    black = _ledger.c.black_id == me
    mine = or_(black, _ledger.c.white_id == me)
    other = case((black, _ledger.c.white_id), (_ledger.c.white_id == me, _ledger.c.black_id))
    return (
        select(
            _changes,
            _ledger.c.at,
            _ledger.c.kind,
            _ledger.c.game_id.label("game"),
            _versions.c.wire_name.label("opponent"),
            case((black, _ledger.c.score2), (mine, 2 - _ledger.c.score2)).label("score2"),
        )
        .join_from(keys, _changes, _same_change(keys))
        .join(_ledger, entry_of_change)
        .outerjoin(_versions, _versions.c.id == other)
        .order_by(_changes.c.seq, _changes.c.system)
    )


def _changes_by(*asked: ColumnElement[bool], newest: bool) -> Select[Any]:
    """A version's first changes by one end. Their keys are found in the index alone: asked for whole rows, or without
    a limit, SQLite would walk through all changes of the venue."""
    keys = select(*_changes.primary_key.columns).where(
        _changes.c.version_id == bindparam("me", type_=BigInteger), _changes.c.venue_id == bindparam("venue"), *asked
    )
    if newest:
        keys = keys.order_by(_changes.c.seq.desc(), _changes.c.system.desc())
    else:
        keys = keys.order_by(_changes.c.seq)
    return _told(keys.limit(bindparam("some", type_=BigInteger)).subquery())


def _refit_points_by() -> Select[Any]:
    """What refits made of a version's rating."""
    return (
        select(_points, _refits.c.at)
        .join_from(_points, _refits, refit_of_point)
        .where(
            _points.c.venue_id == bindparam("venue"),
            _points.c.system == bindparam("system"),
            _points.c.version_id == bindparam("me"),
        )
        .limit(bindparam("some", type_=BigInteger))
    )


# Built once: to build them takes longer than most answers.
_STANDINGS: Final = _standings()
_STANDINGS_UNDER: Final = _standings(_ratings.c.system == bindparam("system"))
_PLAYED_UNDER: Final = _standings(_ratings.c.system == bindparam("system"), _ratings.c.games > 0)
_CHANGES: Final = _changes_by(newest=True)
_CHANGES_UNDER: Final = _changes_by(_changes.c.system == bindparam("system"), newest=True)
_CHANGES_AFTER: Final = _changes_by(
    _changes.c.system == bindparam("system"), _changes.c.seq > bindparam("after", type_=BigInteger), newest=False
)
_REFIT_POINTS: Final = _refit_points_by().order_by(_points.c.number.desc())
_first_refit = select(_refits.c.system).where(_refits.c.venue_id == bindparam("venue")).order_by(_refits.c.system)
_FIRST_REFITTED: Final = _first_refit.limit(1)
_NEXT_REFITTED: Final = _first_refit.where(_refits.c.system > bindparam("after")).limit(1)


class RatingHistory(LedgerHistory):
    """The part of :class:`cgos_server.storage.history.History` that is about ratings."""

    async def standings(
        self,
        venue: str,
        system: str | None = None,
        as_of: int | None = None,
        limit: int | None = None,
        played: bool = False,
    ) -> list[Standing]:
        """Every rated version of a venue, highest mean first; under all rating systems unless one is named.

        :param as_of: as they were published after this entry and the refits that came before the next one; a version
            that had not entered is left out. Means and spreads of a refit are known to 0.1
        :param limit: only so many, the first ones
        :param played: only with a rated game; of now and under a system that is named
        :raises Refused: where the ledger has no such entry
        """
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            if as_of is None:
                return await _standings_now(read, at, system=system, limit=limit, played=played)
            last = await last_entry(read, at)
            if not 0 <= as_of <= last:
                raise NotFound(
                    Code.NO_ENTRY,
                    f"The ledger of {venue} has no entry {as_of}: its entries are 1 to {last}."
                    if last
                    else f"The ledger of {venue} has no entry {as_of}: it is still empty.",
                )
            return (await _standings_then(read, at, system, as_of))[:limit]

    async def rating_history(
        self, version: str, venue: str, limit: int | None = None, system: str | None = None
    ) -> list[RatingPoint]:
        """Every change of a version's ratings in a venue by entries and by refits, or the latest `limit` ones; oldest
        first. Under all rating systems unless one is named."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            some = ALL if limit is None else limit
            changes = [
                (row["seq"], 0, row["system"], row)
                for row in await _changes_of(read, at, me=me, system=system, limit=some)
            ]
            for each in await _refitted(read, at) if system is None else [system]:
                changes += [
                    (row["applied"], row["number"], each, row)
                    for row in await read(_REFIT_POINTS, venue=at, me=me, system=each, some=some)
                ]
            changes.sort(key=lambda item: item[:3])
            told: list[RatingPoint] = []
            before: dict[str, _Was] = {}
            for seq, refit, each, row in changes[-some:] if some else []:
                if not refit:
                    told.append(value(RatingPoint, row, refit=None))
                    before[each] = _Was(row["after_mean"], row["after_spread"], row["games"])
                    continue
                was = before.get(each) or await _was(read, at, me=me, system=each, applied=seq, refit=refit)
                now = before[each] = _Was(row["mean"], row["spread"], 0 if was is None else was.games)
                mean, spread, _ = was or now
                moved = (mean, spread, now.mean, now.spread, now.games)
                told.append(RatingPoint(each, seq, row["at"], REFIT, None, None, None, *moved, refit=refit))
        return told

    async def rating_changes(
        self, version: str, venue: str, system: str, after: tuple[int, int] = (0, 0), limit: int = 200
    ) -> list[RatingPoint]:
        """Changes of a version's rating in a venue by entries and by refits, oldest first, `limit` at most; the next
        portion is `after` the last one's (seq, refit or 0)."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            changes = await read(_CHANGES_AFTER, venue=at, me=me, system=system, after=after[0], some=limit)
            points = await _refit_points_after(read, at, me=me, system=system, after=after, limit=limit)
            rows = [((row["seq"], 0), row) for row in changes]
            rows += [((row["applied"], row["number"]), row) for row in points]
            told: list[RatingPoint] = []
            before: _Was | None = None
            for (seq, refit), row in sorted(rows, key=lambda item: item[0])[:limit]:
                if not refit:
                    told.append(value(RatingPoint, row, refit=None))
                    before = _Was(row["after_mean"], row["after_spread"], row["games"])
                    continue
                was = before or await _was(read, at, me=me, system=system, applied=seq, refit=refit)
                before = _Was(row["mean"], row["spread"], 0 if was is None else was.games)
                mean, spread, _ = was or before
                moved = (mean, spread, before.mean, before.spread, before.games)
                told.append(RatingPoint(system, seq, row["at"], REFIT, None, None, None, *moved, refit=refit))
        return told

    async def version_games(self, version: str, venue: str, limit: int | None = None) -> list[VersionGame]:
        """A version's rated games in the order of their entries, or the latest `limit` ones; corrections included."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            some = ALL if limit is None else limit
            found: list[VersionGame] = []
            before = ALL
            while len(found) < some:
                # A version's changes lead to its games: there is one at least for each.
                part = [
                    row["seq"]
                    for row in await read(
                        select(_changes.c.seq)
                        .where(_changes.c.version_id == me, _changes.c.venue_id == at, _changes.c.seq < before)
                        .distinct()
                        .order_by(_changes.c.seq.desc())
                        .limit(min(some, _SEQS_AT_ONCE))
                    )
                ]
                if not part:
                    break
                before = part[-1]
                found += [_version_game(row, me) for row in await _games_of(read, at, me, part)]
        return found[:some][::-1]


class _Was(NamedTuple):
    """A rating as it was last published."""

    mean: float
    spread: float
    games: int


_SEQS_AT_ONCE = 500


async def _standings_now(read: Read, venue: int, system: str | None, limit: int | None, played: bool) -> list[Standing]:
    some = ALL if limit is None else limit
    if system is None:
        rows = await read(_STANDINGS, venue=venue, some=some)
    else:
        rows = await read(_PLAYED_UNDER if played else _STANDINGS_UNDER, venue=venue, system=system, some=some)
    return [
        Standing(
            system=row["system"],
            version=row["version"],
            mean=row["mean"],
            spread=row["spread"],
            games=row["games"],
            provisional=bool(row["provisional"]),
            anchor=bool(row["anchor"]),
            last_game=row["last_game"] or None,
            last_game_at=row["last_game_at"],
            seq=row["seq"],
        )
        for row in rows
    ]


def _rated_by(venue: int, system: str | None, as_of: int) -> Subquery:
    """Every rated version with its last change up to entry `as_of`, and whether it was an anchor then."""
    then = number(as_of)
    changed = (
        select(_changes.c.seq)
        .where(
            _changes.c.version_id == _ratings.c.version_id,
            _changes.c.venue_id == _ratings.c.venue_id,
            _changes.c.seq <= then,
            _changes.c.system == _ratings.c.system,
        )
        .order_by(_changes.c.seq.desc())
        .limit(1)
        .correlate(_ratings)
        .scalar_subquery()
    )
    anchored = (
        select(_ledger.c.kind)
        .where(
            _ledger.c.version_id == _ratings.c.version_id,
            # Not by its key, so that SQLite looks at this version's few entries and not at all of the venue's.
            _ledger.c.venue_id + 0 == _ratings.c.venue_id,
            _ledger.c.seq <= then,
            _is_about_anchors,
        )
        .order_by(_ledger.c.seq.desc())
        .limit(1)
        .correlate(_ratings)
        .scalar_subquery()
    )
    return (
        select(_ratings, _versions.c.wire_name, changed.label("changed"), anchored.label("anchored"))
        .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
        .where(*_under(venue, system))
        # The limit keeps it apart: PostgreSQL expects next to no rows from the joins below, and would walk through all
        # versions for each.
        .limit(ALL)
        .subquery()
    )


async def _standings_then(read: Read, venue: int, system: str | None, as_of: int) -> list[Standing]:
    rated = _rated_by(venue, system, as_of)
    rows = await read(
        select(
            rated,
            _changes.c.after_mean,
            _changes.c.after_spread,
            _changes.c.games.label("games_then"),
            case((is_game, _ledger.c.game_id)).label("last_game"),
            case((is_game, _ledger.c.at)).label("last_game_at"),
        )
        .join_from(
            rated,
            _changes,
            and_(
                _changes.c.venue_id == rated.c.venue_id,
                _changes.c.seq == rated.c.changed,
                _changes.c.system == rated.c.system,
                _changes.c.version_id == rated.c.version_id,
            ),
        )
        .join(_ledger, entry_of_change)
    )
    points: dict[tuple[str, int], RowMapping] = {}
    for each in {row["system"] for row in rows}:
        for point in await _points_then(read, venue, each, as_of):
            points[each, point["version_id"]] = point
    standings = [_standing_then(row, points.get((row["system"], row["version_id"])), as_of) for row in rows]
    return sorted(standings, key=lambda standing: (-standing.mean, standing.version.encode()))


def _standing_then(row: RowMapping, point: RowMapping | None, as_of: int) -> Standing:
    still = row["seq"] <= as_of
    mean, spread, seq = row["after_mean"], row["after_spread"], row["changed"]
    if point is not None and point["applied"] >= seq:
        mean, spread, seq = point["mean"], point["spread"], point["applied"]
    if still:
        mean, spread, seq = row["mean"], row["spread"], row["seq"]
    return Standing(
        system=row["system"],
        version=row["wire_name"],
        mean=mean,
        spread=spread,
        games=row["games_then"],
        provisional=bool(row["provisional"]) if still else None,
        anchor=row["anchored"] == Kind.ANCHOR,
        last_game=row["last_game"],
        last_game_at=row["last_game_at"],
        seq=seq,
    )


async def _points_then(read: Read, venue: int, system: str, as_of: int) -> Sequence[RowMapping]:
    """Where the refits up to an entry had put each version that they ever moved."""
    found = await read(
        select(_refits.c.number)
        .where(_refits.c.venue_id == venue, _refits.c.system == system, _refits.c.applied <= number(as_of))
        .order_by(_refits.c.applied.desc(), _refits.c.number.desc())
        .limit(1)
    )
    if not found:
        return []
    # Each column by its own step in the index: joined with the points, SQLite might walk through all of them.
    rows = await read(
        select(
            _ratings.c.version_id,
            *(
                select(_points.c[name])
                .where(
                    _points.c.venue_id == _ratings.c.venue_id,
                    _points.c.system == _ratings.c.system,
                    _points.c.version_id == _ratings.c.version_id,
                    _points.c.number <= found[0]["number"],
                )
                .order_by(_points.c.number.desc())
                .limit(1)
                .correlate(_ratings)
                .scalar_subquery()
                .label(name)
                for name in ("applied", "mean", "spread")
            ),
        ).where(*_under(venue, system))
    )
    return [row for row in rows if row["applied"] is not None]


def _under(venue: int, system: str | None) -> list[ColumnElement[bool]]:
    return [_ratings.c.venue_id == venue, *([] if system is None else [_ratings.c.system == system])]


def _latest_changes(venue: int, me: int, system: str | None, *asked: ColumnElement[bool]) -> Select[Any]:
    """The keys of a version's changes, latest first. They are found in the index alone: asked for whole rows, or
    without a limit, SQLite would walk through all changes of the venue."""
    if system is not None:
        asked = (*asked, _changes.c.system == system)
    return (
        select(*_changes.primary_key.columns)
        .where(_changes.c.version_id == me, _changes.c.venue_id == venue, *asked)
        .order_by(_changes.c.seq.desc(), _changes.c.system.desc())
    )


async def _changes_of(read: Read, venue: int, me: int, system: str | None, limit: int) -> Sequence[RowMapping]:
    """The latest changes."""
    if system is None:
        return await read(_CHANGES, venue=venue, me=me, some=limit)
    return await read(_CHANGES_UNDER, venue=venue, me=me, system=system, some=limit)


async def _refitted(read: Read, venue: int) -> list[str]:
    """The systems that have refits, found by steps in an index."""
    found: list[str] = []
    rows = await read(_FIRST_REFITTED, venue=venue)
    while rows:
        found.append(rows[0]["system"])
        rows = await read(_NEXT_REFITTED, venue=venue, after=found[-1])
    return found


async def _refit_points_after(
    read: Read, venue: int, me: int, system: str, after: tuple[int, int], limit: int
) -> Sequence[RowMapping]:
    """The first refits that moved a version after an entry and a refit, oldest first: refits are put in by number."""
    seq, refit = after
    beyond = or_(
        _points.c.applied > number(seq), and_(_points.c.applied == number(seq), _points.c.number > number(refit))
    )
    return await read(
        select(_points, _refits.c.at)
        .join_from(_points, _refits, refit_of_point)
        .where(
            _points.c.venue_id == venue,
            _points.c.system == system,
            _points.c.version_id == me,
            _points.c.number > number(refit),
            beyond,
        )
        .order_by(_points.c.number)
        .limit(limit)
    )


async def _was(read: Read, venue: int, me: int, system: str, applied: int, refit: int) -> _Was | None:
    """A version's rating before a refit; None where it had none."""
    points = await read(
        select(_points.c.applied, _points.c.mean, _points.c.spread)
        .where(
            _points.c.venue_id == venue,
            _points.c.system == system,
            _points.c.version_id == me,
            _points.c.number < refit,
        )
        .order_by(_points.c.number.desc())
        .limit(1)
    )
    latest = _latest_changes(venue, me, system, _changes.c.seq <= applied).limit(1).subquery()
    changes = await read(select(_changes).join_from(latest, _changes, _same_change(latest)))
    games = int(changes[0]["games"]) if changes else 0
    if changes and not (points and points[0]["applied"] >= changes[0]["seq"]):
        return _Was(changes[0]["after_mean"], changes[0]["after_spread"], games)
    return _Was(points[0]["mean"], points[0]["spread"], games) if points else None


async def _games_of(read: Read, venue: int, me: int, seqs: list[int]) -> Sequence[RowMapping]:
    """The version's own games among these entries, latest first, with what they count as now."""
    later = _ledger.alias("later")
    corrected = (
        select(later.c.seq)
        .where(later.c.game_id == _ledger.c.game_id, later.c.kind == literal_column("'correction'"))
        .order_by(later.c.seq.desc())
        .limit(1)
        .correlate(_ledger)
        .scalar_subquery()
    )
    mine = (
        select(_ledger, corrected.label("corrected"))
        .where(
            _ledger.c.venue_id == venue,
            _ledger.c.seq.in_(seqs),
            is_game,
            or_(_ledger.c.black_id == me, _ledger.c.white_id == me),
        )
        .subquery()
    )
    return await read(
        select(
            mine,
            case((mine.c.corrected.is_not(None), later.c.score2), else_=mine.c.score2).label("counts"),
        )
        .outerjoin_from(mine, later, and_(later.c.venue_id == mine.c.venue_id, later.c.seq == mine.c.corrected))
        .order_by(mine.c.seq.desc())
    )


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
