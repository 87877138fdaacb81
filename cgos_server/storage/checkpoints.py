"""Moves the write-ahead log into the database beside the writer, so that no commit waits for that much disk.

SQLite lets one connection do this while another one commits. Must not know: what is written, or when.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from queue import SimpleQueue

from cgos_server.errors import StoreError

ROWS_PER_CHECKPOINT = 1_000
"""Records after which the log is moved; each one adds a page to it, or less."""

LONGEST_LOG = 16_000
"""Pages (64 MB). The log starts again from its beginning only when all of it was moved, and under a steady stream of
commits there is always a little more; beyond this the writer moves the rest itself, between two commits."""


class Checkpointer:
    """A thread with a connection of its own, opened when it is first needed. Called by the writer's thread.

    :param connect: opens the connection
    :param report: called with a StoreError where a checkpoint failed; nothing is lost by that, and the next one follows
    """

    def __init__(self, connect: Callable[[], sqlite3.Connection], report: Callable[[Exception], None]) -> None:
        self._connect = connect
        self._report = report
        self._unmoved = 0
        self._pages = 0
        self._at_work = False
        self._asked: SimpleQueue[bool] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="cgos-checkpoints", daemon=True)
        self._thread.start()

    def written(self, records: int, connection: sqlite3.Connection) -> None:
        """So many records were committed on the writer's `connection`."""
        self._unmoved += records
        if self._unmoved < ROWS_PER_CHECKPOINT or self._at_work:
            return
        self._unmoved = 0
        if self._pages > LONGEST_LOG:
            self._move(connection)
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
            except Exception as error:
                self._failed(error)
            else:
                self._move(connection)
            self._at_work = False
        if connection is not None:
            connection.close()

    def _move(self, connection: sqlite3.Connection) -> None:
        # Passive: moves what it can and waits for nobody, neither the writer nor a reader.
        try:
            _busy, self._pages, _moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            self._failed(error)

    def _failed(self, error: Exception) -> None:
        self._report(StoreError(f"the write-ahead log could not be moved into the database: {error}"))
