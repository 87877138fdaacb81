"""Moves everything from one database to another, of either kind, and proves that it arrived.

Tables go in the order of their foreign keys, rows in the order of their primary keys, all in one transaction of the
target: it has everything in the end, or nothing. Then the target is read again; both sides must have the same number
of rows and the same SHA-256 over the rows in one encoding (MessagePack of the values). What only one of the two
databases can hold, the character NUL and a zero below zero, becomes U+FFFD and zero on the way, and counts as that.
After the comparison the copy gets an incarnation of its own. Must not know: what the tables hold.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Table

from cgos_protocol.errors import Code, Invalid, StoreError
from cgos_server.storage import DATABASE, schema, tables
from cgos_server.storage.copy_ends import End, Row, sqlite_end
from cgos_server.storage.incarnation import begin_incarnation
from cgos_server.storage.location import Location, note_elsewhere
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.parameters import without_nul

ROWS_AT_ONCE = 5_000

Progress = Callable[[str, int, int], None]
"""Told how far it is: what is being done, steps done, steps in all."""

Begin = Callable[[End], Awaitable[None]]
"""Changes a copy after the comparison, in the same transaction. Raises StoreError."""

_PURPOSE = "cgos-server db copy"


class Copied(NamedTuple):
    """One table. `sha256` in hexadecimal digits."""

    table: str
    rows: int
    sha256: str


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
        every = tables.metadata.sorted_tables
        begin = partial(begin_incarnation, every=every, highest=0, renumber=False)
        copied = move(source, target, every, progress, begin=begin)
        if isinstance(target, Path) and target.name == DATABASE:
            note_elsewhere(target.parent, None)
    return copied


def move(
    source: Location, target: Location, every: Sequence[Table], progress: Progress, *, begin: Begin
) -> list[Copied]:
    """As :func:`copy`, where the target has its tables and whoever calls sees to it that nobody writes to either.

    :param every: the tables, each behind those that it points at
    :param begin: makes the copy another incarnation
    """
    return asyncio.run(_copy(source, target, every, progress, begin=begin))


def ask(location: Location, *questions: str) -> list[Sequence[Row]]:
    """All rows of the answer to each of some statements, of one moment. Raises StoreError."""
    return asyncio.run(_ask(location, questions))


async def _ask(location: Location, questions: Sequence[str]) -> list[Sequence[Row]]:
    async with _open(location, writing=False) as end:
        return [await end.ask(question) for question in questions]


def snapshot(source: Location, target: Path, every: Sequence[Table], progress: Progress) -> None:
    """Fill a SQLite file, which has only its tables, with one moment of a database that may be written meanwhile.

    Three times as fast as :func:`move`, which also proves that each value arrived: here only the numbers of rows are
    compared. Raises StoreError.
    """
    asyncio.run(_snapshot(source, target, every, progress))


async def _snapshot(source: Location, target: Path, every: Sequence[Table], progress: Progress) -> None:
    async with _open(source, writing=False) as from_end, sqlite_end(target, True, scratch=True) as to_end:
        await to_end.clear(tables.server)
        expected = {table: await from_end.count(table) for table in every}
        done = 0
        for table, there in expected.items():
            async for rows in from_end.rows(table, ROWS_AT_ONCE):
                await to_end.write(table, rows)
                done += len(rows)
                progress(f"copying {table.name}", done, sum(expected.values()))
            if await to_end.count(table) != there:
                raise StoreError(f"the table {table.name} of {source} did not arrive whole; no backup was written")
        await to_end.commit()


async def _copy(
    source: Location, target: Location, every: Sequence[Table], progress: Progress, *, begin: Begin
) -> list[Copied]:
    async with AsyncExitStack() as stack:
        from_end = await stack.enter_async_context(_open(source, writing=False))
        to_end = await stack.enter_async_context(_open(target, writing=True))
        for table in every:
            if table.name != tables.server.name and await to_end.count(table):
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
                await to_end.write(table, account.add(rows))
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
        await begin(to_end)
        await to_end.commit()
        return sent


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
    return value + 0.0 if isinstance(value, float) else without_nul(value)


def _open(location: Location, writing: bool) -> AbstractAsyncContextManager[End]:
    if isinstance(location, Path):
        return sqlite_end(location, writing)
    from cgos_server.storage.postgres.copying import postgres_end

    return postgres_end(location, writing)
