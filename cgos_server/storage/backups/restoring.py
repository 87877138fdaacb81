"""Puts a backup in the place of a server's database. What was there is moved aside, never removed.

SQLite: the backup is copied beside the database and takes its name in one step, so that a restore that is killed leaves
one or the other. PostgreSQL: the rows go into an empty database in one transaction, and are compared. Must not know:
how the backup was taken.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import itertools
import os
import sqlite3
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from cgos_protocol.errors import Code, Invalid, StoreError
from cgos_server.storage import copying, schema
from cgos_server.storage.backups import files, names
from cgos_server.storage.backups.pages import copy_pages
from cgos_server.storage.backups.verifying import Verified, open_file, verify
from cgos_server.storage.copy_ends import End, SqliteEnd, errors_of
from cgos_server.storage.copying import Progress
from cgos_server.storage.incarnation import begin_incarnation, highest_number
from cgos_server.storage.location import Location
from cgos_server.storage.lock import DatabaseLock

_PURPOSE = "cgos-server db restore"


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What is in place now.

    :ivar aside: where the database of before is now; None where there was none, and on PostgreSQL
    """

    database: str
    aside: str | None
    backup: Verified


def restore(
    backup: Path,
    target: Location,
    at_ms: int,
    progress: Progress,
    *,
    kept: Sequence[Path] = (),
    highest: int = 0,
    renumber: bool = True,
) -> Restored:
    """Verify a backup, then put it in the place of a database. Not to be called in an event loop.

    :param at_ms: now, Unix milliseconds
    :param kept: other backups, which may know numbers that were given out after this one was taken
    :param highest: the highest number that other files know
    :param renumber: give unfinished games new numbers, for a server that will go on with them
    :raises Refused: where the backup is none, or a PostgreSQL database is not empty
    :raises DatabaseLocked: where a server runs on the database
    :raises StoreError: where it could not be written; what was there is there
    :raises OSError: likewise
    """
    schema.refuse_elsewhere(target)
    verified = verify(backup, progress)
    with DatabaseLock(target, _PURPOSE):
        if isinstance(target, Path):
            if target.exists() and target.samefile(backup):
                raise Invalid(Code.SAME_DATABASE, f"{backup} is the database itself. Give the file of a backup.")
            kept = [*kept, target, *target.parent.glob(f"{target.name}.before-*")]
        every = schema.tables_of(backup)
        highest = max([highest, *map(_highest_number, kept)])
        begin = functools.partial(begin_incarnation, every=every, highest=highest, renumber=renumber)
        if isinstance(target, Path):
            aside = _replace(backup, target, at_ms, progress, begin=begin)
        else:
            schema.prepare(target, revision=verified.schema)
            copying.move(backup, target, every, progress, begin=begin)
            aside = None
    return Restored(database=str(target), aside=None if aside is None else str(aside), backup=verified)


def _replace(
    backup: Path, target: Path, at_ms: int, progress: Progress, *, begin: Callable[[End], Coroutine[Any, Any, None]]
) -> Path | None:
    with files.temporary(target, backup.stat().st_size) as part:
        copy_pages(backup, part, progress)
        errors = errors_of(part, True, sqlite3.Error)
        with errors(), contextlib.closing(sqlite3.connect(part)) as connection, connection:
            asyncio.run(begin(SqliteEnd(connection, errors)))
        files.sync(part)
        _settle(target)
        aside = _move_aside(target, _unused(target.with_name(f"{target.name}.before-{names.name_of(at_ms)}")))
        part.replace(target)
        files.sync(target.parent)
    return aside


def _highest_number(path: Path) -> int:
    """Return the highest number that a SQLite database of any schema has given out, 0 where it cannot be read."""
    with contextlib.suppress(OSError, sqlite3.Error, StoreError), contextlib.closing(open_file(path)) as connection:
        there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        return asyncio.run(highest_number(SqliteEnd(connection, errors_of(path, False, sqlite3.Error)), there))
    return 0


def _settle(target: Path) -> None:
    """Have SQLite finish what a killed program left beside the database at `target`: its log is moved into it, its
    journal is rolled back. It is one file then, which leaves its name in one step. What is no database stays as it is:
    SQLite would throw its log away."""
    if not _is_database(target) or not any(companion.exists() for companion in _companions(target)):
        return
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(target, isolation_level=None)) as connection,
    ):
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _is_database(path: Path) -> bool:
    if not path.exists():
        return False
    with path.open("rb") as file:
        return file.read(len(files.MAGIC)) == files.MAGIC


def _move_aside(target: Path, aside: Path) -> Path | None:
    """Give the database at `target`, if there is one, another name, and leave it where it is under its own as well.
    What lies beside it goes along, also where the database itself is gone: SQLite would put it into the next one."""
    there = target.exists()
    if there:
        try:
            os.link(target, aside)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP):
                raise
            target.rename(aside)  # a file system without links
    for companion, beside in zip(_companions(target), _companions(aside), strict=True):
        if companion.exists():
            companion.rename(beside)
    files.sync(target.parent)
    return aside if there else None


def _companions(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in files.COMPANIONS]


def _unused(path: Path) -> Path:
    """`path`, or where that is taken one with a number behind it."""
    every = (path if number == 1 else path.with_name(f"{path.name}.{number}") for number in itertools.count(1))
    return next(one for one in every if not one.exists())
