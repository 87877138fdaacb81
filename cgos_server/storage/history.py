"""The read side for pages and commands: what was played, who stands where, and why.

Reads by keys and indexes only, so that a database of a million games answers as fast as a new one. Must not know: the
live server, which database, how an answer is shown.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    CompoundSelect,
    RowMapping,
    Select,
    and_,
    case,
    func,
    literal,
    literal_column,
    or_,
    select,
    union_all,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from cgos_server.errors import Refused, StoreError
from cgos_server.storage import tables
from cgos_server.storage.answers import (
    AccountRow,
    BotRow,
    Counts,
    GameChange,
    GameDetail,
    GameRow,
    LedgerRow,
    MoveRow,
    PairingRow,
    RatingPoint,
    RoundDetail,
    Standing,
    TokenRow,
    Value,
    VenueRow,
)
from cgos_server.storage.connections import reading_engine
from cgos_server.storage.functions import bytewise, greater
from cgos_server.storage.location import Location, PostgresUrl

_games, _moves, _versions, _bots = tables.games, tables.moves, tables.versions, tables.bots
_venues, _rounds, _ledger, _changes = tables.venues, tables.rounds, tables.ledger, tables.rating_changes
_black, _white, _high, _low = (_versions.alias(side) for side in ("black", "white", "high", "low"))
_SIDES = {0: "black", 1: "white"}
_ALL = 2**31 - 1

V = TypeVar("V", bound=Value)


Read = Callable[[Select[Any] | CompoundSelect[Any]], Awaitable[Sequence[RowMapping]]]


class History:
    """Reads a database on connections that cannot write. Close it, or use it as a context manager.

    Every method raises StoreError where the database cannot be read, and Refused where a name or number is unknown.
    """

    def __init__(self, location: Location) -> None:
        self._location = location
        self._engine = _engine(location)

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    async def __aenter__(self) -> History:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def venues(self) -> list[VenueRow]:
        """All venues, oldest first."""
        async with self._snapshot() as read:
            return [
                VenueRow(row["id"], row["name"], _decoded(row["fixed"]), row["created_at"])
                for row in await read(select(_venues).order_by(_venues.c.id))
            ]

    async def standings(self, venue: str, system: str | None = None) -> list[Standing]:
        """Every rated version of a venue, highest mean first; under all rating systems unless one is named."""
        async with self._snapshot() as read:
            ratings = tables.ratings
            asked: list[ColumnElement[bool]] = [ratings.c.venue_id == await _venue_id(read, venue)]
            if system is not None:
                asked.append(ratings.c.system == system)
            latest = greater(_latest(_games.c.black_id), _latest(_games.c.white_id))
            rated = select(ratings, latest.label("last_game")).where(*asked).subquery()
            last_at = func.coalesce(_games.c.ended_at, _games.c.started_at).label("last_game_at")
            rows = await read(
                select(rated, _versions.c.wire_name.label("version"), last_at)
                .join_from(rated, _versions, _versions.c.id == rated.c.version_id)
                .outerjoin(_games, _games.c.id == rated.c.last_game)
                .order_by(rated.c.mean.desc(), bytewise(_versions.c.wire_name))
            )
        return [
            _value(
                Standing,
                row,
                provisional=bool(row["provisional"]),
                anchor=bool(row["anchor"]),
                last_game=row["last_game"] or None,
            )
            for row in rows
        ]

    async def games(
        self, venue: str | None = None, bot: str | None = None, limit: int = 50, before: int | None = None
    ) -> list[GameRow]:
        """Games, newest first; the next page is `before` the last one's id. `bot`: a bot's or a version's name."""
        async with self._snapshot() as read:
            asked: list[ColumnElement[bool]] = []
            if venue is not None:
                asked.append(_games.c.venue_id == await _venue_id(read, venue))
            if before is not None:
                asked.append(_games.c.id < _number(before))
            if bot is None:
                return await _game_rows(read, *asked, limit=limit)
            versions = await _version_ids(read, bot)
            sides = [
                select(_games.c.id).where(side.in_(versions), *asked).order_by(_games.c.id.desc()).limit(limit)
                for side in (_games.c.black_id, _games.c.white_id)
            ]
            newest = union_all(*(select(side.subquery()) for side in sides))
            return await _game_rows(read, _games.c.id.in_(newest), limit=limit)

    async def running_games(self, venue: str | None = None) -> list[GameRow]:
        """Games without a verdict, newest first."""
        async with self._snapshot() as read:
            if venue is not None:
                await _venue_id(read, venue)
            running = await _game_rows(read, _games.c.result.is_(None))
        return [game for game in running if venue in (None, game.venue)]

    async def game(self, game_id: int) -> GameDetail:
        """All about one game."""
        async with self._snapshot() as read:
            rows = await _game_rows(read, _games.c.id == _number(game_id))
            if not rows:
                raise Refused("no-game", f"There is no game {game_id}. `cgos-server games` lists them.")
            (more,) = await read(select(_games).where(_games.c.id == game_id))
            moves = await read(
                select(_moves, tables.analysis.c.text.label("analysis"))
                .outerjoin(
                    tables.analysis,
                    and_(tables.analysis.c.game_id == _moves.c.game_id, tables.analysis.c.ply == _moves.c.ply),
                )
                .where(_moves.c.game_id == game_id)
                .order_by(_moves.c.ply)
            )
            pairings = await _pairing_rows(read, tables.pairings.c.game_id == game_id)
            changes = await read(
                select(_changes, _versions.c.wire_name.label("version"))
                .join_from(_ledger, _changes, _entry_of_change)
                .join(_versions, _versions.c.id == _changes.c.version_id)
                .where(_ledger.c.game_id == game_id, _ledger.c.kind == literal_column("'game'"))
                .order_by(_changes.c.system, _changes.c.version_id)
            )
        return GameDetail(
            game=rows[0],
            terms=_decoded(more["terms"]),
            start=_decoded(more["start"]),
            winner=_SIDES.get(more["winner"]),
            margin2=more["margin2"],
            detail=more["detail"],
            pairing=pairings[0] if pairings else None,
            moves=[_value(MoveRow, move) for move in moves],
            ratings=[_value(GameChange, change) for change in changes],
        )

    async def rating_history(self, version: str, venue: str, limit: int | None = None) -> list[RatingPoint]:
        """Every change of a version's ratings in a venue, or the latest `limit` ones; oldest first."""
        async with self._snapshot() as read:
            at = await _venue_id(read, venue)
            found = await read(select(_versions.c.id).where(_versions.c.wire_name == version))
            if not found:
                raise Refused("no-version", f"There is no version {version!r}. `cgos-server bots` lists them.")
            me = found[0]["id"]
            # Found in the index first: asked for whole rows, or without a limit, SQLite would walk through all changes
            # of the venue.
            key = list(_changes.primary_key.columns)
            latest = (
                select(*key)
                .where(_changes.c.version_id == me, _changes.c.venue_id == at)
                .order_by(_changes.c.seq.desc(), _changes.c.system.desc())
                .limit(_ALL if limit is None else limit)
                .subquery()
            )
            black = _ledger.c.black_id == me
            mine = or_(black, _ledger.c.white_id == me)
            other = case((black, _ledger.c.white_id), (_ledger.c.white_id == me, _ledger.c.black_id))
            rows = await read(
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
        return [_value(RatingPoint, row) for row in rows]

    async def bots(self) -> list[BotRow]:
        """All registered bots, by name."""
        connections, tokens = tables.connections, tables.tokens
        async with self._snapshot() as read:
            last = (
                select(func.coalesce(connections.c.closed_at, connections.c.opened_at))
                .where(connections.c.version_id == _versions.c.id)
                .order_by(connections.c.id.desc())
                .limit(1)
                .correlate(_versions)
                .scalar_subquery()
            )
            versions = await read(
                select(_versions.c.bot_id, _versions.c.wire_name, last.label("last_seen_at")).order_by(_versions.c.id)
            )
            valid = select(tokens.c.bot_id, func.count().label("count")).where(tokens.c.revoked_at.is_(None))
            counts = {row["bot_id"]: row["count"] for row in await read(valid.group_by(tokens.c.bot_id))}
            bots = await read(select(_bots).order_by(bytewise(_bots.c.name_key)))
        of_bot: dict[int, list[RowMapping]] = defaultdict(list)
        for row in versions:
            of_bot[row["bot_id"]].append(row)
        return [
            _value(
                BotRow,
                bot,
                versions=[version["wire_name"] for version in of_bot[bot["id"]]],
                tokens=counts.get(bot["id"], 0),
                last_seen_at=max((version["last_seen_at"] or 0 for version in of_bot[bot["id"]]), default=0) or None,
            )
            for bot in bots
        ]

    async def tokens(self, bot: str) -> list[TokenRow]:
        """The tokens of the bot with this name, revoked ones too."""
        async with self._snapshot() as read:
            found = await read(select(_bots.c.id).where(_bots.c.name == bot))
            if not found:
                raise _no_bot(bot)
            tokens = tables.tokens
            rows = await read(select(tokens).where(tokens.c.bot_id == found[0]["id"]).order_by(tokens.c.id))
        return [_value(TokenRow, row) for row in rows]

    async def accounts(self) -> list[AccountRow]:
        """All accounts of people, by name."""
        async with self._snapshot() as read:
            rows = await read(select(tables.owners).order_by(bytewise(tables.owners.c.name_key)))
        return [_value(AccountRow, row, admin=bool(row["admin"])) for row in rows]

    async def round(self, round_id: int) -> RoundDetail:
        """One act of pairing with its inputs and its pairs."""
        async with self._snapshot() as read:
            rows = await read(
                select(_rounds, _venues.c.name.label("venue")).join(_venues).where(_rounds.c.id == _number(round_id))
            )
            if not rows:
                raise Refused("no-round", f"There is no act of pairing {round_id}. `cgos-server show GAME` names one.")
            pairings = await _pairing_rows(read, tables.pairings.c.round_id == round_id)
        decoded = {name: _decoded(rows[0][name]) for name in ("options", "inputs", "sits_out", "notes")}
        return _value(RoundDetail, rows[0], pairings=pairings, **decoded)

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
                )
                .outerjoin(_versions, _versions.c.id == _ledger.c.version_id)
                .outerjoin(_black, _black.c.id == _ledger.c.black_id)
                .outerjoin(_white, _white.c.id == _ledger.c.white_id)
                .where(_ledger.c.venue_id == await _venue_id(read, venue), _ledger.c.seq > _number(after))
                .order_by(_ledger.c.seq)
                .limit(limit)
            )
        return [_value(LedgerRow, row) for row in rows]

    async def counts(self) -> Counts:
        """How much there is."""
        async with self._snapshot() as read:
            reasons = await read(
                select(_games.c.reason, func.count().label("games"), func.sum(_games.c.plies).label("moves"))
                .where(_games.c.reason.is_not(None))
                .group_by(_games.c.reason)
            )
            running = select(_games.c.id).where(_games.c.result.is_(None))
            (row,) = await read(
                select(
                    select(tables.server.c.created_at).scalar_subquery().label("created_at"),
                    select(func.count()).select_from(_bots).scalar_subquery().label("bots"),
                    select(func.count()).select_from(_versions).scalar_subquery().label("versions"),
                    select(func.count()).select_from(running.subquery()).scalar_subquery().label("running"),
                    select(func.count()).where(_moves.c.game_id.in_(running)).scalar_subquery().label("moves"),
                )
            )
        ended = {reason["reason"]: reason["games"] for reason in reasons}
        return _value(Counts, row, ended=ended, moves=row["moves"] + sum(reason["moves"] for reason in reasons))

    @contextlib.asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[Read]:
        if isinstance(self._location, Path) and not self._location.exists():
            raise StoreError(f"there is no database at {self._location}")
        try:
            async with self._engine.connect() as connection:

                async def read(statement: Select[Any] | CompoundSelect[Any]) -> Sequence[RowMapping]:
                    rows: Sequence[RowMapping] = (await connection.execute(statement)).mappings().all()
                    return rows

                yield read
        except SQLAlchemyError as error:
            raise StoreError(f"the database could not be read: {error}") from error


def _engine(location: Location) -> AsyncEngine:
    if isinstance(location, PostgresUrl):
        from cgos_server.storage.postgres import connections as postgres

        return postgres.reading_engine(location)
    return reading_engine(location)


_entry_of_change = and_(_ledger.c.venue_id == _changes.c.venue_id, _ledger.c.seq == _changes.c.seq)


async def _venue_id(read: Read, name: str) -> int:
    ids = {row["name"]: int(row["id"]) for row in await read(select(_venues.c.name, _venues.c.id))}
    if name not in ids:
        there = f"The venues are {', '.join(sorted(ids))}." if ids else "There are no venues yet."
        raise Refused("no-venue", f"There is no venue {name!r}. {there}")
    return ids[name]


async def _version_ids(read: Read, name: str) -> list[int]:
    rows = await read(
        select(_versions.c.id).join(_bots).where(or_(_versions.c.wire_name == name, _bots.c.name == name))
    )
    if not rows:
        raise _no_bot(name)
    return [row["id"] for row in rows]


async def _game_rows(read: Read, *asked: ColumnElement[bool], limit: int | None = None) -> list[GameRow]:
    so_far = select(func.count()).where(_moves.c.game_id == _games.c.id).correlate(_games).scalar_subquery()
    rows = await read(
        select(
            _games,
            _venues.c.name.label("venue"),
            _black.c.wire_name.label("black"),
            _white.c.wire_name.label("white"),
            func.coalesce(_games.c.plies, so_far).label("moves"),
        )
        .join_from(_games, _venues)
        .join(_black, _black.c.id == _games.c.black_id)
        .join(_white, _white.c.id == _games.c.white_id)
        .where(*asked)
        .order_by(_games.c.id.desc())
        .limit(limit)
    )
    return [_value(GameRow, row) for row in rows]


async def _pairing_rows(read: Read, asked: ColumnElement[bool]) -> list[PairingRow]:
    pairings = tables.pairings
    rows = await read(
        select(
            pairings,
            pairings.c.game_id.label("game"),
            pairings.c.round_id.label("round"),
            _black.c.wire_name.label("black"),
            _white.c.wire_name.label("white"),
            _high.c.wire_name.label("high"),
            _low.c.wire_name.label("low"),
        )
        .join_from(pairings, _games, _games.c.id == pairings.c.game_id)
        .join(_black, _black.c.id == _games.c.black_id)
        .join(_white, _white.c.id == _games.c.white_id)
        .join(_high, _high.c.id == pairings.c.high_id)
        .join(_low, _low.c.id == pairings.c.low_id)
        .where(asked)
        .order_by(pairings.c.game_id)
    )
    return [_value(PairingRow, row, detail=_decoded(row["detail"])) for row in rows]


def _latest(side: Column[int]) -> ColumnElement[int]:
    """The latest game of a rated version on one side of the board, 0 for none: a step in that side's index."""
    ratings = tables.ratings
    latest = (
        select(_games.c.id)
        .where(side == ratings.c.version_id, _games.c.venue_id == ratings.c.venue_id)
        .order_by(_games.c.id.desc())
        .limit(1)
        .correlate(ratings)
        .scalar_subquery()
    )
    return func.coalesce(latest, 0)


def _number(value: int) -> ColumnElement[int]:
    """A number that somebody asked for, which may be larger than any that PostgreSQL's columns hold."""
    return literal(value, BigInteger)


def _value(kind: type[V], row: RowMapping, **other: Any) -> V:
    """A value of `kind` from the row's columns of the same names, except where `other` says otherwise."""
    return kind(**{name: other[name] if name in other else row[name] for name in kind.__struct_fields__})


def _decoded(text: str | None) -> Any:
    return msgspec.json.decode(text) if text else None


def _no_bot(name: str) -> Refused:
    return Refused("no-bot", f"There is no bot {name!r}. `cgos-server bots` lists them.")
