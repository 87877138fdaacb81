"""The one writer on SQLite: a thread commits what the event loop gathered before (see group_commit).

The thread is there because a commit may wait for a disk; one hand-over a batch and as few SQLite steps as possible,
because each step gives up the interpreter's lock to a busy event loop and must win it back.
Must not know: SQL (see statements), sockets, games.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import sqlite3
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.sqlite.checkpoints import Checkpointer
from cgos_server.storage.writing.effects import STATEMENTS, Statement
from cgos_server.storage.writing.group_commit import CommitListener, Group, GroupCommit, Patience, explain

Connect = Callable[[], sqlite3.Connection]
"""Opens the writer's connection in autocommit mode (``isolation_level=None``). All that the writer does to it goes
through its `execute` and `close`, so a test can put a failing disk there."""

ROWS_PER_STATEMENT = 32
"""Records that one INSERT takes at most, each size up to it prepared once. From 8 to 256 the price was the same."""

_INCURABLE = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)
"""What no second try can help: the batch itself is wrong."""


def write(connection: sqlite3.Connection, batch: Sequence[Group]) -> int:
    """Write a batch in one transaction, kind by kind; returns the number of records. Raises sqlite3.Error."""
    kinds: dict[type, list[Sequence[Any]]] = defaultdict(list)
    for group in batch:
        for record in group.records:
            kinds[type(record)].append(record)
    if not STATEMENTS.keys() >= kinds.keys():
        raise sqlite3.ProgrammingError(
            f"no table takes {', '.join(k.__name__ for k in kinds.keys() - STATEMENTS.keys())}"
        )
    # Most batches are moves alone.
    ordered = kinds if len(kinds) == 1 else [kind for kind in STATEMENTS if kind in kinds]
    steps = [step for kind in ordered for step in _steps(STATEMENTS[kind], kinds[kind])]
    if len(steps) == 1:
        # A single statement is a transaction of its own: two steps saved.
        connection.execute(*steps[0])
    elif steps:
        connection.execute("BEGIN IMMEDIATE")
        for sql, parameters in steps:
            connection.execute(sql, parameters)
        connection.execute("COMMIT")
    return sum(map(len, kinds.values()))


def _steps(statement: Statement, rows: list[Sequence[Any]]) -> list[tuple[str, Sequence[Any]]]:
    if not statement.row:
        return [(statement.text, row) for row in rows]
    parts = (rows[at : at + ROWS_PER_STATEMENT] for at in range(0, len(rows), ROWS_PER_STATEMENT))
    return [(statement.many(len(part)), tuple(itertools.chain.from_iterable(part))) for part in parts]


class Writer(GroupCommit):
    """Owns the writing connection and its thread.

    A COMMIT of SQLite that raises has not happened, so a failed batch is tried again as it is, on a new connection.

    :param connect: see `Connect`; called in the thread
    :param sleep: pauses the thread between two tries, seconds; the others are those of :class:`GroupCommit`
    """

    _signal: int | None = None
    """Wakes the loop after a commit: an eventfd, which saves it a turn. None where the system has none."""

    def __init__(
        self,
        connect: Connect,
        listener: CommitListener,
        *,
        commit_timeout: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        soon: Callable[[Callable[[], None]], object] | None = None,
    ) -> None:
        super().__init__(listener, commit_timeout=commit_timeout, clock=clock, soon=soon)
        self._connect = connect
        self._sleep = sleep
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        self._records = 0
        self._batches: SimpleQueue[Sequence[Group] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="cgos-writer", daemon=True)

    # In the event loop

    async def start(self) -> None:
        """Start the thread and open the connection. Raises StoreError."""
        if sys.platform == "linux":
            self._signal = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
            self._loop.add_reader(self._signal, self._signaled, self._signal)
        self._thread.start()
        try:
            await asyncio.shield(self._started)
        except StoreError:
            self._unsignal()
            raise

    def _send(self, batch: Sequence[Group]) -> None:
        self._batches.put(batch)

    async def _release(self) -> None:
        self._batches.put(None)
        if self._hung:
            return  # that thread ends when its disk lets it; until then it does not keep the process alive
        await asyncio.shield(self._stopped)
        self._thread.join()
        self._unsignal()

    def _signaled(self, signal: int) -> None:
        if sys.platform == "linux":
            os.eventfd_read(signal)
            self._committed(self._records)

    def _unsignal(self) -> None:
        signal, self._signal = self._signal, None
        if signal is not None:
            self._loop.remove_reader(signal)
            os.close(signal)

    # In the thread

    def _run(self) -> None:
        try:
            connection = self._connect()
            with contextlib.ExitStack() as refused:
                refused.callback(connection.close)
                # BEGIN IMMEDIATE alone succeeds on a database that can only be read.
                for statement in ("BEGIN IMMEDIATE", "PRAGMA user_version = 1", "ROLLBACK"):
                    connection.execute(statement)
                refused.pop_all()
        except Exception as error:
            failure = StoreError(f"the database could not be opened for writing: {error}")
            failure.__cause__ = error
            self._tell(self._started.set_exception, failure)
            return
        self._tell(self._started.set_result, None)
        try:
            self._work(connection)
        except CommitFailed as failure:
            self._tell(self._give_up, failure)
        except Exception as error:
            # A fault of ours. Without this thread nobody would ever be told of anything again.
            self._tell(self._give_up, CommitFailed(f"the writer stopped: {type(error).__name__}: {error}"))
        finally:
            self._tell(self._stopped.set_result, None)

    def _work(self, connection: sqlite3.Connection) -> None:
        checkpointer = Checkpointer(self._connect, self._has_checkpointed)
        try:
            while (batch := self._batches.get()) is not None:
                connection, records = self._commit(connection, batch)
                self._tell_committed(records)
                checkpointer.written(records, connection)
        finally:
            connection.close()
            checkpointer.close()

    def _commit(self, connection: sqlite3.Connection | None, batch: Sequence[Group]) -> tuple[sqlite3.Connection, int]:
        """Commit, on a new connection after each failure. Raises CommitFailed when time is up or the batch is wrong."""
        patience = Patience(self._clock, self._commit_timeout)
        while True:
            try:
                if connection is None:
                    connection = self._connect()
                records = write(connection, batch)
            except Exception as error:
                self._failing = True
                if connection is not None:
                    _discard(connection, error)
                    connection = None
                pause = patience.pause()
                if pause is None or isinstance(error, _INCURABLE):
                    raise explain(error, batch) from error
                if self._listener.retrying is not None:
                    self._tell(self._listener.retrying, error)
                self._sleep(pause)
            else:
                self._failing = False
                return connection, records

    def _tell_committed(self, records: int) -> None:
        if sys.platform == "linux" and self._signal is not None:
            self._records = records  # the next batch comes only after the loop has taken this
            os.eventfd_write(self._signal, 1)
        else:
            self._tell(self._committed, records)

    def _has_checkpointed(self, failure: StoreError | None) -> None:
        if self._listener.checkpointed is not None:
            self._tell(self._listener.checkpointed, failure)

    def _tell(self, call: Callable[..., object], *arguments: Any) -> None:
        # A loop that was closed before the store has nobody left to tell; what was committed is in the database.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *arguments)


def _discard(connection: sqlite3.Connection, error: Exception) -> None:
    try:
        connection.close()
    except Exception as another:
        error.add_note(f"closing the connection failed too: {another}")
