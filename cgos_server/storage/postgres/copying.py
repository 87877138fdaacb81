"""PostgreSQL as one end of a copy: a cursor to read, COPY to write.

Must not know: where the rows come from or go to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from sqlalchemy import Table

from cgos_protocol.errors import StoreError
from cgos_server.storage import tables
from cgos_server.storage.copy_ends import Row, selection
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import connect, driver, end

if TYPE_CHECKING:
    import asyncpg


class PostgresEnd:
    """As :class:`cgos_server.storage.copy_ends.End`. Reads one moment, however long that takes."""

    def __init__(self, url: PostgresUrl, writing: bool) -> None:
        self._url = url
        self._writing = writing
        self._connection: asyncpg.Connection | None = None
        self._transaction: Any = None

    async def __aenter__(self) -> PostgresEnd:
        connection = await connect(self._url, "cgos-server db copy", {"statement_timeout": "0"}, answer_s=None)
        self._connection = connection
        with self._errors():
            self._transaction = (
                connection.transaction()
                if self._writing
                else connection.transaction(isolation="repeatable_read", readonly=True)
            )
            await self._transaction.start()
            # Rows of a table may come before the rows of the same table that they point at; checked in the end.
            await connection.execute("SET CONSTRAINTS ALL DEFERRED")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._connection is not None:
            await end(self._connection)  # what was not committed is undone by that

    async def count(self, table: Table) -> int:
        with self._errors():
            return int(await self._there.fetchval(f"SELECT count(*) FROM {table.name}"))

    async def rows(self, table: Table, at_once: int) -> AsyncIterator[Sequence[Row]]:
        with self._errors():
            cursor = await self._there.cursor(selection(table, ' COLLATE "C"'))
            while rows := await cursor.fetch(at_once):
                yield rows

    async def clear(self, table: Table) -> None:
        with self._errors():
            await self._there.execute(f"DELETE FROM {table.name}")

    async def write(self, table: Table, rows: Sequence[Row]) -> None:
        with self._errors():
            try:
                await self._there.copy_records_to_table(table.name, records=rows, columns=list(table.columns.keys()))
            except (TypeError, ValueError, OverflowError) as error:
                # SQLite puts anything into any column.
                raise StoreError(f"the table {table.name} has a value that is not of its column: {error}") from error

    async def commit(self) -> None:
        with self._errors():
            for table in tables.metadata.sorted_tables:
                # Rows that came with a number of their own have not moved the sequence on.
                if table.autoincrement_column is not None:
                    await self._there.execute(
                        f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name} "
                        "HAVING max(id) IS NOT NULL"
                    )
            await self._transaction.commit()
            await self._there.execute("ANALYZE")

    @property
    def _there(self) -> Any:
        assert self._connection is not None
        return self._connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        pg = driver()
        try:
            yield
        except (OSError, TimeoutError, pg.PostgresError, pg.InterfaceError) as error:
            done = "written" if self._writing else "read"
            raise StoreError(f"the database {self._url} could not be {done}: {error}") from error
