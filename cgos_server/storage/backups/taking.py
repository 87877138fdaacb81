"""Takes a backup of a database that may be written meanwhile: one consistent moment of it, in one file.

SQLite: its pages are copied. The write-ahead log cannot be moved into the database meanwhile, and grows by what is
committed. PostgreSQL: its rows are read in one transaction of the level REPEATABLE READ. No lock is needed. Must not
know: what the tables hold, when backups are taken.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from pathlib import Path

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_server.storage import copying, schema
from cgos_server.storage.backups import files
from cgos_server.storage.backups.pages import copy_pages
from cgos_server.storage.copying import Progress
from cgos_server.storage.failures import store_errors
from cgos_server.storage.location import Location


class Backup(msgspec.Struct, frozen=True, kw_only=True):
    """One that was taken. `at`: Unix milliseconds at its begin; all that was committed before is in it."""

    file: str
    at: int
    size_bytes: int
    seconds: float


def take(source: Location, target: Path, at_ms: int, progress: Progress) -> Backup:
    """Back up a database to a new file. Not to be called in an event loop.

    :param at_ms: now, Unix milliseconds
    :raises Refused: where the source is no database that this program knows, the target is there, or has no room
    :raises StoreError: where either of them fails
    :raises OSError: where the target's folder cannot be used
    """
    schema.refuse_elsewhere(source)
    files.absent(target)
    began = time.monotonic()
    revision = schema.known(source)
    with files.temporary(target, size_of(source)) as part:
        if isinstance(source, Path):
            copy_pages(source, part, progress)
        else:
            schema.prepare(part, even_elsewhere=True, revision=revision)
            copying.snapshot(source, part, schema.tables_of(part), progress)
        _finish(part, target, progress)
    return Backup(
        file=str(target), at=at_ms, size_bytes=target.stat().st_size, seconds=round(time.monotonic() - began, 3)
    )


def size_of(source: Location) -> int:
    """Bytes that a backup takes at most: of SQLite its file with the write-ahead log. Raises StoreError, OSError."""
    if not isinstance(source, Path):
        # The same rows take less in SQLite.
        (((size,),),) = copying.ask(source, "SELECT pg_database_size(current_database())")
        return int(size)
    log = source.with_name(source.name + "-wal")
    return source.stat().st_size + (log.stat().st_size if log.exists() else 0)


def _finish(part: Path, target: Path, progress: Progress) -> None:
    """Make one file of it that needs no others, check it, and give it its name."""
    progress("checking", 0, 1)
    with (
        store_errors(part, "could not be checked", sqlite3.Error),
        contextlib.closing(sqlite3.connect(part, isolation_level=None)) as connection,
    ):
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if answer != "ok":
            raise Invalid(
                Code.DAMAGED,
                f"The database is damaged, and no backup was written: {answer}. Look for errors of the disk, stop the "
                "server, and restore an earlier backup.",
            )
    files.place(part, target)
    progress("checking", 1, 1)
