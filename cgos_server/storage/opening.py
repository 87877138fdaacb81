"""Opens the store on whichever database is configured. Must not know: what is in it, who may open it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from cgos_server.storage.location import Location
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.reading.history import History
from cgos_server.storage.sharing import Sharing
from cgos_server.storage.sqlite.connections import Durability, connect_for_writing
from cgos_server.storage.sqlite.writer import Writer
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener, GroupCommit


async def open_store(
    location: Location,
    listener: CommitListener,
    *,
    durability: Durability = "process",
    commit_timeout: float = 10.0,
    lock: DatabaseLock | None = None,
    soon: Callable[[Callable[[], None]], object] | None = None,
) -> Store:
    """Open the store on a database whose schema was checked. The caller holds the database's lock. Raises StoreError.

    :param lock: the lock that the caller holds; on PostgreSQL the store takes it over, and must be given it
    :param soon: SQLite only: as for :class:`cgos_server.storage.writing.group_commit.GroupCommit`
    :param commit_timeout: seconds for which a failing batch is tried again, and a question of PostgreSQL
    """
    writer: GroupCommit
    sharing: Sharing | None = None
    if isinstance(location, Path):
        connect = functools.partial(connect_for_writing, location, durability)
        writer = Writer(connect, listener, commit_timeout=commit_timeout, soon=soon)
        await writer.start()
    else:
        # Only where it is configured: its driver is an extra that need not be installed.
        from cgos_server.storage.postgres.sharing import GroupSharing
        from cgos_server.storage.postgres.writer import open_postgres_writer

        writer = postgres = await open_postgres_writer(
            location, listener, durable=durability == "power", commit_timeout=commit_timeout, lock=lock
        )
        if lock is not None and lock.node is not None:
            sharing = GroupSharing(location, lock.node, lambda: postgres.owner)
            await sharing.start()
    return Store(writer, History(location, live=True, patience_s=commit_timeout), sharing)
