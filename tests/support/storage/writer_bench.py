"""A writer on a database that can be made to fail, and everything that the writer said; for SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import asyncpg
import msgspec

from cgos_protocol.errors import CommitFailed, StoreError
from cgos_server.storage.location import Location, PostgresUrl
from cgos_server.storage.postgres import connections as postgres
from cgos_server.storage.postgres.writer import PostgresWriter
from cgos_server.storage.sqlite.connections import connect_for_writing
from cgos_server.storage.sqlite.writer import Writer
from cgos_server.storage.writing.group_commit import CommitListener, GroupCommit
from cgos_server.storage.writing.records import Record
from support.storage.storage_sample import query

Fault = Callable[[str], Exception | None]
"""Asked before a statement is executed; what it returns is raised instead."""


class Time:
    """Seconds that pass only while the writer pauses."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []
        self.at_each_pause: Callable[[], object] = lambda: None

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.at_each_pause()
        self.now += seconds

    async def async_sleep(self, seconds: float) -> None:
        self.sleep(seconds)
        await asyncio.sleep(0)


class Gate(Protocol):
    """Holds the writer at its next statement."""

    async def reached(self) -> None: ...
    def open(self) -> None: ...


def works(_sql: str) -> None:
    """No fault."""


class Disk:
    """Opens connections that ask `fault` before each statement.

    :ivar opened: connections so far
    :ivar refusals: raised, one after the other, instead of opening another connection
    :ivar shut: while it is True, no other connection can be opened
    :ivar seen: (number of the connection, statement)
    :ivar checkpoints: what was said after each checkpoint of SQLite
    """

    error: type[Exception]

    def __init__(self, location: Location) -> None:
        self.location = location
        self.fault: Fault = works
        self.opened = 0
        self.refusals: list[Exception] = []
        self.shut = False
        self.statements: list[tuple[int, str]] = []
        self.checkpoints: list[StoreError | None] = []

    def refuses(self, times: int, what: str = "COMMIT") -> None:
        """The next so many statements with `what` in them fail; for ever where `times` is negative."""
        left = [times]

        def fault(sql: str) -> Exception | None:
            if what not in sql or left[0] == 0:
                return None
            left[0] -= 1
            return self.error("disk I/O error")

        self.fault = fault

    def moves(self) -> list[tuple[Any, ...]]:
        return query(self.location, "SELECT game_id, ply FROM moves WHERE ply > 100 ORDER BY game_id, ply")

    def gate(self) -> Gate:
        raise NotImplementedError

    def writer(self, time: Time | None, listener: CommitListener, **options: Any) -> GroupCommit:
        raise NotImplementedError

    def _opening(self) -> None:
        self.opened += 1
        if self.shut:
            raise StoreError("not now")
        if self.opened > 1 and self.refusals:
            raise self.refusals.pop(0)


class SqliteDisk(Disk):
    error = sqlite3.OperationalError

    def connect(self) -> Any:
        self._opening()
        assert isinstance(self.location, Path)
        return _SqliteConnection(self, connect_for_writing(self.location))

    def writer(self, time: Time | None, listener: CommitListener, **options: Any) -> Writer:
        if time is not None:
            options |= {"clock": time.clock, "sleep": time.sleep}
        listener = msgspec.structs.replace(listener, checkpointed=self.checkpoints.append)
        return Writer(self.connect, listener, **options)

    def gate(self) -> Gate:
        return _ThreadGate(self)


class _SqliteConnection:
    def __init__(self, disk: SqliteDisk, connection: sqlite3.Connection) -> None:
        self._disk = disk
        self._number = disk.opened
        self._connection = connection

    def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
        self._disk.statements.append((self._number, sql))
        error = self._disk.fault(sql)
        if error is not None:
            raise error
        return self._connection.execute(sql, parameters)

    def close(self) -> None:
        self._connection.close()


class _ThreadGate:
    def __init__(self, disk: Disk) -> None:
        self._reached, self._open = threading.Event(), threading.Event()
        disk.fault = self._hold

    def _hold(self, _sql: str) -> None:
        self._reached.set()
        assert self._open.wait(10)

    async def reached(self) -> None:
        await asyncio.to_thread(self._reached.wait, 10)

    def open(self) -> None:
        self._open.set()


class PostgresDisk(Disk):
    """:ivar lock: the PostgreSQL lock is tried for with each new connection, which is no statement of a batch"""

    error = asyncpg.DiskFullError

    def __init__(self, location: Location) -> None:
        super().__init__(location)
        self.waiting: _LoopGate | None = None
        self.connections: list[asyncpg.Connection] = []
        self.after: Fault = works
        """Asked after a statement has been executed; what it returns is raised instead of an answer."""

    async def connect(self) -> Any:
        self._opening()
        connection = await self.connection()
        self.connections.append(connection)
        return _PostgresConnection(self, connection)

    async def connection(self) -> asyncpg.Connection:
        assert isinstance(self.location, PostgresUrl)
        return await postgres.connect_for_writing(self.location, "the writer under test", False)

    def writer(self, time: Time | None, listener: CommitListener, **options: Any) -> PostgresWriter:
        if time is not None:
            options |= {"clock": time.clock, "sleep": time.async_sleep}
        assert isinstance(self.location, PostgresUrl)
        return PostgresWriter(self.location, self.connect, listener, **options)

    def gate(self) -> Gate:
        self.waiting = _LoopGate()
        return self.waiting


class _PostgresConnection:
    def __init__(self, disk: PostgresDisk, connection: asyncpg.Connection) -> None:
        self._disk = disk
        self._number = disk.opened
        self._connection = connection

    async def _asked(self, method: str, sql: str, arguments: Sequence[Any]) -> Any:
        disk = self._disk
        disk.statements.append((self._number, sql))
        if disk.waiting is not None:
            await disk.waiting.hold()
        error = disk.fault(sql)
        if error is not None:
            raise error
        answer = await getattr(self._connection, method)(sql, *arguments)
        error = disk.after(sql)
        if error is not None:
            raise error
        return answer

    async def execute(self, sql: str, *arguments: Any) -> Any:
        return await self._asked("execute", sql, arguments)

    async def fetchval(self, sql: str, *arguments: Any) -> Any:
        return await self._asked("fetchval", sql, arguments)

    async def fetchrow(self, sql: str, *arguments: Any) -> Any:
        return await self._asked("fetchrow", sql, arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def add_termination_listener(self, listener: Callable[[Any], None]) -> None:
        self._connection.add_termination_listener(lambda _: listener(self))


class _LoopGate:
    def __init__(self) -> None:
        self._reached, self._open = asyncio.Event(), asyncio.Event()

    async def hold(self) -> None:
        self._reached.set()
        await self._open.wait()

    async def reached(self) -> None:
        async with asyncio.timeout(10):
            await self._reached.wait()

    def open(self) -> None:
        self._open.set()


class Bench:
    """A writer on a disk that can be made to fail, and everything it said."""

    def __init__(self, disk: Disk, **options: Any) -> None:
        self.disk = disk
        self.time = Time()
        self.acknowledged: list[Any] = []
        self.failures: list[CommitFailed] = []
        self.failed = asyncio.Event()
        self.errors: list[Exception] = []
        self.commits: list[int] = []
        self.retried: list[Exception] = []
        self.writer = disk.writer(
            self.time,
            CommitListener(
                failed=self._failed,
                on_error=self.errors.append,
                observe=lambda records, _seconds: self.commits.append(records),
                retrying=self.retried.append,
            ),
            commit_timeout=10.0,
            **options,
        )

    def _failed(self, failure: CommitFailed) -> None:
        self.failures.append(failure)
        self.failed.set()

    def submit(self, *records: Record, name: Any = None) -> None:
        self.writer.submit(records, functools.partial(self.acknowledged.append, name))

    async def settle(self) -> None:
        await self.writer.commit([])

    async def given_up(self) -> None:
        async with asyncio.timeout(10):
            await self.failed.wait()
