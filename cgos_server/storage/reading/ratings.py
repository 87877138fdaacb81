"""The read side's answers about ratings: who stands or stood where, and at which place.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
formulas, how an answer is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import (
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
    select,
)

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import VenueId, VersionId
from cgos_server.core.rating.base import Kind
from cgos_server.storage import tables
from cgos_server.storage.functions import bytewise, greater, latest
from cgos_server.storage.intervals import NUMBERS, interval
from cgos_server.storage.parameters import ALL, SOME, SYSTEM, VENUE, limited, number, portions
from cgos_server.storage.reading.answers import RankedRow, StandingRow
from cgos_server.storage.reading.ledger import entry_of_change, is_game, last_entry
from cgos_server.storage.reading.refits import RANKED, last_refit, rank_point, ranked_then, same_point
from cgos_server.storage.reading.source import Read, Subject, VenueKey, value, venue_id
from cgos_server.storage.reading.stored import RankRow, Shown

StandingT = TypeVar("StandingT", bound=StandingRow)

_games, _versions, _ledger, _changes = tables.games, tables.versions, tables.ledger, tables.rating_changes
_ratings, _points, _venues = tables.ratings, tables.refit_points, tables.venues

_FEW: Final = 4
"""Versions for which those before them are counted; for more, all are ranked."""

_is_about_anchors = _ledger.c.kind.in_([literal_column("'anchor'"), literal_column("'unanchor'")])


def _standings(*conditions: ColumnElement[bool]) -> Select[Any]:
    """The first `some` standings. Last games are looked for only for those."""
    first = (
        select(_ratings, _versions.c.wire_name.label("version"))
        .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
        .where(_ratings.c.venue_id == VENUE, *conditions)
        .order_by(_ratings.c.mean.desc(), bytewise(_versions.c.wire_name))
        .limit(SOME)
        .subquery("first")
    )
    rated, statement = _with_last_games(first)
    return statement.order_by(rated.c.mean.desc(), bytewise(rated.c.version))


def _with_last_games(first: Subquery) -> tuple[Subquery, Select[Any]]:
    """These ratings with the last game of each version and what is said of its rank: to order by, and to read."""
    last_game = greater(_latest(_games.c.black_id, first), _latest(_games.c.white_id, first))
    rated = select(first, last_game.label("last_game"), rank_point(first).label("rank_point")).subquery("rated")
    return rated, (
        select(rated, func.coalesce(_games.c.ended_at, _games.c.started_at).label("last_game_at"), *RANKED)
        .join_from(rated, _games, _games.c.id == rated.c.last_game, isouter=True)
        .outerjoin(tables.rank_points, same_point(rated))
    )


def _latest(side: Column[int], rated: Subquery) -> ColumnElement[int]:
    """The latest game of a rated version on one side of the board, 0 for none: a step in that side's index."""
    theirs = [side == rated.c.version_id, _games.c.venue_id == rated.c.venue_id]
    return func.coalesce(latest(_games.c.id, where=theirs, by=_games.c.id, of=rated), 0)


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
    wanted = _with_names(select(_ratings, case((_ratings.c.games > 0, 1 + before)).label("rank")))
    # Named venue by venue, so that SQLite steps through the ratings' key.
    return _said_of_ranks(
        wanted.where(_versions.c.wire_name.in_(_NAMES), _ratings.c.venue_id.in_(select(_venues.c.id)))
    )


def _all_ranked() -> Select[Any]:
    """Ratings with their places, by sorting all."""
    place = func.row_number().over(
        partition_by=(_ratings.c.venue_id, _ratings.c.system, _ratings.c.games > 0),
        order_by=(_ratings.c.mean.desc(), bytewise(_versions.c.wire_name)),
    )
    rank = case((_ratings.c.games > 0, place)).label("rank")
    placed = _with_names(select(_ratings, rank)).subquery("placed")
    return _said_of_ranks(select(placed).where(placed.c.version.in_(_NAMES)))


def _with_names(ratings: Select[Any]) -> Select[Any]:
    return (
        ratings.add_columns(_versions.c.wire_name.label("version"), _venues.c.name.label("venue"))
        .join_from(_ratings, _versions, _versions.c.id == _ratings.c.version_id)
        .join(_venues, _venues.c.id == _ratings.c.venue_id)
    )


def _said_of_ranks(ratings: Select[Any]) -> Select[Any]:
    """These ratings with last games and what is said of their ranks, by venue, system and rank."""
    known, statement = _with_last_games(ratings.subquery("first"))
    return statement.order_by(known.c.venue_id, known.c.system, known.c.mean.desc())


# Built once: to build them takes longer than most answers.
_STANDINGS: Final = _standings()
_STANDINGS_UNDER: Final = _standings(_ratings.c.system == SYSTEM)
_PLAYED_UNDER: Final = _standings(_ratings.c.system == SYSTEM, _ratings.c.games > 0)
_NAMES: BindParameter[Any] = bindparam("versions", expanding=True)
_RATED: Final = (
    select(_ratings.c.system, func.count().label("versions"))
    .where(_ratings.c.venue_id == VENUE)
    .group_by(_ratings.c.system)
)
_RANKED: Final = _ranked()
_ALL_RANKED: Final = _all_ranked()
_MEANS: Final = (
    select(_versions.c.wire_name, _ratings.c.mean)
    .join_from(_versions, _ratings, _versions.c.id == _ratings.c.version_id)
    .where(
        _ratings.c.venue_id == VENUE,
        _ratings.c.system == SYSTEM,
        _versions.c.wire_name.in_(_NAMES),
    )
)
_PLAYED_LAST: Final = _PLAYED_UNDER.with_only_columns(
    *(_PLAYED_UNDER.selected_columns[name] for name in ("version_id", "last_game_at"))
)
_SHOWN: Final = select(*(_ratings.c[name] for name in ("version_id", *Shown._fields))).where(
    _ratings.c.venue_id == VENUE, _ratings.c.system == SYSTEM
)
_LAST_PUBLISHED: Final = (
    select(_ratings.c.system, func.max(_ratings.c.seq).label("seq"))
    .where(_ratings.c.venue_id == VENUE)
    .group_by(_ratings.c.system)
)


class Ratings(Subject):
    """Ratings as they are published."""

    async def standings(
        self,
        venue: VenueKey,
        system: str | None = None,
        as_of: int | None = None,
        limit: int | None = None,
        played: bool = False,
    ) -> list[StandingRow]:
        """Every rated version of a venue, highest mean first; under all rating systems unless one is named.

        :param as_of: as they were published after this entry and the refits that came before the next one; a version
            that had not entered is left out. Means and spreads of a refit are known to 0.1
        :param limit: only so many, the first ones
        :param played: only with a rated game; of now and under a system that is named
        :raises Refused: where the ledger has no such entry
        """
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            if as_of is None:
                statement = _STANDINGS if system is None else _PLAYED_UNDER if played else _STANDINGS_UNDER
                rows = await read(statement, venue=at, system=system, some=limited(limit))
                return placed(
                    _standing(StandingRow, row, rank=None, last_game=row["last_game"] or None) for row in rows
                )
            last = await last_entry(read, at)
            if not 0 <= as_of <= last:
                raise NotFound(
                    Code.NO_ENTRY,
                    f"The ledger of {venue} has no entry {as_of}: its entries are 1 to {last}."
                    if last
                    else f"The ledger of {venue} has no entry {as_of}: it is still empty.",
                )
            return (await _standings_then(read, at, system, as_of))[:limit]

    async def rated_counts(self, venue: VenueKey) -> dict[str, int]:
        """Rating system -> how many versions it has rated in a venue."""
        rows = await self._source.venue_rows(venue, _RATED)
        return {row["system"]: row["versions"] for row in rows}

    async def ranked(self, versions: Sequence[str]) -> list[RankedRow]:
        """Where these versions stand in all venues under all rating systems; by venue, system and rank."""
        names = list(dict.fromkeys(versions))
        rows = await self._source.rows(_RANKED if len(names) <= _FEW else _ALL_RANKED, versions=names)
        return [_standing(RankedRow, row, rank=row["rank"], last_game=row["last_game"] or None) for row in rows]

    async def means(self, venue: VenueKey, system: str, versions: Collection[str]) -> dict[str, float]:
        """The published means of these versions, by wire name; those that are not rated there are left out."""
        means: dict[str, float] = {}
        async with self._source.snapshot() as read:
            at = await venue_id(read, venue)
            for some in portions(sorted(set(versions))):
                rows = await read(_MEANS, venue=at, system=system, versions=some)
                means |= {row["wire_name"]: row["mean"] for row in rows}
        return means

    # -- as the live server goes on with them

    async def shown(self, venue: VenueKey, system: str) -> dict[VersionId, Shown]:
        """Version id -> what is stored of its rating under this system now."""
        rows = await self._source.venue_rows(venue, _SHOWN, system=system)
        return {row["version_id"]: value(Shown, row, **interval(system, row)) for row in rows}

    async def last_games(self, venue: VenueKey, system: str) -> dict[VersionId, int]:
        """Version id -> when its last game ended or, where it still runs, began (Unix ms); of versions that have a
        rated game under this system."""
        rows = await self._source.venue_rows(venue, _PLAYED_LAST, system=system, some=limited(None))
        return {row["version_id"]: row["last_game_at"] for row in rows if row["last_game_at"] is not None}

    async def last_published(self, venue: VenueKey) -> dict[str, int]:
        """Rating system -> the last entry whose changes it published in this venue."""
        rows = await self._source.venue_rows(venue, _LAST_PUBLISHED)
        return {row["system"]: row["seq"] for row in rows}


def _standing(kind: type[StandingT], row: RowMapping, **other: Any) -> StandingT:
    """A rating as it is published now; `other` says what is not in the row as it is."""
    return value(kind, row, **interval(row["system"], row), **other)


def placed(rows: Iterable[StandingRow]) -> list[StandingRow]:
    """Standings with their ranks: each system's versions, highest mean first, counted where they have a rated game."""
    ranks: Counter[str] = Counter()
    ranked = []
    for row in rows:
        ranks[row.system] += row.games > 0
        ranked.append(msgspec.structs.replace(row, rank=ranks[row.system] if row.games else None))
    return ranked


def _rated_by(venue: VenueId, system: str | None, as_of: int) -> Subquery:
    """Every rated version with its last change up to entry `as_of`, and whether it was an anchor then."""
    then = number(as_of)
    same = [_changes.c[name] == _ratings.c[name] for name in ("version_id", "venue_id", "system")]
    changed = latest(_changes.c.seq, where=[*same, _changes.c.seq <= then], by=_changes.c.seq, of=_ratings)
    # Not by its key, so that SQLite looks at this version's few entries and not at all of the venue's.
    own = [_ledger.c.version_id == _ratings.c.version_id, _ledger.c.venue_id + 0 == _ratings.c.venue_id]
    anchored = latest(
        _ledger.c.kind, where=[*own, _ledger.c.seq <= then, _is_about_anchors], by=_ledger.c.seq, of=_ratings
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


async def _standings_then(read: Read, venue: VenueId, system: str | None, as_of: int) -> list[StandingRow]:
    rated = _rated_by(venue, system, as_of)
    rows = await read(
        select(
            rated,
            _changes.c.after_mean,
            _changes.c.after_spread,
            _changes.c.after_lower,
            _changes.c.after_upper,
            _changes.c.games.label("games_then"),
            case((is_game, _ledger.c.game_id)).label("last_game"),
            case((is_game, _ledger.c.at)).label("last_game_at"),
        )
        .join_from(
            rated,
            _changes,
            and_(
                _changes.c.seq == rated.c.changed,
                *(_changes.c[name] == rated.c[name] for name in ("venue_id", "system", "version_id")),
            ),
        )
        .join(_ledger, entry_of_change)
    )
    points: dict[tuple[str, int], RowMapping] = {}
    ranks: dict[tuple[str, int], RowMapping] = {}
    for each in {row["system"] for row in rows}:
        refit = await last_refit(read, venue, each, as_of)
        if not refit:
            continue
        for point in await _points_then(read, venue, each, refit):
            points[each, point["version_id"]] = point
        for version, rank in (await ranked_then(read, venue, each, refit)).items():
            ranks[each, version] = rank
    standings = []
    for row in rows:
        key = row["system"], row["version_id"]
        standings.append(_standing_then(row, points.get(key), ranks.get(key), as_of))
    return placed(sorted(standings, key=lambda standing: (-standing.mean, standing.version.encode())))


def _standing_then(row: RowMapping, point: RowMapping | None, rank: RowMapping | None, as_of: int) -> StandingRow:
    still = row["seq"] <= as_of
    numbers, seq = {name: row[f"after_{name}"] for name in NUMBERS}, row["changed"]
    if point is not None and point["applied"] >= seq:
        numbers, seq = {name: point[name] for name in NUMBERS}, point["applied"]
    if still:
        numbers, seq = {name: row[name] for name in NUMBERS}, row["seq"]
    others: Mapping[str, Any] = interval(row["system"], numbers)
    if rank is not None:
        others = {**others, **value(RankRow, rank)._asdict()}
    return StandingRow(
        rank=None,
        system=row["system"],
        version=row["wire_name"],
        mean=numbers["mean"],
        spread=numbers["spread"],
        games=row["games_then"],
        provisional=bool(row["provisional"]) if still else None,
        anchor=row["anchored"] == Kind.ANCHOR,
        last_game=row["last_game"],
        last_game_at=row["last_game_at"],
        seq=seq,
        **others,
    )


async def _points_then(read: Read, venue: VenueId, system: str, refit: int) -> Sequence[RowMapping]:
    """Where the refits up to this one had put each version that they ever moved."""
    then = [_points.c[name] == _ratings.c[name] for name in ("venue_id", "system", "version_id")]
    then.append(_points.c.number <= refit)
    # Each column by its own step in the index: joined with the points, SQLite might walk through all of them.
    rows = await read(
        select(
            _ratings.c.version_id,
            *(
                latest(_points.c[name], where=then, by=_points.c.number, of=_ratings).label(name)
                for name in ("applied", *NUMBERS)
            ),
        ).where(*_under(venue, system))
    )
    return [row for row in rows if row["applied"] is not None]


def _under(venue: VenueId, system: str | None) -> list[ColumnElement[bool]]:
    return [_ratings.c.venue_id == venue, *([] if system is None else [_ratings.c.system == system])]
