"""PostgreSQL as one end of a copy: a cursor to read, COPY to write.

Must not know: where the rows come from or go to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table

from cgos_protocol.errors import StoreError
from cgos_server.storage.copy_ends import Errors, Row, errors_of, selection
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import connect, end, faults

if TYPE_CHECKING:
    import asyncpg


class PostgresEnd:
    """As :class:`cgos_server.storage.copy_ends.End`. Reads one moment, however long that takes."""

    def __init__(self, connection: asyncpg.Connection, transaction: Any, errors: Errors) -> None:
        self._connection = connection
        self._transaction = transaction
        self._errors = errors
        self._written: set[Table] = set()

    async def count(self, table: Table) -> int:
        with self._errors():
            return int(await self._connection.fetchval(f"SELECT count(*) FROM {table.name}"))

    async def ask(self, question: str) -> Sequence[Row]:
        with self._errors():
            rows: Sequence[Row] = await self._connection.fetch(question)
            return rows

    async def rows(self, table: Table, at_once: int) -> AsyncIterator[Sequence[Row]]:
        with self._errors():
            cursor = await self._connection.cursor(selection(table, ' COLLATE "C"'))
            while rows := await cursor.fetch(at_once):
                yield rows

    async def clear(self, table: Table) -> None:
        with self._errors():
            await self._connection.execute(f"DELETE FROM {table.name}")

    async def write(self, table: Table, rows: Sequence[Row]) -> None:
        self._written.add(table)
        with self._errors():
            try:
                await self._connection.copy_records_to_table(
                    table.name, records=rows, columns=list(table.columns.keys())
                )
            except (TypeError, ValueError, OverflowError) as error:
                # SQLite puts anything into any column.
                raise StoreError(f"the table {table.name} has a value that is not of its column: {error}") from error

    async def commit(self) -> None:
        with self._errors():
            for table in self._written:
                # Rows that came with a number of their own have not moved the sequence on.
                if table.autoincrement_column is not None:
                    await self._connection.execute(
                        f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name} "
                        "HAVING max(id) IS NOT NULL"
                    )
            await self._transaction.commit()
            await self._connection.execute("ANALYZE")


@asynccontextmanager
async def postgres_end(url: PostgresUrl, writing: bool) -> AsyncIterator[PostgresEnd]:
    """A database in PostgreSQL as one end. Raises StoreError."""
    errors = errors_of(url, writing, *faults())
    connection = await connect(url, "cgos-server db copy", {"statement_timeout": "0"}, answer_s=None)
    try:
        with errors():
            transaction = (
                connection.transaction()
                if writing
                else connection.transaction(isolation="repeatable_read", readonly=True)
            )
            await transaction.start()
            # Rows of a table may come before the rows of the same table that they point at; checked in the end.
            await connection.execute("SET CONSTRAINTS ALL DEFERRED")
        yield PostgresEnd(connection, transaction, errors)
    finally:
        await end(connection)  # what was not committed is undone by that
