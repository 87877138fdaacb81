"""aiosqlite with one hand-over to its thread a question, where its own cursors take four.

A page asks dozens of small questions, and a hand-over costs more than most of them. Must not know: tables, questions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

import aiosqlite


class OneHopConnection(aiosqlite.Connection):
    """A connection whose cursors fetch all rows as they execute; for reading, by SQLAlchemy."""

    def cursor(self) -> _Cursor:  # type: ignore[override]
        """A cursor, without asking the thread for one."""
        return _Cursor(self)

    async def fetched(self, sql: str, parameters: Sequence[Any]) -> tuple[Any, list[Any]]:
        """Description and rows of a statement."""
        found: tuple[Any, list[Any]] = await self._execute(_fetched, self._conn, sql, parameters)  # type: ignore[no-untyped-call]
        return found


class _Cursor:
    """As much of a cursor as SQLAlchemy's adapter uses."""

    arraysize = 1
    lastrowid = None
    rowcount = -1

    def __init__(self, connection: OneHopConnection) -> None:
        self.description: Any = None
        self._connection = connection
        self._rows: list[Any] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Self:
        self.description, self._rows = await self._connection.fetched(sql, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        return self._rows

    async def close(self) -> None:
        """Nothing is held."""


def _fetched(connection: sqlite3.Connection, sql: str, parameters: Sequence[Any]) -> tuple[Any, list[Any]]:
    cursor = connection.execute(sql, parameters)
    try:
        return cursor.description, cursor.fetchall()
    finally:
        cursor.close()


async def connect(opened: Callable[[], sqlite3.Connection]) -> OneHopConnection:
    """A connection that `opened` opens in its thread. Raises sqlite3.Error."""
    connection = OneHopConnection(opened, iter_chunk_size=64)
    await connection
    return connection
