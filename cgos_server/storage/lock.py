"""One program writes to a database at a time: a file lock beside it, with the holder's name inside.

The lock belongs to the open file, so it ends with the process however that dies; the text only names the holder.
Must not know: what is in the database.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO

import msgspec

from cgos_server.errors import DatabaseLocked


class Holder(msgspec.Struct, frozen=True):
    """Who holds a lock. `since` is Unix seconds."""

    pid: int
    host: str
    since: float
    purpose: str


class DatabaseLock:
    """Holds the database at `path` from construction until :meth:`release` or the end of the process.

    :param purpose: what for, as a person would say it: ``cgos-server serve``
    :raises DatabaseLocked: another process holds it, or this one already does
    """

    def __init__(self, path: Path, purpose: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Never removed: a lock file that comes and goes can be locked twice, once under each of its lives.
        self._file: IO[bytes] = lock_path(path).open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise _refusal(path) from None
        self._file.truncate(0)
        holder = Holder(os.getpid(), socket.gethostname(), time.time(), purpose)
        self._file.write(msgspec.json.encode(holder) + b"\n")
        self._file.flush()

    def release(self) -> None:
        """Let the next one in. May be called twice."""
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()

    def __enter__(self) -> DatabaseLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def lock_path(path: Path) -> Path:
    """The lock file of the database at `path`."""
    return path.with_name(path.name + ".lock")


def _signature(file: IO[bytes]) -> Holder | None:
    try:
        return msgspec.json.decode(file.read(), type=Holder)
    except msgspec.DecodeError:
        return None


def _refusal(path: Path) -> DatabaseLocked:
    with lock_path(path).open("rb") as file:
        found = _signature(file)
    if found is None:
        who = "another process"
    else:
        since = datetime.fromtimestamp(found.since, UTC).strftime("%Y-%m-%d %H:%M UTC")
        who = f"{found.purpose} (process {found.pid} on {found.host}, since {since})"
    return DatabaseLocked(
        "database-locked",
        f"The database {path} is in use by {who}. Stop it first, or give another data directory in the configuration.",
    )
