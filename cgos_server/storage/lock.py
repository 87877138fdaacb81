"""One program writes to a database at a time, and the next one is told who that is.

On SQLite a file lock beside the database, with the holder's name inside; on PostgreSQL an advisory lock of a session
that carries the holder's name. Both belong to something open, so they end with the process however that dies; the text
only names the holder. Must not know: what is in the database.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol

import msgspec

from cgos_protocol.errors import DatabaseLocked
from cgos_server.storage.holder import in_use
from cgos_server.storage.location import Location, make_directory
from cgos_server.storage.node import Node
from cgos_server.storage.ownership import give_to_owner


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds a lock. `since` is Unix seconds."""

    pid: int
    host: str
    since: float
    purpose: str


class _Held(Protocol):
    def release(self) -> None: ...


class DatabaseLock:
    """Holds the database at `location` from construction until :meth:`release` or the end of the process.

    :param purpose: what for, as a person would say it: ``cgos-server serve``
    :param patience_s: how long to try. PostgreSQL takes a moment to notice that a holder was killed; a file lock is
        free at once, and is not tried again
    :param node: which node of a cluster on PostgreSQL this is: others may hold the database as well, each for itself
    :raises DatabaseLocked: another process holds it, or this one already does
    :raises StoreError: PostgreSQL cannot be reached
    """

    def __init__(self, location: Location, purpose: str, patience_s: float = 0.0, *, node: Node | None = None) -> None:
        self.purpose = purpose if node is None else node.purpose
        self.node = node
        self._held: _Held
        if isinstance(location, Path):
            self._held = _FileLock(location, purpose)
        else:
            from cgos_server.storage.postgres.lock import SessionLock

            self._held = SessionLock(location, self.purpose, patience_s, shared=node is not None)

    def release(self) -> None:
        """Let the next one in. May be called twice."""
        self._held.release()

    def __enter__(self) -> DatabaseLock:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.release()


class _FileLock:
    def __init__(self, path: Path, purpose: str) -> None:
        make_directory(path.parent)
        # Never removed: a lock file that comes and goes can be locked twice, once under each of its lives.
        self._file: IO[bytes] = lock_path(path).open("a+b")
        give_to_owner(lock_path(path))
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise _refusal(path) from None
        self._file.truncate(0)
        holder = Holder(pid=os.getpid(), host=socket.gethostname(), since=time.time(), purpose=purpose)
        self._file.write(msgspec.json.encode(holder) + b"\n")
        self._file.flush()

    def release(self) -> None:
        if not self._file.closed:
            self._file.truncate(0)
            self._file.close()


def lock_path(path: Path) -> Path:
    """The lock file of the SQLite database at `path`."""
    return path.with_name(path.name + ".lock")


def holder_of(path: Path) -> Holder | None:
    """Who has taken the lock of the SQLite database at `path` and not let go of it, alive or not; None where nobody
    has, or that cannot be read."""
    try:
        return msgspec.json.decode(lock_path(path).read_bytes(), type=Holder)
    except (OSError, msgspec.DecodeError):
        return None


def _refusal(path: Path) -> DatabaseLocked:
    holder = holder_of(path)
    if holder is None:
        return in_use(path, "another process", None)
    who = f"{holder.purpose} (process {holder.pid} on {holder.host})"
    return in_use(path, who, datetime.fromtimestamp(holder.since, UTC))
