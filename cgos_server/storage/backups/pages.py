"""Copies a SQLite database page by page, as it is at one moment, its write-ahead log included.

Within one read transaction, so that no commit begins it again; some megabytes at a time, each on the disk before the
next is read, so that the commits' own disk never has to take all of it at once. Must not know: what the pages hold.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path

from cgos_server.storage.copying import Progress
from cgos_server.storage.failures import store_errors
from cgos_server.storage.sqlite.connections import connect_for_reading

_PAGES_AT_ONCE = 4_096
"""16 MB."""


def copy_pages(source: Path, target: Path, progress: Progress) -> None:
    """Fill the empty file `target`, which then needs no other file beside it. Raises StoreError."""
    synced = os.open(target, os.O_RDONLY)

    def step(_status: int, left: int, pages: int) -> None:
        os.fdatasync(synced)
        progress("copying", pages - left, pages)

    try:
        with (
            store_errors(target, "could not be written", sqlite3.Error, OSError),
            contextlib.closing(connect_for_reading(source)) as reading,
            contextlib.closing(sqlite3.connect(target, isolation_level=None)) as writing,
        ):
            # Nothing of it counts before it is whole.
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                writing.execute(f"PRAGMA {pragma}").fetchall()
            reading.execute("BEGIN")
            reading.execute("SELECT count(*) FROM sqlite_master").fetchone()  # from here on it sees this moment
            reading.backup(writing, pages=_PAGES_AT_ONCE, progress=step, sleep=0)
            writing.execute("PRAGMA journal_mode = DELETE").fetchall()
    finally:
        os.close(synced)
