"""How questions are put to a SQLite file beside an event loop: one hand-over to a thread a question, and nothing else.

A page asks dozens of small questions, most of which are answered faster than a hand-over takes; SQLAlchemy's asyncio
engine takes several of them a question. Statements are made and compiled by SQLAlchemy all the same. Must not know:
tables, questions.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from sqlalchemy import Connection, Engine, Executable, RowMapping

MOST: Final = 4
"""Connections, and threads that use them; whoever wants one more waits."""


class SqliteConnection:
    """One connection, in use by one task at a time."""

    def __init__(self, threads: ThreadPoolExecutor, opened: Connection) -> None:
        self._threads = threads
        self._connection = opened
        self.raw: sqlite3.Connection = _raw(opened)
        self._asked: Future[Sequence[RowMapping]] | None = None

    async def ask(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[RowMapping]:
        """All rows of a statement with these values of its parameters. Raises SQLAlchemyError."""
        self._asked = self._threads.submit(self._rows, statement, values)
        return await asyncio.wrap_future(self._asked)

    def _rows(self, statement: Executable, values: Mapping[str, Any]) -> Sequence[RowMapping]:
        return self._connection.execute(statement, values).mappings().all()

    def begin(self) -> None:
        """From now on one moment of the database is seen: that of the first question."""
        self.raw.execute("BEGIN")

    def end(self) -> bool:
        """The moment is over; no lock is held any longer. False where the connection must be closed instead: whoever
        asked went away before the answer, or SQLite objects."""
        if self._asked is not None and not self._asked.done():
            return False
        self._asked = None
        try:
            self.raw.rollback()
        except sqlite3.Error:
            return False
        return True

    def close(self) -> None:
        """Close it; a question that is still being answered is broken off first."""
        if self._asked is not None and not self._asked.done():
            self.raw.interrupt()
            self._asked.add_done_callback(lambda _answer: _close(self._connection))
        else:
            _close(self._connection)


class SqliteReaders:
    """Connections to one file, opened as they are needed and kept.

    :ivar sync_engine: opens them
    """

    def __init__(self, engine: Engine) -> None:
        self.sync_engine = engine
        self._threads = ThreadPoolExecutor(MOST, "reading")
        self._room = asyncio.Semaphore(MOST)
        self._idle: list[SqliteConnection] = []

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[SqliteConnection]:
        """A connection that sees one moment. Raises SQLAlchemyError."""
        async with self._room:
            connection = self._idle.pop() if self._idle else await self._open()
            try:
                connection.begin()
                yield connection
            finally:
                if connection.end():
                    self._idle.append(connection)
                else:
                    connection.close()

    async def _open(self) -> SqliteConnection:
        opening = self._threads.submit(self.sync_engine.connect)
        try:
            return SqliteConnection(self._threads, await asyncio.wrap_future(opening))
        except asyncio.CancelledError:
            opening.add_done_callback(_close_if_opened)
            raise

    async def dispose(self) -> None:
        """Close all connections. Nobody asks any more."""
        while self._idle:
            self._idle.pop().close()
        self._threads.shutdown()


def _raw(connection: Connection) -> sqlite3.Connection:
    raw = connection.connection.dbapi_connection
    assert isinstance(raw, sqlite3.Connection)
    return raw


def _close_if_opened(opening: Future[Connection]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        _close(opening.result())


def _close(connection: Connection) -> None:
    with suppress(sqlite3.Error):
        connection.close()
