"""Writes a SQLite database anew, so that nothing is in its file but its rows.

SQLite keeps the pages of removed rows for later ones, and in rearranged pages pieces of rows that were there before.
Must not know: what was removed, and why.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from cgos_server.storage.failures import store_errors
from cgos_server.storage.sqlite.connections import connect_for_writing


def compact(path: Path) -> tuple[int, int]:
    """Bytes of the file before and after. The caller holds the database's lock, and its schema was checked.

    Raises StoreError where it cannot be done, or a reader keeps the write-ahead log; the database is whole then, too.
    """
    before = path.stat().st_size
    with (
        store_errors(path, "could not be written anew", sqlite3.Error),
        contextlib.closing(connect_for_writing(path, "power")) as connection,
    ):
        connection.execute("VACUUM")
        ((busy, _pages, _moved),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if busy:
            raise sqlite3.OperationalError("database is locked")
    return before, path.stat().st_size
