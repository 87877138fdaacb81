"""How the read side asks: one moment of the database an answer, values made from rows, names looked up.

Must not know: which questions there are, which database.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from sqlalchemy import BigInteger, ColumnElement, CompoundSelect, RowMapping, Select, literal, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from cgos_protocol.errors import Code, NotFound, Refused, StoreError
from cgos_server.storage import tables
from cgos_server.storage.answers import Value
from cgos_server.storage.connections import reading_engine
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.sqlite_reading import SqliteReaders

_versions = tables.versions
_VERSION_IDS = select(_versions.c.id, _versions.c.wire_name)
_NAMES_AT_ONCE = 500
_LAST = 2**63 - 1

ALL = 2**31 - 1
"""A limit that is none."""

V = TypeVar("V", bound=Value)

Statement = Select[Any] | CompoundSelect[Any]


class Read:
    """A way to ask questions that all see one moment.

    :param ask: brings the rows of a statement
    :ivar ids: numbers of venues and versions by kind and name; they never change, and only found ones are kept
    """

    __slots__ = ("_ask", "ids")

    def __init__(
        self,
        ask: Callable[[Statement, Mapping[str, Any]], Awaitable[Sequence[RowMapping]]],
        ids: dict[tuple[str, str], int],
    ) -> None:
        self._ask = ask
        self.ids = ids

    def __call__(self, statement: Statement, **values: Any) -> Awaitable[Sequence[RowMapping]]:
        """All rows of a statement. `values`: what its named parameters stand for; what is asked often is built once."""
        return self._ask(statement, values)


class Reader:
    """Reads a database on connections that cannot write. Close it, or use it as a context manager."""

    def __init__(self, location: Location) -> None:
        self._location = location
        self._engine = self._opened(location)
        self._ids: dict[tuple[str, str], int] = {}

    @property
    def location(self) -> Location:
        """Where the database is."""
        return self._location

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()

    @staticmethod
    def _opened(location: Location) -> AsyncEngine | SqliteReaders:
        """What opens the connections."""
        return postgres_engine(location) if isinstance(location, PostgresUrl) else reading_engine(location)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @contextlib.asynccontextmanager
    async def _snapshot(self) -> AsyncIterator[Read]:
        """A way to ask questions that all see one moment. Raises StoreError."""
        if isinstance(self._location, Path) and not self._location.exists():
            raise StoreError(f"there is no database at {self._location}")
        try:
            if isinstance(self._engine, SqliteReaders):
                async with self._engine.connect() as one:
                    yield Read(one.ask, self._ids)
                return
            async with self._engine.connect() as connection:

                async def ask(statement: Statement, values: Mapping[str, Any]) -> Sequence[RowMapping]:
                    return (await connection.execute(statement, values)).mappings().all()

                yield Read(ask, self._ids)
        except SQLAlchemyError as error:
            raise StoreError(f"the database could not be read: {error}") from error


def postgres_engine(url: PostgresUrl) -> AsyncEngine:
    """An engine on a database in PostgreSQL that cannot write to it."""
    from cgos_server.storage.postgres import connections as postgres

    return postgres.reading_engine(url)


async def venue_id(read: Read, name: str) -> int:
    """The venue's number. Raises Refused."""
    known = read.ids.get(("venue", name))
    if known is not None:
        return known
    venues = tables.venues
    ids = {row["name"]: int(row["id"]) for row in await read(select(venues.c.name, venues.c.id))}
    if name not in ids:
        there = f"The venues are {', '.join(sorted(ids))}." if ids else "There are no venues yet."
        raise NotFound(Code.NO_VENUE, f"There is no venue {name!r}. {there}")
    read.ids["venue", name] = ids[name]
    return ids[name]


async def version_id(read: Read, name: str) -> int:
    """The number of the version with this wire name. Raises Refused."""
    return (await version_numbers(read, [name]))[name]


async def version_numbers(read: Read, names: Iterable[str]) -> dict[str, int]:
    """The numbers of the versions with these wire names, in their order. Raises Refused."""
    wanted = dict.fromkeys(names)
    missing = [name for name in wanted if ("version", name) not in read.ids]
    for at in range(0, len(missing), _NAMES_AT_ONCE):
        for row in await read(_VERSION_IDS.where(_versions.c.wire_name.in_(missing[at : at + _NAMES_AT_ONCE]))):
            read.ids["version", row["wire_name"]] = int(row["id"])
    for name in missing:
        if ("version", name) not in read.ids:
            raise NotFound(Code.NO_VERSION, f"There is no version {name!r}. `cgos-server bots` lists them.")
    return {name: read.ids["version", name] for name in wanted}


def no_bot(name: str) -> Refused:
    """There is no bot of this name."""
    return NotFound(Code.NO_BOT, f"There is no bot {name!r}. `cgos-server bots` lists them.")


def number(value: int) -> ColumnElement[int]:
    """A number that somebody asked for, to compare a column with. It may be beyond any that a column or the database's
    own integers hold: then the outermost of these stands for it, which compares the same with every row."""
    return literal(max(-_LAST, min(value, _LAST)), BigInteger)


def value(kind: type[V], row: RowMapping, **other: Any) -> V:
    """A value of `kind` from the row's columns of the same names, except where `other` says otherwise."""
    return kind(*[other[name] if name in other else row[name] for name in kind.__struct_fields__])


def decoded(text: str | None) -> Any:
    """The value of a JSON text; None for none."""
    return msgspec.json.decode(text) if text else None
