"""The folder of backups: what lies in it, a new one among them, and those that grow out of date.

Only files that are called as backups are called are ever looked at or removed. Must not know: when backups are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from cgos_protocol.errors import CgosError
from cgos_server.storage.backups import names
from cgos_server.storage.backups.taking import Backup, take
from cgos_server.storage.copying import Progress
from cgos_server.storage.location import Location
from cgos_server.storage.writing.causes import cause_of


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A backup in the folder. `at`: Unix milliseconds at its begin."""

    file: str
    at: int
    size_bytes: int


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """No backup: why, and what a person can do about it where that is known and not said."""

    why: str
    remedy: str | None


def listed(folder: Path) -> list[Listed]:
    """The backups in a folder, newest first. Raises OSError where it is there and cannot be read."""
    return sorted(_listed(folder), key=lambda backup: backup.at, reverse=True)


def _listed(folder: Path) -> Iterator[Listed]:
    for path in folder.iterdir() if folder.is_dir() else ():
        instant = names.instant_of(path.name)
        if instant is not None and path.is_file():
            yield Listed(file=str(path), at=instant, size_bytes=path.stat().st_size)


def take_into(folder: Path, source: Location, keep: names.Keep, *, at_ms: int, progress: Progress) -> Backup:
    """Take a backup, then remove those in the folder that are out of date. Raises as :func:`.taking.take`.

    One that seems to be of the future was taken under a wrong clock: it stays, and takes nobody's place.

    :param at_ms: now, Unix milliseconds
    """
    backup = take(source, folder / names.name_of(at_ms), at_ms, progress)
    there = [Path(each.file).name for each in listed(folder) if each.at <= at_ms]
    for name in names.outdated(there, keep):
        (folder / name).unlink(missing_ok=True)
    return backup


def attempt(folder: Path, source: Location, keep: names.Keep, *, at_ms: int) -> Backup | Failed:
    """As :func:`take_into`, for a process that is told of failures rather than sees them."""
    try:
        return take_into(folder, source, keep, at_ms=at_ms, progress=lambda _what, _done, _total: None)
    except (CgosError, OSError) as error:
        cause = cause_of(error)
        return Failed(why=str(error), remedy=None if cause is None else cause.value)
