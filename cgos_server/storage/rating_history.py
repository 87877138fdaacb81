"""The read side's answers about ratings: who stands or stood where, what moved them, and all that a replay needs.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
formulas, what a saved state holds, how an answer is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, RowMapping, and_, case, func, literal, literal_column, or_, select

from cgos_server.core.rating.base import Entry, Kind
from cgos_server.errors import Refused
from cgos_server.storage import tables
from cgos_server.storage.answers import (
    CorrectionRow,
    GameChange,
    LedgerRow,
    PublishedChange,
    PublishedPoint,
    PublishedRefit,
    RatingPoint,
    RefitRow,
    SavedState,
    Standing,
    VersionGame,
)
from cgos_server.storage.functions import bytewise, greater
from cgos_server.storage.reading import ALL, Read, Reader, decoded, number, value, venue_id, version_id
from cgos_server.storage.store import StoredRefit

_games, _versions, _ledger, _changes = tables.games, tables.versions, tables.ledger, tables.rating_changes
_ratings, _refits, _points, _builds = tables.ratings, tables.refits, tables.refit_points, tables.builds
_corrections, _venues = tables.corrections, tables.venues
_black, _white, _other = (_versions.alias(side) for side in ("black", "white", "other"))
_SIDES = {0: "black", 1: "white"}

REFIT = "refit"
"""What a :class:`RatingPoint` is called that no entry made."""

_entry_of_change = and_(_ledger.c.venue_id == _changes.c.venue_id, _ledger.c.seq == _changes.c.seq)
# Kinds are spelt out, so that SQLite sees that the partial indexes serve.
_is_game = _ledger.c.kind == literal_column("'game'")
_is_correction = _ledger.c.kind == literal_column("'correction'")
_is_about_anchors = _ledger.c.kind.in_([literal_column("'anchor'"), literal_column("'unanchor'")])


class RatingHistory(Reader):
    """The part of :class:`cgos_server.storage.history.History` that is about ratings."""

    async def standings(self, venue: str, system: str | None = None, as_of: int | None = None) -> list[Standing]:
        """Every rated version of a venue, highest mean first; under all rating systems unless one is named.

        :param as_of: as they were published after this entry and the refits that came before the next one; a version
            that had not entered is left out. Means and spreads of a refit are known to 0.1
        :raises Refused: where the ledger has no such entry
        """
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            if as_of is None:
                return await _standings_now(read, at, system)
            last = await _last_entry(read, at)
            if not 0 <= as_of <= last:
                raise Refused(
                    "no-entry",
                    f"The ledger of {venue} has no entry {as_of}: its entries are 1 to {last}."
                    if last
                    else f"The ledger of {venue} has no entry {as_of}: it is still empty.",
                )
            return await _standings_then(read, at, system, as_of)

    async def rating_history(
        self, version: str, venue: str, limit: int | None = None, system: str | None = None
    ) -> list[RatingPoint]:
        """Every change of a version's ratings in a venue by entries and by refits, or the latest `limit` ones; oldest
        first. Under all rating systems unless one is named."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            me = await version_id(read, version)
            some = ALL if limit is None else limit
            changes = [(row["seq"], 0, row["system"], row) for row in await _changes_of(read, at, me, system, some)]
            for each in await _refitted(read, at) if system is None else [system]:
                changes += [
                    (row["applied"], row["number"], each, row)
                    for row in await _refit_points_of(read, at, me, each, some)
                ]
            changes.sort(key=lambda item: item[:3])
            told: list[RatingPoint] = []
            before: dict[str, _Was] = {}
            for seq, refit, each, row in changes[-some:] if some else []:
                if not refit:
                    told.append(value(RatingPoint, row, refit=None))
                    before[each] = _Was(row["after_mean"], row["after_spread"], row["games"])
                    continue
                was = before.get(each) or await _was(read, at, me, each, seq, refit)
                now = before[each] = _Was(row["mean"], row["spread"], 0 if was is None else was.games)
                told.append(
                    RatingPoint(each, seq, row["at"], REFIT, None, None, None, *(was or now)[:2], *now, refit=refit)
                )
        return told

    async def refits(self, venue: str, system: str, limit: int | None = None) -> list[RefitRow]:
        """The recorded refits of a system, or the latest `limit` ones; oldest first."""
        async with self._snapshot() as read:
            rows = await read(
                select(
                    *(_refits.c[name] for name in RefitRow.__struct_fields__ if name != "build"),
                    _builds.c.text.label("build"),
                )
                .join_from(_refits, _builds, _builds.c.id == _refits.c.build)
                .where(_refits.c.venue_id == await venue_id(read, venue), _refits.c.system == system)
                .order_by(_refits.c.number.desc())
                .limit(limit)
            )
        return [value(RefitRow, row, cold=bool(row["cold"]), notes=decoded(row["notes"])) for row in reversed(rows)]

    async def rating_state(self, venue: str, system: str) -> SavedState | None:
        """The saved state of this system, or None."""
        states = tables.rating_states
        async with self._snapshot() as read:
            rows = await read(
                select(*(states.c[name] for name in SavedState.__struct_fields__)).where(
                    states.c.venue_id == await venue_id(read, venue), states.c.system == system
                )
            )
        return value(SavedState, rows[0]) if rows else None

    async def ledger(self, venue: str, after: int = 0, limit: int | None = None) -> list[LedgerRow]:
        """A venue's numbered entries from `after` + 1 on, in order, `limit` at most."""
        async with self._snapshot() as read:
            rows = await read(
                select(
                    _ledger,
                    _ledger.c.game_id.label("game"),
                    _versions.c.wire_name.label("version"),
                    _black.c.wire_name.label("black"),
                    _white.c.wire_name.label("white"),
                    _other.c.wire_name.label("other"),
                )
                .outerjoin(_versions, _versions.c.id == _ledger.c.version_id)
                .outerjoin(_black, _black.c.id == _ledger.c.black_id)
                .outerjoin(_white, _white.c.id == _ledger.c.white_id)
                .outerjoin(_other, _other.c.id == _ledger.c.other_id)
                .where(_ledger.c.venue_id == await venue_id(read, venue), _ledger.c.seq > number(after))
                .order_by(_ledger.c.seq)
                .limit(limit)
            )
        return [value(LedgerRow, row, repeat=bool(row["repeat"])) for row in rows]

    async def last_entry(self, venue: str) -> int:
        """The number of a venue's last entry, 0 for none."""
        async with self._snapshot() as read:
            return await _last_entry(read, await venue_id(read, venue))

    async def corrections(self, game: int | None = None, venue: str | None = None) -> list[CorrectionRow]:
        """What operators corrected, oldest first; in one game or one venue where that is named."""
        async with self._snapshot() as read:
            asked: list[ColumnElement[bool]] = []
            if game is not None:
                asked.append(_corrections.c.game_id == number(game))
            if venue is not None:
                asked.append(_games.c.venue_id == await venue_id(read, venue))
            return await correction_rows(read, *asked)

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

    async def entries(self, venue: str, after: int = 0, limit: int | None = None) -> list[Entry]:
        """A venue's entries from `after` + 1 on as a rating system takes them, `limit` at most: for a replay, some
        thousands at a time."""
        kinds = {kind.value: kind for kind in Kind}
        columns = [_ledger.c[name] for name in _ENTRY]
        async with self._snapshot() as read:
            rows = await read(
                select(*columns)
                .where(_ledger.c.venue_id == await venue_id(read, venue), _ledger.c.seq > number(after))
                .order_by(_ledger.c.seq)
                .limit(limit)
            )
        return [
            Entry(seq, kinds[kind], version, black, white, score2, elo, sd, other, was2, repeat != 0, at)
            for seq, kind, version, black, white, score2, elo, sd, other, was2, repeat, at in (
                row.values() for row in rows
            )
        ]

    async def published(self, venue: str, system: str, after: int = 0, limit: int = 10_000) -> list[PublishedChange]:
        """What the entries from `after` + 1 to `after` + `limit` did to ratings under a system, in the order of entries
        and version ids. Entries without a change have no row: go on to :meth:`last_entry`, not until nothing comes."""
        async with self._snapshot() as read:
            rows = await read(
                select(
                    _changes.c.seq,
                    _changes.c.version_id.label("version"),
                    *(_changes.c[name] for name in PublishedChange.__struct_fields__[2:]),
                )
                .where(
                    _changes.c.venue_id == await venue_id(read, venue),
                    _changes.c.seq > number(after),
                    _changes.c.seq <= number(after + limit),
                    _changes.c.system == system,
                )
                .order_by(_changes.c.seq, _changes.c.version_id)
            )
        return [PublishedChange(*row.values()) for row in rows]

    async def published_refits(
        self, venue: str, system: str, after: int = 0, limit: int | None = None
    ) -> list[PublishedRefit]:
        """The refits from number `after` + 1 on, in order, `limit` at most, each with what it moved."""
        async with self._snapshot() as read:
            at = await venue_id(read, venue)
            refits = await read(
                select(*(_refits.c[name] for name in StoredRefit._fields), _builds.c.text)
                .join_from(_refits, _builds, _builds.c.id == _refits.c.build)
                .where(_refits.c.venue_id == at, _refits.c.system == system, _refits.c.number > number(after))
                .order_by(_refits.c.number)
                .limit(limit)
            )
            if not refits:
                return []
            points: dict[int, list[PublishedPoint]] = {row["number"]: [] for row in refits}
            for row in await read(
                select(_points.c.number, _points.c.version_id, _points.c.mean, _points.c.spread)
                .where(
                    _points.c.venue_id == at,
                    _points.c.system == system,
                    _points.c.number >= refits[0]["number"],
                    _points.c.number <= refits[-1]["number"],
                )
                .order_by(_points.c.number, _points.c.version_id)
            ):
                points[row["number"]].append(PublishedPoint(row["version_id"], row["mean"], row["spread"]))
        return [
            PublishedRefit(
                StoredRefit(**{name: row[name] for name in StoredRefit._fields})._replace(cold=bool(row["cold"])),
                row["text"],
                points[row["number"]],
            )
            for row in refits
        ]


class _Was(NamedTuple):
    """A rating as it was last published."""

    mean: float
    spread: float
    games: int


_SEQS_AT_ONCE = 500
_ENTRY = (
    *("seq", "kind", "version_id", "black_id", "white_id", "score2", "value", "sd", "other_id", "was2", "repeat", "at"),
)


async def _last_entry(read: Read, venue: int) -> int:
    latest = select(_ledger.c.seq).where(_ledger.c.venue_id == venue).order_by(_ledger.c.seq.desc()).limit(1)
    rows = await read(latest)
    return int(rows[0]["seq"]) if rows else 0


async def _standings_now(read: Read, venue: int, system: str | None) -> list[Standing]:
    latest = greater(_latest(_games.c.black_id), _latest(_games.c.white_id))
    rated = select(_ratings, latest.label("last_game")).where(*_under(venue, system)).subquery()
    last_at = func.coalesce(_games.c.ended_at, _games.c.started_at).label("last_game_at")
    rows = await read(
        select(rated, _versions.c.wire_name.label("version"), last_at)
        .join_from(rated, _versions, _versions.c.id == rated.c.version_id)
        .outerjoin(_games, _games.c.id == rated.c.last_game)
        .order_by(rated.c.mean.desc(), bytewise(_versions.c.wire_name))
    )
    return [
        value(
            Standing,
            row,
            provisional=bool(row["provisional"]),
            anchor=bool(row["anchor"]),
            last_game=row["last_game"] or None,
        )
        for row in rows
    ]


async def _standings_then(read: Read, venue: int, system: str | None, as_of: int) -> list[Standing]:
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
            _ledger.c.venue_id == _ratings.c.venue_id,
            _ledger.c.seq <= then,
            _is_about_anchors,
        )
        .order_by(_ledger.c.seq.desc())
        .limit(1)
        .correlate(_ratings)
        .scalar_subquery()
    )
    rated = (
        select(_ratings, changed.label("changed"), anchored.label("anchored")).where(*_under(venue, system)).subquery()
    )
    rows = await read(
        select(
            rated,
            _versions.c.wire_name,
            _changes.c.after_mean,
            _changes.c.after_spread,
            _changes.c.games.label("games_then"),
            case((_is_game, _ledger.c.game_id)).label("last_game"),
            case((_is_game, _ledger.c.at)).label("last_game_at"),
        )
        .join_from(rated, _versions, _versions.c.id == rated.c.version_id)
        .join(
            _changes,
            and_(
                _changes.c.venue_id == rated.c.venue_id,
                _changes.c.seq == rated.c.changed,
                _changes.c.system == rated.c.system,
                _changes.c.version_id == rated.c.version_id,
            ),
        )
        .join(_ledger, _entry_of_change)
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
    latest = (
        select(_points.c.number)
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
    )
    moved = select(_ratings, latest.label("number")).where(*_under(venue, system)).subquery()
    return await read(
        select(_points).join_from(
            moved,
            _points,
            and_(
                _points.c.venue_id == moved.c.venue_id,
                _points.c.system == moved.c.system,
                _points.c.version_id == moved.c.version_id,
                _points.c.number == moved.c.number,
            ),
        )
    )


def _under(venue: int, system: str | None) -> list[ColumnElement[bool]]:
    return [_ratings.c.venue_id == venue, *([] if system is None else [_ratings.c.system == system])]


def _latest(side: Column[int]) -> ColumnElement[int]:
    """The latest game of a rated version on one side of the board, 0 for none: a step in that side's index."""
    latest = (
        select(_games.c.id)
        .where(side == _ratings.c.version_id, _games.c.venue_id == _ratings.c.venue_id)
        .order_by(_games.c.id.desc())
        .limit(1)
        .correlate(_ratings)
        .scalar_subquery()
    )
    return func.coalesce(latest, 0)


async def _changes_of(read: Read, venue: int, me: int, system: str | None, limit: int) -> Sequence[RowMapping]:
    # Found in the index first: asked for whole rows, or without a limit, SQLite would walk through all changes of the
    # venue.
    key = list(_changes.primary_key.columns)
    latest = (
        select(*key)
        .where(
            _changes.c.version_id == me,
            _changes.c.venue_id == venue,
            *([] if system is None else [_changes.c.system == system]),
        )
        .order_by(_changes.c.seq.desc(), _changes.c.system.desc())
        .limit(limit)
        .subquery()
    )
    black = _ledger.c.black_id == me
    mine = or_(black, _ledger.c.white_id == me)
    other = case((black, _ledger.c.white_id), (_ledger.c.white_id == me, _ledger.c.black_id))
    return await read(
        select(
            _changes,
            _ledger.c.at,
            _ledger.c.kind,
            case((mine, _ledger.c.game_id)).label("game"),
            _versions.c.wire_name.label("opponent"),
            case((black, _ledger.c.score2), (mine, 2 - _ledger.c.score2)).label("score2"),
        )
        .join_from(latest, _changes, and_(*(latest.c[column.name] == column for column in key)))
        .join(_ledger, _entry_of_change)
        .outerjoin(_versions, _versions.c.id == other)
        .order_by(_changes.c.seq, _changes.c.system)
    )


async def _refitted(read: Read, venue: int) -> list[str]:
    """The systems that have refits, found by steps in an index."""
    found: list[str] = []
    while True:
        later = [_refits.c.system > found[-1]] if found else []
        first = select(_refits.c.system).where(_refits.c.venue_id == venue, *later).order_by(_refits.c.system).limit(1)
        rows = await read(first)
        if not rows:
            return found
        found.append(rows[0]["system"])


async def _refit_points_of(read: Read, venue: int, me: int, system: str, limit: int) -> Sequence[RowMapping]:
    return await read(
        select(_points, _refits.c.at)
        .join_from(
            _points,
            _refits,
            and_(
                _refits.c.venue_id == _points.c.venue_id,
                _refits.c.system == _points.c.system,
                _refits.c.number == _points.c.number,
            ),
        )
        .where(_points.c.venue_id == venue, _points.c.system == system, _points.c.version_id == me)
        .order_by(_points.c.number.desc())
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
    changes = await read(
        select(_changes)
        .where(
            _changes.c.version_id == me,
            _changes.c.venue_id == venue,
            _changes.c.system == system,
            _changes.c.seq <= applied,
        )
        .order_by(_changes.c.seq.desc())
        .limit(1)
    )
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
            _is_game,
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


async def changes_by_game(read: Read, game_id: int) -> list[GameChange]:
    """What a game did to ratings."""
    rows = await read(
        select(_changes, _versions.c.wire_name.label("version"))
        .join_from(_ledger, _changes, _entry_of_change)
        .join(_versions, _versions.c.id == _changes.c.version_id)
        .where(_ledger.c.game_id == game_id, _is_game)
        .order_by(_changes.c.system, _changes.c.version_id)
    )
    return [value(GameChange, row) for row in rows]


async def repeated_by(read: Read, game_id: int) -> int | None:
    """The earliest game with the same moves and result, where this one was marked as a repeat of it."""
    first = _ledger.alias("first")
    rows = await read(
        select(first.c.game_id)
        .join_from(
            _ledger,
            first,
            and_(
                first.c.black_id == _ledger.c.black_id,
                first.c.white_id == _ledger.c.white_id,
                first.c.digest == _ledger.c.digest,
                first.c.venue_id == _ledger.c.venue_id,
                first.c.kind == literal_column("'game'"),
                first.c.seq < _ledger.c.seq,
            ),
        )
        .where(_ledger.c.game_id == game_id, _is_game, _ledger.c.repeat != 0)
        .order_by(first.c.seq)
        .limit(1)
    )
    return int(rows[0]["game_id"]) if rows else None


async def correction_rows(read: Read, *asked: ColumnElement[bool]) -> list[CorrectionRow]:
    """Corrections, oldest first."""
    earlier = _corrections.alias("earlier")
    before = (
        select(earlier.c.result)
        .where(earlier.c.game_id == _corrections.c.game_id, earlier.c.id < _corrections.c.id)
        .order_by(earlier.c.id.desc())
        .limit(1)
        .correlate(_corrections)
        .scalar_subquery()
    )
    rows = await read(
        select(
            _corrections,
            _corrections.c.game_id.label("game"),
            _venues.c.name.label("venue"),
            func.coalesce(before, _games.c.result, literal("")).label("was"),
        )
        .join_from(_corrections, _games, _games.c.id == _corrections.c.game_id)
        .join(_venues, _venues.c.id == _games.c.venue_id)
        .where(*asked)
        .order_by(_corrections.c.id)
    )
    return [value(CorrectionRow, row, winner=_SIDES.get(row["winner"])) for row in rows]
