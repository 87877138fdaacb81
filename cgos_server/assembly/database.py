"""Opens the database that the configuration names: its directory, its lock, its schema, the one writer.

Decides what the log says while commits or checkpoints fail. Must not know: what is in the database.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import structlog

from cgos_protocol.errors import Code, CommitFailed, Invalid, StoreError
from cgos_server.assembly.faults import remedy_of, report
from cgos_server.config.schema import ServerConfig
from cgos_server.live.processes.outages import Outage
from cgos_server.net.loop import Timekeeper
from cgos_server.observability.metrics import CommitMeter
from cgos_server.storage import schema
from cgos_server.storage.location import make_directory, note_elsewhere, others_may_look
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.node import Node
from cgos_server.storage.opening import open_store
from cgos_server.storage.store import Store
from cgos_server.storage.writing.group_commit import CommitListener

log = structlog.get_logger(__name__)

LOCK_PATIENCE_S: Final = 3.0
"""How long the session of a server that was just killed may keep the lock of a database in PostgreSQL."""


async def open_database(
    stack: AsyncExitStack,
    config: ServerConfig,
    *,
    time: Timekeeper,
    meter: CommitMeter,
    soon: Callable[[Callable[[], None]], object],
    failed: Callable[[CommitFailed], None],
    node: Node | None = None,
) -> Store:
    """Lock it, bring an empty one to this program's schema, and open the store; `stack` closes it again.

    :param soon: as for :class:`cgos_server.storage.writing.group_commit.GroupCommit`
    :param failed: told that commits failed for too long
    :param node: which node of a cluster this is; None where this process is alone
    :raises Refused: where directory, lock or schema cannot be used
    :raises StoreError: where the database does not answer
    """
    lock = _locked(stack, config, node)
    await asyncio.to_thread(schema.prepare, config.location)
    if config.database is not None:
        note_elsewhere(config.data, config.database)
    commits = Outage(time, "commits fail and are tried again; nobody is told of a move meanwhile", "commits return")
    checkpoints = Outage(
        time,
        "the write-ahead log cannot be moved into the database, and grows; nothing is lost",
        "the write-ahead log is moved into the database",
    )

    def committed(records: int, seconds: float) -> None:
        meter.committed(records, int(seconds * 1e6))
        commits.worked()

    def retrying(error: Exception) -> None:
        meter.failures += 1
        commits.failed(error, remedy_of(error))

    def checkpointed(failure: StoreError | None) -> None:
        if failure is None:
            checkpoints.worked()
        else:
            checkpoints.failed(failure, remedy_of(failure))

    store = await open_store(
        config.location,
        CommitListener(failed=failed, on_error=report, observe=committed, retrying=retrying, checkpointed=checkpointed),
        lock=lock,
        durability=config.durability,
        commit_timeout=config.commit_timeout_s,
        soon=soon,
    )
    stack.push_async_callback(store.close)
    return store


def make_data(data: Path) -> None:
    """The data directory, where there is none. Raises Refused where it cannot be had."""
    with _usable(data):
        make_directory(data)


@contextlib.contextmanager
def _usable(data: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Invalid(
            Code.DATA, f"The data directory {data} cannot be used: {error.strerror}. Mend that, or name another one."
        ) from error


def _locked(stack: AsyncExitStack, config: ServerConfig, node: Node | None) -> DatabaseLock:
    """The database's lock, its directory made where there is none."""
    data = config.data
    with _usable(data):
        make_directory(data)
        lock = stack.enter_context(DatabaseLock(config.location, "cgos-server serve", LOCK_PATIENCE_S, node=node))
    if others_may_look(data):
        log.warning(
            "other users of this machine can look into the data directory; if none of them has to: chmod 700",
            data=str(data),
        )
    return lock
