"""Puts a backup in the place of a server's database. What was there is moved aside, never removed.

SQLite: the backup is copied beside the database and takes its name in one step, so that a restore that is killed leaves
one or the other. PostgreSQL: the rows go into an empty database in one transaction, and are compared. Must not know:
how the backup was taken.
"""

from __future__ import annotations

import errno
import itertools
import os
from pathlib import Path

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_server.storage import copying, schema
from cgos_server.storage.backups import files, names
from cgos_server.storage.backups.pages import copy_pages
from cgos_server.storage.backups.verifying import Verified, verify
from cgos_server.storage.copying import Progress
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


def restore(backup: Path, target: Location, at_ms: int, progress: Progress) -> Restored:
    """Verify a backup, then put it in the place of a database. Not to be called in an event loop.

    :param at_ms: now, Unix milliseconds
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
            aside = _replace(backup, target, at_ms, progress)
        else:
            schema.prepare(target, revision=verified.schema)
            copying.move(backup, target, schema.tables_of(backup), progress)
            aside = None
    return Restored(database=str(target), aside=None if aside is None else str(aside), backup=verified)


def _replace(backup: Path, target: Path, at_ms: int, progress: Progress) -> Path | None:
    with files.temporary(target, backup.stat().st_size) as part:
        copy_pages(backup, part, progress)
        files.sync(part)
        aside = _move_aside(target, _unused(target.with_name(f"{target.name}.before-{names.name_of(at_ms)}")))
        part.replace(target)
        files.sync(target.parent)
    return aside


def _move_aside(target: Path, aside: Path) -> Path | None:
    """Give the database at `target`, if there is one, another name, and leave it where it is under its own as well."""
    if not target.exists():
        return None
    for end in ("-wal", "-shm"):
        companion = target.with_name(target.name + end)
        if companion.exists():
            companion.rename(aside.with_name(aside.name + end))
    try:
        os.link(target, aside)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        target.rename(aside)  # a file system without links
    return aside


def _unused(path: Path) -> Path:
    """`path`, or where that is taken one with a number behind it."""
    every = (path if number == 1 else path.with_name(f"{path.name}.{number}") for number in itertools.count(1))
    return next(one for one in every if not one.exists())
