"""Why the database did not take something, and what a person can do about it.

Drivers and systems say it in codes of their own. Must not know: what was to be written, who asks.
"""

from __future__ import annotations

import enum
import errno
import sqlite3
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final


class Cause(enum.Enum):
    """What is at fault; the value is the remedy, a whole sentence."""

    FULL = "The disk is full: free some space where the database lies."
    DISK = (
        "The disk refuses: look for its errors in the system's log, and check that what is in the data directory can "
        "be read and written by the user who runs this, within that user's limits."
    )
    ACCESS = (
        "Check that the data directory, and what is in it, can be read and written by the user who runs this command."
    )
    BUSY = "Another program has locked the database: end that program."
    DAMAGED = "The database is damaged: stop the server and bring back a copy of it."
    MEMORY = (
        "The system gives this process too little memory, or too few threads: raise its limits (MemoryMax= and "
        "TasksMax= of a systemd unit, --memory and --pids-limit of a container, ulimit -v and -u in a shell)."
    )
    UNREACHABLE = (
        "Check that PostgreSQL runs there, that server.database names it rightly, and the password (in the URL, in "
        "PGPASSWORD, or in ~/.pgpass)."
    )

    @property
    def of_disk(self) -> bool:
        """True where what holds the data did not take it, whoever asks."""
        return self in (Cause.FULL, Cause.DISK)


_SYSTEM: Final[Mapping[int, Cause]] = MappingProxyType(
    {
        errno.ENOSPC: Cause.FULL,
        errno.EDQUOT: Cause.FULL,
        errno.EFBIG: Cause.DISK,
        errno.EIO: Cause.DISK,
        errno.EROFS: Cause.ACCESS,
        errno.EACCES: Cause.ACCESS,
        errno.EPERM: Cause.ACCESS,
        errno.ENOMEM: Cause.MEMORY,
    }
)
_SQLITE: Final[Mapping[int, Cause]] = MappingProxyType(
    {
        sqlite3.SQLITE_FULL: Cause.FULL,
        sqlite3.SQLITE_IOERR: Cause.DISK,
        sqlite3.SQLITE_READONLY: Cause.ACCESS,
        sqlite3.SQLITE_CANTOPEN: Cause.ACCESS,
        sqlite3.SQLITE_PERM: Cause.ACCESS,
        sqlite3.SQLITE_BUSY: Cause.BUSY,
        sqlite3.SQLITE_LOCKED: Cause.BUSY,
        sqlite3.SQLITE_CORRUPT: Cause.DAMAGED,
        sqlite3.SQLITE_NOTADB: Cause.DAMAGED,
    }
)
"""Primary result codes: the low byte of what the driver says."""
_POSTGRES: Final[Mapping[str, Cause]] = MappingProxyType(
    {
        "53100": Cause.FULL,
        "58030": Cause.DISK,
        "25006": Cause.ACCESS,
        "42501": Cause.ACCESS,
        "55P03": Cause.BUSY,
        "XX001": Cause.DAMAGED,
        "XX002": Cause.DAMAGED,
    }
)
"""SQLSTATE codes."""
_NO_MEMORY: Final = ("can't start new thread", "failed to map segment from shared object")
"""What errors of Python say where the system refuses memory."""


def cause_of(error: BaseException) -> Cause | None:
    """The cause that `error`, or what it was raised from, names; None where that is no fault of the place."""
    for one in _chain(error):
        if isinstance(one, sqlite3.Error):
            cause = _SQLITE.get(getattr(one, "sqlite_errorcode", -1) & 0xFF)
        elif isinstance(one, OSError):
            cause = _SYSTEM.get(one.errno or 0)
            if cause is None and isinstance(one, ConnectionError | TimeoutError):
                cause = Cause.UNREACHABLE
        elif isinstance(one, MemoryError) or str(one).endswith(_NO_MEMORY):
            cause = Cause.MEMORY
        else:
            cause = _POSTGRES.get(str(getattr(one, "sqlstate", "")))
        if cause is not None:
            return cause
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for member in error.exceptions:
                yield from _chain(member)
        error = error.__cause__
