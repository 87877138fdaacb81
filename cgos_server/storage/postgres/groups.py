"""The rows that say which node owns a group of venues: look at them, take one over, let go of it.

Who owns a group is decided by its row alone, by one conditional UPDATE on PostgreSQL's own clock: of two nodes that try
at once the second one finds the row as the first one left it. The owner's batches go through the same row (see
statements), so that it writes nothing more once another node has it. Must not know: who stands by, what is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from cgos_protocol.errors import Code, Conflict, DatabaseLocked, StoreError
from cgos_server.storage.holder import holder_name, in_use
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.node import Node
from cgos_server.storage.postgres.connections import READ_ONLY, WATCHFUL, connect, end, faults, try_lock

if TYPE_CHECKING:
    import asyncpg

_LOOK_S = 2.0
"""Within which a look at it is answered."""

_LOOK = """
SELECT name, node, address, control, build, batch, extract(epoch FROM clock_timestamp() - seen)::float8,
  extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::float8
FROM writer ORDER BY id
"""

_ENTER = """
INSERT INTO writer (id, holder, batch, name)
SELECT (SELECT max(id) + 1 FROM writer), 0, 0, $1::text WHERE NOT EXISTS (SELECT FROM writer WHERE name = $1::text)
ON CONFLICT DO NOTHING
"""
"""Of two nodes that enter two groups at once one does not get its row, and tries again."""

_CLAIM = """
UPDATE writer SET holder = $1, node = $2, address = $3, build = $4, control = $9, seen = clock_timestamp()
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
RETURNING id, batch
"""

_REMEMBER = """
INSERT INTO nodes (name, control) VALUES ($1, $2)
ON CONFLICT (name) DO UPDATE SET control = excluded.control, overtaken_at = NULL
"""

_FORMER = """
UPDATE nodes SET overtaken_at = clock_timestamp() WHERE name = $1 AND name <> $2
  AND NOT EXISTS (SELECT FROM writer WHERE node = $1 AND name <> $3)
"""

_KNOWN = """
SELECT name, control FROM nodes
WHERE overtaken_at IS NULL OR overtaken_at > clock_timestamp() - make_interval(secs => 86400 * $1::float8) ORDER BY name
"""

_STANDING_BY = """
SELECT DISTINCT substring(application_name from 'node (.*), standing by') FROM pg_stat_activity
WHERE datname = current_database() AND application_name ~ 'node .*, standing by' ORDER BY 1
"""

_FREE = "UPDATE writer SET seen = NULL WHERE holder = $1"


class Owner(NamedTuple):
    """How the database knows who owns a group: the id of its row, and the number by which batches are let in."""

    group: int
    holder: int


class Claimed(NamedTuple):
    """A group that is ours: the id of its row, and the number of the last batch."""

    id: int
    batch: int


class GroupRow(msgspec.Struct, frozen=True, kw_only=True):
    """A group of venues as its row has it.

    :ivar node: who owns it, or did last; empty where no node ever did, or a process alone did after it
    :ivar control: where commands reach that node, ``host:port``; empty for nowhere
    :ivar build: the id of that node's build
    :ivar batch: number of the last batch that was committed
    :ivar seen_s: seconds since the owner wrote last; None where it has let go
    :ivar up_s: seconds since PostgreSQL was started
    """

    group: str
    node: str
    address: str
    control: str
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
            control=control or "",
            build=build or "",
            batch=batch,
            seen_s=seen_s,
            up_s=up_s,
        )
        for group, node, address, control, build, batch, seen_s, up_s in await connection.fetch(_LOOK)
    ]


async def claim(connection: asyncpg.Connection, node: Node, holder: int) -> Claimed:
    """Make `node` the owner of its group, which is new where it has no row.

    :param holder: the number by which its batches are let in
    :raises Refused: (``group-held``) where it is not to be had
    """
    await connection.execute(_ENTER, node.group)
    former = await connection.fetchval("SELECT node FROM writer WHERE name = $1", node.group)
    it_is = (holder, node.name, node.address, node.build)
    may = (node.group, node.ttl_s, node.any_build, node.inherits)
    claimed = await connection.fetchrow(_CLAIM, *it_is, *may, node.control)
    if claimed is None:
        raise refusal(of_node(await look(connection), node), node)
    await connection.execute(_REMEMBER, node.name, node.control)
    await connection.execute(_FORMER, former, node.name, node.group)
    return Claimed(*claimed)


def of_node(rows: Sequence[GroupRow], node: Node) -> GroupRow:
    """The group of `node` among all; one that nobody ever had where it is not there yet."""
    new = GroupRow(group=node.group, node="", address="", control="", build="", batch=0, seen_s=None, up_s=rows[0].up_s)
    return next((row for row in rows if row.group == node.group), new)


async def free(connection: asyncpg.Connection, holder: int) -> None:
    """Let go of what the owner with this number holds: the next node can have it at once."""
    await connection.execute(_FREE, holder)


class KnownNode(NamedTuple):
    """A node that has a group, or had one. `control`: where it takes commands, ``host:port``; empty for nowhere."""

    name: str
    control: str


async def known_nodes(url: PostgresUrl, days: float) -> list[KnownNode]:
    """All nodes that have a group, had one last, or had one within so many days. Raises StoreError."""
    async with _reading(url, "cgos-server cluster") as connection:
        return [KnownNode(*row) for row in await connection.fetch(_KNOWN, days)]


async def standing_by(url: PostgresUrl) -> list[str]:
    """The names of the nodes that stand by, as far as their sessions can be seen. Raises StoreError."""
    async with _reading(url, "cgos-server cluster") as connection:
        return [name for (name,) in await connection.fetch(_STANDING_BY)]


async def groups(url: PostgresUrl) -> list[GroupRow]:
    """All groups, for people. Raises StoreError."""
    async with _reading(url, "cgos-server cluster status") as connection:
        return await look(connection)


@asynccontextmanager
async def _reading(url: PostgresUrl, name: str) -> AsyncIterator[asyncpg.Connection]:
    """A connection for one question. Raises StoreError where PostgreSQL does not answer."""
    connection = await connect(url, name, READ_ONLY)
    try:
        yield connection
    except faults() as error:
        raise StoreError(f"PostgreSQL does not say who has {url}: {error}") from error
    finally:
        await end(connection)


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
    """Looks at the groups for a node that owns none, again and again, on a connection of its own.

    That connection has its share of the database's lock, so that no process alone and no command that writes gets in
    between.

    :param url: where the groups are
    :param purpose: what the node holds the database for
    """

    def __init__(self, url: PostgresUrl, purpose: str) -> None:
        self._url = url
        self._purpose = purpose
        self._connection: asyncpg.Connection | None = None

    async def look(self) -> list[GroupRow]:
        """All groups now. Raises StoreError where PostgreSQL does not answer, DatabaseLocked where a process alone
        holds the database."""
        try:
            async with asyncio.timeout(_LOOK_S):
                connection = self._connection or await self._connect()
                rows = await look(connection)
        except (StoreError, DatabaseLocked):
            self._drop()
            raise
        except faults() as error:
            self._drop()
            why = str(error) or f"it did not answer within {_LOOK_S:g} s"
            raise StoreError(f"PostgreSQL does not say who holds {self._url}: {why}") from error
        return rows

    async def close(self) -> None:
        """Look no more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await end(connection)

    async def _connect(self) -> asyncpg.Connection:
        self._connection = await connect(self._url, holder_name(f"{self._purpose}, standing by"), WATCHFUL)
        held = await try_lock(self._connection, shared=True)
        if held is not None:
            raise in_use(self._url, held.name or f"another program (session {held.pid})", held.since)
        return self._connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.terminate()
