"""The store on SQLite: writes go to the one writer, reads to a connection of its own that cannot write.

Reads are few and on the way into the server (start, sign-in), so they are compiled once from SQLAlchemy Core and run
on plain sqlite3 in one thread: a tenth of the cost of an engine's way there. Must not know: what the records mean,
which schema this is (see schema), the questions of pages and commands (see history).
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.dialects import sqlite

from cgos_server.core.clock import ClockState
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.core.verdict import Reason, Verdict
from cgos_server.errors import CommitFailed, StoreError
from cgos_server.storage import tables
from cgos_server.storage.connections import Durability, connect_for_reading, connect_for_writing
from cgos_server.storage.group_commit import Observe
from cgos_server.storage.records import Record
from cgos_server.storage.store import (
    BotLogin,
    Meeting,
    NextIds,
    Owner,
    StoredGame,
    StoredMove,
    StoredVenue,
    StoredVersion,
    Token,
)
from cgos_server.storage.writer import Connect, Writer

MOST_UNTOLD = 32
"""Games of which a version is told at one sign-in that they have ended."""


class _Query(NamedTuple):
    """SQL with named parameters, and the values of those that never change."""

    text: str
    given: Mapping[str, Any]


def _query(statement: Select[Any] | CompoundSelect[Any]) -> _Query:
    compiled = statement.compile(dialect=sqlite.dialect(paramstyle="named"))
    return _Query(str(compiled), compiled.params)


_bots, _versions, _games, _moves, _ledger = tables.bots, tables.versions, tables.games, tables.moves, tables.ledger
_black, _white = _versions.alias("black"), _versions.alias("white")

_VENUES = _query(select(tables.venues.c.id, tables.venues.c.name, tables.venues.c.fixed).order_by(tables.venues.c.id))

_NEXT_IDS = _query(
    select(
        *(
            select(func.coalesce(func.max(table.c.id), 0) + 1).scalar_subquery()
            for table in (
                tables.owners,
                _bots,
                _versions,
                tables.tokens,
                tables.connections,
                tables.rounds,
                _games,
            )
        )
    )
)

_LOGIN = _query(
    select(
        _bots.c.id,
        _versions.c.id,
        _bots.c.name,
        _bots.c.password,
        _bots.c.state,
        _bots.c.reason,
        tables.tokens.c.digest,
    )
    .join_from(_bots, _versions, and_(_versions.c.bot_id == _bots.c.id, _versions.c.label == ""))
    .outerjoin(tables.tokens, and_(tables.tokens.c.bot_id == _bots.c.id, tables.tokens.c.revoked_at.is_(None)))
    .where(_bots.c.name == bindparam("name"))
)

_NAME_TAKEN = _query(
    select(_bots.c.name)
    .where(_bots.c.name_key == bindparam("name_key"))
    .union_all(
        select(tables.owners.c.name).where(tables.owners.c.name_key == bindparam("name_key")),
        select(_versions.c.wire_name).where(_versions.c.wire_key == bindparam("name_key")),
    )
)

_VERSION = _query(
    select(*(_versions.c[name] for name in StoredVersion._fields)).where(
        _versions.c.bot_id == bindparam("bot_id"), _versions.c.label == bindparam("label")
    )
)

_OWNER = _query(
    select(*(tables.owners.c[name] for name in Owner._fields)).where(tables.owners.c.name == bindparam("name"))
)
_TOKENS = _query(
    select(*(tables.tokens.c[name] for name in Token._fields))
    .where(tables.tokens.c.bot_id == bindparam("bot_id"))
    .order_by(tables.tokens.c.id)
)

_game_columns = {name: _games.c[name] for name in StoredGame._fields if name in _games.c} | {
    "black": _black.c.wire_name,
    "white": _white.c.wire_name,
    "why": func.coalesce(tables.pairings.c.reason, ""),
}
_MOVES_AT = StoredGame._fields.index("moves")
_move_columns = [
    _moves.c.game_id,
    _moves.c.move,
    _moves.c.main_us,
    _moves.c.period_us,
    _moves.c.quota,
    _moves.c.bank_us,
]


def _stored_games(*where: ColumnElement[bool]) -> Select[Any]:
    return (
        select(*(_game_columns[name] for name in StoredGame._fields if name != "moves"))
        .join_from(_games, _black, _black.c.id == _games.c.black_id)
        .join(_white, _white.c.id == _games.c.white_id)
        .outerjoin(tables.pairings, tables.pairings.c.game_id == _games.c.id)
        .where(*where)
    )


_unfinished = _games.c.result.is_(None)
_UNFINISHED = _query(_stored_games(_unfinished).order_by(_games.c.id))
_UNFINISHED_MOVES = _query(
    select(*_move_columns)
    .where(_moves.c.game_id.in_(select(_games.c.id).where(_unfinished)))
    .order_by(_moves.c.game_id, _moves.c.ply)
)
_GAME = _query(_stored_games(_games.c.id == bindparam("game_id")))
_GAME_MOVES = _query(select(*_move_columns).where(_moves.c.game_id == bindparam("game_id")).order_by(_moves.c.ply))
_RECENT = _query(
    _stored_games(_games.c.venue_id == bindparam("venue_id"), _games.c.result.is_not(None))
    .order_by(_games.c.id.desc())
    .limit(bindparam("limit"))
)


def _untold(side: Column[int], told: Column[int]) -> Select[Any]:
    return select(_games.c.id, _games.c.ended_at).where(
        _games.c.venue_id == bindparam("venue_id"),
        side == bindparam("version_id"),
        told < literal_column("2"),  # spelt out, so that SQLite sees that the partial index serves
        _games.c.ended_at >= bindparam("since"),
    )


_untold_games = union_all(
    _untold(_games.c.black_id, _games.c.black_told), _untold(_games.c.white_id, _games.c.white_told)
).subquery()
_latest_untold = (
    select(_untold_games.c.id)
    .order_by(_untold_games.c.ended_at.desc(), _untold_games.c.id.desc())
    .limit(literal_column(str(MOST_UNTOLD)))
)
_UNTOLD = _query(_stored_games(_games.c.id.in_(_latest_untold)).order_by(_games.c.ended_at, _games.c.id))


def _begun(side: Column[int]) -> ColumnElement[int]:
    return (
        select(func.count())
        .where(
            side == bindparam("version_id"),
            _games.c.started_at >= bindparam("since"),
            _games.c.venue_id == bindparam("venue_id"),
        )
        .scalar_subquery()
    )


_BEGUN = _query(select(_begun(_games.c.black_id) + _begun(_games.c.white_id)))

_LEDGER = _query(
    select(*(_ledger.c[name] for name in ("seq", "kind", "version_id", "black_id", "white_id", "score2", "value")))
    .where(_ledger.c.venue_id == bindparam("venue_id"), _ledger.c.seq > bindparam("after"))
    .order_by(_ledger.c.seq)
)

_MEETINGS = _query(
    select(_games.c.black_id, _games.c.white_id, func.count())
    .where(
        _games.c.venue_id == bindparam("venue_id"),
        or_(*(_games.c.reason == reason.value for reason in Reason if Verdict(None, reason).rated)),
    )
    .group_by(_games.c.black_id, _games.c.white_id)
)


def _latest(side: Column[int]) -> ColumnElement[int]:
    latest = (
        select(_games.c.id)
        .where(side == _versions.c.id, _games.c.venue_id == bindparam("venue_id"))
        .order_by(_games.c.id.desc())
        .limit(1)
        .correlate(_versions)
        .scalar_subquery()
    )
    return func.coalesce(latest, 0)


_latest_games = select(
    _versions.c.id, func.max(_latest(_games.c.black_id), _latest(_games.c.white_id)).label("game_id")
).subquery()
_LAST_OPPONENTS = _query(
    select(
        _latest_games.c.id,
        case((_games.c.black_id == _latest_games.c.id, _games.c.white_id), else_=_games.c.black_id),
    ).join_from(_latest_games, _games, _games.c.id == _latest_games.c.game_id)
)

_LAST_ROUND = _query(
    select(func.coalesce(func.max(tables.rounds.c.number), 0)).where(tables.rounds.c.venue_id == bindparam("venue_id"))
)

_VERSION_NAMES = _query(select(_versions.c.id, _versions.c.wire_name))
_FAMILIES = _query(select(_versions.c.id, _versions.c.bot_id))


class SqlStore:
    """The :class:`cgos_server.storage.store.Store` on SQLite, made by :func:`open_store`."""

    def __init__(self, writer: Writer, connection: sqlite3.Connection) -> None:
        self._writer = writer
        self._connection = connection
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="cgos-reader")

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        """See :meth:`cgos_server.storage.store.Store.submit`."""
        self._writer.submit(records, then)

    async def commit(self, records: Sequence[Record]) -> None:
        """See :meth:`cgos_server.storage.store.Store.commit`."""
        await self._writer.commit(records)

    @property
    def healthy(self) -> bool:
        """False while commits are failing or have not returned for longer than a second."""
        return self._writer.healthy

    @property
    def pending(self) -> int:
        """Groups submitted and not committed yet."""
        return self._writer.pending

    async def venues(self) -> list[StoredVenue]:
        """All venues, oldest first."""
        return [StoredVenue(*row) for row in await self._rows(_VENUES)]

    async def next_ids(self) -> NextIds:
        """The next free number of each kind."""
        return NextIds(*(await self._rows(_NEXT_IDS))[0])

    async def login(self, name: str) -> BotLogin | None:
        """The bot with exactly this name and the version that carries its name, or None."""
        rows = await self._rows(_LOGIN, name=name)
        if not rows:
            return None
        tokens = frozenset(row[-1] for row in rows if row[-1] is not None)
        return BotLogin._make((*rows[0][:-1], tokens))

    async def name_taken(self, name_key: str) -> str | None:
        """The bot, account or version whose folded (wire) name is `name_key` as it is spelt, or None."""
        rows = await self._rows(_NAME_TAKEN, name_key=name_key)
        return str(rows[0][0]) if rows else None

    async def version(self, bot_id: int, label: str) -> StoredVersion | None:
        """The version of this bot with exactly this label, or None."""
        rows = await self._rows(_VERSION, bot_id=bot_id, label=label)
        return StoredVersion._make(rows[0]) if rows else None

    async def owner(self, name: str) -> Owner | None:
        """The account with exactly this name, or None."""
        rows = await self._rows(_OWNER, name=name)
        if not rows:
            return None
        owner = Owner._make(rows[0])
        return owner._replace(admin=bool(owner.admin))

    async def tokens(self, bot_id: int) -> list[Token]:
        """All tokens that this bot ever had, oldest first."""
        return [Token._make(row) for row in await self._rows(_TOKENS, bot_id=bot_id)]

    async def unfinished_games(self) -> list[StoredGame]:
        """All games without a verdict, moves included, oldest first."""
        moves = {
            game_id: _stored_moves(rows)
            for game_id, rows in itertools.groupby(await self._rows(_UNFINISHED_MOVES), itemgetter(0))
        }
        return [_stored_game(row, moves.get(row[0], ())) for row in await self._rows(_UNFINISHED)]

    async def untold_games(self, venue_id: int, version_id: int, since: int) -> list[StoredGame]:
        """See :meth:`cgos_server.storage.store.Store.untold_games`."""
        rows = await self._rows(_UNTOLD, venue_id=venue_id, version_id=version_id, since=since)
        return [await self._with_moves(row) for row in rows]

    async def game(self, game_id: int) -> StoredGame | None:
        """One game, moves included, or None."""
        rows = await self._rows(_GAME, game_id=game_id)
        return await self._with_moves(rows[0]) if rows else None

    async def recent_games(self, venue_id: int, limit: int) -> list[StoredGame]:
        """The latest `limit` games of the venue that have ended, without their moves, oldest first."""
        rows = await self._rows(_RECENT, venue_id=venue_id, limit=limit)
        return [_stored_game(row, ()) for row in reversed(rows)]

    async def games_begun(self, venue_id: int, version_id: int, since: int) -> int:
        """How many games of this version in this venue began at or after `since` (Unix ms)."""
        rows = await self._rows(_BEGUN, venue_id=venue_id, version_id=version_id, since=since)
        return int(rows[0][0])

    async def ledger(self, venue_id: int, after: int = 0) -> list[Entry]:
        """The venue's numbered entries from `after` + 1 on, in order."""
        kinds = {kind.value: kind for kind in Kind}
        rows = await self._rows(_LEDGER, venue_id=venue_id, after=after)
        return [Entry(seq, kinds[kind], *rest) for seq, kind, *rest in rows]

    async def meetings(self, venue_id: int) -> list[Meeting]:
        """How often each version played Black against each other, in games that ended with a result."""
        return [Meeting(*row) for row in await self._rows(_MEETINGS, venue_id=venue_id)]

    async def last_opponents(self, venue_id: int) -> dict[int, int]:
        """version id -> version id of its most recent opponent."""
        return dict(await self._rows(_LAST_OPPONENTS, venue_id=venue_id))

    async def last_round(self, venue_id: int) -> int:
        """Number of the venue's latest act of pairing, 0 for none."""
        return int((await self._rows(_LAST_ROUND, venue_id=venue_id))[0][0])

    async def version_names(self) -> dict[int, str]:
        """version id -> wire name."""
        return dict(await self._rows(_VERSION_NAMES))

    async def families(self) -> dict[int, int]:
        """version id -> id of the bot whose version it is."""
        return dict(await self._rows(_FAMILIES))

    async def close(self) -> None:
        """Commit what has gathered, then release everything."""
        await self._writer.drain()
        await asyncio.get_running_loop().run_in_executor(self._reader, self._connection.close)
        self._reader.shutdown()
        # The last connection to close leaves one complete file behind.
        await self._writer.close()

    async def _with_moves(self, row: tuple[Any, ...]) -> StoredGame:
        return _stored_game(row, _stored_moves(await self._rows(_GAME_MOVES, game_id=row[0])))

    async def _rows(self, query: _Query, **parameters: Any) -> list[Any]:
        """Raises StoreError."""
        return await asyncio.get_running_loop().run_in_executor(self._reader, self._fetch, query, parameters)

    def _fetch(self, query: _Query, parameters: Mapping[str, Any]) -> list[Any]:
        try:
            return self._connection.execute(query.text, {**query.given, **parameters}).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"the database could not be read: {error}") from error


async def open_store(
    path: Path,
    *,
    failed: Callable[[CommitFailed], None],
    on_error: Callable[[Exception], None],
    durability: Durability = "process",
    commit_timeout: float = 10.0,
    observe: Observe | None = None,
    retrying: Callable[[Exception], None] | None = None,
    connect: Connect | None = None,
) -> SqlStore:
    """Open the store on a database whose schema was checked. The caller holds the database's lock. Raises StoreError.

    :param connect: opens the writer's connection, instead of :func:`connect_for_writing`
    :param commit_timeout: seconds; this and the other parameters as for :class:`cgos_server.storage.writer.Writer`
    """
    writer = Writer(
        connect or functools.partial(connect_for_writing, path, durability),
        failed=failed,
        on_error=on_error,
        commit_timeout=commit_timeout,
        observe=observe,
        retrying=retrying,
    )
    await writer.start()
    try:
        return SqlStore(writer, connect_for_reading(path))
    except sqlite3.Error as error:
        await writer.close()
        raise StoreError(f"the database could not be opened for reading: {error}") from error


def _stored_moves(rows: Iterable[tuple[Any, ...]]) -> tuple[StoredMove, ...]:
    return tuple(StoredMove(move, ClockState(*clock)) for _, move, *clock in rows)


def _stored_game(row: tuple[Any, ...], moves: tuple[StoredMove, ...]) -> StoredGame:
    return StoredGame._make((*row[:_MOVES_AT], moves, *row[_MOVES_AT:]))
