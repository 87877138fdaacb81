"""What the groups of a cluster have in common, on PostgreSQL: changed by whoever holds its name, told to all owners.

A name is held by an advisory lock of a session, and what is changed under it is written by that session: where it is
cut, nothing more is written under a lock that somebody else may have by then. Every transaction looks whether its node
still owns its group, and keeps others from taking that until it ends. Must not know: what the records mean.
"""

from __future__ import annotations

import asyncio
import functools
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from cgos_protocol.errors import Code, Conflict, StoreError, Unavailable
from cgos_protocol.ids import BotId
from cgos_server.storage.holder import holder_name
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.node import Node
from cgos_server.storage.postgres.connections import WATCHFUL, driver, faults, pool
from cgos_server.storage.postgres.groups import Owner, look
from cgos_server.storage.postgres.listening import Teller, messages
from cgos_server.storage.postgres.statements import plan
from cgos_server.storage.sharing import FACTS, GroupOwner
from cgos_server.storage.tables import NUMBERED
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import Group
from cgos_server.storage.writing.records import Record

if TYPE_CHECKING:
    import asyncpg

CHANNEL: Final = "cgos_changes"

_NAMES: Final = 0x63676F74
"""The class of the advisory locks of names; see :data:`cgos_server.storage.postgres.connections.LOCK` for the other."""

_SESSIONS: Final = 4
_PATIENCE_S: Final = 5.0
_MOST_BOTS: Final = 500
"""In one message; PostgreSQL takes 8000 bytes."""

_MINE = "SELECT id FROM writer WHERE id = {group} AND holder = $2 AND $1::bigint = 0 FOR SHARE"

_BLOCK = """
INSERT INTO number_blocks (kind, first, last, group_id)
SELECT $1::text, n.after + 1, n.after + $4::int, $2::int FROM (SELECT greatest(
  $3::bigint,
  (SELECT coalesce(max(last), 0) FROM number_blocks WHERE kind = $1::text),
  (SELECT coalesce(max(id), 0) FROM {table})
) AS after) n
RETURNING first
"""

_OURS = """
SELECT number FROM unnest($1::int[]) number WHERE NOT EXISTS (
  SELECT FROM number_blocks WHERE kind = $2 AND number BETWEEN first AND last AND group_id <> $3
)
"""

_ELSEWHERE = """
SELECT venues.name, writer.id, writer.name, coalesce(node, ''), coalesce(address, ''),
  seen IS NOT NULL AND (
    seen >= clock_timestamp() - make_interval(secs => $3)
    OR pg_postmaster_start_time() >= clock_timestamp() - make_interval(secs => $3)
  )
FROM group_venues JOIN venues ON venues.id = venue_id JOIN writer ON writer.id = group_id
WHERE venue_id = ANY($1::int[]) AND group_id <> $2
FOR UPDATE OF writer
"""

_OVERTAKE = "UPDATE writer SET holder = 0, seen = NULL WHERE id = ANY($1::int[]) AND seen IS NOT NULL"

_TAKE = """
INSERT INTO group_venues (venue_id, group_id) SELECT id, $2 FROM unnest($1::int[]) id
ON CONFLICT (venue_id) DO UPDATE SET group_id = excluded.group_id
"""

_TO_APPLY = """
INSERT INTO families_to_apply (group_id, bot_id, was)
SELECT writer.id, bots.id, CASE WHEN $2 THEN bots.family_id END FROM writer, bots WHERE bots.id = ANY($1::int[])
ON CONFLICT DO NOTHING
"""
"""Asked before the change, for bots that are there, and after it, for new ones: they had no family."""

_ChangesBot = r.BotState | r.BotWishes | r.BotFamily
"""What may concern a bot that is signed in elsewhere."""


class _Message(msgspec.Struct, frozen=True):
    """What owners tell one another. `bots`: None where they are too many."""

    bots: list[BotId] | None


class GroupSharing:
    """One a node that owns a group.

    :param owner: what the writer knows of it just now
    """

    block: Final = 2_000

    def __init__(self, url: PostgresUrl, node: Node, owner: Callable[[], Owner]) -> None:
        self._url = url
        self._node = node
        self._owner = owner
        self._pool = pool(url, holder_name(f"{node.purpose}, changing"), WATCHFUL, most=_SESSIONS)
        self._teller = Teller(url, node.purpose, FACTS)
        self._held: dict[asyncio.Task[Any] | None, asyncpg.Connection] = {}

    async def start(self) -> None:
        """Before anything else. Connects to nothing yet."""
        await self._pool

    def hold(self, key: str, /) -> AbstractAsyncContextManager[None]:
        return self._hold(key)

    @asynccontextmanager
    async def _hold(self, key: str) -> AsyncIterator[None]:
        task = asyncio.current_task()
        async with self._session() as connection:
            await self._lock(connection, key)
            if task in self._held:
                yield
                return
            self._held[task] = connection
            try:
                yield
            finally:
                del self._held[task]

    @property
    def holding(self) -> bool:
        return asyncio.current_task() in self._held

    async def commit(self, common: Sequence[Record], /) -> None:
        owner = self._owner()
        first, *rest = plan([Group(common, None)], _fence(owner.group)).steps
        families = [record.id for record in common if isinstance(record, r.BotFamily)]
        connection = self._held[asyncio.current_task()]
        try:
            async with asyncio.timeout(_PATIENCE_S), connection.transaction():
                if families:
                    await connection.execute(_TO_APPLY, families, True)
                if await connection.fetchval(first.sql, 0, owner.holder, *first.arguments) != 1:
                    self._overtaken()
                for step in rest:
                    await connection.fetchval(step.sql, *step.arguments)
                if families:
                    await connection.execute(_TO_APPLY, families, False)
                await _tell(connection, common)
        except driver().IntegrityConstraintViolationError as error:
            raise Unavailable(
                Code.BUSY, f"Somebody else has changed this at the same moment ({error}). Look, and try again.", 1.0
            ) from error
        except faults() as error:
            raise self._unsure(error) from error

    async def numbers(self, kind: str, /, above: int = 0) -> range:
        sql = _BLOCK.format(table=NUMBERED[kind].name)
        async with self._changing(f"numbers {kind}") as (connection, owner):
            given = (kind, owner.group, above, self.block)
            first = await connection.fetchval(sql, *given)
        return range(first, first + self.block)

    async def ours(self, kind: str, numbers: Collection[int], /) -> set[int]:
        async with self._session() as connection:
            try:
                rows = await connection.fetch(_OURS, list(numbers), kind, self._owner().group, timeout=_PATIENCE_S)
            except faults() as error:
                raise self._unsure(error) from error
        return {number for (number,) in rows}

    async def take_venues(self, venues: Collection[int], /) -> None:
        async with self._changing("venues") as (connection, owner):
            others = await connection.fetch(_ELSEWHERE, list(venues), owner.group, self._node.ttl_s)
            for venue, _, group, node, address, lives in others:
                if lives:
                    raise Conflict(
                        Code.GROUP_HELD,
                        f"The venue {venue} is in the group {group} for node {node} at {address}, which plays it. Put "
                        "it into one group in the configurations of all nodes, and start that node again first.",
                    )
            await connection.execute(_OVERTAKE, [number for _, number, *_ in others])
            await connection.execute(_TAKE, list(venues), owner.group)

    async def owners(self) -> list[GroupOwner]:
        async with self._session() as connection:
            try:
                async with asyncio.timeout(_PATIENCE_S):
                    rows = await look(connection)
            except faults() as error:
                raise self._unsure(error) from error
        return [
            GroupOwner(group=row.group, node=row.node, address=row.address, lives=row.held(self._node.ttl_s))
            for row in rows
        ]

    async def changes(self) -> AsyncIterator[Collection[BotId] | None]:
        async for text in messages(self._url, self._node.purpose, CHANNEL):
            yield None if text is None else _bots(text)

    async def tell(self, texts: Sequence[str], /) -> None:
        await self._teller.tell(texts)

    async def families_to_apply(self) -> dict[BotId, BotId | None]:
        group = self._owner().group
        async with self._session() as connection:
            try:
                rows = await connection.fetch(
                    "SELECT bot_id, was FROM families_to_apply WHERE group_id = $1 ORDER BY bot_id",
                    group,
                    timeout=_PATIENCE_S,
                )
            except faults() as error:
                raise self._unsure(error) from error
        return dict(map(tuple, rows))

    async def families_applied(self, bots: Collection[BotId], /) -> None:
        async with self._changing("families") as (connection, owner):
            await connection.execute(
                "DELETE FROM families_to_apply WHERE group_id = $1 AND bot_id = ANY($2::int[])", owner.group, list(bots)
            )

    async def close(self) -> None:
        self._teller.close()
        self._pool.terminate()

    @asynccontextmanager
    async def _changing(self, key: str) -> AsyncIterator[tuple[asyncpg.Connection, Owner]]:
        """A transaction in which nobody else changes what is called `key`, of a node that owns its group."""
        owner = self._owner()
        async with self._hold(key):
            connection = self._held[asyncio.current_task()]
            try:
                async with asyncio.timeout(_PATIENCE_S), connection.transaction():
                    if await connection.fetchval(_fence(owner.group), 0, owner.holder) is None:
                        self._overtaken()
                    yield connection, owner
            except faults() as error:
                raise self._unsure(error) from error

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[asyncpg.Connection]:
        """That of this task, where it holds a name; another one lets go of all names when it is given back."""
        held = self._held.get(asyncio.current_task())
        if held is not None:
            yield held
            return
        try:
            connection = await self._pool.acquire(timeout=_PATIENCE_S)
        except faults() as error:
            raise self._unsure(error) from error
        try:
            yield connection
        finally:
            # Where this task is cancelled meanwhile, nobody else would hear why a connection could not be given back.
            await asyncio.shield(self._give_back(connection))

    async def _give_back(self, connection: asyncpg.Connection) -> None:
        with suppress(*faults()):
            await self._pool.release(connection, timeout=_PATIENCE_S)

    async def _lock(self, connection: asyncpg.Connection, key: str) -> None:
        number = zlib.crc32(key.encode()) - 2**31
        try:
            await connection.execute("SELECT pg_advisory_lock($1, $2)", _NAMES, number, timeout=_PATIENCE_S)
        except (TimeoutError, driver().DeadlockDetectedError) as error:
            raise Unavailable(Code.BUSY, "Somebody else changes this at the moment. Try again.", 5.0) from error
        except faults() as error:
            raise self._unsure(error) from error

    def _overtaken(self) -> NoReturn:
        raise StoreError(f"node {self._node.name} does not own the group {self._node.group} any more")

    def _unsure(self, error: BaseException) -> StoreError:
        why = str(error) or f"it did not answer within {_PATIENCE_S:g} s"
        return StoreError(f"PostgreSQL did not do it, or does not say so: {why}")


@functools.cache
def _fence(group: int) -> str:
    """Lets in whoever owns the group with this row, and keeps others from taking it meanwhile."""
    return _MINE.format(group=group)


async def _tell(connection: asyncpg.Connection, common: Sequence[Record]) -> None:
    """Tell all owners, at the end of this transaction, which bots it changes."""
    changed = sorted({record.id for record in common if isinstance(record, _ChangesBot)})
    if changed:
        message = _Message(changed if len(changed) <= _MOST_BOTS else None)
        await connection.execute("SELECT pg_notify($1, $2)", CHANNEL, msgspec.json.encode(message).decode())


def _bots(text: str) -> list[BotId] | None:
    """Those that a message names; one that another build wrote says only that something changed."""
    try:
        return msgspec.json.decode(text, type=_Message).bots
    except msgspec.DecodeError:
        return None
