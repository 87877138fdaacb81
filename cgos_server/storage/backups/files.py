"""A file that appears whole or not at all: written under a temporary name beside its place, synced, then named.

Files are their owner's alone (0600), whatever the umask: a database holds hashes of passwords. Must not know: what is
written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from cgos_protocol.errors import Code, Conflict, Unavailable
from cgos_server.storage.location import make_directory
from cgos_server.storage.ownership import give_to_owner

_PREFIX: Final = ".cgos-backup-"
_FOLDER_PREFIX: Final = ".cgos-drill-"
_TEMPORARY: Final = re.compile(re.escape(_PREFIX) + r"\w+\.part(-wal|-shm|-journal)?")

MAGIC: Final = b"SQLite format 3\0"
"""How every database of SQLite begins."""

COMPANIONS: Final = ("-wal", "-shm", "-journal")
"""What SQLite may have beside a database, behind its name."""


def absent(target: Path) -> None:
    """Raises Conflict where there is a file of this name."""
    if target.exists():
        raise Conflict(Code.EXISTS, f"{target} is there already, and a backup replaces nothing. Give another name.")


@contextmanager
def temporary(target: Path, size: int) -> Iterator[Path]:
    """An empty file beside `target`, to be written and then given to :func:`place`; removed if that does not happen.

    What a killed process has left there is removed first. One is written into a folder at a time.

    :param size: bytes that it will have, roughly
    :raises Unavailable: where the disk has no room for it, or another one is being written there
    :raises OSError: where the folder cannot be written
    """
    folder = target.parent
    make_directory(folder)
    with _alone(folder):
        for name in os.listdir(folder):
            if _TEMPORARY.fullmatch(name):
                (folder / name).unlink()
        _room(folder, size)
        handle, name = tempfile.mkstemp(".part", _PREFIX, folder)
        try:
            os.fchmod(handle, 0o600)
            os.close(handle)
            give_to_owner(Path(name))
            yield Path(name)
        finally:
            for end in ("", *COMPANIONS):
                Path(name + end).unlink(missing_ok=True)


@contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """An empty folder in `parent`, removed in the end with all that is in it.

    Those of processes that were killed are removed first; any number may be in use. Raises OSError.
    """
    make_directory(parent)
    for left in parent.glob(f"{_FOLDER_PREFIX}*"):
        with suppress(BlockingIOError), _locked(left):
            shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_FOLDER_PREFIX, dir=parent) as name, _locked(Path(name)):
        yield Path(name)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(folder))
        except BlockingIOError as error:
            raise Unavailable(
                Code.BUSY, f"Another backup or restore is writing into {folder}. Try again when it has ended."
            ) from error
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Raises BlockingIOError where another process, or another place in this one, has it."""
    # The folder itself is locked: a file for it would lie around in the folders of backups.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _room(folder: Path, size: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < size * 1.1:
        raise Unavailable(
            Code.NO_SPACE,
            f"{folder} has {_mb(free)} free, and the database takes {_mb(size)}. Free some space there, or give a "
            "folder on another disk.",
        )


def _mb(size: int) -> str:
    return f"{size / 1e6:,.1f} MB".replace(",", " ")


def place(temporary: Path, target: Path) -> None:
    """Give a file its name, once all of it is on the disk. Raises Conflict where the name is taken, OSError."""
    sync(temporary)
    try:
        os.link(temporary, target)  # unlike a renaming, it replaces nothing
    except FileExistsError:
        absent(target)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK):
            raise
        absent(target)  # a file system without links
        temporary.rename(target)
    sync(target.parent)


def sync(path: Path) -> None:
    """Wait until a file, or a folder's list of names, is on the disk. Raises OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
