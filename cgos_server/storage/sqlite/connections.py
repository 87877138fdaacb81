"""How the database file is opened: for the one writer, for its readers, for the migrations.

Transactions are always begun by us, never by a driver's guess. Must not know: tables, questions, threads.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event

from cgos_protocol.errors import Code, Invalid
from cgos_server.storage.sqlite.readers import SqliteReaders

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

Durability = Literal["process", "power"]
"""What a commit survives: the death of the process, or a power cut too."""

_SYNCHRONOUS: dict[Durability, str] = {"process": "NORMAL", "power": "FULL"}

_BUSY_S = 1.0
"""How long SQLite itself waits for another connection's lock."""

BULK_WAIT_S = 60.0
"""How long one bulk reader may wait for the others."""

_CACHE_KIB = 32_768
"""The last page of every running game should stay in the writer's cache: 8,000 games."""

_MAPPED = 2_147_418_112
"""Bytes of the file, all that SQLite allows, that pages and API see as memory: a third off a question that meets
thousands of pages. The file never shrinks while a server runs; but a disk that fails under it ends the process, so that
this is nothing for the one that has the games."""


def connect_for_writing(path: Path, durability: Durability = "process") -> sqlite3.Connection:
    """The writer's connection to the database at `path`, in autocommit mode. Raises sqlite3.Error."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=512, timeout=_BUSY_S
    )
    try:
        for pragma in (
            "journal_mode = WAL",
            f"synchronous = {_SYNCHRONOUS[durability]}",
            "foreign_keys = ON",  # 0.3 us a move
            f"cache_size = -{_CACHE_KIB}",
            "wal_autocheckpoint = 0",  # the writer does it, once it has told of the commit
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {pragma}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def refuse_orphaned_log(path: Path) -> None:
    """Raises Invalid where the database is empty or gone and its log is not: SQLite would throw the log away, also
    on a connection that only reads."""
    log = path.with_name(path.name + "-wal")
    with contextlib.suppress(OSError):  # there is no log, or it cannot be seen
        if log.stat().st_size and not (path.exists() and path.stat().st_size):
            raise Invalid(
                Code.DAMAGED,
                f"The database {path} is empty or gone, but its log {log} is not: something has emptied or removed the "
                "database. Nothing was changed. Bring it back with `cgos-server db restore` (`cgos-server db backups` "
                "lists the backups), or move the log away to begin a new database.",
            )


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """A connection to the database at `path` that cannot write to it. Raises sqlite3.Error, Invalid."""
    refuse_orphaned_log(path)
    return sqlite3.connect(
        f"{_uri(path)}?mode=ro", uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_S
    )


def reading_engine(path: Path, *, mapped: bool = True) -> SqliteReaders:
    """Connections to the database at `path` that cannot write to it; each of their transactions sees one moment.

    :param mapped: they see the file as memory; not for the process that has the games
    """

    def connect() -> sqlite3.Connection:
        connection = connect_for_reading(path)
        if mapped:
            connection.execute(f"PRAGMA mmap_size = {_MAPPED}").fetchall()
        return connection

    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        creator=connect,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",  # transactions are begun and ended by those who read
    )
    return SqliteReaders(engine)


def bulk_engine(path: Path) -> AsyncEngine:
    """An engine on the database at `path` for those who read all of it: few connections, and nobody else's."""
    from sqlalchemy.ext.asyncio import create_async_engine  # loads the mapper of objects, too

    url = URL.create("sqlite+aiosqlite", database=_uri(path), query={"mode": "ro", "uri": "true"})
    engine = create_async_engine(url, pool_size=2, max_overflow=0, pool_timeout=BULK_WAIT_S)
    _begin_by(engine.sync_engine, "BEGIN")
    return engine


def migrating_engine(path: Path) -> Engine:
    """An engine on the database at `path` on which changes of the schema are part of its transactions."""
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)
    _begin_by(engine, "BEGIN IMMEDIATE")
    return engine


def _uri(path: Path) -> str:
    return f"file:{quote(str(path))}"


def _begin_by(engine: Engine, statement: str) -> None:
    def leave_it_to_us(connection: Any, _record: object) -> None:
        connection.isolation_level = None

    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    event.listen(engine, "connect", leave_it_to_us)
    event.listen(engine, "begin", begin)
