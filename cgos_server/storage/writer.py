"""The one writer: groups of records gather in the event loop while a thread commits the ones before them.

No timer: what has gathered is handed over at once, one batch at a time, and the commit's own time makes the next
batch. The thread is there because a commit may wait for a disk; one hand-over a batch and as few SQLite steps as
possible, because each step gives up the interpreter's lock to a busy event loop and must win it back.
Must not know: SQL (see statements), sockets, games.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from cgos_server.errors import CommitFailed, StoreError
from cgos_server.storage.checkpoints import Checkpointer
from cgos_server.storage.records import Record
from cgos_server.storage.statements import STATEMENTS, Statement

Connect = Callable[[], sqlite3.Connection]
"""Opens the writer's connection in autocommit mode (``isolation_level=None``). All that the writer does to it goes
through its `execute` and `close`, so a test can put a failing disk there."""

Observe = Callable[[int, float], None]
"""Told of every commit: number of records, and seconds from hand-over until the loop knew."""

ROWS_PER_STATEMENT = 32
"""Records that one INSERT takes at most, each size up to it prepared once. From 8 to 256 the price was the same."""

_INCURABLE = (sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError)
"""What no second try can help: the batch itself is wrong."""

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 1.0
_OVERDUE = 1.0
_HUNG = 2.0
"""Seconds beyond the commit timeout after which a commit that neither returns nor fails is given up."""


class Group(NamedTuple):
    """Records that are committed together or not at all, and whom to call after that."""

    records: Sequence[Record]
    then: Callable[[], None] | None


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
    steps = [step for kind, statement in STATEMENTS.items() if kind in kinds for step in _steps(statement, kinds[kind])]
    if len(steps) == 1:
        # A single statement is a transaction of its own: two steps saved, and most batches are moves alone.
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


class Writer:
    """Owns the writing connection and its thread. All methods are called in the event loop.

    Nothing limits what gathers, because the senders limit themselves: a bot has one move in flight and hears nothing
    until it is committed. `pending` shows the backlog.

    A COMMIT of SQLite that raises has not happened, so a failed batch is tried again as it is, on a new connection.

    :param connect: see `Connect`; called in the thread
    :param failed: called once, in the loop, when a batch could not be committed; nobody is told of it or a later one
    :param on_error: called in the loop with what a `then` or `observe` raised, and with failed checkpoints
    :param commit_timeout: seconds for which a failing batch is tried again
    :param observe: see `Observe`
    :param retrying: called in the loop with the error of an attempt that failed and is made again
    :param clock: seconds, monotonic
    :param sleep: pauses the thread between two tries, seconds
    """

    def __init__(
        self,
        connect: Connect,
        *,
        failed: Callable[[CommitFailed], None],
        on_error: Callable[[Exception], None],
        commit_timeout: float = 10.0,
        observe: Observe | None = None,
        retrying: Callable[[Exception], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connect = connect
        self._failed = failed
        self._on_error = on_error
        self._commit_timeout = commit_timeout
        self._observe = observe
        self._retrying = retrying
        self._clock = clock
        self._sleep = sleep
        self._loop = asyncio.get_running_loop()
        self._gathered: list[Group] = []
        self._in_flight: list[Group] = []
        self._handed_over: float | None = None
        self._watch: asyncio.TimerHandle | None = None
        self._hung = False
        self._busy = False
        self._failing = False
        self._failure: CommitFailed | None = None
        self._closed = False
        self._waiters: set[asyncio.Future[None]] = set()
        self._quiet = asyncio.Event()
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._stopped: asyncio.Future[None] = self._loop.create_future()
        self._batches: SimpleQueue[list[Group] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="cgos-writer", daemon=True)

    # In the event loop

    async def start(self) -> None:
        """Start the thread and open the connection. Raises StoreError."""
        self._thread.start()
        await asyncio.shield(self._started)

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        """See :meth:`cgos_server.storage.store.Store.submit`."""
        if self._closed or self._failure:
            if self._failure is None:
                self._on_error(StoreError(f"{len(records)} records came after the store was closed and are lost"))
            return
        self._gathered.append(Group(records, then))
        if not self._busy:
            # Not now but when this turn of the loop is over, so that all its moves share the commit.
            self._busy = True
            self._loop.call_soon(self._hand_over)

    async def commit(self, records: Sequence[Record]) -> None:
        """See :meth:`cgos_server.storage.store.Store.commit`. Raises CommitFailed; StoreError once it is closed."""
        if self._failure:
            raise CommitFailed(str(self._failure))
        if self._closed:
            raise StoreError("the store is closed")
        waiter: asyncio.Future[None] = self._loop.create_future()
        self._waiters.add(waiter)
        try:
            self.submit(records, functools.partial(_settle, waiter))
            await waiter
        finally:
            self._waiters.discard(waiter)

    @property
    def healthy(self) -> bool:
        """False while commits are failing or one has not returned for longer than a second."""
        if self._failing or self._failure:
            return False
        return self._handed_over is None or self._clock() - self._handed_over <= _OVERDUE

    @property
    def pending(self) -> int:
        """Groups that are not committed yet."""
        return len(self._in_flight) + len(self._gathered)

    async def drain(self) -> None:
        """Wait until everything that was submitted is committed, or has failed."""
        while self._busy and not self._failure:
            self._quiet.clear()
            await self._quiet.wait()

    async def close(self) -> None:
        """Commit everything that was submitted, then close the connection."""
        await self.drain()
        self._closed = True
        if self._watch is not None:
            self._watch.cancel()
        self._batches.put(None)
        if self._hung:
            return  # that thread ends when its disk lets it; until then it does not keep the process alive
        await asyncio.shield(self._stopped)
        self._thread.join()

    def _hand_over(self) -> None:
        self._in_flight, self._gathered = self._gathered, []
        self._handed_over = self._clock()
        self._batches.put(self._in_flight)
        if self._watch is None:
            self._watch = self._loop.call_later(self._commit_timeout + _HUNG, self._look_for_a_hang)

    def _look_for_a_hang(self) -> None:
        """A disk may also neither take a commit nor refuse it. One timer for many batches, set anew when early."""
        self._watch = None
        if self._handed_over is None or self._failure:
            return
        left = self._commit_timeout + _HUNG - (self._clock() - self._handed_over)
        if left > 0:
            self._watch = self._loop.call_later(left, self._look_for_a_hang)
            return
        self._hung = True
        self._give_up(CommitFailed(f"a commit has not returned within {self._commit_timeout + _HUNG:g} seconds"))

    def _committed(self, records: int) -> None:
        if self._failure:
            return  # given up already: nobody is told
        batch = self._in_flight
        seconds = self._clock() - (self._handed_over or 0.0)
        if self._gathered:
            self._hand_over()
        else:
            self._in_flight = []
            self._handed_over = None
            self._busy = False
        for _, then in batch:
            if then is not None:
                self._guard(then)
        if self._observe is not None:
            self._guard(self._observe, records, seconds)
        if not self._busy:
            self._quiet.set()

    def _guard(self, call: Callable[..., None], *arguments: Any) -> None:
        # A mistake in one group's continuation must not keep the others from hearing of their commit.
        try:
            call(*arguments)
        except Exception as error:
            self._on_error(error)

    def _give_up(self, failure: CommitFailed) -> None:
        if self._failure:
            return
        self._failure = failure
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_exception(CommitFailed(str(failure)))
        self._quiet.set()
        self._failed(failure)

    # In the thread

    def _run(self) -> None:
        try:
            connection = self._connect()
        except Exception as error:
            failure = StoreError(f"the database could not be opened for writing: {error}")
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
        checkpointer = Checkpointer(self._connect, functools.partial(self._tell, self._on_error))
        try:
            while (batch := self._batches.get()) is not None:
                connection, records = self._commit(connection, batch)
                self._tell(self._committed, records)
                checkpointer.written(records, connection)
        finally:
            connection.close()
            checkpointer.close()

    def _commit(self, connection: sqlite3.Connection | None, batch: Sequence[Group]) -> tuple[sqlite3.Connection, int]:
        """Commit, on a new connection after each failure. Raises CommitFailed when time is up or the batch is wrong."""
        give_up_at = self._clock() + self._commit_timeout
        pause = _FIRST_PAUSE
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
                left = give_up_at - self._clock()
                if left <= 0 or isinstance(error, _INCURABLE):
                    raise _explain(error, batch) from error
                if self._retrying is not None:
                    self._tell(self._retrying, error)
                self._sleep(min(pause, left))
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._failing = False
                return connection, records

    def _tell(self, call: Callable[..., object], *arguments: Any) -> None:
        # A loop that was closed before the store has nobody left to tell; what was committed is in the database.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call, *arguments)


def _settle(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


def _discard(connection: sqlite3.Connection, error: Exception) -> None:
    try:
        connection.close()
    except Exception as another:
        error.add_note(f"closing the connection failed too: {another}")


def _explain(error: Exception, batch: Sequence[Group]) -> CommitFailed:
    records = sum(len(group.records) for group in batch)
    return CommitFailed(
        f"the database could not take {records} records ({type(error).__name__}: {error}); nobody was told of them, "
        "and everything that was told is stored. Mend the disk or the fault, then start the server again"
    )
