"""The rows that say which node owns a group of venues: look at them, take one over, let go of it.

Who owns a group is decided by its row alone, by one conditional UPDATE on PostgreSQL's own clock: of two nodes that try
at once the second one finds the row as the first one left it. The owner's batches go through the same row (see
statements), so that it writes nothing more once another node has it. Must not know: who stands by, what is committed.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from cgos_protocol.errors import Code, Conflict, DatabaseLocked, StoreError
from cgos_server.storage.holder import holder_name, in_use
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.node import Node
from cgos_server.storage.postgres.connections import READ_ONLY, WATCHFUL, connect, end, faults, try_lock

if TYPE_CHECKING:
    import asyncpg

GROUP: Final = "main"
"""The group of all venues."""

_LOOK_S = 2.0
"""Within which a look at it is answered."""

_LOOK = """
SELECT name, node, address, build, batch, extract(epoch FROM clock_timestamp() - seen)::float8,
  extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8
FROM writer ORDER BY id
"""

_CLAIM = """
UPDATE writer SET holder = $1, node = $2, address = $3, build = $4, seen = clock_timestamp()
WHERE name = $5 AND (
  $8 AND node = $2
  OR (
    ($7 OR build IS NULL OR build = $4)
    AND (
      seen IS NULL
      OR seen < clock_timestamp() - make_interval(secs => $6)
      AND pg_postmaster_start_time() < clock_timestamp() - make_interval(secs => $6)
    )
  )
)
RETURNING batch
"""

_FREE = "UPDATE writer SET seen = NULL WHERE holder = $1"


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """A group of venues as its row has it.

    :ivar node: who owns it, or did last; empty where no node ever did, or a process alone did after it
    :ivar build: the id of that node's build
    :ivar batch: number of the last batch that was committed
    :ivar seen_s: seconds since the owner wrote last; None where it has let go
    :ivar up_s: seconds since PostgreSQL was started
    """

    group: str
    node: str
    address: str
    build: str
    batch: int
    seen_s: float | None
    up_s: float

    def held(self, ttl_s: float) -> bool:
        """Whether its owner may be alive: it was seen within `ttl_s`, or could not be, as PostgreSQL was away."""
        return self.seen_s is not None and (self.seen_s <= ttl_s or self.up_s <= ttl_s)

    def strange(self, node: Node) -> bool:
        """Whether it was held last by a node of a build from which `node` does not take over."""
        return bool(self.build) and self.build != node.build and not node.any_build

    def takeable(self, node: Node) -> bool:
        """Whether `node` may try to take it."""
        if node.inherits and node.name == self.node:
            return True
        return not self.held(node.ttl_s) and not self.strange(node)


async def look(connection: asyncpg.Connection) -> list[GroupRow]:
    """All groups."""
    return [
        GroupRow(
            group=group,
            node=node or "",
            address=address or "",
            build=build or "",
            batch=batch,
            seen_s=seen_s,
            up_s=up_s,
        )
        for group, node, address, build, batch, seen_s, up_s in await connection.fetch(_LOOK)
    ]


async def claim(connection: asyncpg.Connection, node: Node, holder: int) -> int:
    """Make `node` the owner of the group; the number of the last batch.

    :param holder: the number by which its batches are let in
    :raises Refused: (``group-held``) where it is not to be had
    """
    arguments = (holder, node.name, node.address, node.build, GROUP, node.ttl_s, node.any_build, node.inherits)
    number: int | None = await connection.fetchval(_CLAIM, *arguments)
    if number is None:
        [row] = [row for row in await look(connection) if row.group == GROUP]
        raise refusal(row, node)
    return number


async def free(connection: asyncpg.Connection, holder: int) -> None:
    """Let go of what the owner with this number holds: the next node can have it at once."""
    await connection.execute(_FREE, holder)


async def groups(url: PostgresUrl) -> list[GroupRow]:
    """All groups, for people. Raises StoreError."""
    connection = await connect(url, "cgos-server cluster status", READ_ONLY)
    try:
        return await look(connection)
    finally:
        await connection.close()


def refusal(row: GroupRow, node: Node) -> Conflict:
    """Why `node` cannot have it, as a sentence."""
    if not row.held(node.ttl_s) and row.strange(node):
        return Conflict(
            Code.OTHER_BUILD,
            f"The group {row.group} was held last by node {row.node} of another build ({row.build}; this is "
            f"{node.build}): numbers could differ in their last bits. Set cluster.any_build = true, or start this node "
            "without --standby.",
        )
    return Conflict(
        Code.GROUP_HELD,
        f"The group {row.group} is held by node {row.node} at {row.address}, seen {row.seen_s or 0:.1f} s ago. Start "
        "this node with `cgos-server serve --standby`: it takes over when that one dies or ends.",
    )


class GroupWatch:
    """Looks at the group of a node that does not own it, again and again, on a connection of its own.

    That connection has its share of the database's lock, so that no process alone and no command that writes gets in
    between.

    :param url: where the group is
    """

    def __init__(self, url: PostgresUrl, node: Node) -> None:
        self._url = url
        self._node = node
        self._connection: asyncpg.Connection | None = None

    async def look(self) -> GroupRow:
        """The group now. Raises StoreError where PostgreSQL does not answer, DatabaseLocked where a process alone holds
        the database."""
        try:
            async with asyncio.timeout(_LOOK_S):
                connection = self._connection or await self._connect()
                [row] = [row for row in await look(connection) if row.group == GROUP]
        except (StoreError, DatabaseLocked):
            self._drop()
            raise
        except faults() as error:
            self._drop()
            why = str(error) or f"it did not answer within {_LOOK_S:g} s"
            raise StoreError(f"PostgreSQL does not say who holds {self._url}: {why}") from error
        return row

    async def close(self) -> None:
        """Look no more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await end(connection)

    async def _connect(self) -> asyncpg.Connection:
        self._connection = await connect(self._url, holder_name(f"{self._node.purpose}, standing by"), WATCHFUL)
        held = await try_lock(self._connection, shared=True)
        if held is not None:
            raise in_use(self._url, held.name or f"another program (session {held.pid})", held.since)
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
