"""Looks whether a file is a backup from which a server can go on: whole, sound, of a schema that this program knows.

Must not know: how it was taken, where it is put back, what is rated.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from cgos_protocol.errors import Code, Invalid, NotFound, SchemaMismatch
from cgos_server.storage import schema, tables
from cgos_server.storage.backups import files
from cgos_server.storage.copying import Progress

_TIMES: Final = ("at", "started_at", "ended_at", "opened_at", "closed_at", "created_at")
"""Columns that say when something happened (Unix milliseconds)."""


class Verified(msgspec.Struct, frozen=True, kw_only=True):
    """A backup that is in order.

    :ivar schema: its revision
    :ivar upgrade: True where `cgos-server db upgrade` must follow a restore
    :ivar latest: Unix milliseconds of its latest record, None where there is none
    :ivar rows: table -> rows
    """

    file: str
    size_bytes: int
    schema: str
    upgrade: bool
    latest: int | None
    rows: Mapping[str, int]


def verify(path: Path, progress: Progress) -> Verified:
    """Check all of a file. Nothing is written.

    :raises NotFound: there is no such file
    :raises Invalid: it is cut short or damaged
    :raises SchemaMismatch: it is no database of cgos-server, or one of a schema that this program does not know
    """
    if not path.is_file():
        raise NotFound(Code.NO_DATABASE, f"There is no file {path}. `cgos-server db backups` lists those that are.")
    _check_length(path)
    revision = schema.known(path, backup=True)
    steps = 2 + len(tables.metadata.sorted_tables)
    try:
        with contextlib.closing(open_file(path)) as connection:
            progress("checking its pages", 0, steps)
            (answer,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if answer != "ok":
                raise _damaged(path, answer)
            progress("checking its references", 1, steps)
            wrong = connection.execute("PRAGMA foreign_key_check").fetchone()
            if wrong is not None:
                raise _damaged(path, f"a row of {wrong[0]} points at one of {wrong[2]} that is not there")
            rows, latest = _counted(connection, progress, steps)
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from error
    return Verified(
        file=str(path),
        size_bytes=path.stat().st_size,
        schema=revision,
        upgrade=revision != schema.head(),
        latest=latest,
        rows=rows,
    )


def _counted(connection: sqlite3.Connection, progress: Progress, steps: int) -> tuple[dict[str, int], int | None]:
    """The rows of each table, and the instant of the latest record."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    rows: dict[str, int] = {}
    latest = None
    for done, table in enumerate(tables.metadata.sorted_tables, 2):
        progress(f"counting {table.name}", done, steps)
        if table.name not in there:
            continue  # of an older schema
        times = [f"max({column.name})" for column in table.columns if column.name in _TIMES]
        count, *instants = connection.execute(f"SELECT {', '.join(['count(*)', *times])} FROM {table.name}").fetchone()
        rows[str(table.name)] = count
        latest = max((instant for instant in (latest, *instants) if instant is not None), default=None)
    progress("counting", steps, steps)
    return rows, latest


def _check_length(path: Path) -> None:
    """A file that was cut short says so by its header: SQLite itself sees it only where it reads."""
    with path.open("rb") as file:
        header = file.read(100)
    if len(header) < 100 or not header.startswith(files.MAGIC):
        raise SchemaMismatch(
            Code.NOT_A_DATABASE, f"{path} is not a database of cgos-server. Give a file that `db backup` has written."
        )
    page = int.from_bytes(header[16:18], "big")
    expected = (65_536 if page == 1 else page) * int.from_bytes(header[28:32], "big")
    if path.stat().st_size < expected:
        raise _damaged(path, f"it has {path.stat().st_size} bytes of {expected}")


def open_file(path: Path) -> sqlite3.Connection:
    """Return a connection that only reads and leaves nothing beside the file. Raises sqlite3.Error."""
    # Immutable: reading leaves no files beside it, and it may lie where nobody can write.
    alone = "" if path.with_name(path.name + "-wal").exists() else "&immutable=1"
    return sqlite3.connect(f"file:{quote(str(path))}?mode=ro{alone}", uri=True, isolation_level=None)


def _damaged(path: Path, why: str) -> Invalid:
    return Invalid(Code.DAMAGED, f"{path} is damaged: {why}. Use another backup; `cgos-server db backups` lists them.")
