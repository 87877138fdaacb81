"""How the read side asks: one moment of the database an answer, values made from rows, names looked up.

Rows are SQLAlchemy's mappings: a row's columns are found by name, or taken apart in the statement's own order where
that is said. Must not know: which questions there are.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar, get_type_hints

import msgspec
from sqlalchemy import CompoundSelect, RowMapping, Select, select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from cgos_protocol.errors import Code, NotFound, Refused, StoreError
from cgos_protocol.ids import VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.location import Location
from cgos_server.storage.parameters import portions, without_nul
from cgos_server.storage.sqlite.readers import SqliteReaders
from cgos_server.storage.writing.group_commit import Patience

if TYPE_CHECKING:  # with the mapper of objects, which nothing here uses and a start would wait for
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

_versions = tables.versions
_VERSION_IDS: Final = select(_versions.c.id, _versions.c.wire_name)

T = TypeVar("T")

Statement = Select[Any] | CompoundSelect[Any]
Engine: TypeAlias = "AsyncEngine | SqliteReaders"
"""What opens connections that cannot write."""

VenueKey = str | VenueId
"""A venue's name, as people say it, or its number, as the live server knows it."""


class Numbers(NamedTuple):
    """Numbers by name: a venue's own, a version's wire name."""

    venues: dict[str, VenueId]
    versions: dict[str, VersionId]


class Read:
    """A way to ask questions that all see one moment.

    :param ask: brings the rows of a statement
    :ivar known: numbers of venues and versions by name; they never change, and only found ones are kept
    """

    __slots__ = ("_ask", "known")

    def __init__(
        self,
        ask: Callable[[Statement, Mapping[str, Any]], Awaitable[Sequence[RowMapping]]],
        known: Numbers,
    ) -> None:
        self._ask = ask
        self.known = known

    def __call__(self, statement: Statement, **values: Any) -> Awaitable[Sequence[RowMapping]]:
        """All rows of a statement. `values`: what its named parameters stand for; what is asked often is built once."""
        return self._ask(statement, values)


class Source:
    """Where a subject's questions go: connections to one database that cannot write.

    :param patience_s: seconds for which a question waits for a PostgreSQL that cannot be reached; 0: not at all
    """

    def __init__(self, location: Location, engine: Engine, patience_s: float = 0.0) -> None:
        self.location = location
        self.engine = engine
        self._patience_s = patience_s
        self._known = Numbers({}, {})

    async def close(self) -> None:
        """Close all connections."""
        await self.engine.dispose()

    def forget_names(self) -> None:
        """What is known of names may be so no more."""
        self._known = Numbers({}, {})

    async def rows(self, statement: Statement, **values: Any) -> Sequence[RowMapping]:
        """All rows of a statement that is asked by itself. Raises StoreError."""
        return await self.answer(lambda read: read(statement, **values))

    async def venue_rows(self, venue: VenueKey, statement: Statement, **values: Any) -> Sequence[RowMapping]:
        """All rows of a statement about a venue, which is its parameter `venue`. Raises StoreError, and Refused where
        no venue has this name."""

        async def ask(read: Read) -> Sequence[RowMapping]:
            return await read(statement, venue=await venue_id(read, venue), **values)

        return await self.answer(ask)

    async def answer(self, questions: Callable[[Read], Awaitable[T]]) -> T:
        """What these questions come to, all of one moment; asked again from the first one where the connection breaks.
        Raises StoreError."""
        patience = Patience(time.monotonic, self._patience_s)
        while True:
            try:
                async with self.snapshot() as read:
                    return await questions(read)
            except StoreError as error:
                pause = patience.pause()
                if pause is None or isinstance(self.engine, SqliteReaders) or not _is_passing(error.__cause__):
                    raise
                await asyncio.sleep(pause)

    async def _connected(self, stack: contextlib.AsyncExitStack, engine: AsyncEngine) -> AsyncConnection:
        """A connection that answers; `stack` closes it. Raises StoreError, SQLAlchemyError."""
        patience = Patience(time.monotonic, self._patience_s)
        while True:
            try:
                return await stack.enter_async_context(engine.connect())
            except (StoreError, SQLAlchemyError, OSError):
                pause = patience.pause()
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Read]:
        """A way to ask questions that all see one moment. Raises StoreError."""
        if isinstance(self.location, Path) and not self.location.exists():
            raise StoreError(f"there is no database at {self.location}")
        try:
            if isinstance(self.engine, SqliteReaders):
                async with self.engine.connect() as one:
                    yield Read(one.ask, self._known)
                return
            async with contextlib.AsyncExitStack() as stack:
                connection = await self._connected(stack, self.engine)

                async def ask(statement: Statement, values: Mapping[str, Any]) -> Sequence[RowMapping]:
                    storable = {name: without_nul(each) for name, each in values.items()}  # no name has a NUL
                    return (await connection.execute(statement, storable)).mappings().all()

                yield Read(ask, self._known)
        except (SQLAlchemyError, TimeoutError) as error:
            why = str(error) or "the database did not answer in time"
            raise StoreError(f"the database could not be read: {why}") from error


class Subject:
    """Base of the classes that answer questions about one subject.

    Every method raises StoreError where the database cannot be read, and Refused where a name or number is unknown.
    """

    def __init__(self, source: Source) -> None:
        self._source = source


def _is_passing(cause: BaseException | None) -> bool:
    """True where the database may be there again in a moment: all that it says of itself, but not of the question."""
    if not isinstance(cause, DBAPIError) or cause.connection_invalidated:
        return True
    state = str(getattr(cause.orig, "sqlstate", None) or "")
    of_the_question = state.startswith(("22", "42")) or isinstance(getattr(cause.orig, "__cause__", None), ValueError)
    return not of_the_question


async def venue_id(read: Read, venue: VenueKey) -> VenueId:
    """The venue's number. Raises Refused where no venue has this name."""
    if isinstance(venue, int):
        return venue
    known = read.known.venues.get(venue)
    if known is not None:
        return known
    venues = tables.venues
    ids = {row["name"]: VenueId(row["id"]) for row in await read(select(venues.c.name, venues.c.id))}
    if venue not in ids:
        there = f"The venues are {', '.join(sorted(ids))}." if ids else "There are no venues yet."
        raise NotFound(Code.NO_VENUE, f"There is no venue {venue!r}. {there}")
    read.known.venues[venue] = ids[venue]
    return ids[venue]


async def version_id(read: Read, name: str) -> VersionId:
    """The number of the version with this wire name. Raises Refused."""
    return (await version_numbers(read, [name]))[name]


async def version_numbers(read: Read, names: Iterable[str]) -> dict[str, VersionId]:
    """The numbers of the versions with these wire names, in their order. Raises Refused."""
    wanted = dict.fromkeys(names)
    missing = [name for name in wanted if name not in read.known.versions]
    for some in portions(missing):
        for row in await read(_VERSION_IDS.where(_versions.c.wire_name.in_(some))):
            read.known.versions[row["wire_name"]] = VersionId(row["id"])
    for name in missing:
        if name not in read.known.versions:
            raise no_version(name)
    return {name: read.known.versions[name] for name in wanted}


def no_bot(name: str) -> Refused:
    """There is no bot of this name."""
    return NotFound(Code.NO_BOT, f"There is no bot {name!r}. `cgos-server bots` lists them.")


def no_version(name: str) -> Refused:
    """There is no version of this name."""
    return NotFound(Code.NO_VERSION, f"There is no version {name!r}. `cgos-server bots` lists them.")


def no_event(name: str) -> Refused:
    """There is no event of this name."""
    return NotFound(Code.NO_EVENT, f"There is no event {name}. `cgos-server event list` lists them.")


def value(kind: type[T], row: Mapping[Any, Any], **other: Any) -> T:
    """A value of `kind`, a struct or a named tuple, from the row's columns of the same names, except where `other` says
    otherwise. What else the row has is left out. A field that is True or False is stored as a number, one that is Any
    as a JSON text."""
    names, stored_otherwise = _fields(kind)  # type: ignore[arg-type]
    fields = {name: other[name] if name in other else row[name] for name in names}
    for name, meaning in stored_otherwise:
        if name not in other and fields[name] is not None:
            fields[name] = meaning(fields[name])
    return kind(**fields)


@functools.cache
def _fields(kind: type) -> tuple[tuple[str, ...], tuple[tuple[str, Callable[[Any], Any]], ...]]:
    """The fields of `kind`, and of those that are not stored as what they are, what makes their values."""
    names: tuple[str, ...] = getattr(kind, "__struct_fields__", ()) or getattr(kind, "_fields", ())
    meanings: dict[Any, Callable[[Any], Any]] = {bool: bool, bool | None: bool, Any: decoded}
    hints = get_type_hints(kind)
    return names, tuple((name, meanings[hints[name]]) for name in names if hints[name] in meanings)


def decoded(text: str | None) -> Any:
    """The value of a JSON text; None for none."""
    return msgspec.json.decode(text) if text else None
