"""The store: writes go to the one writer, reads beside it to connections that cannot write.

Reads are few and on the way into the server (start, sign-in), so they are compiled once from SQLAlchemy Core and run
on the plain driver: a tenth of the cost of an engine's way there. Here are the answers, the same for all databases,
and SQLite's way to them. Must not know: what the records mean, which schema this is (see schema), the questions of
pages and commands (see history).
"""

from __future__ import annotations

import abc
import asyncio
import functools
import itertools
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec
from sqlalchemy.dialects import sqlite

from cgos_protocol import hours
from cgos_protocol.clock import ClockState
from cgos_protocol.errors import StoreError
from cgos_protocol.games.base import Color, Start
from cgos_protocol.session import Limits
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.storage import queries
from cgos_server.storage.group_commit import GroupCommit
from cgos_server.storage.queries import Question
from cgos_server.storage.records import Record
from cgos_server.storage.store import (
    Access,
    BotLogin,
    BotOwned,
    Counted,
    FirstRepeat,
    Half,
    Meeting,
    NextIds,
    Owner,
    Person,
    Shown,
    StoredGame,
    StoredMove,
    StoredRefit,
    StoredSetback,
    StoredState,
    StoredVenue,
    StoredVersion,
    StoredWebhook,
    Token,
    as_person,
)
from cgos_server.storage.writer import Writer

_ALL = 2**31 - 1
_MOVES_AT = StoredGame._fields.index("moves")


class SqlStore(abc.ABC):
    """The :class:`cgos_server.storage.store.Store` on a database that speaks SQL, made by :func:`open_store`."""

    def __init__(self, writer: GroupCommit) -> None:
        self._writer = writer

    @abc.abstractmethod
    async def _rows(self, question: Question, **parameters: Any) -> list[Any]:
        """The answer's rows, each a sequence. Raises StoreError."""

    @abc.abstractmethod
    async def _stop_reading(self) -> None:
        """Close the reading side."""

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
        return [StoredVenue(*row) for row in await self._rows(queries.VENUES)]

    async def next_ids(self) -> NextIds:
        """The next free number of each kind."""
        return NextIds(*(await self._rows(queries.NEXT_IDS))[0])

    async def login(self, name: str) -> BotLogin | None:
        """The bot with exactly this name and the version that carries its name, or None."""
        rows = await self._rows(queries.LOGIN, name=name)
        if not rows:
            return None
        *login, until, owner, paused, limits, _ = rows[0]
        tokens = frozenset(row[-1] for row in rows if row[-1] is not None)
        return BotLogin._make((*login, tokens, until, owner, bool(paused), _limits(limits)))

    async def name_taken(self, name_key: str) -> str | None:
        """The bot, account or version whose folded (wire) name is `name_key` as it is spelt, or None."""
        rows = await self._rows(queries.NAME_TAKEN, name_key=name_key)
        return str(rows[0][0]) if rows else None

    async def version(self, bot_id: int, label: str) -> StoredVersion | None:
        """The version of this bot with exactly this label, or None."""
        rows = await self._rows(queries.VERSION, bot_id=bot_id, label=label)
        return StoredVersion._make(rows[0]) if rows else None

    async def owner(self, name: str) -> Owner | None:
        """The account with exactly this name, or None."""
        rows = await self._rows(queries.OWNER, name=name)
        if not rows:
            return None
        owner = Owner._make(rows[0])
        return owner._replace(admin=bool(owner.admin))

    async def person(self, digest: str, now_ms: int) -> Person | None:
        """See :meth:`cgos_server.storage.store.Store.person`."""
        rows = await self._rows(queries.PERSON, digest=digest, now_ms=now_ms)
        return as_person(rows[0]) if rows else None

    async def access(self, access_id: int) -> Access | None:
        """One session or token that was not revoked, or None."""
        rows = await self._rows(queries.ACCESS, access_id=access_id)
        return Access._make(rows[0]) if rows else None

    async def valid_access(self, owner_id: int, now_ms: int) -> list[Access]:
        """See :meth:`cgos_server.storage.store.Store.valid_access`."""
        return [Access._make(row) for row in await self._rows(queries.VALID_ACCESS, owner_id=owner_id, now_ms=now_ms)]

    async def old_access(self, owner_id: int, before_ms: int) -> list[int]:
        """See :meth:`cgos_server.storage.store.Store.old_access`."""
        return [row[0] for row in await self._rows(queries.OLD_ACCESS, owner_id=owner_id, before_ms=before_ms)]

    async def webhook(self, webhook_id: int) -> StoredWebhook | None:
        """One webhook that is sent to, or None."""
        rows = await self._rows(queries.WEBHOOK, webhook_id=webhook_id)
        return StoredWebhook._make(rows[0]) if rows else None

    async def webhooks_of(self, owner_id: int) -> list[StoredWebhook]:
        """The webhooks of this account that are sent to, oldest first."""
        return [StoredWebhook._make(row) for row in await self._rows(queries.WEBHOOKS_OF, owner_id=owner_id)]

    async def bot_owner(self, name: str) -> BotOwned | None:
        """See :meth:`cgos_server.storage.store.Store.bot_owner`."""
        rows = await self._rows(queries.BOT_OWNER, name=name)
        return BotOwned._make(rows[0]) if rows else None

    async def tokens(self, bot_id: int) -> list[Token]:
        """All tokens that this bot ever had, oldest first."""
        return [Token._make(row) for row in await self._rows(queries.TOKENS, bot_id=bot_id)]

    async def unfinished_games(self) -> list[StoredGame]:
        """All games without a verdict, moves included, oldest first."""
        moves = {
            game_id: _stored_moves(rows)
            for game_id, rows in itertools.groupby(await self._rows(queries.UNFINISHED_MOVES), itemgetter(0))
        }
        return [_stored_game(row, moves.get(row[0], ())) for row in await self._rows(queries.UNFINISHED)]

    async def left_open(self) -> dict[int, int]:
        """See :meth:`cgos_server.storage.store.Store.left_open`."""
        ((started, ended, moved),) = await self._rows(queries.LAST_SIGNS)
        opened = {int(row[0]): int(row[1]) for row in await self._rows(queries.LEFT_OPEN)}
        last = max(started or 0, ended or 0, moved or 0, *opened.values(), 0)
        return dict.fromkeys(opened, last)

    async def untold_games(self, venue_id: int, version_id: int, since: int) -> list[StoredGame]:
        """See :meth:`cgos_server.storage.store.Store.untold_games`."""
        rows = await self._rows(queries.UNTOLD, venue_id=venue_id, version_id=version_id, since=since)
        return [await self._with_moves(row) for row in rows]

    async def game(self, game_id: int) -> StoredGame | None:
        """One game, moves included, or None."""
        rows = await self._rows(queries.GAME, game_id=game_id)
        return await self._with_moves(rows[0]) if rows else None

    async def recent_games(self, venue_id: int, limit: int) -> list[StoredGame]:
        """The latest `limit` games of the venue that have ended, without their moves, oldest first."""
        rows = await self._rows(queries.RECENT, venue_id=venue_id, limit=limit)
        return [_stored_game(row, ()) for row in reversed(rows)]

    async def games_begun(self, venue_id: int, version_id: int, since: int) -> int:
        """How many games of this version in this venue began at or after `since` (Unix ms)."""
        rows = await self._rows(queries.BEGUN, venue_id=venue_id, version_id=version_id, since=since)
        return int(rows[0][0])

    async def ledger(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Entry]:
        """The venue's numbered entries from `after` + 1 on, in order, `limit` at most. A million of them at once take
        seconds of the event loop; portions of some thousands do not."""
        kinds = {kind.value: kind for kind in Kind}
        rows = await self._rows(queries.LEDGER, venue_id=venue_id, after=after, limit=_ALL if limit is None else limit)
        return [
            Entry(
                seq=seq,
                kind=kinds[kind],
                version=version,
                black=black,
                white=white,
                score2=score2,
                value=value,
                sd=sd,
                other=other,
                was2=was2,
                repeat=repeat != 0,
                at=at,
            )
            for seq, kind, version, black, white, score2, value, sd, other, was2, repeat, at in rows
        ]

    async def published(self, venue_id: int) -> dict[str, int]:
        """Rating system -> the last entry whose changes it published in this venue."""
        return dict(await self._rows(queries.PUBLISHED, venue_id=venue_id))

    async def shown(self, venue_id: int, system: str) -> dict[int, Shown]:
        """Version id -> what is stored of its rating under this system now."""
        rows = await self._rows(queries.SHOWN, venue_id=venue_id, system=system)
        return {
            version: Shown(mean, spread, provisional != 0, anchor != 0)
            for version, mean, spread, provisional, anchor in rows
        }

    async def rating_state(self, venue_id: int, system: str) -> StoredState | None:
        """The saved state of this system in this venue, or None."""
        rows = await self._rows(queries.RATING_STATE, venue_id=venue_id, system=system)
        return StoredState._make(rows[0]) if rows else None

    async def refits(self, venue_id: int, system: str, after: int = 0, limit: int | None = None) -> list[StoredRefit]:
        """The recorded refits with numbers above `after`, in order, `limit` at most."""
        most = _ALL if limit is None else limit
        rows = await self._rows(queries.REFITS, venue_id=venue_id, system=system, after=after, limit=most)
        return [refit._replace(cold=bool(refit.cold)) for refit in map(StoredRefit._make, rows)]

    async def last_refit(self, venue_id: int, system: str) -> int:
        """Number of the last recorded refit, 0 for none."""
        return int((await self._rows(queries.LAST_REFIT, venue_id=venue_id, system=system))[0][0])

    async def digests(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[tuple[int, int, int, int]]:
        """See :meth:`cgos_server.storage.store.Store.digests`."""
        most = _ALL if limit is None else limit
        return [tuple(row) for row in await self._rows(queries.DIGESTS, venue_id=venue_id, after=after, limit=most)]

    async def counted(self, game_id: int) -> Counted | None:
        """What the ledger says of an ended game, corrections included; None where it has no entry there."""
        found = None
        for seq, kind, score2, digest, repeat in await self._rows(queries.COUNTED, game_id=game_id):
            if kind == Kind.GAME:
                found = Counted(seq, score2, digest, repeat != 0, ruled=False)
            else:
                found = found or Counted(None, None, None, repeat=False, ruled=False)
                ruled = found.ruled or found.score2 != score2
                found = found._replace(score2=score2, repeat=False, ruled=ruled)
        return found

    async def first_repeat(self, venue_id: int, black: int, white: int, digest: int) -> FirstRepeat | None:
        """See :meth:`cgos_server.storage.store.Store.first_repeat`."""
        rows = await self._rows(queries.FIRST_REPEAT, venue_id=venue_id, black_id=black, white_id=white, digest=digest)
        return FirstRepeat._make(rows[0]) if rows else None

    async def bot_names(self) -> list[tuple[int, str, int | None]]:
        """(id, name, family's id or None) of every bot, oldest first."""
        return [(number, name, family) for number, name, family in await self._rows(queries.BOT_NAMES)]

    async def bot_ids(self) -> dict[int, int]:
        """version id -> id of the bot whose version it is."""
        return dict(await self._rows(queries.BOT_IDS))

    async def meetings(self, venue_id: int) -> list[Meeting]:
        """How often each version played Black against each other, in games that ended with a result."""
        return [Meeting(*row) for row in await self._rows(queries.MEETINGS, venue_id=venue_id)]

    async def recent_opponents(self, venue_id: int, last: int) -> dict[int, list[int]]:
        """See :meth:`cgos_server.storage.store.Store.recent_opponents`."""
        found: dict[int, list[int]] = {}
        for black, white in await self._rows(queries.RECENT_OPPONENTS, venue_id=venue_id):
            for version, opponent in ((black, white), (white, black)):
                opponents = found.setdefault(version, [])
                if len(opponents) < last:
                    opponents.append(opponent)
        return {version: opponents[::-1] for version, opponents in found.items()}

    async def halves(self, venue_id: int) -> list[Half]:
        """See :meth:`cgos_server.storage.store.Store.halves`."""
        return [
            Half(black=lower, white=higher, opening=opening, games=more, at=at)
            if more > 0
            else Half(black=higher, white=lower, opening=opening, games=-more, at=at)
            for lower, higher, opening, more, at in await self._rows(queries.HALVES, venue_id=venue_id)
        ]

    async def thinking(self, venue_id: int, games: int) -> dict[int, float]:
        """See :meth:`cgos_server.storage.store.Store.thinking`."""
        totals: dict[int, tuple[int, int]] = {}
        for black, white, start, odd, used_us in await self._rows(queries.THINKING, venue_id=venue_id, games=games):
            black_first = not start or msgspec.json.decode(start, type=Start).to_play is Color.BLACK
            mover = black if (odd == 1) is black_first else white
            before, counted = totals.get(mover, (0, 0))
            totals[mover] = (before + int(used_us), counted + 1)
        return {version: used_us / counted for version, (used_us, counted) in totals.items()}

    async def setbacks(self, venue_id: int) -> list[StoredSetback]:
        """The versions that spoilt their latest game or are set aside, by id."""
        found = map(StoredSetback._make, await self._rows(queries.SETBACKS, venue_id=venue_id))
        return [setback._replace(set_aside=bool(setback.set_aside)) for setback in found]

    async def last_round(self, venue_id: int) -> int:
        """Number of the venue's latest act of pairing, 0 for none."""
        return int((await self._rows(queries.LAST_ROUND, venue_id=venue_id))[0][0])

    async def version_names(self) -> dict[int, str]:
        """version id -> wire name."""
        return dict(await self._rows(queries.VERSION_NAMES))

    async def close(self) -> None:
        """Commit what has gathered, then release everything."""
        await self._writer.drain()
        await self._stop_reading()
        # On SQLite the last connection to close leaves one complete file behind.
        await self._writer.close()

    async def _with_moves(self, row: tuple[Any, ...]) -> StoredGame:
        return _stored_game(row, _stored_moves(await self._rows(queries.GAME_MOVES, game_id=row[0])))


class _Query(NamedTuple):
    """SQL with named parameters, and the values of those that never change."""

    text: str
    given: Mapping[str, Any]


@functools.cache
def _compiled(question: Question) -> _Query:
    compiled = question.compile(dialect=sqlite.dialect(paramstyle="named"))
    return _Query(str(compiled), compiled.params)


class SqliteStore(SqlStore):
    """The store on a SQLite file. Reads in a thread of its own."""

    def __init__(self, writer: Writer, connection: sqlite3.Connection) -> None:
        super().__init__(writer)
        self._connection = connection
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="cgos-reader")

    async def _rows(self, question: Question, **parameters: Any) -> list[Any]:
        return await asyncio.get_running_loop().run_in_executor(self._reader, self._fetch, question, parameters)

    def _fetch(self, question: Question, parameters: Mapping[str, Any]) -> list[Any]:
        query = _compiled(question)
        try:
            return self._connection.execute(query.text, {**query.given, **parameters}).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"the database could not be read: {error}") from error

    async def _stop_reading(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._reader, self._connection.close)
        self._reader.shutdown()


def _limits(text: str) -> Limits:
    stored = msgspec.json.decode(text) if text else {}
    return Limits(stored.get("games_a_day"), frozenset(stored.get("avoid", ())), hours.read(stored.get("hours", "")))


def _stored_moves(rows: Iterable[tuple[Any, ...]]) -> tuple[StoredMove, ...]:
    return tuple(StoredMove(move, ClockState(*clock)) for _, move, *clock in rows)


def _stored_game(row: tuple[Any, ...], moves: tuple[StoredMove, ...]) -> StoredGame:
    return StoredGame._make((*row[:_MOVES_AT], moves, *row[_MOVES_AT:]))
