"""One end of a copy of a database: what each kind of database must be able to do, and SQLite doing it.

Must not know: where the rows come from or go to.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

from sqlalchemy import String, Table

from cgos_protocol.errors import StoreError
from cgos_server.storage.sqlite.connections import connect_for_reading, connect_for_writing

Row = Sequence[Any]


class End(Protocol):
    """One of the two databases, open in a transaction. Its errors are StoreErrors."""

    async def __aenter__(self) -> End: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    async def count(self, table: Table) -> int: ...

    def rows(self, table: Table, at_once: int) -> AsyncIterator[Sequence[Row]]:
        """All rows in the order of the primary key, so many at a time."""

    async def clear(self, table: Table) -> None: ...

    async def write(self, table: Table, rows: Sequence[Row]) -> None: ...

    async def commit(self) -> None:
        """Put everything else in order and commit."""


def names(table: Table) -> list[str]:
    """The table's columns, quoted."""
    return [f'"{column.name}"' for column in table.columns]


def selection(table: Table, collation: str = "") -> str:
    """All rows in the order of the primary key, with text compared by bytes."""
    order = [
        f'"{column.name}"' + (collation if isinstance(column.type, String) else "")
        for column in table.primary_key.columns
    ]
    return f"SELECT {', '.join(names(table))} FROM {table.name} ORDER BY {', '.join(order)}"


class SqliteEnd:
    """A SQLite file, read and written where it is called: nothing else runs meanwhile."""

    def __init__(self, path: Path, writing: bool) -> None:
        self._path = path
        self._writing = writing
        self._connection: sqlite3.Connection | None = None

    async def __aenter__(self) -> SqliteEnd:
        try:
            self._connection = (connect_for_writing if self._writing else connect_for_reading)(self._path)
        except sqlite3.Error as error:
            raise self._failed(error) from error
        if self._writing:
            # Rows of a table may come before the rows of the same table that they point at; all is checked in the end.
            self._execute("PRAGMA foreign_keys = OFF")
        self._execute("BEGIN IMMEDIATE" if self._writing else "BEGIN")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            self._connection.close()  # what was not committed is undone by that

    async def count(self, table: Table) -> int:
        return int(self._execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])

    async def rows(self, table: Table, at_once: int) -> AsyncIterator[Sequence[Row]]:
        cursor = self._execute(selection(table))
        try:
            while rows := cursor.fetchmany(at_once):
                yield rows
        except sqlite3.Error as error:
            raise self._failed(error) from error

    async def clear(self, table: Table) -> None:
        self._execute(f"DELETE FROM {table.name}")

    async def write(self, table: Table, rows: Sequence[Row]) -> None:
        places = ", ".join("?" * len(table.columns))
        sql = f"INSERT INTO {table.name} ({', '.join(names(table))}) VALUES ({places})"
        assert self._connection is not None
        try:
            self._connection.executemany(sql, rows)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    async def commit(self) -> None:
        wrong = self._execute("PRAGMA foreign_key_check").fetchone()
        if wrong is not None:
            raise StoreError(f"a row of {wrong[0]} points at one of {wrong[2]} that is not there")
        self._execute("COMMIT")
        self._execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _execute(self, sql: str) -> sqlite3.Cursor:
        assert self._connection is not None
        try:
            return self._connection.execute(sql)
        except sqlite3.Error as error:
            raise self._failed(error) from error

    def _failed(self, error: sqlite3.Error) -> StoreError:
        return StoreError(f"the database {self._path} could not be {'written' if self._writing else 'read'}: {error}")
