"""Opens the store on whichever database is configured. Must not know: what is in it, who may open it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.location import Location
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.reading.history import History
from cgos_server.storage.sqlite.connections import Durability, connect_for_writing
from cgos_server.storage.sqlite.writer import Connect, Writer
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener, GroupCommit, Observe


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
) -> Store:
    """Open the store on a database whose schema was checked. The caller holds the database's lock. Raises StoreError.

    :param lock: the lock that the caller holds; on PostgreSQL the store takes it over, and must be given it
    :param connect: SQLite only: opens the writer's connection, instead of :func:`connect_for_writing`
    :param soon: SQLite only: as for :class:`cgos_server.storage.writing.group_commit.GroupCommit`
    :param commit_timeout: seconds for which a failing batch is tried again, and a question of PostgreSQL; the other
        parameters are those of :class:`cgos_server.storage.writing.group_commit.CommitListener`
    """
    listener = CommitListener(
        failed=failed, on_error=on_error, observe=observe, retrying=retrying, checkpointed=checkpointed
    )
    writer: GroupCommit
    if isinstance(location, Path):
        opened = connect or functools.partial(connect_for_writing, location, durability)
        writer = Writer(opened, listener, commit_timeout=commit_timeout, soon=soon)
        await writer.start()
    else:
        # Only where it is configured: its driver is an extra that need not be installed.
        from cgos_server.storage.postgres.writer import open_postgres_writer

        writer = await open_postgres_writer(
            location, listener, durable=durability == "power", commit_timeout=commit_timeout, lock=lock
        )
    return Store(writer, History(location, live=True, patience_s=commit_timeout))
