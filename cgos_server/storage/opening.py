"""Opens the store on whichever database is configured. Must not know: what is in it, who may open it."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from pathlib import Path

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.connections import Durability, connect_for_reading, connect_for_writing
from cgos_server.storage.group_commit import Observe
from cgos_server.storage.location import Location
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.sql_store import SqliteStore, SqlStore
from cgos_server.storage.writer import Connect, Writer


async def open_store(
    location: Location,
    *,
    failed: Callable[[CommitFailed], None],
    on_error: Callable[[Exception], None],
    durability: Durability = "process",
    commit_timeout: float = 10.0,
    observe: Observe | None = None,
    retrying: Callable[[Exception], None] | None = None,
    checkpointed: Callable[[StoreError | None], None] | None = None,
    lock: DatabaseLock | None = None,
    connect: Connect | None = None,
    soon: Callable[[Callable[[], None]], object] | None = None,
) -> SqlStore:
    """Open the store on a database whose schema was checked. The caller holds the database's lock. Raises StoreError.

    :param lock: the lock that the caller holds; on PostgreSQL the store takes it over, and must be given it
    :param checkpointed: SQLite only: as for :class:`cgos_server.storage.writer.Writer`
    :param connect: SQLite only: opens the writer's connection, instead of :func:`connect_for_writing`
    :param soon: SQLite only: as for :class:`cgos_server.storage.group_commit.GroupCommit`
    :param commit_timeout: seconds; this and the other parameters as for
        :class:`cgos_server.storage.group_commit.GroupCommit`
    """
    if not isinstance(location, Path):
        # Only where it is configured: its driver is an extra that need not be installed.
        from cgos_server.storage.postgres.store import open_postgres_store

        return await open_postgres_store(
            location,
            failed=failed,
            on_error=on_error,
            durability=durability,
            commit_timeout=commit_timeout,
            observe=observe,
            retrying=retrying,
            lock=lock,
        )
    writer = Writer(
        connect or functools.partial(connect_for_writing, location, durability),
        failed=failed,
        on_error=on_error,
        commit_timeout=commit_timeout,
        observe=observe,
        retrying=retrying,
        checkpointed=checkpointed,
        soon=soon,
    )
    await writer.start()
    try:
        return SqliteStore(writer, connect_for_reading(location))
    except sqlite3.Error as error:
        await writer.close()
        raise StoreError(f"the database could not be opened for reading: {error}") from error
