"""How large everything is that grows: the database, the transcripts, and the disk that they are on.

Looked at once a minute, in a thread or by a question, never at a scrape: a disk or a database that hangs must not hang
those who watch. Must not know: what is stored, who reads the figures.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final

import structlog

from cgos_protocol.errors import StoreError
from cgos_server.observability.metrics import Live
from cgos_server.observability.transcript_files import FOLDER

log = structlog.get_logger(__name__)

EVERY_S: Final = 60.0

PAUSE_AFTER: Final = 50
"""Files after which the thread of the event loop gets the interpreter, for which it would wait for milliseconds."""

PAUSE_S: Final = 0.001


class Sizes:
    """One a server. Unknown until :meth:`run` has looked for the first time; what cannot be looked at keeps its last
    figure.

    :param data: the data directory
    :param database: brings the bytes of the database, by its parts; raises StoreError, OSError
    """

    def __init__(self, data: Path, database: Callable[[], Awaitable[Mapping[str, int]]]) -> None:
        self._data = data
        self._database = database
        self._parts: Mapping[str, int] = {}
        self._free: int | None = None
        self._size: int | None = None
        self._transcripts: int | None = None

    def watched(self) -> Live:
        """What metrics read."""
        return {
            "database_size": lambda: self._parts,
            "disk_free": lambda: self._free,
            "disk_size": lambda: self._size,
            "transcripts_size": lambda: self._transcripts,
        }

    async def run(self) -> None:
        """Look for ever."""
        while True:
            await self.look()
            await asyncio.sleep(EVERY_S)

    async def look(self) -> None:
        """Look once."""
        try:
            self._free, self._size, self._transcripts = await asyncio.to_thread(_look, self._data)
            self._parts = await self._database()
        except (OSError, StoreError) as error:
            log.info("sizes cannot be looked at just now", why=str(error))


def _look(data: Path) -> tuple[int, int, int]:
    """Bytes that are free, of the file system, and of the transcripts."""
    disk = shutil.disk_usage(data)
    return disk.free, disk.total, bytes_below(data / FOLDER)


def bytes_below(folder: Path) -> int:
    """Of all files in a folder and those below it; 0 where it is not there. Files may go meanwhile."""
    total = number = 0
    folders = [os.fspath(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    number += 1
                    if number % PAUSE_AFTER == 0:
                        time.sleep(PAUSE_S)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        with contextlib.suppress(FileNotFoundError):  # the others are still there
                            total += entry.stat(follow_symlinks=False).st_size
        except FileNotFoundError:
            continue
    return total
