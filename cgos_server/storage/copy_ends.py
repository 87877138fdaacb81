"""One end of a copy of a database: what each kind of database must be able to do, and SQLite doing it.

Must not know: where the rows come from or go to.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import String, Table

from cgos_protocol.errors import StoreError
from cgos_server.storage.failures import store_errors
from cgos_server.storage.location import Location
from cgos_server.storage.sqlite.connections import connect_for_reading, connect_for_writing

Row = Sequence[Any]

_VALUES_AT_ONCE = 225
"""In one INSERT: 25 rows of the moves, which are most of a database. One by one they cost a third more."""

Errors = Callable[[], AbstractContextManager[None]]
"""What a database objects to within it is a StoreError."""


class End(Protocol):
    """One of the two databases, open in a transaction. Its errors are StoreErrors."""

    async def count(self, table: Table) -> int: ...

    async def ask(self, question: str) -> Sequence[Row]:
        """All rows of the answer to a statement."""

    def rows(self, table: Table, at_once: int) -> AsyncIterator[Sequence[Row]]:
        """All rows in the order of the primary key, so many at a time."""

    async def clear(self, table: Table) -> None: ...

    async def write(self, table: Table, rows: Sequence[Row]) -> None: ...

    async def commit(self) -> None:
        """Put everything else in order and commit."""


def errors_of(location: Location, writing: bool, *faults: type[Exception]) -> Errors:
    """What a copy says where one of these faults comes from its end."""
    return functools.partial(store_errors, location, f"could not be {'written' if writing else 'read'}", *faults)


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

    def __init__(self, connection: sqlite3.Connection, errors: Errors) -> None:
        self._connection = connection
        self._errors = errors

    async def count(self, table: Table) -> int:
        with self._errors():
            return int(self._connection.execute(f"SELECT count(*) FROM {table.name}").fetchone()[0])

    async def ask(self, question: str) -> Sequence[Row]:
        with self._errors():
            return self._connection.execute(question).fetchall()

    async def rows(self, table: Table, at_once: int) -> AsyncIterator[Sequence[Row]]:
        with self._errors():
            cursor = self._connection.execute(selection(table))
            while rows := cursor.fetchmany(at_once):
                yield rows

    async def clear(self, table: Table) -> None:
        with self._errors():
            self._connection.execute(f"DELETE FROM {table.name}")

    async def write(self, table: Table, rows: Sequence[Row]) -> None:
        width = len(table.columns)
        at_once = max(1, _VALUES_AT_ONCE // width)
        whole = len(rows) - len(rows) % at_once
        values = list(itertools.chain.from_iterable(rows[:whole]))
        step = at_once * width
        with self._errors():
            self._connection.executemany(
                _insert(table, at_once), [values[first : first + step] for first in range(0, len(values), step)]
            )
            self._connection.executemany(_insert(table, 1), rows[whole:])

    async def commit(self) -> None:
        with self._errors():
            wrong = self._connection.execute("PRAGMA foreign_key_check").fetchone()
            if wrong is not None:
                raise StoreError(f"a row of {wrong[0]} points at one of {wrong[2]} that is not there")
            self._connection.execute("COMMIT")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _insert(table: Table, rows: int) -> str:
    one = f"({', '.join('?' * len(table.columns))})"
    return f"INSERT INTO {table.name} ({', '.join(names(table))}) VALUES {', '.join([one] * rows)}"


@asynccontextmanager
async def sqlite_end(path: Path, writing: bool, *, scratch: bool = False) -> AsyncIterator[SqliteEnd]:
    """A SQLite file as one end. Raises StoreError.

    :param scratch: it counts for nothing before it is whole: what was not committed is not undone, and nothing waits
        for the disk
    """
    errors = errors_of(path, writing, sqlite3.Error)
    with contextlib.ExitStack() as stack:
        with errors():
            connect = connect_for_writing if writing else connect_for_reading
            connection = stack.enter_context(contextlib.closing(connect(path)))
            if writing:
                # Rows of a table may come before the rows of the same table that they point at; all is checked in the
                # end.
                connection.execute("PRAGMA foreign_keys = OFF")
            for pragma in ("journal_mode = OFF", "synchronous = OFF") if scratch else ():
                connection.execute(f"PRAGMA {pragma}").fetchall()
            connection.execute("BEGIN IMMEDIATE" if writing else "BEGIN")
        yield SqliteEnd(connection, errors)  # what was not committed is undone when it is closed
