"""The read side's answers about games: lists of them, all about one, their moves, and what the live server needs to go
on with those that have not ended.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: who
asks, how an answer is shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Integer,
    RowMapping,
    Select,
    and_,
    bindparam,
    column,
    func,
    literal_column,
    select,
    union_all,
    values,
)

from cgos_protocol.api.games import Game
from cgos_protocol.clock import ClockState
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import GameId, VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.parameters import VENUE, number, portions
from cgos_server.storage.reading import game_search
from cgos_server.storage.reading.answers import GameDetail, MoveRow
from cgos_server.storage.reading.events.holding import games_in_events
from cgos_server.storage.reading.game_answers import GameFilter, GamePart, GameTerms
from cgos_server.storage.reading.game_rows import SIDES, game_rows, games_by_id, moves_said
from cgos_server.storage.reading.ledger import changes_of_games, corrections_of_games, repeated_by
from cgos_server.storage.reading.pairings import pairing_of
from cgos_server.storage.reading.source import Read, Subject, VenueKey, value, venue_id
from cgos_server.storage.reading.stored import StoredGame, StoredMove

MOST_WINDOWS: Final = 20
"""Windows of :mod:`cgos_server.storage.reading.game_search` after which a search is given up for now."""

MOST_UNTOLD: Final = 32
"""Games of which a version is told at one sign-in that they have ended."""

_games, _moves, _versions, _analysis = tables.games, tables.moves, tables.versions, tables.analysis
_black, _white = _versions.alias("black"), _versions.alias("white")

# Built once: to build them takes longer than most answers.
_IDS = bindparam("ids", type_=BigInteger, expanding=True)
_MORE: Final = select(*(_games.c[name] for name in ("id", "terms", "start", "winner", "margin2", "detail"))).where(
    _games.c.id.in_(_IDS)
)
_MOVES: Final = moves_said(_moves.c.game_id == bindparam("game", type_=BigInteger))
_MOVES_AFTER: Final = moves_said(
    and_(
        _moves.c.game_id.in_(_IDS),
        _moves.c.ply > bindparam("after", type_=BigInteger),
        _moves.c.at <= bindparam("until", type_=BigInteger),
    )
)
_unfinished = _games.c.result.is_(None)
_EVER: Final = 2**62

_stored_columns: dict[str, Any] = {name: _games.c[name] for name in StoredGame._fields if name in _games.c} | {
    "black": _black.c.wire_name.label("black"),
    "white": _white.c.wire_name.label("white"),
    "why": func.coalesce(tables.pairings.c.reason, "").label("why"),
    "event": func.coalesce(tables.events.c.name, "").label("event"),
    "event_round": func.coalesce(tables.event_games.c.round, 0).label("event_round"),
}


def _stored_where(*wanted: ColumnElement[bool]) -> Select[Any]:
    """Games as the live server goes on with them, without their moves."""
    return (
        select(*(_stored_columns[name] for name in StoredGame._fields if name != "moves"))
        .join_from(_games, _black, _black.c.id == _games.c.black_id)
        .join(_white, _white.c.id == _games.c.white_id)
        .outerjoin(tables.pairings, tables.pairings.c.game_id == _games.c.id)
        .outerjoin(tables.event_games, tables.event_games.c.game_id == _games.c.id)
        .outerjoin(tables.events, tables.events.c.id == tables.event_games.c.event_id)
        .where(*wanted)
    )


def _untold(side: Column[int], progress: Column[int]) -> Select[Any]:
    return select(_games.c.id, _games.c.ended_at).where(
        _games.c.venue_id == VENUE,
        side == bindparam("version"),
        progress < literal_column("2"),  # spelt out, so that SQLite sees that the partial index serves
        _games.c.ended_at >= bindparam("since", type_=BigInteger),
    )


def _begun(side: Column[int]) -> ColumnElement[int]:
    return (
        select(func.count())
        .where(
            side == bindparam("version"),
            _games.c.started_at >= bindparam("since", type_=BigInteger),
            _games.c.venue_id == VENUE,
        )
        .scalar_subquery()
    )


_untold_games = union_all(
    _untold(_games.c.black_id, _games.c.black_told), _untold(_games.c.white_id, _games.c.white_told)
).subquery()
_latest_untold = (
    select(_untold_games.c.id)
    .order_by(_untold_games.c.ended_at.desc(), _untold_games.c.id.desc())
    .limit(literal_column(str(MOST_UNTOLD)))
)
_clocks = select(*(_moves.c[name] for name in ("game_id", "move", "main_us", "period_us", "quota", "bank_us")))
_CLOCKS: Final = _clocks.where(_moves.c.game_id.in_(_IDS)).order_by(_moves.c.game_id, _moves.c.ply)
_UNFINISHED: Final = _stored_where(_unfinished).order_by(_games.c.id)
_STORED: Final = _stored_where(_games.c.id == bindparam("game", type_=BigInteger))
_RECENT: Final = (
    _stored_where(_games.c.venue_id == VENUE, _games.c.result.is_not(None))
    .order_by(_games.c.id.desc())
    .limit(bindparam("some"))
)
_UNTOLD: Final = _stored_where(_games.c.id.in_(_latest_untold)).order_by(_games.c.ended_at, _games.c.id)
_BEGUN: Final = select((_begun(_games.c.black_id) + _begun(_games.c.white_id)).label("games"))


class Games(Subject):
    """Games, running and ended."""

    async def find(self, wanted: GameFilter, limit: int, before: int | None = None) -> list[Game]:
        """Games of this kind, newest first; the next page is `before` the last one's id.

        Goes on until it has `limit` of them or there are no more: for a length that no game of a million has that is a
        walk along a whole index, some 0.1 s; :meth:`search` gives up earlier.

        :raises Refused: where there is no such venue, bot or version
        """
        span = game_search.newest_before(before)
        async with self._source.snapshot() as read:
            return (await game_search.find(read, wanted, limit, span, newest=True)).games

    async def search(self, wanted: GameFilter, limit: int, before: int | None = None) -> GamePart:
        """As :meth:`find`, but with a bound on what is looked at: what was found so far, and from where to go on.

        :raises Refused: where there is no such venue, bot or version
        """
        span = game_search.newest_before(before)
        async with self._source.snapshot() as read:
            return await game_search.find(read, wanted, limit, span, newest=True, windows=MOST_WINDOWS)

    async def after(self, wanted: GameFilter, limit: int, after: int = 0) -> list[Game]:
        """Games of this kind in the order of their ids, from `after` + 1 on. Raises Refused as above."""
        span = game_search.oldest_after(after)
        async with self._source.snapshot() as read:
            return (await game_search.find(read, wanted, limit, span, newest=False)).games

    async def running(self, venue: str | None = None) -> list[Game]:
        """Games without a verdict, newest first. Raises Refused where there is no such venue."""
        async with self._source.snapshot() as read:
            if venue is not None:
                await venue_id(read, venue)
            running = await game_rows(read, _unfinished)
        return [game for game in running if venue in (None, game.venue)]

    async def detail(self, game_id: GameId) -> GameDetail:
        """All about one game. Raises Refused where there is none of this number."""
        async with self._source.snapshot() as read:
            rows = await games_by_id(read, [game_id])
            if not rows:
                raise NotFound(Code.NO_GAME, f"There is no game {game_id}. `cgos-server games` lists them.")
            (more,) = await read(_MORE, ids=[game_id])
            moves = await read(_MOVES, game=game_id)
            return value(
                GameDetail,
                more,
                game=rows[0],
                winner=SIDES.get(more["winner"]),
                pairing=await pairing_of(read, game_id),
                moves=[value(MoveRow, move) for move in moves],
                ratings=(await changes_of_games(read, [game_id]))[game_id],
                corrections=(await corrections_of_games(read, [game_id]))[game_id],
                repeats=await repeated_by(read, game_id),
                event=(await games_in_events(read, [game_id])).get(game_id),
            )

    async def files(self, rows: Sequence[Game]) -> list[GameDetail]:
        """All that the files of these games need, by a few questions for all of them together: pairings, what they did
        to ratings, and repeats are left empty."""
        ids = [row.id for row in rows]
        async with self._source.snapshot() as read:
            more = {row["id"]: row for row in await read(_MORE, ids=ids)}
            corrections = await corrections_of_games(read, ids)
            held = await games_in_events(read, ids)
        moves = await self.moves_after(dict.fromkeys(ids, 0))
        return [
            value(
                GameDetail,
                more[row.id],
                game=row,
                winner=SIDES.get(more[row.id]["winner"]),
                pairing=None,
                moves=moves[row.id],
                ratings=[],
                corrections=corrections[row.id],
                repeats=None,
                event=held.get(row.id),
            )
            for row in rows
        ]

    async def moves_after(self, games: Mapping[GameId, int], until: int | None = None) -> dict[GameId, list[MoveRow]]:
        """Of each of these games the moves after the given ply, in order, with what the movers said about them.

        :param until: only moves that were played at this time or before
        """
        moves: dict[GameId, list[MoveRow]] = {game: [] for game in games}
        latest = _EVER if until is None else until
        plies = set(games.values())
        async with self._source.snapshot() as read:
            for some in portions(sorted(games.items())):
                if len(plies) == 1:
                    rows = await read(_MOVES_AFTER, ids=[game for game, _ in some], after=some[0][1], until=latest)
                else:
                    rows = await read(_moves_after_each(some, latest))
                for row in rows:
                    moves[row["game_id"]].append(value(MoveRow, row))
        return moves

    async def terms_of(self, games: Collection[GameId]) -> dict[GameId, GameTerms]:
        """What each of these games was begun with; without those that there are not."""
        terms: dict[GameId, GameTerms] = {}
        columns = (_games.c.id, _games.c.terms, _games.c.start)
        async with self._source.snapshot() as read:
            for some in portions(sorted(games)):
                for row in await read(select(*columns).where(_games.c.id.in_(some))):
                    terms[row["id"]] = value(GameTerms, row)
        return terms

    async def played_by(self, games: Collection[GameId], until: int) -> dict[GameId, int]:
        """How many moves each of these games had at this time."""
        counts = dict.fromkeys(games, 0)
        async with self._source.snapshot() as read:
            for some in portions(sorted(counts)):
                rows = await read(
                    select(_moves.c.game_id, func.count().label("moves"))
                    .where(_moves.c.game_id.in_(some), _moves.c.at <= number(until))
                    .group_by(_moves.c.game_id)
                )
                counts |= {row["game_id"]: row["moves"] for row in rows}
        return counts

    # -- as the live server goes on with them

    async def unfinished(self, but: Collection[VenueId] = ()) -> list[StoredGame]:
        """All games without a verdict, moves included, oldest first; none of the venues `but`."""
        games = _UNFINISHED.where(_games.c.venue_id.not_in(but)) if but else _UNFINISHED
        return await self._source.answer(lambda read: _with_moves(read, games))

    async def untold(self, venue: VenueKey, version: VersionId, since: int) -> list[StoredGame]:
        """The games of this version that ended at or after `since` (Unix ms) and whose end it was not surely told (its
        `told` is below 2), moves included, in the order of their ends; the latest :data:`MOST_UNTOLD` at most."""

        async def questions(read: Read) -> list[StoredGame]:
            at = await venue_id(read, venue)
            return await _with_moves(read, _UNTOLD, venue=at, version=version, since=since)

        return await self._source.answer(questions)

    async def stored(self, game_id: GameId) -> StoredGame | None:
        """One game, moves included, or None."""
        games = await self._source.answer(lambda read: _with_moves(read, _STORED, game=game_id))
        return games[0] if games else None

    async def recent(self, venue: VenueKey, limit: int) -> list[StoredGame]:
        """The latest `limit` games of the venue that have ended, without their moves, oldest first (by number)."""
        rows = await self._source.venue_rows(venue, _RECENT, some=limit)
        return [value(StoredGame, row, moves=()) for row in reversed(rows)]

    async def begun(self, venue: VenueKey, version: VersionId, since: int) -> int:
        """How many games of this version in this venue began at or after `since` (Unix ms)."""
        (row,) = await self._source.venue_rows(venue, _BEGUN, version=version, since=since)
        return int(row["games"])


def _moves_after_each(games: Sequence[tuple[GameId, int]], until: int) -> Select[Any]:
    """The moves of each game after a ply of its own."""
    some = values(column("game_id", BigInteger), column("after", Integer), name="some").data(games).cte("some")
    return (
        select(_moves, _analysis.c.text.label("analysis"))
        .join_from(some, _moves, and_(_moves.c.game_id == some.c.game_id, _moves.c.ply > some.c.after))
        .outerjoin(_analysis, and_(_analysis.c.game_id == _moves.c.game_id, _analysis.c.ply == _moves.c.ply))
        .where(_moves.c.at <= number(until))
        .order_by(_moves.c.game_id, _moves.c.ply)
    )


async def _with_moves(read: Read, games: Select[Any], **given: int) -> list[StoredGame]:
    """These games with their moves."""
    rows = await read(games, **given)
    moves: dict[GameId, tuple[StoredMove, ...]] = {}
    for some in portions([row["id"] for row in rows]):
        of_each = itertools.groupby(await read(_CLOCKS, ids=some), itemgetter("game_id"))
        moves |= {game: _stored_moves(played) for game, played in of_each}
    return [value(StoredGame, row, moves=moves.get(row["id"], ())) for row in rows]


def _stored_moves(rows: Iterable[RowMapping]) -> tuple[StoredMove, ...]:
    return tuple(
        StoredMove(
            row["move"],
            ClockState(main=row["main_us"], period=row["period_us"], quota=row["quota"], bank=row["bank_us"]),
        )
        for row in rows
    )
