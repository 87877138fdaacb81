"""Each way in which a database does not take something, and the remedy that is named."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from pathlib import Path

import pytest

from cgos_protocol.errors import StoreError
from cgos_server.storage.writing.causes import Cause, cause_of


def sqlite_refusal(path: Path, *statements: str) -> sqlite3.Error:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as connection:
        try:
            for statement in statements:
                connection.execute(statement).fetchall()
        except sqlite3.Error as error:
            return error
    raise AssertionError("it was taken")


def test_what_sqlite_says(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    insert = "INSERT INTO t VALUES (zeroblob(100000))"
    full = sqlite_refusal(path, "CREATE TABLE t (x)", "PRAGMA max_page_count = 3", insert)
    assert cause_of(full) is Cause.FULL
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert cause_of(sqlite_refusal(path, insert)) is Cause.BUSY
    assert cause_of(sqlite_refusal(path, "PRAGMA query_only = 1", insert)) is Cause.ACCESS
    assert cause_of(sqlite_refusal(path, "NONSENSE")) is None
    damaged = tmp_path / "b.sqlite"
    damaged.write_bytes(b"no database" * 100)
    assert cause_of(sqlite_refusal(damaged, "SELECT * FROM t")) is Cause.DAMAGED


@pytest.mark.parametrize(
    ("number", "cause"),
    [
        (errno.ENOSPC, Cause.FULL),
        (errno.EFBIG, Cause.DISK),
        (errno.EACCES, Cause.ACCESS),
        (errno.ECONNREFUSED, Cause.UNREACHABLE),
        (errno.ENOMEM, Cause.MEMORY),
        (errno.ENOTDIR, None),
    ],
)
def test_what_the_system_says_behind_our_own_errors(number: int, cause: Cause | None) -> None:
    failure = StoreError("it could not be written")
    failure.__cause__ = OSError(number, "why")
    assert cause_of(failure) is cause


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        ImportError("numpy.so: failed to map segment from shared object"),
    ],
)
def test_what_python_says_without_memory(error: Exception) -> None:
    assert cause_of(ExceptionGroup("tasks", [ExceptionGroup("task", [error])])) is Cause.MEMORY


def test_what_postgresql_says() -> None:
    class DiskFullError(Exception):
        sqlstate = "53100"

    assert cause_of(DiskFullError()) is Cause.FULL
    assert [cause.of_disk for cause in Cause] == [True, True, False, False, False, False, False]
