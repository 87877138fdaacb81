"""In what condition a database is: figures and settings that the database itself tells, for operators.

Must not know: which of them are good ones.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import Final

import msgspec

from cgos_server.storage.failures import store_errors
from cgos_server.storage.sqlite.connections import connect_for_reading

_MOST_FAULTS: Final = 3


class SqliteCondition(msgspec.Struct, frozen=True, kw_only=True):
    """Of a SQLite file.

    :ivar log_bytes: of the write-ahead log beside it
    :ivar faults: what is damaged, by SQLite's own check of all pages; None where that was not made
    """

    database_bytes: int
    log_bytes: int
    page_bytes: int
    free_pages: int
    journal_mode: str
    faults: tuple[str, ...] | None


class PostgresCondition(msgspec.Struct, frozen=True, kw_only=True):
    """Of a database in PostgreSQL. `version` as ``15.4``.

    :ivar ahead_ms: how far the clock of this machine is ahead of PostgreSQL's
    """

    database_bytes: int
    version: str
    fsync: bool
    full_page_writes: bool
    connections: int
    max_connections: int
    ahead_ms: int


def sqlite_condition(path: Path, *, deep: bool) -> SqliteCondition:
    """Of the database at `path`. Raises StoreError.

    :param deep: have SQLite check all pages, which reads the whole file
    """
    with (
        store_errors(path, "cannot be read", OSError, sqlite3.Error),
        contextlib.closing(connect_for_reading(path)) as connection,
    ):

        def one(pragma: str) -> str:
            return str(connection.execute(f"PRAGMA {pragma}").fetchone()[0])

        log = path.with_name(path.name + "-wal")
        faults = None
        if deep:
            rows = connection.execute(f"PRAGMA quick_check({_MOST_FAULTS})").fetchall()
            faults = tuple(str(row[0]) for row in rows if row[0] != "ok")
        return SqliteCondition(
            database_bytes=int(one("page_count")) * int(one("page_size")),
            log_bytes=log.stat().st_size if log.exists() else 0,
            page_bytes=int(one("page_size")),
            free_pages=int(one("freelist_count")),
            journal_mode=one("journal_mode").lower(),
            faults=faults,
        )
