"""Moves everything from one database to another, of either kind, and proves that it arrived.

Tables go in the order of their foreign keys, rows in the order of their primary keys, all in one transaction of the
target: it has everything in the end, or nothing. Then the target is read again; both sides must have the same number
of rows and the same SHA-256 over the rows in one encoding (MessagePack of the values). What only one of the two
databases can hold, the character NUL and a zero below zero, becomes U+FFFD and zero on the way, and counts as that.
Must not know: what the tables hold.
"""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import msgspec
from sqlalchemy import String, Table

from cgos_server.errors import Code, Invalid, StoreError
from cgos_server.storage import DATABASE, schema, tables
from cgos_server.storage.connections import connect_for_reading, connect_for_writing
from cgos_server.storage.location import Location, note_elsewhere
from cgos_server.storage.lock import DatabaseLock

ROWS_AT_ONCE = 5_000

Row = Sequence[Any]
Progress = Callable[[str, int, int], None]
"""Told how far it is: what is being done, steps done, steps in all."""

_PURPOSE = "cgos-server db copy"


class Copied(NamedTuple):
    """One table. `sha256` in hexadecimal digits."""

    table: str
    rows: int
    sha256: str


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


def copy(source: Location, target: Location, progress: Progress) -> list[Copied]:
    """Copy a database to an empty one and compare. No server may run on either. Not to be called in an event loop.

    :raises Refused: where the source is no database of this program's schema, or the target is not empty
    :raises DatabaseLocked: where one of them is in use
    :raises StoreError: where one of them fails, or they are not the same in the end; the target is empty then
    """
    if source == target:
        raise Invalid(Code.SAME_DATABASE, f"{source} cannot be copied to itself.")
    schema.check(source)
    with DatabaseLock(source, _PURPOSE), DatabaseLock(target, _PURPOSE):
        schema.check(source)
        schema.prepare(target, even_elsewhere=True)
        copied = asyncio.run(_copy(source, target, progress))
        if isinstance(target, Path) and target.name == DATABASE:
            note_elsewhere(target.parent, None)
    return copied


async def _copy(source: Location, target: Location, progress: Progress) -> list[Copied]:
    every = tables.metadata.sorted_tables
    async with AsyncExitStack() as stack:
        from_end = await stack.enter_async_context(_open(source, writing=False))
        to_end = await stack.enter_async_context(_open(target, writing=True))
        for table in every:
            if table is not tables.server and await to_end.count(table):
                raise Invalid(
                    Code.NOT_EMPTY,
                    f"{target} is not empty: its table {table.name} has rows. Give an empty database; nothing was "
                    "changed.",
                )
        await to_end.clear(tables.server)
        total = 2 * sum([await from_end.count(table) for table in every])
        done = 0
        sent = []
        for table in every:
            account = _Account(table)
            async for rows in from_end.rows(table, ROWS_AT_ONCE):
                clean = account.add(rows)
                await to_end.write(table, clean)
                done += len(rows)
                progress(f"copying {table.name}", done, total)
            sent.append(account.closed())
        for table, there in zip(every, sent, strict=True):
            account = _Account(table)
            async for rows in to_end.rows(table, ROWS_AT_ONCE):
                account.add(rows)
                done += len(rows)
                progress(f"comparing {table.name}", done, total)
            if account.closed() != there:
                raise StoreError(
                    f"the copy of the table {table.name} is not what was sent ({account.closed().rows} rows for "
                    f"{there.rows}, or other values); {target} was left empty"
                )
        await to_end.commit()
        return sent


def fingerprint(location: Location) -> list[Copied]:
    """How many rows each table of a database has, and their hash. Not to be called in an event loop."""
    return asyncio.run(_fingerprint(location))


async def _fingerprint(location: Location) -> list[Copied]:
    found = []
    async with _open(location, writing=False) as end:
        for table in tables.metadata.sorted_tables:
            account = _Account(table)
            async for rows in end.rows(table, ROWS_AT_ONCE):
                account.add(rows)
            found.append(account.closed())
    return found


class _Account:
    """Counts and hashes the rows of a table."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._encoder = msgspec.msgpack.Encoder()
        self._hash = hashlib.sha256()
        self._rows = 0

    def add(self, rows: Sequence[Row]) -> Sequence[Row]:
        """The rows as they are to be written."""
        clean = [tuple(map(_storable, row)) for row in rows]
        for row in clean:
            self._hash.update(self._encoder.encode(row))
        self._rows += len(clean)
        return clean

    def closed(self) -> Copied:
        return Copied(str(self._table.name), self._rows, self._hash.hexdigest())


def _storable(value: Any) -> Any:
    """`value`, or what takes its place where one of the two databases cannot hold it."""
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in value else value
    return value + 0.0 if isinstance(value, float) else value


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


def _open(location: Location, writing: bool) -> End:
    if isinstance(location, Path):
        return _SqliteEnd(location, writing)
    from cgos_server.storage.postgres.copying import PostgresEnd

    return PostgresEnd(location, writing)


class _SqliteEnd:
    """A SQLite file, read and written where it is called: nothing else runs meanwhile."""

    def __init__(self, path: Path, writing: bool) -> None:
        self._path = path
        self._writing = writing
        self._connection: sqlite3.Connection | None = None

    async def __aenter__(self) -> _SqliteEnd:
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
