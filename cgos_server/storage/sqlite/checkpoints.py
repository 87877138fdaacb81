"""Moves the write-ahead log into the database beside the writer, so that no commit waits for that much disk.

SQLite lets one connection do this while another one commits. Must not know: what is written, or when.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from queue import SimpleQueue

from cgos_protocol.errors import StoreError

ROWS_PER_CHECKPOINT = 1_000
"""Records after which the log is moved; each one adds a page to it, or less."""

LONGEST_LOG = 16_000
"""Pages (64 MB). The log starts again from its beginning only when all of it was moved and nobody reads it, and under a
steady stream of commits and readers there is always somebody; beyond this the writer itself, between two commits, moves
the rest and waits for the readers of the moment."""

LONGEST_WAIT_MS = 50
"""Time for which the writer waits for readers; those that come meanwhile do not count."""

PATIENCE = 2_000
"""Pages after which the writer tries again where a reader took longer than that. Where so many could not be moved, a
backup or another long reader holds them: the log grows until it ends, and the writer does not wait for it in vain."""


class Checkpointer:
    """A thread with a connection of its own, opened when it is first needed. Called by the writer's thread.

    :param connect: opens the connection
    :param report: called with a StoreError where a checkpoint failed; nothing is lost by that, and the next one
        follows. Called with None after the first one that does not fail any more
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], report: Callable[[StoreError | None], None]) -> None:
        self._connect = connect
        self._report = report
        self._unmoved = 0
        self._pages = 0
        self._held = 0
        self._more = 0
        self._at_work = False
        self._failing = False
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="cgos-checkpoints", daemon=True)
        self._thread.start()

    def written(self, records: int, connection: sqlite3.Connection) -> None:
        """So many records were committed on the writer's `connection`."""
        self._unmoved += records
        if self._unmoved < ROWS_PER_CHECKPOINT or self._at_work:
            return
        self._unmoved = 0
        if self._pages > LONGEST_LOG + self._more and self._held < PATIENCE:
            self._restart(connection)
        else:
            self._at_work = True
            self._asked.put(True)

    def close(self) -> None:
        """Finish what is under way and end the thread."""
        self._asked.put(False)
        self._thread.join()

    def _run(self) -> None:
        connection: sqlite3.Connection | None = None
        while self._asked.get():
            try:
                connection = connection or self._connect()
                # Passive: moves what it can and waits for nobody, neither the writer nor a reader.
                _busy, self._pages, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self._held = self._pages - moved
            except Exception as error:
                self._failed(error)
            else:
                self._worked()
            self._at_work = False
        if connection is not None:
            connection.close()

    def _restart(self, connection: sqlite3.Connection) -> None:
        try:
            ((usual,),) = connection.execute("PRAGMA busy_timeout").fetchall()
            connection.execute(f"PRAGMA busy_timeout = {LONGEST_WAIT_MS}").fetchall()
            try:
                busy, pages, _moved = connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            finally:
                connection.execute(f"PRAGMA busy_timeout = {usual}").fetchall()
        except sqlite3.Error as error:
            self._failed(error)
            return
        self._worked()
        self._pages = pages if busy else 0
        self._more = pages - LONGEST_LOG + PATIENCE if busy else 0

    def _worked(self) -> None:
        if self._failing:
            self._failing = False
            self._report(None)

    def _failed(self, error: Exception) -> None:
        failure = StoreError(f"the write-ahead log could not be moved into the database: {error}")
        failure.__cause__ = error
        self._failing = True
        self._report(failure)
